"""What GAIL's networks are shown of a batch of episodes: the map as it lies, or as the agents see it (see `sight`)."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wfairl.baselines.sight import UP, AgentSight, MapSight
from wfairl.worlds.minigrid.batch import CARRIED, GRID, PLACE
from wfairl.worlds.minigrid.rules import WALL
from wfairl.worlds.minigrid.vector_environment import Columns, GridBank
from wfairl.worlds.minigrid.view import DIRECTIONS

UNKNOWN = -1
"""A surrounding that has not been looked at yet."""


class Eyes(Protocol):
    """How the columns of an environment become those that a network takes.

    Attributes:
        bank: the grids that the columns speak of.
        size: their height and width.
    """

    bank: GridBank
    size: tuple[int, int]

    def see(self, columns: Columns) -> Columns:
        """The columns that a network takes, shape [rows, 3]."""
        ...

    def forget(self) -> None:
        """Start anew, after the environment has emptied its bank."""
        ...


class MapEyes:
    """The whole map: the columns are the environment's own."""

    def __init__(self, bank: GridBank, size: tuple[int, int]):
        self.bank, self.size = bank, size

    def see(self, columns: Columns) -> Columns:
        """See `Eyes`."""
        return columns

    def forget(self) -> None:
        """See `Eyes`."""


class AgentEyes:
    """The map shifted and turned so that the agent stands in the middle and looks up.

    What an agent sees follows from the grid and its place, and is looked up once it is known.
    """

    def __init__(self, bank: GridBank, size: tuple[int, int], radius: int):
        side = 2 * radius + 1
        self.bank, self.size = GridBank(side, side), (side, side)
        self._grids, self._radius = bank, radius
        self._places = size[0] * size[1] * DIRECTIONS
        self._middle = (radius * side + radius) * DIRECTIONS + UP
        self._numbers = np.empty((0, self._places), np.int32)

    def see(self, columns: Columns) -> Columns:
        """See `Eyes`."""
        grids, places = columns[:, GRID], columns[:, PLACE]
        if len(self._grids) > len(self._numbers):
            room = np.full((2 * len(self._grids), self._places), UNKNOWN, np.int32)
            room[: len(self._numbers)] = self._numbers
            self._numbers = room
        numbers = self._numbers[grids, places].astype(np.int64)
        unknown = np.flatnonzero(numbers == UNKNOWN)
        if len(unknown):
            seen = surroundings(self._grids.grids, grids[unknown], places[unknown], self._radius)
            numbers[unknown] = self.bank.number(seen.reshape(len(unknown), -1))
            self._numbers[grids[unknown], places[unknown]] = numbers[unknown]
        return np.stack([numbers, np.full(len(columns), self._middle), columns[:, CARRIED]], axis=1)

    def forget(self) -> None:
        """See `Eyes`."""
        self.bank.clear()
        self._numbers = np.empty((0, self._places), np.int32)


def open_eyes(sight: MapSight | AgentSight, bank: GridBank, size: tuple[int, int]) -> Eyes:
    """The eyes that see in a batch what a sight shows of single worlds.

    Args:
        sight: what networks are shown.
        bank: of the environment.
        size: height and width of its maps.
    """
    return MapEyes(bank, size) if isinstance(sight, MapSight) else AgentEyes(bank, size, sight.radius)


def surroundings(
    grids: NDArray[np.uint8], numbers: NDArray[np.int64], places: NDArray[np.int64], radius: int
) -> NDArray[np.uint8]:
    """What is around agents, ahead of them up; walls beyond the map.

    Args:
        grids: shape [grids, height, width].
        numbers: the grid of each agent, shape [agents].
        places: its cell * 4 + direction, shape [agents].
        radius: cells each way.

    Returns:
        Shape [agents, 2 radius + 1, 2 radius + 1].
    """
    cells, directions = np.divmod(places, DIRECTIONS)
    y, x = np.divmod(cells, grids.shape[2])
    # Ahead and to the right, for an agent that looks right, down, left and up.
    ahead = np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])[directions]
    right = np.array([(1, 0), (0, -1), (-1, 0), (0, 1)])[directions]
    reach = np.arange(-radius, radius + 1)
    offsets = -reach[None, :, None, None] * ahead[:, None, None] + reach[None, None, :, None] * right[:, None, None]
    row, column = y[:, None, None] + offsets[..., 0], x[:, None, None] + offsets[..., 1]
    inside = (row >= 0) & (row < grids.shape[1]) & (column >= 0) & (column < grids.shape[2])
    shown = grids[numbers[:, None, None], np.where(inside, row, 0), np.where(inside, column, 0)]
    return np.where(inside, shown, np.uint8(WALL))
