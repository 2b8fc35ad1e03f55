"""What a run left on disk, for its page: each file on its own, and those that a policy does not need only if there."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wfairl.automata.task_model import TaskModel
from wfairl.demonstrations import Dataset, load
from wfairl.evaluation.evaluate import Evaluation
from wfairl.experiment import DEMONSTRATIONS, EXPERIMENT, read_evaluations
from wfairl.files import NotJsonError, parse_json, read_json, read_text
from wfairl.learning.checkpoint import METRICS
from wfairl.learning.run_directory import CONFIG, FORMAT, PLANNERS, TASK_MODEL, WFA_IRL, BrokenRunError, unfinished


@dataclass(frozen=True, eq=False)
class RunFiles:
    """The files of a run.

    Attributes:
        directory: where they are.
        config: what was trained and how.
        experiment: the settings of the whole flow; None if the run was not made by `wfairl run`.
        evaluation: evaluations by the name of the policy; empty if there are none.
        task_model: the automaton; None for a method without one.
        metrics: an entry for each epoch; empty if there are none.
        dataset: the demonstrations; None if they are elsewhere.
    """

    directory: Path
    config: dict[str, Any]
    experiment: dict[str, Any] | None
    evaluation: dict[str, Evaluation]
    task_model: TaskModel | None
    metrics: tuple[dict[str, Any], ...]
    dataset: Dataset | None

    @property
    def method(self) -> str:
        """What was trained."""
        return str(self.config.get("method", WFA_IRL))  # old runs do not say

    @property
    def plans(self) -> bool:
        """Whether the policy plans with an automaton and a cost; otherwise it is a network."""
        return self.method in PLANNERS

    @property
    def task(self) -> str:
        """The name of the task."""
        return str(self.config["task"])

    @property
    def temperature(self) -> float | None:
        """Of the demonstrations; None if nobody knows, as for a network, whose own temperature stands in that place."""
        known = self.config.get("temperature")
        return None if known is None or not self.plans else float(known)


def read_run_files(directory: Path) -> RunFiles:
    """Read what there is of a run.

    Raises:
        BrokenRunError: it is not the directory of a run.
        BadInputError: a file of it is broken; says which.
    """
    directory = Path(directory)
    return RunFiles(
        directory=directory,
        config=_read_config(directory),
        experiment=_read_object(directory / EXPERIMENT),
        evaluation=read_evaluations(directory),
        task_model=TaskModel.load(directory / TASK_MODEL) if (directory / TASK_MODEL).exists() else None,
        metrics=_read_metrics(directory / METRICS),
        dataset=load(directory / DEMONSTRATIONS) if (directory / DEMONSTRATIONS).exists() else None,
    )


def is_learned(policy: str) -> bool:
    """Whether a policy's name is that of one that was learned, and not of a reference."""
    return policy.startswith("learned")


def _read_config(directory: Path) -> dict[str, Any]:
    config = _read_object(directory / CONFIG)
    if config is None and (directory / EXPERIMENT).exists():
        raise unfinished(directory)
    if config is None:
        raise BrokenRunError(f"{directory}: not the directory of a run; `wfairl run` or `wfairl train` makes one")
    if config.get("format") != FORMAT or not isinstance(config.get("task"), str):
        raise BrokenRunError(f"{directory / CONFIG}: not the configuration of a run that this wfairl can read")
    return config


def _read_metrics(path: Path) -> tuple[dict[str, Any], ...]:
    entries = []
    for number, line in enumerate(read_text(path).splitlines() if path.exists() else (), start=1):
        try:
            entry = parse_json(line)
        except NotJsonError as error:
            raise BrokenRunError(f"{path}: line {number}: {error}") from None
        if not isinstance(entry, dict):
            raise BrokenRunError(f"{path}: line {number}: not an object")
        entries.append(entry)
    return tuple(entries)


def _read_object(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    document = read_json(path)
    if not isinstance(document, dict):
        raise BrokenRunError(f"{path}: not an object in JSON")
    return document
