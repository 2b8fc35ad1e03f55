"""Generative adversarial imitation (GAIL, Ho and Ermon 2016) with the absorbing state of Kostrikov et al. 2019.

    result = train_gail(task, dataset, GailConfig(), directory, resume=False, n_jobs=1)

The generator is Stable-Baselines3's PPO, which acts in a batch of compiled scenes; policy, value and discriminator
have the paper's network. It is trained once with each reward of the configuration. Held-out scenes, which are
neither for training nor for testing, choose the reward, the iteration, and the temperature at which to act.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wfairl.baselines.gail_checkpoint import CHECKPOINTS, GailCheckpoint, IterationMetrics
from wfairl.baselines.gail_scenes import Lessons, prepare_lessons
from wfairl.baselines.gail_settings import GailConfig
from wfairl.baselines.gail_validation import TEMPERATURES, Validation
from wfairl.baselines.network import StateNetwork
from wfairl.baselines.scenes import validation_seeds
from wfairl.baselines.sight import AgentSight, MapSight
from wfairl.demonstrations.demonstration import Dataset
from wfairl.demonstrations.minari import MissingExtraError
from wfairl.files import write_atomically
from wfairl.learning.checkpoint import METRICS
from wfairl.learning.run_directory import RunExistsError
from wfairl.progress import progress_bar
from wfairl.worlds.minigrid.vector_environment import compile_scenes
from wfairl.worlds.task import Task


@dataclass(frozen=True, eq=False)
class GailTrial:
    """What came of one reward.

    Attributes:
        reward: its name.
        network: the policy of the best iteration, one logit a control.
        iteration: the last one with the best return in held-out scenes; -1 for the start, before the first.
        held_out: its returns there.
        history: one entry an iteration.
    """

    reward: str
    network: StateNetwork
    iteration: int
    held_out: Validation
    history: tuple[IterationMetrics, ...]


@dataclass(frozen=True, eq=False)
class GailResult:
    """What GAIL gives.

    Attributes:
        trials: one a reward, in the order of the configuration.
        sight: what the networks are shown.
    """

    trials: tuple[GailTrial, ...]
    sight: MapSight | AgentSight

    @property
    def best(self) -> GailTrial:
        """The trial of the better reward; the first of equals."""
        return max(self.trials, key=lambda trial: trial.held_out.best)

    @property
    def network(self) -> StateNetwork:
        """The policy, one logit a control."""
        return self.best.network

    @property
    def temperature(self) -> float:
        """At which to act."""
        return self.best.held_out.temperature

    def to_document(self) -> dict[str, Any]:
        """What was chosen and between what, as one JSON object."""
        return {
            "reward": self.best.reward,
            "iteration": self.best.iteration,
            "validation_returns": {
                trial.reward: {
                    f"{temperature:g}": one
                    for temperature, one in zip(TEMPERATURES, trial.held_out.returns, strict=True)
                }
                for trial in self.trials
            },
        }


def train_gail(
    task: Task, dataset: Dataset, config: GailConfig, directory: Path, resume: bool = False, n_jobs: int = 1
) -> GailResult:
    """Train GAIL, in a directory, to which `metrics.jsonl` and checkpoints go.

    Args:
        task: what the demonstrations are of.
        dataset: the demonstrations, of which only successes are imitated.
        config: how to train.
        directory: where metrics and checkpoints go.
        resume: go on with the training that is there, if there is one; it ends as if it had never stopped.
        n_jobs: scenes to read at once; it changes nothing in the result.

    Raises:
        MissingExtraError: Stable-Baselines3 is not installed.
        RunExistsError: there is a training in the directory, and it shall not be resumed.
        OtherConfigurationError: the training that is there has other settings or data.
        NoExpertError: no demonstration is a success.
    """
    check_extra()
    from wfairl.baselines.gail_training import controls_only, train_with_reward

    if (directory / CHECKPOINTS).exists() and not resume:
        raise RunExistsError(directory)
    lessons = prepare_lessons(task, dataset, config, n_jobs)
    held_out = compile_scenes(task, validation_seeds(config.validation_scenes, dataset), n_jobs)
    identity = _identity(lessons, config)
    trials: list[GailTrial] = []
    told: list[dict[str, Any]] = []
    with _meter(config) as show:
        for reward in config.rewards:

            def advance(metrics: IterationMetrics, now: bool, reward: str = reward) -> None:
                best = None if metrics.held_out is None else max(metrics.held_out)
                told.append({"reward": reward, **asdict(metrics), "held_out_return": best})
                show(reward, metrics)
                if now and metrics.held_out is not None:
                    _write_metrics(told, directory)

            path = directory / CHECKPOINTS / f"{reward}.safetensors"
            trained = train_with_reward(lessons, held_out, reward, config, path, identity, advance)
            network = controls_only(trained.tensors["best"], *lessons.sight.size)
            trials.append(_trial(reward, network, trained))
    _write_metrics(told, directory)
    return GailResult(tuple(trials), lessons.sight)


def check_extra() -> None:
    """See that what GAIL needs is installed.

    Raises:
        MissingExtraError: says which extra to install.
    """
    try:
        import stable_baselines3  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "GAIL needs Stable-Baselines3, which is not installed: pip install 'wfairl[baselines]'"
        ) from None


def _identity(lessons: Lessons, config: GailConfig) -> str:
    """What is trained on what and how, as one number."""
    digest = hashlib.sha256(json.dumps([asdict(config), lessons.pool.task.name], sort_keys=True).encode())
    expert = lessons.expert
    for array in (expert.grids.numpy(), expert.columns.numpy(), expert.controls.numpy(), lessons.pool.seeds):
        digest.update(f"{array.dtype.str}{array.shape}:".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _trial(reward: str, network: StateNetwork, trained: GailCheckpoint) -> GailTrial:
    return GailTrial(reward, network, trained.best_iteration, Validation(trained.best_returns), trained.history)


@contextmanager
def _meter(config: GailConfig) -> Iterator[Callable[[str, IterationMetrics], None]]:
    """A progress bar over the iterations of all rewards, with the generator's true return."""
    with progress_bar() as bar:
        meter = bar.add_task("GAIL", total=len(config.rewards) * config.iterations)

        def show(reward: str, metrics: IterationMetrics) -> None:
            seen = "" if metrics.mean_return is None else f": return {metrics.mean_return:.3f}"
            bar.update(meter, advance=1, description=f"GAIL, {reward}{seen}")

        yield show


def _write_metrics(told: Sequence[dict[str, Any]], directory: Path) -> None:
    write_atomically(directory / METRICS, "".join(json.dumps(line) + "\n" for line in told))
