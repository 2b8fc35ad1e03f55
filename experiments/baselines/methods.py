"""Registers the methods whose result is networks that act: behavioural cloning and GAIL.

Their modules are imported when they are used: torch and Stable-Baselines3 take seconds.
"""

from collections.abc import Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar

from wfairl.core.planning.policies import Policy
from wfairl.core.support.errors import MissingExtraError
from wfairl.core.worlds.task import Task
from wfairl.runs.methods import Method, Trained, TrainingRequest, register_method

if TYPE_CHECKING:
    from experiments.baselines.network_policy import ModelSelection, NetworkRun


class NetworkMethod(Method):
    """A method whose networks act at the temperature that was best on validation scenes.

    `settings` and `trainer` say where the dataclass of its settings and the function that trains are.
    """

    settings: ClassVar[str]
    trainer: ClassVar[str]

    def settings_type(self) -> type[Any]:
        kind: type[Any] = resolve_name(self.settings)
        return kind

    def train(self, request: TrainingRequest) -> Trained:
        run: NetworkRun = resolve_name(self.trainer)(request, self.make_settings(request.settings))
        return _describe(self.name, run.found)

    def load(self, directory: Path, task: Task, temperature: float | None) -> Policy:
        from experiments.baselines.network_policy import NetworkPolicy, load_network_run

        run = load_network_run(directory)
        run.encoder.for_world(task.make_world(seed=0))  # refuses a world that does not fit
        acts_at = run.found.temperature if temperature is None else temperature
        return NetworkPolicy(str(directory), run.networks, run.encoder, acts_at)


class BehaviouralCloning(NetworkMethod):
    """Imitates the control in each state."""

    name = "bc"
    title = "behavioural cloning"
    summary = "behavioural cloning: imitate the control in each state"
    settings = "experiments.baselines.cloning:CloningConfig"
    trainer = "experiments.baselines.cloning:train_cloning"


class Gail(NetworkMethod):
    """Generative adversarial imitation."""

    name = "gail"
    title = "GAIL"
    summary = "generative adversarial imitation with PPO (extra `baselines`)"
    settings = "experiments.baselines.gail.train:GailConfig"
    trainer = "experiments.baselines.gail.train:train_gail"

    def check_available(self) -> None:
        try:
            import stable_baselines3  # noqa: F401
        except ImportError:
            raise MissingExtraError("Stable-Baselines3, which GAIL needs,", "baselines") from None


def _describe(method: str, found: "ModelSelection") -> Trained:
    """How the networks were selected, as facts and lines."""
    lines = [("method", method), *((name.replace("_", " "), _text(one)) for name, one in found.selection.items())]
    how = "greedily" if found.temperature == 0 else f"at temperature {found.temperature:g}"
    lines.append(("acts", f"{how}, which was best on validation scenes"))
    warnings = []
    if found.validation_return == 0:
        warnings.append("it solved no validation scene: train longer, or from more demonstrations")
    facts = {"temperature": found.temperature, "selection": found.selection}
    return Trained(facts, lines, warnings)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_text(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


register_method(BehaviouralCloning())
register_method(Gail())
