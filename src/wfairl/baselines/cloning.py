"""Behavioural cloning: the control that a demonstrator took, learned as a function of the state alone.

    L(theta) = - mean over demonstrated steps of log pi_theta(u_t | x_t)

In MiniGrid pi is the paper's network. Demonstrations are few, so everything is done that helps a fair competitor with
few:

- In a grid, the network has the agent's view, and sees every second demonstration in a mirror (`grid_encoder`).
- Steps that changed nothing are not imitated. A demonstrator at temperature 0.5 takes many; they cost it time, and a
  clone that is not sure where it stands may repeat one for ever.
- Hidden units are dropped out during training, and weights decay. The dropout rate is chosen on held-out
  demonstrations, and so is the epoch, counting from 0 before any training: by how often the likeliest control is not
  the demonstrated one. Their likelihood would end training too early: it gets worse, because a network that errs does
  so with ever more confidence, long before errors stop becoming fewer.
- The demonstrations are split in parts. Each network of a committee is trained without one of them, which chooses its
  epoch; so all demonstrations teach, and all are held out. The committee acts with the mean of their probabilities.
- The temperature at which it acts is chosen on validation scenes, used for neither training nor testing.

As in `learning.trainer`, nothing random is kept between epochs: a run that was killed resumes from its checkpoints,
and ends as if it had never stopped, bit for bit.
"""

import copy
import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch.nn import functional

from wfairl.baselines.encoder import Encoder
from wfairl.baselines.encoders import find_encoder
from wfairl.baselines.imitation import ImitationBatch, clone_epoch, concatenate, imitation_batch
from wfairl.baselines.network import StateNetwork
from wfairl.baselines.policy_run import (
    POLICY,
    ModelSelection,
    PolicyRun,
    begin_run,
    finish_run,
    load_policy_run,
    run_config,
)
from wfairl.baselines.validation import ValidationReturns, draw_by_inversion, validate, validation_seeds
from wfairl.demonstrations.demonstration import Dataset
from wfairl.documents import write_lines
from wfairl.errors import BadInputError
from wfairl.learning.adam import Adam
from wfairl.learning.checkpoint import METRICS, Checkpoint, EpochMetrics, feed, read_checkpoint, write_checkpoint
from wfairl.learning.grid_network import Dropout
from wfairl.learning.run_directory import check_free
from wfairl.learning.scene import NoSuccessfulDemonstrationError
from wfairl.learning.threads import one_torch_thread
from wfairl.learning.trainer import LARGEST_SEED
from wfairl.parallel import map_in_threads
from wfairl.progress import progress_bar
from wfairl.worlds.task import Task
from wfairl.worlds.vector_environment import compile_scenes

METHOD = "bc"

_SPLIT, _ORDER, _DROPOUT, _VALIDATION = range(4)
"""What random numbers are for: each purpose has its own stream."""


