"""Behavioural cloning: the control that a demonstrator took, learned as a function of the state alone.

    L(theta) = - mean over demonstrated steps of log pi_theta(u_t | x_t)

with the paper's network for pi. Demonstrations are few, so everything is done that helps a fair competitor with few:

- The network sees with the agent's eyes, and every second time in a mirror (`sight`).
- Steps that changed nothing are not imitated. A demonstrator at temperature 0.5 takes many; they cost it time, and a
  clone that is not sure where it stands may repeat one for ever.
- Hidden units are dropped out while it is trained, and weights decay. How much is dropped out is chosen on held-out
  demonstrations, and so is the epoch, counting from 0 before any training: by how often the likeliest control is not
  the demonstrated one. Their likelihood would end training too early: it gets worse, because a network that errs does
  so with ever more confidence, long before errors stop becoming fewer.
- The demonstrations are split in parts. Each network of a committee is trained without one of them, which chooses its
  epoch; so all demonstrations teach, and all are held out. The committee acts with the mean of their probabilities.
- The temperature at which it acts is chosen on scenes for validation, which nobody is trained or tested on.

As in `learning.trainer`, nothing random is kept between epochs: a run that was killed goes on from its checkpoints,
and ends as if it had never stopped, bit for bit.
"""

import copy
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch.nn import functional

from wfairl.baselines.lessons import Lesson, make_lesson
from wfairl.baselines.network import StateNetwork
from wfairl.baselines.policy_run import (
    POLICY,
    Choice,
    PolicyRun,
    PolicyRunConfig,
    begin_run,
    check_run,
    finish_run,
    load_policy_run,
)
from wfairl.baselines.scenes import validation_seeds
from wfairl.baselines.sight import AgentSight, MapSight, find_sight, network_for
from wfairl.baselines.validation import Trials, join
from wfairl.demonstrations.demonstration import Dataset
from wfairl.errors import BadInputError
from wfairl.files import write_atomically
from wfairl.learning.adam import Adam
from wfairl.learning.checkpoint import METRICS, Checkpoint, EpochMetrics, feed, read_checkpoint, write_checkpoint
from wfairl.learning.grid_network import Dropout
from wfairl.learning.run_directory import seen_tests
from wfairl.learning.scene import NoSuccessfulDemonstrationError
from wfairl.learning.threads import one_torch_thread
from wfairl.learning.trainer import LARGEST_SEED, DivergedError
from wfairl.parallel import map_in_threads
from wfairl.progress import progress_bar
from wfairl.worlds.minigrid.rules import CONTROLS
from wfairl.worlds.task import Task

METHOD = "bc"

TEMPERATURES = (0.0, 0.25, 0.5, 1.0)
"""To choose from: 0 acts greedily, 1 as trained."""

_SPLIT, _ORDER, _DROPOUT, _VALIDATION = range(4)
"""What random numbers are for: each purpose has a stream of its own."""


@dataclass(frozen=True)
class CloningConfig:
    """How to train.

    Attributes:
        view: what the network is shown: `agent` (see `sight`), or `map`, as in the paper.
        radius: how far the agent sees, in cells.
        mirror: whether it learns from mirrored demonstrations too.
        idle: whether it learns from steps that changed nothing too.
        networks: how many form the committee, and parts that the demonstrations are split into; at least 2.
        dropouts: chances of a hidden unit to be left out, to choose from.
        epochs: times over the demonstrations, at most.
        patience: epochs without a better one, by held-out errors and then loss, after which a network is done.
        batch_size: demonstrations a step of Adam.
        learning_rate: of Adam at the beginning; it falls to zero along half a cosine.
        weight_decay: of Adam, decoupled.
        validation_scenes: to choose the temperature on.
        seed: of everything random.
    """

    view: str = "agent"
    radius: int = 5
    mirror: bool = True
    idle: bool = False
    networks: int = 4
    dropouts: tuple[float, ...] = (0.3,)
    epochs: int = 150
    patience: int = 50
    batch_size: int = 2
    learning_rate: float = 2e-3
    weight_decay: float = 1e-2
    validation_scenes: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        if self.networks < 2:
            raise BadInputError(f"behavioural cloning needs 2 networks or more, not {self.networks}: each holds out")
        if self.epochs < 0 or min(self.batch_size, self.patience, self.radius, self.validation_scenes) < 1:
            raise BadInputError(
                "the epochs must be 0 or more; batch size, patience, radius and validation scenes 1 or more"
            )
        if not self.dropouts or not all(0 <= rate < 1 for rate in self.dropouts):
            raise BadInputError(f"dropout must lie between 0 and 1, not {self.dropouts}")
        if not (0 < self.learning_rate < math.inf and 0 <= self.weight_decay < math.inf):
            raise BadInputError("the learning rate must be above zero and the weight decay not below, both finite")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise BadInputError(f"the seed of a training must lie between 0 and {LARGEST_SEED:,}, not {self.seed}")


