"""Demonstrations encoded for networks, and one epoch of behavioural cloning:

L(theta) = - mean over demonstrated steps of log pi_theta(u_t | x_t)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from experiments.baselines.grid_encoder import GridEncoder, check_grid
from experiments.baselines.network import Dropout, GridNetwork, Observations
from wfairl.core.costs.adam import Adam
from wfairl.core.costs.epochs import DivergedError
from wfairl.core.costs.scene import NoSuccessfulDemonstrationError
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import World


@dataclass(frozen=True, eq=False)
class Steps:
    """States, and the control that was taken in each.

    Attributes:
        observations: the states.
        controls: shape [states] of int64; all of them were available.
    """

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


def concatenate(parts: Sequence[Steps]) -> Steps:
    """Concatenate steps and their banks."""
    banks = [part.observations.bank for part in parts]
    columns = [part.observations.columns.clone() for part in parts]
    for column, first in zip(columns, np.cumsum([0, *map(len, banks[:-1])]).tolist(), strict=True):
        column[:, 0] += first
    return Steps(Observations(torch.cat(banks), torch.cat(columns)), torch.cat([part.controls for part in parts]))


def find_encoder(world: World[Any], radius: int) -> GridEncoder:
    """The encoder of scenes like this one, in which the agent sees `radius` cells each way.

    Raises:
        OtherWorldError: the world is none of MiniGrid's.
    """
    return GridEncoder(min(radius, max(check_grid(world).size) - 1))


def encode_demonstrations(
    task: Task, dataset: Dataset, encoder: GridEncoder, least: int, idle: bool = False
) -> list[Steps]:
    """The steps of each successful demonstration; without those that changed nothing, unless `idle`.

    Raises:
        NoSuccessfulDemonstrationError: there are fewer than `least` of them.
        ContradictionError: the world gives other labels than a demonstration, or cannot take its controls.
    """
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
