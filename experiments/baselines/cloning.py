"""Behavioural cloning: learn the demonstrated control as a function of the state alone.

    L(theta) = - mean over demonstrated steps of log pi_theta(u_t | x_t)

In MiniGrid pi is the paper's network. Since demonstrations are few, a fair baseline makes the most of them:

- In a grid, the network has the agent's view, and half of the demonstrations are mirrored in each epoch
  (`grid_encoder`).
- Steps that changed nothing are not imitated. A demonstrator at temperature 0.5 takes many; they cost it time, but a
  clone that confuses two states may repeat such a step forever.
- Training uses dropout and weight decay. Held-out demonstrations choose the dropout rate and the epoch, counting from 0
  before any training, by the rate at which the most probable control is not the demonstrated one. Their likelihood
  would stop training too early: it falls, as a network becomes more confident in its errors, long before the errors
  stop becoming fewer.
- The demonstrations are divided into folds. Each network of an ensemble holds out one fold, which chooses its epoch; so
  every demonstration is used for training and for validation. The ensemble acts with the mean of the probabilities.
- Validation scenes, used for neither training nor testing, choose the temperature of the policy.

As in `learning.trainer`, no random state is kept between epochs: a run that was killed resumes from its checkpoints,
and ends as if it had never stopped, bit for bit.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
import torch
from annotated_types import Ge, Lt
from torch.nn import functional

from experiments.baselines.encoder import Encoder
from experiments.baselines.encoders import find_encoder
from experiments.baselines.imitation import ImitationBatch, clone_epoch, concatenate, imitation_batch
from experiments.baselines.network import StateNetwork, seeded_torch, torch_seed
from experiments.baselines.policy_run import (
    POLICY,
    ModelSelection,
    PolicyRun,
    begin_run,
    finish_run,
    load_policy_run,
    run_config,
)
from experiments.baselines.validation import draw_by_inversion, validate, validation_seeds
from experiments.vector.vector_environment import compile_scenes
from wfairl.core.costs.adam import Adam
from wfairl.core.costs.checkpoint import METRICS, EpochMetrics, feed, read_checkpoint, write_checkpoint
from wfairl.core.costs.epochs import half_cosine, one_torch_thread, run_epochs
from wfairl.core.costs.scene import NoSuccessfulDemonstrationError
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.runs.run_directory import check_free
from wfairl.core.support.bounds import AtLeastOne, AtLeastZero, NotNegative, Positive, Seed, check_bounds
from wfairl.core.support.documents import write_lines
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.support.progress import progress_bar
from wfairl.core.worlds.task import Task
from wfairl.minigrid.grid_network import Dropout

METHOD = "bc"

_SPLIT, _ORDER, _DROPOUT, _VALIDATION = range(4)
"""The random streams of a training."""


@dataclass(frozen=True)
class CloningConfig:
    """How to train.

    Attributes:
        view: of a grid: `agent` (centred on the agent), or `map`, as in the paper. Other worlds are encoded by their
            features.
        radius: how far the agent sees, in cells, or in steps if the world is no grid.
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
    radius: AtLeastOne = 5
    mirror: bool = True
    idle: bool = False
    networks: Annotated[int, Ge(2)] = 4
    dropouts: Annotated[tuple[float, ...], Ge(0), Lt(1)] = (0.3,)
    epochs: AtLeastZero = 150
    patience: AtLeastOne = 50
    batch_size: AtLeastOne = 2
    learning_rate: Positive = 2e-3
    weight_decay: NotNegative = 1e-2
    validation_scenes: AtLeastOne = 64
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.dropouts:
            raise BadInputError("dropouts must hold at least one rate")


@dataclass(frozen=True)
class CloningMetrics(EpochMetrics):
    """The metrics of an epoch.

    Attributes:
        held_out_errors: fraction of the held-out steps whose most probable control is not the demonstrated one.
    """

    held_out_loss: float
    held_out_errors: float

    @property
    def criterion(self) -> tuple[float, float]:
        """See `EpochMetrics`; the loss decides among epochs with equally many errors."""
        return self.held_out_errors, self.held_out_loss