@dataclass(frozen=True)
class CloningMetrics(EpochMetrics):
    """How an epoch went.

    Attributes:
        held_out_errors: the part of the held-out steps at which another control than the demonstrated one is likeliest.
    """

    held_out_loss: float
    held_out_errors: float

    @property
    def criterion(self) -> tuple[float, float]:
        """See `EpochMetrics`; among epochs with as many errors the loss decides."""
        return self.held_out_errors, self.held_out_loss


@dataclass(frozen=True, eq=False)
class Member:
    """A network of the committee and how its training went.

    Attributes:
        network: that of the chosen epoch.
        epoch: the chosen epoch.
        history: one entry an epoch, from 0.
    """

    network: StateNetwork
    epoch: int
    history: tuple[CloningMetrics, ...]

    @property
    def held_out_errors(self) -> float:
        """At the chosen epoch, a step."""
        return self.history[self.epoch].held_out_errors


@dataclass(frozen=True, eq=False)
class TrainedClone:
    """What came of a run: the policy, and the networks that it is made of."""

    run: PolicyRun
    members: tuple[Member, ...]


@one_torch_thread()
def train_cloning(
    task: Task,
    dataset: Dataset,
    config: CloningConfig,
    directory: Path,
    resume: bool = False,
    n_jobs: int = 2,
    origin: dict[str, Any] | None = None,
) -> TrainedClone:
    """Learn a policy from the successful demonstrations, in a directory.

    Args:
        task: the task of the demonstrations.
        dataset: the demonstrations.
        config: how to train.
        directory: where the run goes.
        resume: go on with the run that is there, if there is one.
        n_jobs: networks to train at once; it changes nothing in the result.
        origin: where the demonstrations came from, for people.

    Raises:
        RunExistsError: there is a run, and it shall not be resumed.
        OtherConfigurationError: the run that is there has another configuration or other demonstrations.
        NoSuccessfulDemonstrationError: there is nothing to learn from.
        DivergedError: numbers are no longer finite.
    """
    run_config = PolicyRunConfig(METHOD, task.name, asdict(config), seen_tests(dataset), origin or {})
    check_run(run_config, directory, resume)
    sight = find_sight(config.view, task.make_world(dataset.demonstrations[0].seed), config.radius)
    lessons = make_lessons(task, dataset, sight, config.idle)
    attempts = [
        _Attempt(lessons, sight, config, rate, part) for rate in config.dropouts for part in range(config.networks)
    ]
    begun = [attempt.begin(directory) for attempt in attempts]  # what is refused is refused before anything is written
    begin_run(run_config, directory, resume)
    with _meter(len(attempts) * config.epochs) as advance:
        members = list(map_in_threads(partial(_run, directory, advance), begun, n_jobs))
    _write_metrics(attempts, members, directory)
    errors = {rate: _mean_errors(attempts, members, rate) for rate in config.dropouts}
    rate = min(errors, key=lambda one: errors[one])
    committee = tuple(member for one, member in zip(attempts, members, strict=True) if one.dropout == rate)
    if (directory / POLICY).exists():  # the run had finished, and nothing is left to choose
        return TrainedClone(load_policy_run(directory), committee)
    networks = tuple(member.network for member in committee)
    returns = validate(task, dataset, networks, sight, config)
    choice = Choice(
        max(returns, key=lambda one: returns[one]),
        {
            "dropout": rate,
            "epochs": [member.epoch for member in committee],
            "held_out_errors": {f"{one:g}": share for one, share in errors.items()},
            "validation_returns": {f"{one:g}": mean for one, mean in returns.items()},
        },
        max(returns.values()),
    )
    return TrainedClone(finish_run(run_config, directory, networks, sight, choice), committee)


