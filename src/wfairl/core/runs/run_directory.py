"""A run on disk: `config.json`, `task.json`, `metrics.jsonl`, `checkpoint/`, and at the end what was learned.

    train_run(dataset, make_world, task_model, config, directory)     learns a cost and writes its run
    load_run(directory)                                               reads what its policy needs

`config.json` is a `RunConfig` whatever the method. Runs that learn a cost end with `cost.safetensors`; those of other
methods (see `wfairl.core.runs.methods`) have files of their own.

Every file is written atomically, and nothing read from one can run code.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs.checkpoint import CHECKPOINT, OtherConfigurationError
from wfairl.core.costs.cost_model import DEFAULT_ACTIVATION, DEFAULT_FLOOR, CostModel, check_output
from wfairl.core.costs.scene import LeftOut, MakeWorld, prepare_scenes
from wfairl.core.costs.storage import find_cost_model, load_cost, save_cost
from wfairl.core.costs.trainer import Settings, TrainingResult, prepare_training, run_training
from wfairl.core.demonstrations.collection import FIRST_TRAINING_SEED
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.planning.product import Product
from wfairl.core.support.documents import Count, Form, Name
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import check_directory

CONFIG, TASK_MODEL, COST = "config.json", "task.json", "cost.safetensors"

FOUND = "found"
"""The part of a configuration that training determines: resuming does not compare it."""

DEFAULT_TRAINING_TEMPERATURE = 0.5
"""For demonstrations of temperature 0 or unknown: at 0 nothing can be learned, since the policy is constant almost
everywhere; at the initial costs of all models, 0.5 makes a detour of one step seven times less likely."""


class BrokenRunError(BadInputError):
    """A directory is not that of a finished run."""


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
        method: the name of the method.
        task: the name of the task.
        temperature: of the demonstrations; None if unknown.
        settings: all settings of the method, as plain JSON.
        seen: test scenes that demonstrations come from nevertheless, as those of a user's log may.
        origin: where the demonstrations come from, for the reader.
        found: what training determined and the policy needs, as plain JSON; empty before.
    """

    method: Name
    task: Name
    temperature: float | None
    settings: Mapping[str, Any]
    seen: tuple[Count, ...] = ()
    origin: Mapping[str, Any] = field(default_factory=dict)
    found: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.temperature is not None and not 0 <= self.temperature < math.inf:
            raise BadInputError(
                f"the temperature of demonstrations must be 0 or more and finite, not {self.temperature}:"
                " a random walk shows nothing that could be imitated"
            )


@dataclass(frozen=True)
class PlannerSettings:
    """How to learn a cost.

    Attributes:
        cost: kind of cost model: local or paper (MiniGrid), linear, shared-linear, prices or tabular; the task's own
            unless given.
        floor: least cost of a transition.
        activation: output of the cost model: softplus, or relu as in the paper.
        epochs: passes over the demonstrations.
        batch_size: scenes per Adam step.
        learning_rate: initial learning rate of Adam, with cosine decay to zero; the cost model's own unless given.
        weight_decay: decoupled weight decay of Adam; it pulls all costs towards the same number.
        temperature: to train at; that of the demonstrations unless given, or 0.5 if that is 0 or unknown.
        held_out: fraction of the demonstrations that only choose the epoch; 0 keeps the last epoch.
        seed: random seed of the split and of the order of scenes.
    """

    cost: str | None = None
    floor: float = DEFAULT_FLOOR
    activation: str = DEFAULT_ACTIVATION
    epochs: int = 50
    batch_size: int = 8
    learning_rate: float | None = None
    weight_decay: float = 1e-2
    temperature: float | None = None
    held_out: float = 0.25
    seed: int = 0

    def __post_init__(self) -> None:
        check_output(self.floor, self.activation)
        _ = self.training(None)  # refuses impossible settings early

    def training(self, demonstrated: float | None) -> Settings:
        """The settings of the trainer, for demonstrations of some temperature; before `complete`, any learning rate."""
        kind = Settings if self.cost is None else find_cost_model(self.cost)
        chosen = {one.name: getattr(self, one.name) for one in fields(Settings)}
        if self.learning_rate is None:
            chosen["learning_rate"] = kind.learning_rate
        if self.temperature is None:
            chosen["temperature"] = training_temperature(demonstrated)
        return Settings(**chosen)

    def complete(self, default_cost: str) -> "PlannerSettings":
        """The same settings with the task's own cost where none was named."""
        return self if self.cost is not None else replace(self, cost=default_cost)


@dataclass(frozen=True, eq=False)
class Run:
    """What a policy needs of a run."""

    config: RunConfig
    task_model: TaskModel
    cost: CostModel


@dataclass(frozen=True, eq=False)
class TrainedRun:
    """The result of `train_run`: the run, how training went, and which demonstrations were left out."""

    run: Run
    training: TrainingResult
    left_out: tuple[LeftOut, ...]


