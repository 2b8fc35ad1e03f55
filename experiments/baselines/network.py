"""Networks over MiniGrid scenes, and what they see: the map around the agent, which faces up.

The rules of MiniGrid are invariant under shifts, rotations and reflections, with left and right exchanged by a
reflection. So a policy loses nothing if the map is shifted and rotated until the agent stands in the middle and faces
up, and it generalises from one place to all others. The reflection remains: it makes two demonstrations of one.

An observation is three integers: the index of a grid in a bank of distinct ones, cell * 4 + direction, and the carried
object. So the first layer is a sum of table rows, one for each of them, and each grid is convolved once; the layers
behind it are those of the paper's network. The outputs are a policy's logits, and perhaps a value.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from annotated_types import Ge, Le
from numpy.typing import NDArray
from torch import Tensor, nn

from experiments.baselines.vector_environment import CARRIED, GRID, PLACE, Bank, Columns
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.world import World
from wfairl.minigrid import MiniGridWorld
from wfairl.minigrid.grid_view import view_states
from wfairl.minigrid.physics import CONTROLS, HANDS, HEADINGS, WALL
from wfairl.networks.cost_network import distinct
from wfairl.networks.grid_network import (
    DIRECTION_SIZE,
    HAND_SIZE,
    HIDDEN,
    POSITION_SIZE,
    GridConvolution,
    Head,
    pairs,
)

UP = 3
MIRRORED_DIRECTION = (2, 1, 0, 3)
MIRRORED_CONTROL = tuple({"left": "right", "right": "left"}.get(name, name) for name in CONTROLS)

UNKNOWN = -1
"""The entry of surroundings that have not been encoded yet."""


@dataclass(frozen=True)
class Dropout:
    """Sets units of a hidden layer to 0 at random, and scales up the others; torch's own has a global generator."""

    rate: float
    generator: torch.Generator

    def __call__(self, hidden: Tensor) -> Tensor:
        """The layer with units left out."""
        is_active = torch.rand(hidden.shape, generator=self.generator, dtype=hidden.dtype) >= self.rate
        return hidden * is_active / (1 - self.rate)


@dataclass(frozen=True, eq=False)
class Observations:
    """States as the input of a `GridNetwork`: distinct grids [grids, height, width], and columns [states, 3]."""

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
        """The outputs for some states, shape [states, outputs]; `dropout` is applied to the hidden layers."""
        number, *indices = observations.columns.long().T
        occurring, number = distinct(number.numpy())
        tables = (self.entry_table(observations.bank[occurring], dropout), *self.index_tables())
        return self.head(tables, (number, *indices), dropout)


EncodeStates = Callable[[Sequence[Any]], Observations]
"""Encodes states of one world."""


class OtherWorldError(BadInputError):
    """Networks of MiniGrid scenes are used in another world."""


def check_grid(world: World[Any]) -> MiniGridWorld:
    """The world, if it is one of MiniGrid's."""
    if not isinstance(world, MiniGridWorld):
        raise OtherWorldError(
            f"cloning and GAIL see the map of a MiniGrid scene, and a {type(world).__name__} has none"
        )
    return world