def make_lessons(task: Task, dataset: Dataset, sight: MapSight | AgentSight, idle: bool = False) -> list[Lesson]:
    """The successful demonstrations as the network sees them; without steps that changed nothing, unless `idle`.

    Raises:
        NoSuccessfulDemonstrationError: there are fewer than two, of which one could teach and one be held out.
        ContradictionError: a world gives other states or labels than a demonstration tells.
    """
    successes = [demonstration for demonstration in dataset if demonstration.is_success and demonstration.controls]
    if len(successes) < 2:
        raise NoSuccessfulDemonstrationError(
            f"{len(successes)} of the {len(dataset)} demonstrations succeeded: cloning needs two or more, one to learn"
            " from and one to hold out. Collect some"
        )
    return [make_lesson(task, demonstration, sight, idle) for demonstration in successes]


def validate(
    task: Task,
    dataset: Dataset,
    networks: Sequence[StateNetwork],
    sight: MapSight | AgentSight,
    config: CloningConfig,
) -> dict[float, float]:
    """The mean return at each temperature on scenes for validation."""
    worlds = [task.make_world(seed) for seed in validation_seeds(config.validation_scenes, dataset)]
    draws = [np.random.default_rng([config.seed, _VALIDATION, i]) for i in range(len(TEMPERATURES))]
    trials = Trials(task, worlds, networks, sight)
    return {
        temperature: trials.mean_return(temperature, rng) for temperature, rng in zip(TEMPERATURES, draws, strict=True)
    }


class _Attempt:
    """One network to train: with one dropout, without one part of the demonstrations."""

    def __init__(
        self, lessons: Sequence[Lesson], sight: MapSight | AgentSight, config: CloningConfig, dropout: float, part: int
    ):
        self.config, self.dropout, self.part = config, dropout, part
        order = np.random.default_rng([config.seed, _SPLIT]).permutation(len(lessons))
        held_out = set(order[part % len(lessons) :: config.networks].tolist())
        self.kept = [lesson for i, lesson in enumerate(lessons) if i not in held_out]
        self.held_out = [lesson for i, lesson in enumerate(lessons) if i in held_out]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(_seed(config.seed, part))
            self.network = network_for(sight, len(CONTROLS))

    @property
    def name(self) -> str:
        """Of its checkpoint."""
        return f"dropout-{self.dropout:g}-network-{self.part}"

    @property
    def identity(self) -> str:
        """What is trained, from where, on what and how, as one number."""
        digest = hashlib.sha256()
        feed(digest, asdict(self.config), self.dropout, self.part, *self.network.state_dict().values())
        for lesson in (*self.kept, *self.held_out):
            feed(digest, lesson.states.grids, lesson.states.columns, lesson.controls)
        return digest.hexdigest()

    def path(self, directory: Path) -> Path:
        """Of its checkpoint."""
        return directory / "checkpoint" / f"{self.name}.safetensors"

    def begin(self, directory: Path) -> "tuple[_Attempt, Checkpoint | None]":
        """The attempt, and where to go on with it."""
        return self, read_checkpoint(self.path(directory), self.identity, CloningMetrics)


