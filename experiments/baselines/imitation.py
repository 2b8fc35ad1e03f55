"""Demonstrations encoded for networks, and one epoch of behavioural cloning:

L(theta) = - mean over demonstrated steps of log pi_theta(u_t | x_t)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from experiments.baselines.encoder import Encoder
from experiments.baselines.network import Observations, StateNetwork, join
from wfairl.core.costs.adam import Adam
from wfairl.core.costs.epochs import DivergedError
from wfairl.core.demonstrations.demonstration import Demonstration
from wfairl.core.worlds.task import Task
from wfairl.minigrid.grid_network import Dropout


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


def imitation_batch(task: Task, demonstration: Demonstration, encoder: Encoder) -> ImitationBatch:
    """Encode a demonstration of one step or more.

    Raises:
        ContradictionError: the world gives other labels than the demonstration, or cannot take its controls.
    """
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
    batches: Iterable[ImitationBatch],
    controls: int,
    dropout: Dropout | None,
    learning_rate: float,
) -> float:
    """Take one Adam step per batch, and return the mean loss per imitated step, before each Adam step.

    The first `controls` outputs of the network are logits. `dropout` is applied to its hidden layers.

    Raises:
        DivergedError: the loss is not a finite number.
    """
    total, steps = 0.0, 0
    for batch in batches:
        logits = network(batch.observations, dropout)[:, :controls]
        loss = functional.cross_entropy(logits, batch.controls)
        if not loss.isfinite():
            raise DivergedError("cloning diverged: the loss is not a finite number; lower the learning rate")
        adam.step(adam.gradients(loss), learning_rate)
        total += loss.item() * len(batch)
        steps += len(batch)
    return total / steps
