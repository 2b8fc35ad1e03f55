"""The files of a run, for its page. Files that a policy does not need may be missing."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs.checkpoint import METRICS, read_metrics
from wfairl.core.costs.settings import DEFAULT_TRAINING_TEMPERATURE
from wfairl.core.demonstrations import Dataset, load
from wfairl.core.runs.evaluation import Evaluation, read_evaluations
from wfairl.core.runs.methods import Method, find_method
from wfairl.core.runs.pipeline import DEMONSTRATIONS, EXPERIMENT, read_experiment
from wfairl.core.runs.run_directory import (
    CONFIG,
    TASK_MODEL,
    BrokenRunError,
    RunConfig,
    read_config,
    unfinished,
)
from wfairl.core.worlds.task_registry import loaded_sources


@dataclass(frozen=True, eq=False)
class RunFiles:
    """The files of a run.

    Attributes:
        experiment: the settings of the whole experiment; None if the run was not made by `wfairl run`.
        evaluation: evaluations by the name of the policy.
        task_model: None for a method without one.
        metrics: one entry per epoch.
        dataset: None if the demonstrations are not in the directory.
    """

    directory: Path
    config: RunConfig
    experiment: dict[str, Any] | None
    evaluation: dict[str, Evaluation]
    task_model: TaskModel | None
    metrics: tuple[dict[str, Any], ...]
    dataset: Dataset | None

    @property
    def method(self) -> Method:
        """The method that trained it."""
        return find_method(self.config.method)

    @property
    def demonstrated_temperature(self) -> float:
        """The temperature of the demonstrations; a default if unknown."""
        temperature = self.config.temperature
        return DEFAULT_TRAINING_TEMPERATURE if temperature is None else temperature


def read_run_files(directory: Path) -> RunFiles:
    """Read the files of a run.

    Raises:
        BrokenRunError: it is not the directory of a run, or the run is unfinished.
        BadInputError: a file is broken; says which.
    """
    directory = Path(directory)
    if not (directory / CONFIG).exists() and (directory / EXPERIMENT).exists():
        raise unfinished(directory)
    config = read_config(directory)
    if find_method(config.method).learns_cost and not (directory / TASK_MODEL).exists():
        raise BrokenRunError(f"{directory / TASK_MODEL}: there is no such file, and {config.method} plans with it")
    return RunFiles(
        directory=directory,
        config=config,
        experiment=read_experiment(directory) if (directory / EXPERIMENT).exists() else None,
        evaluation=read_evaluations(directory),
        task_model=TaskModel.load(directory / TASK_MODEL) if (directory / TASK_MODEL).exists() else None,
        metrics=read_metrics(directory) if (directory / METRICS).exists() else (),
        dataset=load(directory / DEMONSTRATIONS) if (directory / DEMONSTRATIONS).exists() else None,
    )


def is_learned(policy: str) -> bool:
    """Whether a policy's name is that of a learned policy, not of a reference."""
    return policy.startswith("learned")


def command_line(*arguments: str) -> str:
    """A command of the command line for a shell, with the task files that it needs."""
    sources = [part for source in loaded_sources() for part in ("--tasks", source)]
    return shlex.join(["wfairl", *sources, *arguments])
