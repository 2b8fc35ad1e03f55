"""Networks over states: a few numbers for each state (a policy's logits, a value).

The first layer is a sum of rows of tables, one for the entry of the bank and one for each further index of an
observation (see `encoder`); the layers behind are those of the paper's network.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from wfairl.learning.grid_network import Dropout, compacted
from wfairl.worlds.scene_pool import Bank

if TYPE_CHECKING:
    from wfairl.baselines.encoder import Observations


class StateNetwork(nn.Module, ABC):
    """From observations to outputs, the first of which are logits of controls; it starts at 0 for every state."""

    @abstractmethod
    def entry_table(self, entries: Tensor, dropout: Dropout | None = None) -> Tensor:
        """What entries of a bank add to the first layer, shape [entries, hidden]."""

    @abstractmethod
    def index_tables(self) -> tuple[Tensor, ...]:
        """What the further indices of an observation add, a table of shape [indices, hidden] for each."""

    @abstractmethod
    def from_tables(self, tables: Sequence[Tensor], indices: Sequence[Tensor], dropout: Dropout | None) -> Tensor:
        """The outputs of rows, whose first layer is the sum of one row of each table; shape [rows, outputs]."""

    @abstractmethod
    def from_hidden(self, hidden: Tensor) -> Tensor:
        """The outputs of rows, from their first layer of shape [rows, hidden]."""

    @abstractmethod
    def available(self, entries: Tensor) -> Tensor | None:
        """Which controls can be chosen, shape [entries, controls]; None if all of them can everywhere."""

    @staticmethod
    @abstractmethod
    def logits_alone(parameters: Mapping[str, Tensor], controls: int) -> dict[str, Tensor]:
        """The parameters of a network with further outputs, as one without them has them."""

    def forward(self, observations: "Observations", dropout: Dropout | None = None) -> Tensor:
        """The outputs for some states, shape [states, outputs]; -inf for controls that are unavailable.

        Each entry of the bank that occurs is worked through once.

        Args:
            observations: the states.
            dropout: what the hidden layers go through while the network is trained.
        """
        number, *indices = observations.columns.long().T
        shown, number = compacted(number, len(observations.bank))
        entries = observations.bank[shown]
        tables = (self.entry_table(entries, dropout), *self.index_tables())
        return mask_unavailable(self.from_tables(tables, (number, *indices), dropout), self.available(entries), number)


class FrozenNetwork:
    """The outputs of a `StateNetwork` as long as its weights do not change: each entry is worked through once.

    Args:
        network: the network.
        bank: the entries, which may become more.
    """

    @torch.no_grad()
    def __init__(self, network: StateNetwork, bank: Bank):
        self._network, self._bank, self._known = network, bank, 0
        self._tables = network.index_tables()
        self._table = torch.empty(0)
        self._available: Tensor | None = None

    @torch.no_grad()
    def __call__(self, columns: Tensor) -> Tensor:
        """The outputs, shape [rows, outputs], of observations of shape [rows, columns]."""
        if len(self._bank) > self._known:
            entries = torch.from_numpy(self._bank.entries[self._known :].copy())
            table, available = self._network.entry_table(entries), self._network.available(entries)
            if self._known:
                table = torch.cat([self._table, table])
            if self._known and available is not None and self._available is not None:
                available = torch.cat([self._available, available])
            self._table, self._available, self._known = table, available, len(table)
        number, *indices = columns.T
        hidden = self._table[number]
        for table, index in zip(self._tables, indices, strict=True):
            hidden = hidden + table[index]
        return mask_unavailable(self._network.from_hidden(hidden), self._available, number)


def mask_unavailable(outputs: Tensor, available: Tensor | None, numbers: Tensor) -> Tensor:
    """The outputs of rows, with -inf as the logit of each control that cannot be chosen.

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
