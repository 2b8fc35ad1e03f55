"""A run on disk: `config.json`, `metrics.jsonl`, `checkpoint/`, and at the end what was learned.

`config.json` is a `RunConfig` whatever the method. Runs that learn a cost hold `task.json`, and end with
`cost.safetensors`; those of other methods (see `wfairl.runs.methods`) have files of their own.

Every file is written atomically, and nothing read from one can run code.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs.cost_model import CostModel, load_cost
from wfairl.core.costs.training import CHECKPOINT, OtherConfigurationError
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.support.bounds import Count, Name
from wfairl.core.support.documents import Form
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task
from wfairl.runs.collection import FIRST_TRAINING_SEED
from wfairl.runs.held_directory import check_directory

CONFIG, TASK_MODEL, COST = "config.json", "task.json", "cost.safetensors"


class BrokenRunError(BadInputError):
    """A directory is not that of a finished run."""


class RunExistsError(BadInputError):
    """There is a run in this directory already."""


@dataclass(frozen=True)
class RunConfig:
    """The configuration of a training."""

    method: Name  # the name of the method
    task: Name  # the name of the task
    temperature: float | None  # of the demonstrations; None if unknown
    settings: Mapping[str, Any]  # all settings of the method, as plain JSON
    seen: tuple[Count, ...] = ()  # test scenes in which something was demonstrated; a user's log may have some
    origin: Mapping[str, Any] = field(default_factory=dict)  # where the demonstrations come from, for the reader
    # what training determined and the policy needs, as plain JSON; empty before
    found: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_temperature(self.temperature)


def check_temperature(temperature: float | None) -> None:
    """Refuse a temperature of demonstrations at which they are random walks; None is unknown."""
    if temperature is not None and not 0 <= temperature < math.inf:
        raise BadInputError(
            f"the temperature of demonstrations must be 0 or more and finite, not {temperature}: a random walk shows"
            " nothing that could be imitated"
        )


@dataclass(frozen=True, eq=False)
class Run:
    """The parts of a run that a policy needs."""

    config: RunConfig
    task_model: TaskModel
    cost: CostModel


def load_run(directory: Path) -> Run:
    """Read a finished run that learned a cost; any other is a `BrokenRunError`."""
    config = read_config(directory)
    if "cost" not in config.settings:
        raise BrokenRunError(f"{directory}: a run of the method {config.method}, which learns no cost")
    if not (directory / TASK_MODEL).exists() or not (directory / COST).exists():
        raise unfinished(directory)
    return Run(config, TaskModel.load(directory / TASK_MODEL), load_cost(directory / COST))


def check_fits(directory: Path, model: TaskModel, task: Task) -> None:
    """Refuse the automaton of a run for a task that lacks what the automaton reads."""
    foreign = sorted(model.finite.propositions - set(task.propositions))
    if foreign:
        raise BadInputError(
            f"{directory}: a run of the task {read_config(directory).task!r}, whose automaton reads"
            f" {', '.join(foreign)}; the task {task.name!r} does not have that"
        )


def read_config(directory: Path) -> RunConfig:
    """The configuration of a run of any method; a missing or broken one is a `BrokenRunError`."""
    path = directory / CONFIG
    if not path.exists():
        raise BrokenRunError(f"{directory}: not the directory of a run; `wfairl train` or `wfairl run` makes one")
    return FORM.read(path)


FORM = Form(
    "wfairl-run", "the configuration of a run", 3, RunConfig, BrokenRunError, "train it again, in another directory"
)


def write_config(directory: Path, config: RunConfig) -> None:
    """Write the configuration of a run of any method."""
    FORM.write(directory / CONFIG, asdict(config))


def unfinished(directory: Path) -> BrokenRunError:
    """The error for a run of any method that was killed."""
    return BrokenRunError(
        f"{directory}: the run has not finished; the command that began it goes on with it: `wfairl train` or"
        " `wfairl run` with --resume"
    )


def seen_tests(dataset: Dataset) -> tuple[int, ...]:
    """The test scenes in which something was demonstrated."""
    return tuple(sorted(seed for seed in dataset.seeds if seed < FIRST_TRAINING_SEED))


def check_free(directory: Path, config: RunConfig, resume: bool) -> None:
    """See `check_resumable`; what training has `found` does not count."""
    new = asdict(replace(config, found={}))
    check_resumable(
        directory, (CONFIG, CHECKPOINT), resume, lambda: asdict(replace(read_config(directory), found={})), new
    )


def check_resumable(
    directory: Path,
    files: Sequence[str | Path],
    resume: bool,
    read: Callable[[], dict[str, Any]],
    config: dict[str, Any],
) -> None:
    """Check that a directory holds none of the files of a run yet, or a run of the same configuration to resume.

    Args:
        directory: where the run goes.
        files: a run exists if one of them does.
        resume: resume an existing run.
        read: reads the configuration of the existing run, to be compared with that of the new one.

    Raises:
        RunExistsError: a run exists, and `resume` is off.
        OtherConfigurationError: names the settings that changed.
    """
    check_directory(directory)
    if not any((directory / name).exists() for name in files):
        return
    if not resume:
        raise RunExistsError(
            f"{directory}: there is a run already; go on with --resume (in Python, resume=True), or choose another"
            " directory"
        )
    # A file has lists where records have tuples: compare both as JSON.
    before, now = (flat(json.loads(json.dumps(settings))) for settings in (read(), config))
    changed = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    if changed:
        raise OtherConfigurationError(
            f"{directory}: the run has another configuration ({', '.join(changed)} changed)."
            " Resume with the same settings, or start a new run in another directory"
        )


def flat(settings: Mapping[str, Any], group: str = "") -> dict[str, Any]:
    """The settings with those of groups as `group.name`."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        found |= flat(value, f"{group}{name}.") if isinstance(value, Mapping) else {f"{group}{name}": value}
    return found
