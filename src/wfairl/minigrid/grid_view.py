"""Observations of many packed states of a MiniGrid scene at once.

Most states of a scene share their grid: the agent moves, objects lie still. So a view holds the distinct grids once,
and for every state the number of its grid, the agent's cell and direction, and what the agent carries.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit
from wfairl.minigrid import physics
from wfairl.minigrid.physics import unpack_all
from wfairl.minigrid.situations import cell_type, find_situations
from wfairl.minigrid.world import MiniGridWorld


@dataclass(frozen=True, eq=False)
class GridView:
    """Observations of states of one scene."""

    cells: NDArray[np.int64]  # the agent's cell y * width + x, shape [states]
    directions: NDArray[np.int64]  # 0 right, 1 down, 2 left, 3 up; shape [states]
    carried: NDArray[np.int64]  # what the agent carries, an index into `HANDS`; shape [states]
    grid_numbers: NDArray[np.int64]  # which of `grids` the state shows, shape [states]
    # the distinct grids without the agent, an index into `CELL_TYPES` per cell; shape [grids, height, width]
    grids: NDArray[np.uint8]


def view_states(world: MiniGridWorld, states: NDArray[np.uint64]) -> GridView:
    """The observations of many packed states of a world, shape [states, words]."""
    states = np.ascontiguousarray(states)
    fields = unpack_all(world.layout.table, states)
    grid_numbers, examples = _distinct_grids(world, fields)
    cells = len(world.layout.cells)
    grids = draw_grids(world.layout.table[None], np.zeros(len(examples), np.int64), fields[examples], cells)
    return GridView(
        cells=fields[:, physics.AGENT].astype(np.int64),
        directions=fields[:, physics.DIRECTION].astype(np.int64),
        carried=find_situations(world.layout.table, states) % len(physics.HANDS),
        grid_numbers=grid_numbers,
        grids=grids.reshape(len(grids), -1, world.layout.width),
    )


def _distinct_grids(world: MiniGridWorld, fields: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each state's grid, shape [states], and a state that shows each grid, shape [grids]."""
    on_grid = fields[:, physics.FIRST_OBJECT :].astype(np.int64)
    objects, off_grid = len(world.layout.objects), len(world.layout.cells)
    # Carried, inside a box or gone: the grid is the same.
    on_grid[:, :objects] = np.minimum(on_grid[:, :objects], off_grid)
    numbers = np.zeros(len(fields), np.int64)
    for column in on_grid.T:  # one column at a time, so that the combined number never overflows
        _, numbers = np.unique(numbers * (column.max(initial=0) + 1) + column, return_inverse=True)
    _, examples = np.unique(numbers, return_index=True)
    return numbers, examples


@njit(cache=True, nogil=True, exact=True)
def draw_grids(
    layouts: NDArray[np.int32], scenes: NDArray[np.int64], fields: NDArray[np.int32], cells: int
) -> NDArray[np.uint8]:
    """The grids of states, an index into `CELL_TYPES` per cell; shape [states, cells].

    Args:
        layouts: the tables of some scenes, shape [scenes, longest].
        scenes: the scene of each state, shape [states].
        fields: of the states, shape [states, most fields].
        cells: the number of cells of every scene.
    """
    grids = np.empty((scenes.size, cells), np.uint8)
    for i in range(scenes.size):
        for cell in range(cells):
            grids[i, cell] = cell_type(layouts[scenes[i]], fields[i], cell)
    return grids
