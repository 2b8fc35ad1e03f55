"""Networks over states, with a few outputs per state: a policy's logits, a value.

An observation is a row of integers. The first is the index of an entry (a grid, a vector of features) in a bank of
distinct entries, each of which a network processes once; the others, if any, are indices into its embeddings. So the
first layer is a sum of table rows, one for the entry and one for each further index; the layers behind it are those of
the paper's network.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from experiments.vector.scene_pool import Bank
from wfairl.minigrid.grid_network import compacted


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
    """States as the input of a `StateNetwork`.

    Attributes:
        bank: the distinct entries, shape [entries, ...].
        columns: index of the entry, and further indices; shape [states, columns] of int64.
    """

    bank: Tensor
    columns: Tensor


class StateNetwork(nn.Module, ABC):
    """Maps observations to outputs, the first of which are logits of controls; untrained, all outputs are 0."""

    @abstractmethod
    def entry_table(self, entries: Tensor, dropout: Dropout | None = None) -> Tensor:
        """The contribution of entries of a bank to the first layer, shape [entries, hidden]."""

    @abstractmethod
    def index_tables(self) -> tuple[Tensor, ...]:
        """The contributions of the further indices of an observation, a table of shape [indices, hidden] for each."""

    @abstractmethod
    def from_tables(self, tables: Sequence[Tensor], indices: Sequence[Tensor], dropout: Dropout | None) -> Tensor:
        """The outputs for rows whose first layer is the sum of one row of each table; shape [rows, outputs]."""

    @abstractmethod
    def from_hidden(self, hidden: Tensor) -> Tensor:
        """The outputs for rows from their first layer, of shape [rows, hidden]."""

    @abstractmethod
    def available(self, entries: Tensor) -> Tensor | None:
        """Which controls are available, shape [entries, controls]; None if all of them are everywhere."""

    def forward(self, observations: Observations, dropout: Dropout | None = None) -> Tensor:
        """The outputs for some states, shape [states, outputs]; -inf for unavailable controls.

        Each entry of the bank that occurs is processed once. While the network is trained, `dropout` is applied to the
        hidden layers.
        """
        number, *indices = observations.columns.long().T
        occurring, number = compacted(number, len(observations.bank))
        entries = observations.bank[occurring]
        tables = (self.entry_table(entries, dropout), *self.index_tables())
        return mask_unavailable(self.from_tables(tables, (number, *indices), dropout), self.available(entries), number)


class FrozenNetwork:
    """The outputs of a `StateNetwork` with fixed weights; each entry of a growing bank is processed once."""

    @torch.no_grad()
    def __init__(self, network: StateNetwork, bank: Bank):
        self._network, self._bank, self._count = network, bank, 0
        self._tables = network.index_tables()
        self._table = torch.empty(0)
        self._available: Tensor | None = None

    @torch.no_grad()
    def __call__(self, columns: Tensor) -> Tensor:
        """The outputs, shape [rows, outputs], of observations of shape [rows, columns]."""
        if len(self._bank) > self._count:
            entries = torch.from_numpy(self._bank.entries[self._count :].copy())
            table, available = self._network.entry_table(entries), self._network.available(entries)
            if self._count:
                table = torch.cat([self._table, table])
            if self._count and available is not None and self._available is not None:
                available = torch.cat([self._available, available])
            self._table, self._available, self._count = table, available, len(table)
        number, *indices = columns.T
        hidden = self._table[number]
        for table, index in zip(self._tables, indices, strict=True):
            hidden = hidden + table[index]
        return mask_unavailable(self._network.from_hidden(hidden), self._available, number)


def mask_unavailable(outputs: Tensor, available: Tensor | None, numbers: Tensor) -> Tensor:
    """Set the logits of unavailable controls to -inf.

    Args:
        outputs: shape [rows, outputs].
        available: see `StateNetwork.available`.
        numbers: the entry of each row, shape [rows].
    """
    if available is None:
        return outputs
    allowed = available[numbers]
    controls = allowed.shape[1]
    return torch.cat([outputs[:, :controls].masked_fill(~allowed, -torch.inf), outputs[:, controls:]], dim=1)


@contextmanager
def seeded_torch(*numbers: int) -> Iterator[None]:
    """Seed torch's global generator from several numbers, and restore it afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_seed(*numbers))
        yield


def torch_seed(*numbers: int) -> int:
    """One seed for torch from several numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))
