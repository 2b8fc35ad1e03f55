"""The start of GAIL's generator: a clone of the demonstrations, one network, which learns mirrored too.

As in `cloning`, steps that changed nothing are not learned, though the discriminator sees them: a clone that repeats
one repeats it for ever, and the generator learns by itself how many of them look like the demonstrator.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional

from wfairl.baselines.gail_settings import GailConfig
from wfairl.baselines.lessons import Lesson
from wfairl.baselines.network import StateNetwork
from wfairl.baselines.validation import join
from wfairl.learning.adam import Adam
from wfairl.learning.grid_network import Dropout
from wfairl.worlds.minigrid.rules import CONTROLS

BATCH, RATE, WEIGHT_DECAY, DROPOUT = 2, 2e-3, 1e-2, 0.3
"""Demonstrations a step of Adam, its learning rate (which falls to zero in a straight line) and weight decay, and the
part of hidden units that is left out, as in `CloningConfig`."""


def clone(network: StateNetwork, lessons: Sequence[Lesson], config: GailConfig, rng: np.random.Generator) -> None:
    """Train a policy to take the controls that were demonstrated; its first outputs are their logits."""
    adam = Adam(network, WEIGHT_DECAY)
    dropout = Dropout(DROPOUT, torch.Generator().manual_seed(int(rng.integers(2**63 - 1))))
    for epoch in range(config.pretraining):
        order = rng.permutation(len(lessons))
        for first in range(0, len(order), BATCH):
            batch = [lessons[i].mirrored if rng.integers(2) else lessons[i] for i in order[first : first + BATCH]]
            states = join(one.states for one in batch)
            logits = network(states.grids, states.columns, dropout)[:, : len(CONTROLS)]
            loss = functional.cross_entropy(logits, torch.cat([one.controls for one in batch]))
            gradients = torch.autograd.grad(loss, list(adam.parameters.values()))
            adam.step(dict(zip(adam.parameters, gradients, strict=True)), RATE * (1 - epoch / config.pretraining))
