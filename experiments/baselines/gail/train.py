"""GAIL: train with each reward, and choose between them by validation.

    trained = train_gail(task, dataset, GailConfig(), directory)

The generator is Stable-Baselines3's PPO, which acts in a batch of compiled scenes. Policy, value and discriminator have
the network of the world's encoder, in MiniGrid the paper's. Validation scenes, used for neither training nor testing,
choose the reward, the iteration and the temperature of the policy.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from experiments.baselines.encoder import Encoder, blank_network
from experiments.baselines.gail.checkpoint import CHECKPOINTS, GailCheckpoint, IterationMetrics
from experiments.baselines.gail.scenes import GailData, prepare_data
from experiments.baselines.gail.settings import GailConfig
from experiments.baselines.network import StateNetwork
from experiments.baselines.policy_run import ModelSelection, PolicyRun, begin_run, finish_run, run_config
from experiments.baselines.validation import ValidationReturns, validation_seeds
from experiments.vector.vector_environment import compile_scenes
from wfairl.core.costs.checkpoint import METRICS, feed
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.runs.run_directory import check_free
from wfairl.core.support.documents import write_lines
from wfairl.core.support.errors import MissingExtraError
from wfairl.core.support.progress import progress_bar
from wfairl.core.worlds.task import Task

METHOD = "gail"


@dataclass(frozen=True, eq=False)
class GailTrial:
    """The result of one reward.

    Attributes:
        reward: its name.
        network: the policy of the best iteration, one logit per control.
        iteration: the last one with the best return in validation scenes; -1 for the start, before the first.
        validation: its returns there.
        history: one entry per iteration.
    """

    reward: str
    network: StateNetwork
    iteration: int
    validation: ValidationReturns
    history: tuple[IterationMetrics, ...]


@dataclass(frozen=True, eq=False)
class TrainedGail:
    """The result of a run: the policy, and the trial of each reward in the order of the configuration."""

    run: PolicyRun
    trials: tuple[GailTrial, ...]

    @property
    def best(self) -> GailTrial:
        """The trial of the better reward; the first of equals."""
        return best_trial(self.trials)


def train_gail(
    task: Task,
    dataset: Dataset,
    config: GailConfig,
    directory: Path,
    resume: bool = False,
    n_jobs: int = 1,
    origin: Mapping[str, Any] | None = None,
) -> TrainedGail:
    """Learn a policy from the successful demonstrations, in a directory.

    Args:
        task: the task of the demonstrations.
        dataset: the demonstrations; only successes are imitated.
        config: how to train.
        directory: of the run.
        resume: resume an existing run; it ends as if it had never stopped.
        n_jobs: scenes to compile in parallel; it does not change the result.
        origin: where the demonstrations came from, for the reader.

    Raises:
        MissingExtraError: Stable-Baselines3 is not installed.
        RunExistsError: there is a run, and `resume` is not set.
        OtherConfigurationError: the existing run has other settings or data.
        NoSuccessfulDemonstrationError: no demonstration is a success.
    """
    check_extra()
    from experiments.baselines.gail.adversarial import run_iterations

    run_settings = run_config(METHOD, dataset, config, origin)
    check_free(directory, run_settings, resume)
    data = prepare_data(task, dataset, config, n_jobs)
    validation = compile_scenes(task, validation_seeds(config.validation_scenes, dataset), n_jobs)
    begin_run(run_settings, directory, resume)
    fingerprint = _fingerprint(data, config)
    trials: list[GailTrial] = []
    lines: list[dict[str, Any]] = []
    with progress_bar() as bar:
        meter = bar.add_task("GAIL", total=len(config.rewards) * config.iterations)
        for reward in config.rewards:
            path = directory / CHECKPOINTS / f"{reward}.safetensors"
            resumed = GailCheckpoint.read(path, fingerprint)
            for checkpoint in run_iterations(data, validation, reward, config, resumed):
                history, done = checkpoint.history, len(checkpoint.history)
                if done and (done == config.iterations or done % config.checkpoint_every == 0):
                    checkpoint.write(path, fingerprint)
                if done and history[-1].held_out is not None:
                    write_lines(directory / METRICS, [*lines, *_lines(reward, history)])
                returned = history[-1].mean_return if done else None
                title = f"GAIL, {reward}" + ("" if returned is None else f": return {returned:.3f}")
                bar.update(meter, completed=len(trials) * config.iterations + done, description=title)
            lines += _lines(reward, history)
            network = _without_value(checkpoint.tensors["best"], data.encoder)
            returns = ValidationReturns(checkpoint.best_returns)
            trials.append(GailTrial(reward, network, checkpoint.best_iteration, returns, history))
    best = best_trial(trials)
    selection = ModelSelection(best.validation.temperature, _details(trials), best.validation.best)
    return TrainedGail(finish_run(run_settings, directory, [best.network], data.encoder, selection), tuple(trials))


def best_trial(trials: Sequence[GailTrial]) -> GailTrial:
    """The trial with the best return in validation scenes; the first of equals."""
    return max(trials, key=lambda trial: trial.validation.best)


def check_extra() -> None:
    """Raise `MissingExtraError` if Stable-Baselines3 is not installed."""
    try:
        import stable_baselines3  # noqa: F401
    except ImportError:
        raise MissingExtraError("Stable-Baselines3, which GAIL needs,", "baselines") from None


def _without_value(policy: Mapping[str, Tensor], encoder: Encoder) -> StateNetwork:
    """The network of a policy without its value output."""
    network = blank_network(encoder)
    network.load_state_dict(network.logits_alone(policy, len(encoder.controls)))
    return network


def _details(trials: Sequence[GailTrial]) -> dict[str, Any]:
    """The choice of the reward and its alternatives, as JSON."""
    best = best_trial(trials)
    return {
        "reward": best.reward,
        "iteration": best.iteration,
        "validation_returns": {trial.reward: trial.validation.to_document() for trial in trials},
    }


def _fingerprint(data: GailData, config: GailConfig) -> str:
    """A digest of the data and the settings."""
    digest = hashlib.sha256()
    expert, pool = data.expert, data.pool
    observations = expert.observations.bank, expert.observations.columns
    feed(digest, [asdict(config), pool.task.name], *observations, expert.controls, pool.seeds)
    return digest.hexdigest()


def _lines(reward: str, history: Sequence[IterationMetrics]) -> list[dict[str, Any]]:
    """The metrics of a reward's iterations, as lines of the run."""
    return [
        {"reward": reward, **asdict(one), "held_out_return": None if one.held_out is None else max(one.held_out)}
        for one in history
    ]