@dataclass(frozen=True, eq=False)
class EnsembleMember:
    """A network of the ensemble and its training.

    Attributes:
        network: of the chosen epoch.
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
    """The result of a run: the policy, and the networks of its ensemble."""

    run: PolicyRun
    members: tuple[EnsembleMember, ...]


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
        directory: of the run.
        resume: resume an existing run.
        n_jobs: networks to train in parallel; it does not change the result.
        origin: where the demonstrations came from, for the reader.

    Raises:
        RunExistsError: there is a run, and `resume` is not set.
        OtherConfigurationError: the existing run has another configuration or other demonstrations.
        NoSuccessfulDemonstrationError: there is nothing to learn from.
        DivergedError: numbers are no longer finite.
    """
    run_settings = run_config(METHOD, dataset, config, origin)
    check_free(directory, run_settings, resume)
    encoder = find_encoder(task.make_world(dataset.demonstrations[0].seed), config.view, config.radius)
    batches = imitation_batches(task, dataset, encoder, config.idle)
    trainings = [
        _Training(batches, encoder, config, rate, fold, directory)
        for rate in config.dropouts
        for fold in range(config.networks)
    ]
    begin_run(run_settings, directory, resume)
    with progress_bar() as bar:
        meter = bar.add_task("cloning", total=len(trainings) * config.epochs)
        members = list(map_in_threads(partial(_train, advance=partial(bar.advance, meter)), trainings, n_jobs))
    _write_metrics(trainings, members, directory)
    by_rate = {
        rate: tuple(member for one, member in zip(trainings, members, strict=True) if one.dropout == rate)
        for rate in config.dropouts
    }
    errors = {rate: sum(one.held_out_errors for one in group) / len(group) for rate, group in by_rate.items()}
    rate = min(errors, key=lambda one: errors[one])
    ensemble = by_rate[rate]
    if (directory / POLICY).exists():  # the run has finished, and nothing is left to choose
        return TrainedClone(load_policy_run(directory), ensemble)
    networks = tuple(member.network for member in ensemble)
    pool = compile_scenes(task, validation_seeds(config.validation_scenes, dataset), n_jobs)
    validation = validate(networks, encoder, pool, (config.seed, _VALIDATION), draw_by_inversion)
    selection = ModelSelection(
        validation.temperature,
        {
            "dropout": rate,
            "epochs": [member.epoch for member in ensemble],
            "held_out_errors": {f"{one:g}": share for one, share in errors.items()},
            "validation_returns": validation.to_document(),
        },
        validation.best,
    )
    return TrainedClone(finish_run(run_settings, directory, networks, encoder, selection), ensemble)


def imitation_batches(task: Task, dataset: Dataset, encoder: Encoder, idle: bool = False) -> list[ImitationBatch]:
    """Encode the successful demonstrations; without steps that changed nothing, unless `idle`.

    Raises:
        NoSuccessfulDemonstrationError: there are fewer than two, of which one could be trained on and one held out.
        ContradictionError: a world gives other labels than a demonstration.
    """
    successes = [demonstration for demonstration in dataset if demonstration.is_success and demonstration.controls]
    if len(successes) < 2:
        raise NoSuccessfulDemonstrationError(
            f"{len(successes)} of the {len(dataset)} demonstrations succeeded: cloning needs two or more, one to train"
            " on and one to hold out. Collect more"
        )
    batches = [imitation_batch(task, demonstration, encoder) for demonstration in successes]
    return batches if idle else [batch.without_idle() for batch in batches]


