"""Networks over states, with a few outputs per state: a policy's logits, a value.

An observation is three integers: the index of a grid in a bank of distinct ones, cell * 4 + direction, and the carried
object. So the first layer is a sum of table rows, one for each of them, and each grid is convolved once; the layers
behind it are those of the paper's network.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from experiments.baselines.vector_environment import Bank
from wfairl.minigrid.grid_network import (
    DIRECTION_SIZE,
    HAND_SIZE,
    HIDDEN,
    POSITION_SIZE,
    GridConvolution,
    Head,
    compacted,
    pairs,
)
from wfairl.minigrid.physics import HANDS, HEADINGS


@dataclass(frozen=True)
class Dropout:
    """Sets units of a hidden layer to 0 at random, and scales up the others.

    Torch's own draws from the global generator, this one from its own.

    Attributes:
        rate: the probability of a unit to be set to 0.
        generator: of the draws.
    """

    rate: float
    generator: torch.Generator

    def __call__(self, hidden: Tensor) -> Tensor:
        """The layer with units left out."""
        is_active = torch.rand(hidden.shape, generator=self.generator, dtype=hidden.dtype) >= self.rate
        return hidden * is_active / (1 - self.rate)


@dataclass(frozen=True, eq=False)
class Observations:
    """States as the input of a `GridNetwork`.

    Attributes:
        bank: the distinct grids, shape [grids, height, width].
        columns: see above; shape [states, 3] of int64.
    """

    bank: Tensor
    columns: Tensor


class GridNetwork(nn.Module):
    """The network of the paper's appendix without its input for the control, for square grids of one size.

    Its first outputs are logits of controls; untrained, all outputs are 0.
    """

    def __init__(self, size: int, outputs: int):
        super().__init__()
        self.convolution = GridConvolution(size, size)
        self.position = nn.Embedding(size * size, POSITION_SIZE)
        self.direction = nn.Embedding(HEADINGS, DIRECTION_SIZE)
        self.carried = nn.Embedding(len(HANDS), HAND_SIZE)
        self.dense = nn.Linear(self.convolution.size + POSITION_SIZE + DIRECTION_SIZE + HAND_SIZE, HIDDEN[0])
        self.head = Head(outputs)

    def _weights(self) -> tuple[Tensor, ...]:
        """The first layer's weights for the grid, the position, the direction and the carried object."""
        return self.dense.weight.split((self.convolution.size, POSITION_SIZE, DIRECTION_SIZE, HAND_SIZE), dim=1)

    def entry_table(self, entries: Tensor, dropout: Dropout | None = None) -> Tensor:
        """What grids, shape [grids, height, width] of uint8, add to the first layer; shape [grids, hidden]."""
        features = self.convolution(entries)
        return (features if dropout is None else dropout(features)) @ self._weights()[0].T + self.dense.bias

    def index_tables(self) -> tuple[Tensor, Tensor]:
        """What cell * 4 + direction and the carried object add to the first layer, shape [indices, hidden] each."""
        _, of_position, of_direction, of_carried = self._weights()
        places = pairs(self.position.weight @ of_position.T, self.direction.weight @ of_direction.T)
        return places, self.carried.weight @ of_carried.T

    def forward(self, observations: Observations, dropout: Dropout | None = None) -> Tensor:
        """The outputs for some states, shape [states, outputs].

        Each grid of the bank that occurs is convolved once. While the network is trained, `dropout` is applied to the
        hidden layers.
        """
        number, *indices = observations.columns.long().T
        occurring, number = compacted(number, len(observations.bank))
        tables = (self.entry_table(observations.bank[occurring], dropout), *self.index_tables())
        return self.head(tables, (number, *indices), dropout)


class FrozenNetwork:
    """The outputs of a network with fixed weights; each grid of a growing bank is convolved once."""

    @torch.no_grad()
    def __init__(self, network: GridNetwork, bank: Bank):
        self._network, self._bank = network, bank
        self._tables, self._table = network.index_tables(), torch.empty(0)

    @torch.no_grad()
    def __call__(self, columns: Tensor) -> Tensor:
        """The outputs, shape [rows, outputs], of observations of shape [rows, columns]."""
        count = len(self._table)
        if len(self._bank) > count:
            table = self._network.entry_table(torch.from_numpy(self._bank.entries[count:].copy()))
            self._table = torch.cat([self._table, table]) if count else table
        number, *indices = columns.T
        hidden = self._table[number]
        for table, index in zip(self._tables, indices, strict=True):
            hidden = hidden + table[index]
        return self._network.head.from_hidden(hidden)


@contextmanager
def seeded_torch(*numbers: int) -> Iterator[None]:
    """Seed torch's global generator from several numbers, and restore it afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_seed(*numbers))
        yield


def torch_seed(*numbers: int) -> int:
    """One seed for torch from several numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))
