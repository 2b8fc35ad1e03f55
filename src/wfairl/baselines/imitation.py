"""Imitation: demonstrations as networks see them, and one epoch of cloning them.

L(theta) = - mean over demonstrated steps of log pi_theta(u_t | x_t)
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from wfairl.baselines.encoder import Encoder, Observations, join
from wfairl.baselines.network import StateNetwork
from wfairl.demonstrations.demonstration import ContradictionError, Demonstration, follow_controls
from wfairl.learning.adam import Adam
from wfairl.learning.grid_network import Dropout
from wfairl.learning.trainer import DivergedError
from wfairl.worlds.task import Task


@dataclass(frozen=True, eq=False)
class ImitationBatch:
    """What is to be imitated, such as the steps of one demonstration.

    Attributes:
        observations: the states.
        controls: what was done in each, shape [states] of int64.
        moves: whether that changed the state, shape [states] of bool.
    """

    observations: Observations
    controls: Tensor
    moves: Tensor

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.controls)

    def without_idle(self) -> "ImitationBatch":
        """Only the steps that changed something; all of them if none did."""
        kept = self.moves.nonzero().squeeze(1)
        if not len(kept):
            return self
        return ImitationBatch(self.observations.rows(kept), self.controls[kept], self.moves[kept])

    def mirrored(self, encoder: Encoder) -> "ImitationBatch":
        """The same steps in the mirror image of the scene."""
        return ImitationBatch(*encoder.mirrored(self.observations, self.controls), self.moves)


def imitation_batch(task: Task, demonstration: Demonstration, encoder: Encoder) -> ImitationBatch:
    """A demonstration as networks see it.

    Args:
        task: the task.
        demonstration: of one step or more.
        encoder: what networks see.

    Raises:
        ContradictionError: the world gives other labels than the demonstration has, or cannot follow it.
    """
    world, controls = task.make_world(demonstration.seed), demonstration.controls
    if max(controls) >= len(world.controls):
        raise ContradictionError(f"seed {demonstration.seed}: the world has only {len(world.controls)} controls")
    states, labels = follow_controls(world, controls, demonstration.seed)
    for step, (told, found) in enumerate(zip(demonstration.labels, labels, strict=True)):
        if told != found:
            raise ContradictionError(
                f"seed {demonstration.seed}: step {step}: the world gives another label; is it another scene, or"
                " another version?"
            )
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
    """One step of Adam per batch; the mean loss per imitated step, each batch before its step.

    Args:
        network: its first outputs are the logits of controls.
        adam: its optimizer.
        batches: what to imitate.
        controls: the number of controls.
        dropout: what the hidden layers go through.
        learning_rate: of Adam.

    Raises:
        DivergedError: the loss is not a finite number.
    """
    total, steps = 0.0, 0
    for batch in batches:
        logits = network(batch.observations, dropout)[:, :controls]
        loss = functional.cross_entropy(logits, batch.controls)
        if not loss.isfinite():
            raise DivergedError("cloning diverged: the loss is not a finite number; lower the learning rate")
        gradients = torch.autograd.grad(loss, list(adam.parameters.values()))
        adam.step(dict(zip(adam.parameters, gradients, strict=True)), learning_rate)
        total += loss.item() * len(batch)
        steps += len(batch)
    return total / steps
