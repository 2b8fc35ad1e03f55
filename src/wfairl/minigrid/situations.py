"""The situation of a state: what is under the agent and ahead of it, the floors there, and what the agent carries.

The features of a transition, and a local cost, depend on its situation and its control alone.
"""

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit
from wfairl.minigrid import physics
from wfairl.minigrid.physics import CELL_TYPES, FLOORS, HANDS, NOTHING, LayoutTable, cell_entry

SITUATION_SIZES = (len(CELL_TYPES), len(FLOORS), len(FLOORS), len(CELL_TYPES), len(HANDS))
"""A situation is (under, floor under, floor ahead, ahead, hand) in one number: see `np.ravel_multi_index`."""


@njit(cache=True, nogil=True)
def find_situations(layout: LayoutTable, states: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The situations of packed states: [states, words] -> [states]."""
    situations = np.empty(states.shape[0], np.int64)
    fields = np.empty(physics.fields_count(layout), np.int32)
    for i in range(states.shape[0]):
        physics.unpack(layout, states[i], fields)
        cell, front = fields[physics.AGENT], physics.cell_in_front(layout, fields)
        obj = physics.carried_object(layout, fields)
        hand = 0 if obj == NOTHING else 1 + physics.object_entry(layout, obj, physics.OBJECT_KIND)
        number = _cell_type(layout, fields, cell)
        number = (number * len(FLOORS) + _floor(layout, cell)) * len(FLOORS) + _floor(layout, front)
        situations[i] = (number * len(CELL_TYPES) + _cell_type(layout, fields, front)) * len(HANDS) + hand
    return situations


@njit(cache=True, nogil=True)
def _cell_type(layout: LayoutTable, fields: NDArray[np.int32], cell: int) -> int:
    """What a cell shows, an index into `CELL_TYPES`; a wall beyond the edge of the grid."""
    if cell == NOTHING:
        return physics.WALL
    terrain = cell_entry(layout, cell, physics.TERRAIN)
    if terrain == physics.DOOR:
        state = physics.door_state(layout, fields, cell_entry(layout, cell, physics.DOOR_AT))
        if state & physics.IS_OPEN:
            return physics.OPEN_DOOR
        return physics.LOCKED_DOOR if state & physics.IS_LOCKED else physics.CLOSED_DOOR
    obj = physics.object_at(layout, fields, cell)
    if obj == NOTHING:
        return terrain
    return physics.FIRST_OBJECT_TYPE + physics.object_entry(layout, obj, physics.OBJECT_KIND)


@njit(cache=True, nogil=True)
def _floor(layout: LayoutTable, cell: int) -> int:
    """The colour of the floor of a cell, an index into `FLOORS`."""
    if cell == NOTHING or cell_entry(layout, cell, physics.TERRAIN) != physics.FLOOR:
        return 0
    return 1 + cell_entry(layout, cell, physics.TERRAIN_COLOR)