@dataclass(frozen=True)
class CloningConfig:
    """How to train.

    Attributes:
        view: how the network sees a grid: `agent` (see `grid_encoder`), or `map`, as in the paper. Other worlds are
            seen by their features.
        radius: how far the agent sees, in cells, or in steps where the world is no grid.
        mirror: also learn from mirrored demonstrations, in grids.
        idle: also learn from steps that changed nothing.
        networks: size of the ensemble, and number of folds of the demonstrations; at least 2.
        dropouts: dropout rates to choose from.
        epochs: largest number of passes over the demonstrations.
        patience: epochs without improvement (held-out errors, then loss) after which training stops.
        batch_size: demonstrations per Adam step.
        learning_rate: initial learning rate of Adam; it falls to zero along half a cosine.
        weight_decay: decoupled weight decay of Adam.
        validation_scenes: number of scenes to choose the temperature on.
        seed: random seed.
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
class CommitteeMember:
    """A network of the committee and how its training went.

    Attributes:
        network: that of the chosen epoch.
        epoch: the chosen epoch.
        history: one entry per epoch, from 0.
    """

    network: StateNetwork
    epoch: int
    history: tuple[CloningMetrics, ...]

    @property
    def held_out_errors(self) -> float:
        """At the chosen epoch, per step."""
        return self.history[self.epoch].held_out_errors


@dataclass(frozen=True, eq=False)
class TrainedClone:
    """The result of a run: the policy, and the networks that it is made of."""

    run: PolicyRun
    members: tuple[CommitteeMember, ...]


@one_torch_thread()
def train_cloning(
    task: Task,
    dataset: Dataset,
    config: CloningConfig,
    directory: Path,
    resume: bool = False,
    n_jobs: int = 2,
    origin: Mapping[str, Any] | None = None,
) -> TrainedClone:
    """Learn a policy from the successful demonstrations, in a directory.

    Args:
        task: the task of the demonstrations.
        dataset: the demonstrations.
        config: how to train.
        directory: where the run goes.
        resume: resume an existing run.
        n_jobs: networks to train at once; it changes nothing in the result.
        origin: where the demonstrations came from, for the reader.

    Raises:
        RunExistsError: there is a run, and `resume` is not set.
        OtherConfigurationError: the existing run has another configuration or other demonstrations.
        NoSuccessfulDemonstrationError: there is nothing to learn from.
        DivergedError: numbers are no longer finite.
    """
    described = run_config(METHOD, dataset, config, origin)
    check_free(directory, described, resume)
    encoder = find_encoder(task.make_world(dataset.demonstrations[0].seed), config.view, config.radius)
    batches = imitation_batches(task, dataset, encoder, config.idle)
    trainings = [
        _Training(batches, encoder, config, rate, part) for rate in config.dropouts for part in range(config.networks)
    ]
    begun = [one.begin(directory) for one in trainings]  # what is refused is refused before anything is written
    begin_run(described, directory, resume)
    with _meter(len(trainings) * config.epochs) as advance:
        members = list(map_in_threads(partial(_run, directory, advance), begun, n_jobs))
    _write_metrics(trainings, members, directory)
    errors = {rate: _mean_errors(trainings, members, rate) for rate in config.dropouts}
    rate = min(errors, key=lambda one: errors[one])
    committee = tuple(member for one, member in zip(trainings, members, strict=True) if one.dropout == rate)
    if (directory / POLICY).exists():  # the run had finished, and nothing is left to choose
        return TrainedClone(load_policy_run(directory), committee)
    networks = tuple(member.network for member in committee)
    validation = _validate(task, dataset, networks, encoder, config, n_jobs)
    selection = ModelSelection(
        validation.temperature,
        {
            "dropout": rate,
            "epochs": [member.epoch for member in committee],
            "held_out_errors": {f"{one:g}": share for one, share in errors.items()},
            "validation_returns": validation.to_document(),
        },
        validation.best,
    )
    return TrainedClone(finish_run(described, directory, networks, encoder, selection), committee)


def imitation_batches(task: Task, dataset: Dataset, encoder: Encoder, idle: bool = False) -> list[ImitationBatch]:
    """The successful demonstrations as the network sees them; without steps that changed nothing, unless `idle`.

    Raises:
        NoSuccessfulDemonstrationError: there are fewer than two, of which one could teach and one be held out.
        ContradictionError: a world gives other labels than a demonstration has.
    """
    successes = [demonstration for demonstration in dataset if demonstration.is_success and demonstration.controls]
    if len(successes) < 2:
        raise NoSuccessfulDemonstrationError(
            f"{len(successes)} of the {len(dataset)} demonstrations succeeded: cloning needs two or more, one to learn"
            " from and one to hold out. Collect some"
        )
    batches = [imitation_batch(task, demonstration, encoder) for demonstration in successes]
    return batches if idle else [batch.without_idle() for batch in batches]


def _validate(
    task: Task,
    dataset: Dataset,
    networks: Sequence[StateNetwork],
    encoder: Encoder,
    config: CloningConfig,
    n_jobs: int,
) -> ValidationReturns:
    pool = compile_scenes(task, validation_seeds(config.validation_scenes, dataset), n_jobs)
    return validate(networks, encoder, pool, (config.seed, _VALIDATION), draw_by_inversion)


class _Training:
    """One network to train: with one dropout rate, without one part of the demonstrations."""

    def __init__(
        self, batches: Sequence[ImitationBatch], encoder: Encoder, config: CloningConfig, dropout: float, part: int
    ):
        self.encoder, self.config, self.dropout, self.part = encoder, config, dropout, part
        order = np.random.default_rng([config.seed, _SPLIT]).permutation(len(batches))
        held_out = set(order[part % len(batches) :: config.networks].tolist())
        self.kept = [batch for i, batch in enumerate(batches) if i not in held_out]
        self.held_out = [batch for i, batch in enumerate(batches) if i in held_out]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(_seed(config.seed, part))
            self.network = encoder.make_network(len(encoder.controls))

    @property
    def fingerprint(self) -> str:
        """A digest of the initial weights, the data and the settings."""
        digest = hashlib.sha256()
        feed(digest, asdict(self.config), self.dropout, self.part, *self.network.state_dict().values())
        for batch in (*self.kept, *self.held_out):
            feed(digest, batch.observations.bank, batch.observations.columns, batch.controls)
        return digest.hexdigest()

    def path(self, directory: Path) -> Path:
        """Of its checkpoint."""
        return directory / "checkpoint" / f"dropout-{self.dropout:g}-network-{self.part}.safetensors"

    def begin(self, directory: Path) -> "tuple[_Training, Checkpoint | None]":
        """The training, and the checkpoint to resume from."""
        return self, read_checkpoint(self.path(directory), self.fingerprint, CloningMetrics)


def _run(
    directory: Path, advance: Callable[[int], None], begun: tuple[_Training, Checkpoint | None]
) -> CommitteeMember:
    """Train one network until it is done."""
    training, checkpoint = begun
    config, fingerprint, path = training.config, training.fingerprint, training.path(directory)
    network = copy.deepcopy(training.network)
    adam = Adam(network, config.weight_decay)
    if checkpoint is not None:
        checkpoint.restore(network, adam)
    else:
        train_loss, _ = _assess(network, training.kept)
        metrics = CloningMetrics(0, 0.0, train_loss, *_assess(network, training.held_out))
        checkpoint = Checkpoint.capture(network, adam, (metrics,), None)
    advance(len(checkpoint.history) - 1)
    while not _done(checkpoint, config):
        epoch = len(checkpoint.history)
        rate = config.learning_rate * (1 + math.cos(math.pi * (epoch - 1) / config.epochs)) / 2
        train_loss = _run_epoch(network, adam, training, epoch, rate)
        metrics = CloningMetrics(epoch, rate, train_loss, *_assess(network, training.held_out))
        checkpoint = Checkpoint.capture(network, adam, (*checkpoint.history, metrics), checkpoint)
        write_checkpoint(checkpoint, path, fingerprint)
        advance(1)
    advance(config.epochs - len(checkpoint.history) + 1)
    network.load_state_dict(checkpoint.best)
    return CommitteeMember(network, checkpoint.best_epoch, cast(tuple[CloningMetrics, ...], checkpoint.history))


def _done(checkpoint: Checkpoint, config: CloningConfig) -> bool:
    epoch = len(checkpoint.history) - 1
    return epoch >= config.epochs or epoch - checkpoint.best_epoch >= config.patience


def _run_epoch(network: StateNetwork, adam: Adam, training: _Training, epoch: int, rate: float) -> float:
    """One pass over the demonstrations, each as it is or mirrored; the mean loss per step."""
    config, encoder, kept = training.config, training.encoder, training.kept
    rng = np.random.default_rng([config.seed, _ORDER, training.part, epoch])
    order = rng.permutation(len(kept))
    mirrored = rng.random(len(kept)) < (0.5 if config.mirror else 0)
    generator = torch.Generator().manual_seed(_seed(config.seed, _DROPOUT, training.part, epoch))
    dropout = Dropout(training.dropout, generator) if training.dropout > 0 else None
    batches = (
        concatenate([kept[i].mirrored(encoder) if mirrored[i] else kept[i] for i in order[first:][: config.batch_size]])
        for first in range(0, len(order), config.batch_size)
    )
    return clone_epoch(network, adam, batches, len(encoder.controls), dropout, rate)


@torch.no_grad()
def _assess(network: StateNetwork, batches: Sequence[ImitationBatch]) -> tuple[float, float]:
    """The loss and the errors per step, without dropout."""
    everything = concatenate(batches)
    logits = network(everything.observations)
    errors = logits.argmax(dim=1) != everything.controls
    return functional.cross_entropy(logits, everything.controls).item(), errors.double().mean().item()


def _seed(*numbers: int) -> int:
    """One seed for torch from several numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _mean_errors(trainings: Sequence[_Training], members: Sequence[CommitteeMember], rate: float) -> float:
    """The held-out errors of the networks of one dropout rate."""
    chosen = [member.held_out_errors for one, member in zip(trainings, members, strict=True) if one.dropout == rate]
    return sum(chosen) / len(chosen)


def _write_metrics(trainings: Sequence[_Training], members: Sequence[CommitteeMember], directory: Path) -> None:
    """All histories as JSONL, one epoch of one network per line."""
    lines = [
        {"dropout": training.dropout, "network": training.part, **asdict(metrics)}
        for training, member in zip(trainings, members, strict=True)
        for metrics in member.history
    ]
    write_lines(directory / METRICS, lines)


@contextmanager
def _meter(total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar over the epochs of all networks."""
    with progress_bar() as bar:
        meter = bar.add_task("cloning", total=total)
        yield lambda epochs: bar.advance(meter, epochs)
