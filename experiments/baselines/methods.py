"""Registers the methods whose result is networks that act, behavioural cloning and GAIL, and the recurrent learner.

Their modules are imported when they are used: torch and Stable-Baselines3 take seconds.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wfairl.core.automata.words import Word
from wfairl.core.demonstrations.learners import PLAIN_READING, LearnedTask, Reading, WordLearner, register_learner
from wfairl.core.planning.policies import Policy
from wfairl.core.runs.methods import Method, Trained, TrainingRequest, register_method
from wfairl.core.worlds.task import Task

if TYPE_CHECKING:
    from experiments.baselines.policy_run import PolicyRun


class NetworkMethod(Method):
    """A method whose networks act at the temperature that was best on validation scenes."""

    @abstractmethod
    def trainer(self) -> Callable[..., Any]:
        """The function that trains the networks in a directory; its result has a `PolicyRun`."""

    def train(self, request: TrainingRequest) -> Trained:
        settings = self.make_settings(request.settings)
        trained = self.trainer()(
            request.task, request.dataset, settings, request.directory, request.resume, request.n_jobs, request.origin
        )
        return describe(trained.run)

    def load(self, directory: Path, task: Task, temperature: float | None) -> Policy:
        from experiments.baselines.network_policy import NetworkPolicy
        from experiments.baselines.policy_run import load_policy_run

        run = load_policy_run(directory)
        run.encoder.for_world(task.make_world(seed=0))  # refuses a world that does not fit
        acts_at = run.selection.temperature if temperature is None else temperature
        return NetworkPolicy(str(directory), run.networks, run.encoder, acts_at)


class BehaviouralCloning(NetworkMethod):
    """Imitates the control in each state."""

    name = "bc"
    title = "behavioural cloning"
    summary = "behavioural cloning: imitate the control in each state"
    expected_seconds = 85.0

    def settings_type(self) -> type[Any]:
        from experiments.baselines.cloning import CloningConfig

        return CloningConfig

    def trainer(self) -> Callable[..., Any]:
        from experiments.baselines.cloning import train_cloning

        return train_cloning


class Gail(NetworkMethod):
    """Generative adversarial imitation; its extra is imported when it is used."""

    name = "gail"
    title = "GAIL"
    summary = "generative adversarial imitation with PPO (extra `baselines`)"
    expected_seconds = 180.0

    def settings_type(self) -> type[Any]:
        from experiments.baselines.gail.settings import GailConfig

        return GailConfig

    def check_available(self) -> None:
        from experiments.baselines.gail import check_extra

        check_extra()

    def trainer(self) -> Callable[..., Any]:
        from experiments.baselines.gail import train_gail

        return train_gail


def describe(run: "PolicyRun") -> Trained:
    """How the networks were selected, as facts and lines."""
    selection = run.selection
    lines = [("method", run.config.method)]
    for name, value in selection.details.items():
        lines += _facts(name, value)
    how = "greedily" if selection.temperature == 0 else f"at temperature {selection.temperature:g}"
    lines.append(("acts", f"{how}, which was best on validation scenes"))
    warnings = []
    if selection.validation_return == 0:
        warnings.append("it solved no validation scene: train longer, or from more demonstrations")
    facts = {"temperature": selection.temperature, "selection": selection.details}
    return Trained(facts, lines, warnings, selection.validation_return)


KEYS = {"held_out_errors": "dropout", "validation_returns": "temperature"}
"""What the entries of a selection are listed by."""


def _facts(name: str, value: Any) -> list[tuple[str, str]]:
    """The lines about an entry of a selection: one, or one for each of several variants."""
    title = name.replace("_", " ")
    if not isinstance(value, Mapping):
        return [(title, ", ".join(map(_text, value)) if isinstance(value, list | tuple) else _text(value))]
    if all(isinstance(one, Mapping) for one in value.values()):
        return [(f"{title}, {variant}", line) for variant, one in value.items() for title, line in _facts(name, one)]
    listed = ", ".join(f"{key}: {_text(one)}" for key, one in value.items())
    return [(f"{title} by {KEYS[name]}" if name in KEYS else title, listed)]


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


class RecurrentTaskLearner(WordLearner):
    """Trains a recurrent network, and extracts a finite automaton from it."""

    def fit(self, words: Sequence[Word], scores: Sequence[float], reading: Reading = PLAIN_READING) -> LearnedTask:
        from experiments.baselines.recurrent_automaton import fit_recurrent_task

        return LearnedTask(fit_recurrent_task(words, scores, **asdict(reading)).model)


register_method(BehaviouralCloning())
register_method(Gail())
register_learner("gru", RecurrentTaskLearner())