def training_temperature(temperature: float | None) -> float:
    """The temperature to train at for demonstrations of some temperature: theirs if it is above zero and finite."""
    return temperature if temperature is not None and 0 < temperature < math.inf else DEFAULT_TRAINING_TEMPERATURE


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
        config: what to train, and how; its settings are those of `PlannerSettings`, with a kind of cost.
        directory: where the run goes.
        resume: resume an existing run.
        n_jobs: scenes to work on at once; it changes nothing in the result.

    Raises:
        RunExistsError: a run exists, and `resume` is off.
        OtherConfigurationError: the existing run has another configuration, automaton or other demonstrations.
        BadInputError, FailedRunError: see `prepare_scenes` and `train`.
    """
    check_free(directory, config, resume)
    settings = PlannerSettings(**config.settings)
    prepared = prepare_scenes(dataset.demonstrations, make_world, task_model.finite, task_model.threshold, n_jobs)
    model = make_cost(settings, [scene.product for scene in prepared.scenes])
    training = prepare_training(model, prepared.scenes, settings.training(config.temperature), directory, resume)
    # Nothing is written before here, so that a refused request leaves the directory as it was.
    write_config(directory, config)
    task_model.save(directory / TASK_MODEL)
    result = run_training(training, n_jobs)
    save_cost(result.model, directory / COST)
    return TrainedRun(Run(config, task_model, result.model), result, prepared.left_out)


def make_cost(settings: PlannerSettings, products: Sequence[Product]) -> CostModel:
    """An untrained cost model, the same for the same seed; torch's global generator stays as it is."""
    assert settings.cost is not None
    kind = find_cost_model(settings.cost)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        return kind.for_products(products, floor=settings.floor, activation=settings.activation)


def load_run(directory: Path) -> Run:
    """Read a finished run that learned a cost.

    Raises:
        BrokenRunError: says what is missing or broken, or that the run is of a method that learns no cost.
    """
    config = read_config(directory)
    if "cost" not in config.settings:
        raise BrokenRunError(f"{directory}: a run of the method {config.method}, which learns no cost")
    if not (directory / TASK_MODEL).exists() or not (directory / COST).exists():
        raise unfinished(directory)
    return Run(config, TaskModel.load(directory / TASK_MODEL), load_cost(directory / COST))


def read_config(directory: Path) -> RunConfig:
    """The configuration of a run of any method.

    Raises:
        BrokenRunError: there is none, or it is broken.
    """
    path = directory / CONFIG
    if not path.exists():
        raise BrokenRunError(f"{directory}: not the directory of a run; `wfairl train` or `wfairl run` makes one")
    return FORM.read(path)


FORM = Form(
    "wfairl-run",
    "the configuration of a run",
    3,
    RunConfig,
    BrokenRunError,
    "train it again, in another directory",
)


def write_config(directory: Path, config: RunConfig) -> None:
    """Write the configuration of a run of any method."""
    FORM.write(directory / CONFIG, asdict(config))


def unfinished(directory: Path) -> BrokenRunError:
    """What to raise for a run of any method that was killed."""
    return BrokenRunError(
        f"{directory}: the run has not finished; the command that began it goes on with it: `wfairl train` or"
        " `wfairl run` with --resume, or `wfairl reproduce` if it is a cell of a suite"
    )


def seen_tests(dataset: Dataset) -> tuple[int, ...]:
    """The test scenes that demonstrations come from nevertheless."""
    return tuple(sorted(seed for seed in dataset.seeds if seed < FIRST_TRAINING_SEED))


def check_free(directory: Path, config: RunConfig, resume: bool) -> None:
    """Check that there is no run yet, or one of the same configuration to resume; `found` does not count.

    Raises:
        RunExistsError: a run exists, and `resume` is off.
        OtherConfigurationError: the existing run has another configuration.
    """
    check_directory(directory)
    if (directory / CONFIG).exists() or (directory / CHECKPOINT).exists():
        if not resume:
            raise RunExistsError(directory)
        before, now = ({**asdict(one), FOUND: None} for one in (read_config(directory), config))
        check_unchanged(before, now, directory)


def check_unchanged(before: dict[str, Any], now: dict[str, Any], directory: Path) -> None:
    """Refuse to resume a run with other settings.

    Raises:
        OtherConfigurationError: names the settings that changed.
    """
    # A file has lists where records have tuples: compare both as JSON.
    changed = _differences(*(json.loads(json.dumps(settings)) for settings in (before, now)))
    if changed:
        raise OtherConfigurationError(
            f"{directory}: the run has another configuration ({', '.join(changed)} changed)."
            " Resume with the same settings, or start a new run in another directory"
        )


def _differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """The names of the settings that differ, those within a group as `group.name`."""
    names = []
    for name in sorted({*before, *now}):
        one, other = before.get(name), now.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            names += [f"{name}.{inner}" for inner in _differences(one, other)]
        elif one != other:
            names.append(name)
    return names
