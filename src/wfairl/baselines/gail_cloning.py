"""The start of GAIL's generator: a clone of the demonstrations, one network, which learns mirrored too.

Unlike `cloning` it learns every step, also those that changed nothing: the discriminator sees them as well, and a
generator that never took them would be told apart by that.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional

from wfairl.baselines.discriminator import Transitions
from wfairl.baselines.gail_settings import GailConfig
from wfairl.baselines.network import StateBatch, StateNetwork
from wfairl.baselines.sight import mirror
from wfairl.baselines.validation import join
from wfairl.learning.adam import Adam
from wfairl.learning.grid_network import Dropout
from wfairl.worlds.minigrid_rules import CONTROLS

BATCH, RATE, WEIGHT_DECAY, DROPOUT = 2, 2e-3, 1e-2, 0.3
"""Demonstrations a step of Adam, its learning rate (which falls to zero in a straight line) and weight decay, and the
part of hidden units that is left out, as in `CloningConfig`."""


def clone(
    network: StateNetwork, demonstrations: Sequence[Transitions], config: GailConfig, rng: np.random.Generator
) -> None:
    """Train a policy to take the controls that were demonstrated; its first outputs are their logits."""
    adam = Adam(network, WEIGHT_DECAY)
    dropout = Dropout(DROPOUT, torch.Generator().manual_seed(int(rng.integers(2**63 - 1))))
    for epoch in range(config.pretraining):
        order = rng.permutation(len(demonstrations))
        for first in range(0, len(order), BATCH):
            batch = [_shown(demonstrations[i], bool(rng.integers(2))) for i in order[first : first + BATCH]]
            states = join(states for states, _ in batch)
            logits = network(states.grids, states.columns, dropout)[:, : len(CONTROLS)]
            loss = functional.cross_entropy(logits, torch.cat([controls for _, controls in batch]))
            gradients = torch.autograd.grad(loss, list(adam.parameters.values()))
            adam.step(dict(zip(adam.parameters, gradients, strict=True)), RATE * (1 - epoch / config.pretraining))


def _shown(one: Transitions, mirrored: bool) -> tuple[StateBatch, torch.Tensor]:
    states = StateBatch(one.grids, one.columns)
    return mirror(states, one.controls) if mirrored else (states, one.controls)