def _run(directory: Path, advance: Callable[[int], None], begun: tuple[_Attempt, Checkpoint | None]) -> Member:
    """Train one network until it is done."""
    attempt, checkpoint = begun
    config, identity, path = attempt.config, attempt.identity, attempt.path(directory)
    network = copy.deepcopy(attempt.network)
    adam = Adam(network, config.weight_decay)
    if checkpoint is not None:
        checkpoint.restore(network, adam)
    else:
        train_loss, _ = _judge(network, attempt.kept)
        metrics = CloningMetrics(0, 0.0, train_loss, *_judge(network, attempt.held_out))
        checkpoint = Checkpoint.capture(network, adam, (metrics,), None)
    advance(len(checkpoint.history) - 1)
    while not _done(checkpoint, config):
        epoch = len(checkpoint.history)
        rate = config.learning_rate * (1 + math.cos(math.pi * (epoch - 1) / config.epochs)) / 2
        train_loss = _run_epoch(network, adam, attempt, epoch, rate)
        metrics = CloningMetrics(epoch, rate, train_loss, *_judge(network, attempt.held_out))
        checkpoint = Checkpoint.capture(network, adam, (*checkpoint.history, metrics), checkpoint)
        write_checkpoint(checkpoint, path, identity)
        advance(1)
    advance(config.epochs - len(checkpoint.history) + 1)
    network.load_state_dict(checkpoint.best)
    return Member(network, checkpoint.best_epoch, cast(tuple[CloningMetrics, ...], checkpoint.history))


def _done(checkpoint: Checkpoint, config: CloningConfig) -> bool:
    epoch = len(checkpoint.history) - 1
    return epoch >= config.epochs or epoch - checkpoint.best_epoch >= config.patience


def _run_epoch(network: StateNetwork, adam: Adam, attempt: _Attempt, epoch: int, rate: float) -> float:
    """One pass over the demonstrations, each as it is or mirrored; the loss a step, each batch before its step."""
    config = attempt.config
    rng = np.random.default_rng([config.seed, _ORDER, attempt.part, epoch])
    order = rng.permutation(len(attempt.kept))
    mirrored = rng.random(len(attempt.kept)) < (0.5 if config.mirror else 0)
    generator = torch.Generator().manual_seed(_seed(config.seed, _DROPOUT, attempt.part, epoch))
    dropout = Dropout(attempt.dropout, generator) if attempt.dropout > 0 else None
    total, steps = 0.0, 0
    for first in range(0, len(order), config.batch_size):
        batch = [
            attempt.kept[i].mirrored if mirrored[i] else attempt.kept[i]
            for i in order[first : first + config.batch_size]
        ]
        states, controls = join(lesson.states for lesson in batch), torch.cat([lesson.controls for lesson in batch])
        loss = functional.cross_entropy(network(states.grids, states.columns, dropout), controls)
        if not loss.isfinite():
            raise DivergedError("cloning diverged: the loss is not a finite number; lower the learning rate")
        gradients = torch.autograd.grad(loss, list(adam.parameters.values()))
        adam.step(dict(zip(adam.parameters, gradients, strict=True)), rate)
        total += loss.item() * len(controls)
        steps += len(controls)
    return total / steps


@torch.no_grad()
def _judge(network: StateNetwork, lessons: Sequence[Lesson]) -> tuple[float, float]:
    """The loss and the errors a step, without dropout."""
    states, controls = join(lesson.states for lesson in lessons), torch.cat([lesson.controls for lesson in lessons])
    logits = network(states.grids, states.columns)
    errors = logits.argmax(dim=1) != controls
    return functional.cross_entropy(logits, controls).item(), errors.double().mean().item()


def _seed(*numbers: int) -> int:
    """One seed for torch from several numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _mean_errors(attempts: Sequence[_Attempt], members: Sequence[Member], rate: float) -> float:
    """The held-out errors of the networks of one dropout."""
    chosen = [member.held_out_errors for one, member in zip(attempts, members, strict=True) if one.dropout == rate]
    return sum(chosen) / len(chosen)


def _write_metrics(attempts: Sequence[_Attempt], members: Sequence[Member], directory: Path) -> None:
    """All histories as JSONL, one epoch of one network a line."""
    lines = [
        json.dumps({"dropout": attempt.dropout, "network": attempt.part, **asdict(metrics)})
        for attempt, member in zip(attempts, members, strict=True)
        for metrics in member.history
    ]
    write_atomically(directory / METRICS, "\n".join(lines) + "\n")


@contextmanager
def _meter(total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar over the epochs of all networks."""
    with progress_bar() as bar:
        meter = bar.add_task("cloning", total=total)
        yield lambda epochs: bar.advance(meter, epochs)
