"""Demonstrations encoded for networks, and one epoch of behavioural cloning:

L(theta) = - mean over demonstrated steps of log pi_theta(u_t | x_t)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from experiments.baselines.dropout import Dropout
from experiments.baselines.encoder import Encoder
from experiments.baselines.feature_encoder import FeatureEncoder
from experiments.baselines.grid_encoder import GridEncoder
from experiments.baselines.network import Observations, StateNetwork, join
from wfairl.core.costs.adam import Adam
from wfairl.core.costs.epochs import DivergedError
from wfairl.core.costs.scene import NoSuccessfulDemonstrationError
from wfairl.core.demonstrations.demonstration import Dataset, Demonstration
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import World
from wfairl.minigrid.world import MiniGridWorld


@dataclass(frozen=True, eq=False)
class ImitationBatch:
    """Steps to imitate, such as those of one demonstration.

    Attributes:
        observations: the states.
        controls: the demonstrated control in each, shape [states] of int64.
        moves: whether the control changed the state, shape [states] of bool.
    """

    observations: Observations
    controls: Tensor
    moves: Tensor

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.controls)

    def without_idle(self) -> "ImitationBatch":
        """Only the steps that changed the state; all of them if none did."""
        moving = self.moves.nonzero().squeeze(1)
        if not len(moving):
            return self
        return ImitationBatch(self.observations.rows(moving), self.controls[moving], self.moves[moving])

    def mirrored(self, encoder: Encoder) -> "ImitationBatch":
        """The same steps in the mirror image of the scene."""
        return ImitationBatch(*encoder.mirrored(self.observations, self.controls), self.moves)


def find_encoder(world: World[Any], radius: int) -> Encoder:
    """The encoder of worlds like this one: a map for grids, features for all others.

    Args:
        world: one of the scenes.
        radius: how far the agent sees, in cells of a grid or in steps.
    """
    if isinstance(world, MiniGridWorld):
        return GridEncoder(min(radius, max(world.size) - 1))
    return FeatureEncoder.of(world, radius)


def imitation_batches(task: Task, dataset: Dataset, encoder: Encoder, least: int) -> list[ImitationBatch]:
    """Encode the successful demonstrations.

    Raises:
        NoSuccessfulDemonstrationError: there are fewer than `least`.
        ContradictionError: the world gives other labels than a demonstration, or cannot take its controls.
    """
    successes = [demonstration for demonstration in dataset if demonstration.is_success and demonstration.controls]
    if len(successes) < least:
        raise NoSuccessfulDemonstrationError(
            f"{len(successes)} of the {len(dataset)} demonstrations succeeded: imitation needs {least} or more. Collect"
            " more"
        )
    return [_imitation_batch(task, demonstration, encoder) for demonstration in successes]


def _imitation_batch(task: Task, demonstration: Demonstration, encoder: Encoder) -> ImitationBatch:
    world, controls = task.make_world(demonstration.seed), demonstration.controls
    states = demonstration.follow(world).states
    moves = torch.tensor([states[i + 1] != states[i] for i in range(len(controls))])
    return ImitationBatch(encoder.for_world(world)(states[:-1]), torch.tensor(controls), moves)


def concatenate(batches: Sequence[ImitationBatch]) -> ImitationBatch:
    """Concatenate batches."""
    return ImitationBatch(
        join(batch.observations for batch in batches),
        torch.cat([batch.controls for batch in batches]),
        torch.cat([batch.moves for batch in batches]),
    )


def clone_epoch(
    network: StateNetwork,
    adam: Adam,
    demonstrations: Sequence[ImitationBatch],
    batch_size: int,
    controls: int,
    dropout: Dropout | None,
    learning_rate: float,
) -> float:
    """Take one Adam step for every `batch_size` demonstrations.

    The first `controls` outputs of the network are logits. `dropout` is applied to its hidden layers.

    Returns:
        The mean loss per imitated step, of each batch before its Adam step.

    Raises:
        DivergedError: the loss is not a finite number.
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