@dataclass(frozen=True)
class GridEncoder:
    """The map around the agent, `radius` cells each way; cells beyond the map are walls."""

    radius: Annotated[int, Ge(2), Le(30)]
    controls: ClassVar[tuple[str, ...]] = tuple(CONTROLS)

    @property
    def size(self) -> int:
        """Height and width of an encoded grid."""
        return 2 * self.radius + 1

    @property
    def place(self) -> int:
        """The place of the agent: in the middle, facing up."""
        return (self.radius * self.size + self.radius) * HEADINGS + UP

    def make_network(self, outputs: int) -> GridNetwork:
        """An untrained network; its first outputs are for the controls."""
        return GridNetwork(self.size, outputs)

    def for_world(self, world: World[Any]) -> EncodeStates:
        """The encoder of states of one scene."""
        grid = check_grid(world)

        def encode(states: Sequence[Any]) -> Observations:
            view = view_states(grid, np.stack([grid.pack(state) for state in states]))
            places = view.cells * HEADINGS + view.directions
            windows = surroundings(view.grids, view.grid_numbers, places, self.radius)
            grids, numbers = np.unique(windows, axis=0, return_inverse=True)
            columns = np.stack([numbers.reshape(-1), np.full(len(places), self.place), view.carried], axis=1)
            return Observations(torch.from_numpy(grids), torch.from_numpy(columns))

        return encode

    def mirrored(self, observations: Observations, controls: Tensor) -> tuple[Observations, Tensor]:
        """The states and their controls in the scene's mirror image: left and right exchanged."""
        number, place, carried = observations.columns.T
        cell, direction = place // HEADINGS, place % HEADINGS
        mirrored = cell - cell % self.size + (self.size - 1 - cell % self.size)
        places = mirrored * HEADINGS + torch.tensor(MIRRORED_DIRECTION)[direction]
        exchanged = torch.tensor([CONTROLS.index(name) for name in MIRRORED_CONTROL])[controls]
        return Observations(observations.bank.flip(2), torch.stack([number, places, carried], dim=1)), exchanged


class GridBatch:
    """The surroundings of the agent depend on the grid and its place only; each pair is encoded once."""

    def __init__(self, encoder: GridEncoder, grids: Bank):
        self.bank = Bank((encoder.size, encoder.size), np.uint8)
        self._encoder, self._grids = encoder, grids
        self._numbers = np.empty((0, 0), np.int32)

    def encode(self, columns: Columns) -> Columns:
        """The columns of the environment as columns for a network."""
        grids, places = columns[:, GRID], columns[:, PLACE]
        if len(self._grids) > len(self._numbers):
            height, width = self._grids.entries.shape[1:]
            larger = np.full((2 * len(self._grids), height * width * HEADINGS), UNKNOWN, np.int32)
            if len(self._numbers):
                larger[: len(self._numbers)] = self._numbers
            self._numbers = larger
        numbers = self._numbers[grids, places].astype(np.int64)
        unknown = np.flatnonzero(numbers == UNKNOWN)
        if len(unknown):
            windows = surroundings(self._grids.entries, grids[unknown], places[unknown], self._encoder.radius)
            numbers[unknown] = self.bank.number(windows)
            self._numbers[grids[unknown], places[unknown]] = numbers[unknown]
        return np.stack([numbers, np.full(len(columns), self._encoder.place), columns[:, CARRIED]], axis=1)

    def clear(self) -> None:
        """Empty the bank, after the environment has emptied its own."""
        self.bank.clear()
        self._numbers = np.empty((0, 0), np.int32)


def surroundings(
    grids: NDArray[np.uint8], numbers: NDArray[np.int64], places: NDArray[np.int64], radius: int
) -> NDArray[np.uint8]:
    """The cells around agents, each turned to face up, walls beyond the map: [agents, 2 radius + 1, 2 radius + 1].

    `numbers` and `places` are the grid of each agent and its cell * 4 + direction, shape [agents] each.
    """
    cells, directions = np.divmod(places, HEADINGS)
    y, x = np.divmod(cells, grids.shape[2])
    # Offsets ahead and to the right, for an agent that faces right, down, left and up.
    ahead = np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])[directions]
    right = np.array([(1, 0), (0, -1), (-1, 0), (0, 1)])[directions]
    reach = np.arange(-radius, radius + 1)
    offsets = -reach[None, :, None, None] * ahead[:, None, None] + reach[None, None, :, None] * right[:, None, None]
    row, column = y[:, None, None] + offsets[..., 0], x[:, None, None] + offsets[..., 1]
    inside = (row >= 0) & (row < grids.shape[1]) & (column >= 0) & (column < grids.shape[2])
    cells_around = grids[numbers[:, None, None], np.where(inside, row, 0), np.where(inside, column, 0)]
    return np.where(inside, cells_around, np.uint8(WALL))


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