class _Training:
    """The training of one network, with one dropout rate and one held-out fold.

    It reads its checkpoint at once, so that a wrong one is refused before anything is written.
    """

    def __init__(
        self,
        batches: Sequence[ImitationBatch],
        encoder: Encoder,
        config: CloningConfig,
        dropout: float,
        fold: int,
        directory: Path,
    ):
        self.encoder, self.config, self.dropout, self.fold = encoder, config, dropout, fold
        order = np.random.default_rng([config.seed, _SPLIT]).permutation(len(batches))
        held_out = set(order[fold % len(batches) :: config.networks].tolist())
        self.batches = [batch for i, batch in enumerate(batches) if i not in held_out]
        self.held_out = [batch for i, batch in enumerate(batches) if i in held_out]
        with seeded_torch(config.seed, fold):
            self.network = encoder.make_network(len(encoder.controls))
        self.path = directory / "checkpoint" / f"dropout-{dropout:g}-network-{fold}.safetensors"
        self.fingerprint = self._fingerprint()
        self.checkpoint = read_checkpoint(self.path, self.fingerprint, CloningMetrics)

    def _fingerprint(self) -> str:
        """A digest of the initial weights, the data and the settings."""
        digest = hashlib.sha256()
        feed(digest, asdict(self.config), self.dropout, self.fold, *self.network.state_dict().values())
        for batch in (*self.batches, *self.held_out):
            feed(digest, batch.observations.bank, batch.observations.columns, batch.controls)
        return digest.hexdigest()


def _train(training: _Training, advance: Callable[[float], None]) -> EnsembleMember:
    """Train one network, from its checkpoint if there is one."""
    config, network = training.config, training.network
    adam = Adam(network, config.weight_decay)

    def run_epoch(epoch: int) -> CloningMetrics:
        rate = half_cosine(config.learning_rate, epoch, config.epochs)
        loss = _run_epoch(network, adam, training, epoch, rate) if epoch else _assess(network, training.batches)[0]
        return CloningMetrics(epoch, rate, loss, *_assess(network, training.held_out))

    done = 0
    for checkpoint in run_epochs(network, adam, run_epoch, config.epochs, config.patience, training.checkpoint):
        write_checkpoint(checkpoint, training.path, training.fingerprint)
        advance(checkpoint.epoch - done)
        done = checkpoint.epoch
    advance(config.epochs - done)
    network.load_state_dict(checkpoint.best)
    return EnsembleMember(network, checkpoint.best_epoch, cast(tuple[CloningMetrics, ...], checkpoint.history))


def _run_epoch(network: StateNetwork, adam: Adam, training: _Training, epoch: int, rate: float) -> float:
    """One pass over the demonstrations, some of them mirrored; the mean loss per step."""
    config, encoder, batches = training.config, training.encoder, training.batches
    rng = np.random.default_rng([config.seed, _ORDER, training.fold, epoch])
    order = rng.permutation(len(batches))
    is_mirrored = rng.random(len(batches)) < (0.5 if config.mirror else 0)
    generator = torch.Generator().manual_seed(torch_seed(config.seed, _DROPOUT, training.fold, epoch))
    dropout = Dropout(training.dropout, generator) if training.dropout > 0 else None
    chosen = [batches[i].mirrored(encoder) if is_mirrored[i] else batches[i] for i in order]
    joined = (concatenate(chosen[i : i + config.batch_size]) for i in range(0, len(chosen), config.batch_size))
    return clone_epoch(network, adam, joined, len(encoder.controls), dropout, rate)


@torch.no_grad()
def _assess(network: StateNetwork, batches: Sequence[ImitationBatch]) -> tuple[float, float]:
    """The loss and the errors per step, without dropout."""
    joined = concatenate(batches)
    logits = network(joined.observations)
    errors = logits.argmax(dim=1) != joined.controls
    return functional.cross_entropy(logits, joined.controls).item(), errors.double().mean().item()


def _write_metrics(trainings: Sequence[_Training], members: Sequence[EnsembleMember], directory: Path) -> None:
    """Write all histories as JSONL, one epoch of one network per line."""
    lines = [
        {"dropout": training.dropout, "network": training.fold, **asdict(metrics)}
        for training, member in zip(trainings, members, strict=True)
        for metrics in member.history
    ]
    write_lines(directory / METRICS, lines)
