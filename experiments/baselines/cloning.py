"""Behavioural cloning: learn the demonstrated control as a function of the state alone.

    L(theta) = - mean over demonstrated steps of log pi_theta(u_t | x_t)

In MiniGrid pi is the paper's network. Since demonstrations are few, a fair baseline makes the most of them:

- In a grid, the network sees the map around the agent, and half of the demonstrations are mirrored in each epoch
  (`GridEncoder`).
- Steps that changed nothing are not imitated. A demonstrator at temperature 0.5 takes many; they cost it time, but a
  clone that confuses two states may repeat such a step forever.
- Training uses dropout and weight decay. Held-out demonstrations choose the epoch, counting from 0 before any training,
  by the rate at which the most probable control is not the demonstrated one. Their likelihood would stop training too
  early: it falls, as a network becomes more confident in its errors, long before the errors stop becoming fewer.
- The demonstrations are divided into folds. Each network of an ensemble holds out one fold, which chooses its epoch; so
  every demonstration is used for training and for validation. The ensemble acts with the mean of the probabilities.
- Validation scenes, used for neither training nor testing, choose the temperature of the policy.

All random numbers follow from the seed: a run that was killed begins again, and ends as if it had never stopped.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated, Any, cast

import numpy as np
import torch
from annotated_types import Ge
from torch import Tensor
from torch.nn import functional

from experiments.baselines.network import (
    Dropout,
    GridEncoder,
    GridNetwork,
    Observations,
    check_grid,
    seeded_torch,
    torch_seed,
)
from experiments.baselines.network_policy import ModelSelection, NetworkRun, finish_run, finished_run, run_config
from experiments.baselines.validation import best_temperature, draw_by_inversion, validate, validation_seeds
from experiments.baselines.vector_environment import compile_scenes
from wfairl.core.costs.scene import NoSuccessfulDemonstrationError
from wfairl.core.costs.training import EpochMetrics
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.support.bounds import AtLeastOne, AtLeastZero, Fraction, NotNegative, Positive, Seed, check_bounds
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.support.progress import progress_bar
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import World
from wfairl.networks.adam import Adam
from wfairl.networks.epochs import DivergedError, Progress, half_cosine, one_torch_thread, run_epochs
from wfairl.runs.methods import TrainingRequest

METHOD = "bc"

_SPLIT, _ORDER, _DROPOUT, _VALIDATION = range(4)
"""The random streams of a training."""


@dataclass(frozen=True)
class CloningConfig:
    """How to train.

    Attributes:
        radius: how far the agent sees, in cells.
        networks: size of the ensemble, and number of folds of the demonstrations; at least 2.
        dropout: dropout rate.
        epochs: largest number of passes over the demonstrations.
        patience: epochs without improvement (held-out errors, then loss) after which training stops.
        batch_size: demonstrations per Adam step.
        learning_rate: initial learning rate of Adam; it falls to zero along half a cosine.
        weight_decay: decoupled weight decay of Adam.
        validation_scenes: number of scenes to choose the temperature on.
        seed: random seed.
    """

    radius: Annotated[int, Ge(2)] = 5
    networks: Annotated[int, Ge(2)] = 4
    dropout: Fraction = 0.3
    epochs: AtLeastZero = 150
    patience: AtLeastOne = 50
    batch_size: AtLeastOne = 2
    learning_rate: Positive = 2e-3
    weight_decay: NotNegative = 1e-2
    validation_scenes: AtLeastOne = 64
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True)
class CloningMetrics(EpochMetrics):
    """The metrics of an epoch; an error is a step whose most probable control is not the demonstrated one."""

    held_out_loss: float
    held_out_errors: float

    @property
    def criterion(self) -> tuple[float, float]:
        """See `EpochMetrics`; the loss decides among epochs with equally many errors."""
        return self.held_out_errors, self.held_out_loss


@dataclass(frozen=True, eq=False)
class Steps:
    """States, and the control that was taken in each, shape [states] of int64."""

    observations: Observations
    controls: Tensor

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.controls)

    def rows(self, chosen: Tensor) -> "Steps":
        """Some of the steps, with the same bank."""
        return Steps(Observations(self.observations.bank, self.observations.columns[chosen]), self.controls[chosen])

    def mirrored(self, encoder: GridEncoder) -> "Steps":
        """The same steps in the mirror image of the scene."""
        return Steps(*encoder.mirrored(self.observations, self.controls))


@one_torch_thread()
def train_cloning(request: TrainingRequest, config: CloningConfig) -> NetworkRun:
    """Learn a policy from the successful demonstrations, in a directory."""
    task, dataset = request.task, request.dataset
    run_settings = run_config(METHOD, request, config)
    if (finished := finished_run(request.directory)) is not None:
        return finished
    encoder = find_encoder(task.make_world(dataset.demonstrations[0].seed), config.radius)
    demonstrations = encode_demonstrations(task, dataset, encoder, least=2)
    networks = [make_network(encoder, config, fold) for fold in range(config.networks)]
    with progress_bar() as bar:
        advance = partial(bar.advance, bar.add_task("cloning", total=config.networks * config.epochs))
        train = partial(_train_network, demonstrations, encoder, config, advance)
        trained = list(map_in_threads(train, enumerate(networks), request.n_jobs))
    metrics = [{"network": fold, **asdict(one)} for fold, ended in enumerate(trained) for one in ended.history]
    for network, ended in zip(networks, trained, strict=True):
        network.load_state_dict(ended.best)
    pool = compile_scenes(task, validation_seeds(config.validation_scenes, dataset), request.n_jobs)
    returns = validate(networks, encoder, pool, (config.seed, _VALIDATION), draw_by_inversion)
    errors = [cast(CloningMetrics, ended.history[ended.best_epoch]).held_out_errors for ended in trained]
    selection = {
        "epochs": [ended.best_epoch for ended in trained],
        "held_out_errors": sum(errors) / len(errors),
        "validation_returns": returns,
    }
    found = ModelSelection(best_temperature(returns), max(returns.values()), selection)
    return finish_run(run_settings, request.directory, NetworkRun(tuple(networks), encoder, found), metrics)


def make_network(encoder: GridEncoder, config: CloningConfig, fold: int) -> GridNetwork:
    """The untrained network of a fold; not in a thread, because the initial weights draw from a global generator."""
    with seeded_torch(config.seed, fold):
        return encoder.make_network(len(encoder.controls))


def split_fold(demonstrations: Sequence[Steps], config: CloningConfig, fold: int) -> tuple[list[Steps], list[Steps]]:
    """The demonstrations that train the network of a fold, and those that it holds out."""
    order = np.random.default_rng([config.seed, _SPLIT]).permutation(len(demonstrations))
    held_out = set(order[fold % len(demonstrations) :: config.networks].tolist())
    return (
        [one for i, one in enumerate(demonstrations) if i not in held_out],
        [one for i, one in enumerate(demonstrations) if i in held_out],
    )


def _train_network(
    demonstrations: Sequence[Steps],
    encoder: GridEncoder,
    config: CloningConfig,
    advance: Callable[[float], None],
    fold_and_network: tuple[int, GridNetwork],
) -> Progress:
    """Train the network of a fold."""
    fold, network = fold_and_network
    training, held_out = split_fold(demonstrations, config, fold)
    adam = Adam(network, config.weight_decay)

    def run_epoch(epoch: int) -> CloningMetrics:
        rate = half_cosine(config.learning_rate, epoch, config.epochs)
        loss = clone(epoch, rate) if epoch else _assess(network, training)[0]
        return CloningMetrics(epoch, rate, loss, *_assess(network, held_out))

    def clone(epoch: int, rate: float) -> float:
        rng = np.random.default_rng([config.seed, _ORDER, fold, epoch])
        order, is_mirrored = rng.permutation(len(training)), rng.random(len(training)) < 0.5
        chosen = [training[i].mirrored(encoder) if is_mirrored[i] else training[i] for i in order]
        generator = torch.Generator().manual_seed(torch_seed(config.seed, _DROPOUT, fold, epoch))
        dropout = Dropout(config.dropout, generator) if config.dropout > 0 else None
        return clone_epoch(network, adam, chosen, config.batch_size, len(encoder.controls), dropout, rate)

    for progress in run_epochs(network, run_epoch, config.epochs, config.patience):
        advance(progress.epoch > 0)
    advance(config.epochs - progress.epoch)
    return progress


@torch.no_grad()
def _assess(network: GridNetwork, demonstrations: Sequence[Steps]) -> tuple[float, float]:
    """The loss and the errors per step, without dropout."""
    joined = concatenate(demonstrations)
    logits = network(joined.observations)
    errors = logits.argmax(dim=1) != joined.controls
    return functional.cross_entropy(logits, joined.controls).item(), errors.double().mean().item()


def concatenate(parts: Sequence[Steps]) -> Steps:
    """Concatenate steps and their banks."""
    banks = [part.observations.bank for part in parts]
    columns = [part.observations.columns.clone() for part in parts]
    for column, first in zip(columns, np.cumsum([0, *map(len, banks[:-1])]).tolist(), strict=True):
        column[:, 0] += first
    return Steps(Observations(torch.cat(banks), torch.cat(columns)), torch.cat([part.controls for part in parts]))


def find_encoder(world: World[Any], radius: int) -> GridEncoder:
    """The encoder of scenes like this one, in which the agent sees `radius` cells each way."""
    return GridEncoder(min(radius, max(check_grid(world).size) - 1))


def encode_demonstrations(
    task: Task, dataset: Dataset, encoder: GridEncoder, least: int, idle: bool = False
) -> list[Steps]:
    """The steps of each successful demonstration; without those that changed nothing, unless `idle`."""
    successes = [demonstration for demonstration in dataset if demonstration.is_success and demonstration.controls]
    if len(successes) < least:
        raise NoSuccessfulDemonstrationError(
            f"{len(successes)} of the {len(dataset)} demonstrations succeeded: imitation needs {least} or more. Collect"
            " more"
        )
    demonstrations = []
    for one in successes:
        world = task.make_world(one.seed)
        states = one.follow(world).states
        moving = [i for i in range(len(one.controls)) if idle or states[i + 1] != states[i]]
        kept = moving or range(len(one.controls))
        observations = encoder.for_world(world)([states[i] for i in kept])
        demonstrations.append(Steps(observations, torch.tensor([one.controls[i] for i in kept])))
    return demonstrations


def clone_epoch(
    network: GridNetwork,
    adam: Adam,
    demonstrations: Sequence[Steps],
    batch_size: int,
    controls: int,
    dropout: Dropout | None,
    learning_rate: float,
) -> float:
    """Take one Adam step for every `batch_size` demonstrations; the first `controls` outputs are logits.

    Returns:
        The mean loss per imitated step, of each batch before its Adam step.
    """
    total, steps = 0.0, 0
    for first in range(0, len(demonstrations), batch_size):
        batch = concatenate(demonstrations[first : first + batch_size])
        logits = network(batch.observations, dropout)[:, :controls]
        loss = functional.cross_entropy(logits, batch.controls)
        if not loss.isfinite():
            raise DivergedError("cloning diverged: the loss is not a finite number; lower the learning rate")
        adam.step(adam.gradients(loss), learning_rate)
        total += loss.item() * len(batch)
        steps += len(batch)
    return total / steps
