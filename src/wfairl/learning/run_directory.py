"""A run on disk: `config.json`, `task.json`, `metrics.jsonl`, `checkpoint/`, and at the end `cost.safetensors`.

    train_run(dataset, make_world, task_model, config, directory)     writes one
    load_run(directory)                                           reads what a policy needs

`config.json` says by which method a run was made. The runs that plan with a cost are of this room; those of other
methods (see `wfairl.methods`) have a configuration with the same head, `read_document`, and files of their own.

Every file is written whole or not at all, and nothing read from one can run code.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from wfairl.automata.task_model import TaskModel
from wfairl.demonstrations.collection import FIRST_TRAINING_SEED
from wfairl.demonstrations.demonstration import Dataset
from wfairl.errors import BadInputError
from wfairl.files import check_directory, read_json, write_json
from wfairl.learning.checkpoint import CHECKPOINT, OtherConfigurationError
from wfairl.learning.cost_model import DEFAULT_ACTIVATION, DEFAULT_FLOOR, CostModel, check_output
from wfairl.learning.scene import LeftOut, MakeWorld, prepare_scenes
from wfairl.learning.storage import find_cost_model, load_cost, save_cost
from wfairl.learning.trainer import Settings, TrainingResult, prepare_training, run_training
from wfairl.planning.product import Product

FORMAT = "wfairl-run"
VERSION = 1

WFA_IRL, NO_AUTOMATON = "wfa-irl", "no-automaton"
PLANNERS = (WFA_IRL, NO_AUTOMATON)
"""The methods that learn a cost: with an automaton that was learned, and until the goal alone."""

CONFIG, TASK_MODEL, COST = "config.json", "task.json", "cost.safetensors"

DEFAULT_TRAINING_TEMPERATURE = 0.5
"""For demonstrations of temperature 0 or unknown: at 0 nothing can be learned, since the policy is constant almost
everywhere; at the scale of costs that all models start with, 0.5 makes a detour of one step seven times less likely."""


class BrokenRunError(BadInputError):
    """A directory is not that of a finished run."""


class OtherMethodError(BadInputError):
    """A run is of another method than is asked for."""


class RunExistsError(BadInputError):
    """There is a run in this directory already."""

    def __init__(self, directory: Path):
        super().__init__(
            f"{directory}: there is a run already; go on with --resume (in Python, resume=True), or choose another"
            " directory"
        )


@dataclass(frozen=True)
class RunConfig:
    """What was trained, and how.

    Attributes:
        task: the name of the task.
        temperature: of the demonstrations, and of the policy that is learned unless one says otherwise.
        cost: the kind of cost model.
        floor: the least cost of a transition.
        activation: the output of the cost model.
        training: how the cost is trained.
        method: `wfa-irl`, or `no-automaton`.
        seen: scenes for testing that demonstrations came from all the same, as those of a user's log may.
        origin: where the demonstrations came from, for people.
    """

    task: str
    temperature: float | None
    cost: str = "local"
    floor: float = DEFAULT_FLOOR
    activation: str = DEFAULT_ACTIVATION
    training: Settings = field(default_factory=Settings)
    method: str = WFA_IRL
    seen: tuple[int, ...] = ()
    origin: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.temperature is not None and not 0 <= self.temperature < math.inf:
            raise BadInputError(
                f"the temperature of demonstrations must be 0 or more and finite, not {self.temperature}:"
                " a random walk shows nothing that could be imitated"
            )
        if self.method not in PLANNERS:
            raise BadInputError(f"the methods that learn a cost are {WFA_IRL} and {NO_AUTOMATON}, not {self.method!r}")
        find_cost_model(self.cost)
        check_output(self.floor, self.activation)


@dataclass(frozen=True, eq=False)
class Run:
    """What a policy needs of a run."""

    config: RunConfig
    task_model: TaskModel
    cost: CostModel


@dataclass(frozen=True, eq=False)
class TrainedRun:
    """What came of a run: its parts, how training went, and which demonstrations were left out."""

    run: Run
    training: TrainingResult
    left_out: tuple[LeftOut, ...]


def training_temperature(temperature: float | None) -> float:
    """The temperature to train at for demonstrations of some temperature: theirs, if that can be trained at."""
    if temperature is None or not 0 < temperature < math.inf:
        return DEFAULT_TRAINING_TEMPERATURE
    return temperature


def train_run(
    dataset: Dataset,
    make_world: MakeWorld,
    task_model: TaskModel,
    config: RunConfig,
    directory: Path,
    resume: bool = False,
    n_jobs: int = 2,
) -> TrainedRun:
    """Learn the cost of demonstrations, in a directory.

    Args:
        dataset: the demonstrations.
        make_world: the world of a demonstration's seed.
        task_model: the task.
        config: what to train, and how.
        directory: where the run goes.
        resume: go on with the run that is there, if there is one.
        n_jobs: scenes to work on at once; it changes nothing in the result.

    Raises:
        RunExistsError: there is a run, and it shall not be resumed.
        OtherConfigurationError: the run that is there has another configuration, automaton or other demonstrations.
        BadInputError, FailedRunError: see `prepare_scenes` and `train`.
    """
    check_free(directory, asdict(config), resume)
    prepared = prepare_scenes(dataset.demonstrations, make_world, task_model.finite, task_model.threshold, n_jobs)
    model = make_cost(config, [scene.product for scene in prepared.scenes])
    training = prepare_training(model, prepared.scenes, config.training, directory, resume)
    # Nothing is written before all of the above has agreed: what is refused leaves the directory as it was.
    write_document(directory, asdict(config))
    task_model.save(directory / TASK_MODEL)
    result = run_training(training, n_jobs)
    save_cost(result.model, directory / COST)
    return TrainedRun(Run(config, task_model, result.model), result, prepared.left_out)


def make_cost(config: RunConfig, products: Sequence[Product]) -> CostModel:
    """An untrained cost model, the same for the same seed; the global generator of torch is left alone."""
    kind = find_cost_model(config.cost)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.training.seed)
        return kind.for_products(products, floor=config.floor, activation=config.activation)


def load_run(directory: Path) -> Run:
    """Read a finished run.

    Raises:
        BrokenRunError: says what is missing or broken.
    """
    config = read_config(directory)
    if not (directory / COST).exists():
        raise unfinished(directory)
    return Run(config, TaskModel.load(directory / TASK_MODEL), load_cost(directory / COST))


def read_config(directory: Path) -> RunConfig:
    """The configuration of a run that learned a cost.

    Raises:
        BrokenRunError: there is none, or it is broken.
        OtherMethodError: the run is of a method that learns no cost.
    """
    document = read_document(directory)
    if document["method"] not in PLANNERS:
        raise OtherMethodError(f"{directory}: a run of the method {document['method']}, which learns no cost")
    try:
        return RunConfig(**{**document, "training": Settings(**document["training"]), "seen": tuple(document["seen"])})
    except (KeyError, TypeError, ValueError) as error:
        raise broken_configuration(directory, str(error)) from None


def read_document(directory: Path) -> dict[str, Any]:
    """The configuration of a run of any method, with `method`, `task` and `seen` in it, and without its format.

    Raises:
        BrokenRunError: there is none, or it is broken.
    """
    path = directory / CONFIG
    if not path.exists():
        raise BrokenRunError(f"{directory}: not the directory of a run; `wfairl train` or `wfairl run` makes one")
    document = read_json(path)
    if not isinstance(document, dict) or (document.pop("format", None), document.pop("version", None)) != (
        FORMAT,
        VERSION,
    ):
        raise broken_configuration(directory, "another format or version")
    document.setdefault("method", WFA_IRL)  # there was a time when there was no other
    for name, kind in (("method", str), ("task", str), ("seen", list)):
        if not isinstance(document.get(name), kind):
            raise broken_configuration(directory, f"no {name}")
    if not all(isinstance(seed, int) for seed in document["seen"]):
        raise broken_configuration(directory, "seen holds what is no scene")
    return document


def write_document(directory: Path, config: dict[str, Any]) -> None:
    """Write the configuration of a run of any method."""
    write_json(directory / CONFIG, {"format": FORMAT, "version": VERSION, **config})


def unfinished(directory: Path) -> BrokenRunError:
    """What to raise for a run of any method that was killed."""
    return BrokenRunError(
        f"{directory}: the run has not finished; the command that began it goes on with it: `wfairl train` or"
        " `wfairl run` with --resume, or `wfairl reproduce` if it is a cell of a reproduction"
    )


def broken_configuration(directory: Path, reason: str) -> BrokenRunError:
    """What to raise for a configuration that cannot be read."""
    return BrokenRunError(f"{directory / CONFIG}: not the configuration of a run that this wfairl can read ({reason})")


def seen_tests(dataset: Dataset) -> tuple[int, ...]:
    """The scenes for testing that demonstrations came from all the same."""
    return tuple(sorted(seed for seed in dataset.seeds if seed < FIRST_TRAINING_SEED))


def check_free(directory: Path, config: dict[str, Any], resume: bool, found: Sequence[str] = ()) -> None:
    """See that there is no run yet, or one of the same configuration that shall be resumed.

    Args:
        directory: where the run goes.
        config: its configuration.
        resume: whether a run that is there shall be gone on with.
        found: what a configuration may have besides, because training finds it.

    Raises:
        RunExistsError: there is a run, and it shall not be resumed.
        OtherConfigurationError: the run that is there has another configuration.
    """
    check_directory(directory)
    if (directory / CONFIG).exists() or (directory / CHECKPOINT).exists():
        if not resume:
            raise RunExistsError(directory)
        before = {name: setting for name, setting in read_document(directory).items() if name not in found}
        check_unchanged(before, config, directory)


def check_unchanged(before: dict[str, Any], now: dict[str, Any], directory: Path) -> None:
    """Refuse to go on with a run under other settings.

    Raises:
        OtherConfigurationError: names the settings that changed.
    """
    # What was read from a file has lists where records have tuples: compare both as a file would have them.
    changed = _differences(*(json.loads(json.dumps(settings)) for settings in (before, now)))
    if changed:
        raise OtherConfigurationError(
            f"{directory}: the run has another configuration ({', '.join(changed)} changed)."
            " Resume with the same settings, or start a new run in another directory"
        )


def _differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """The settings that are not the same, those within a group as `group.name`."""
    found = []
    for name in sorted({*before, *now}):
        one, other = before.get(name), now.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            found += [f"{name}.{inner}" for inner in _differences(one, other)]
        elif one != other:
            found.append(name)
    return found
