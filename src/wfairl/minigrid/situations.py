"""The situation of a state: what is under the agent and ahead of it, the floors there, and what the agent carries.

The features of a transition, and a local cost, depend on its situation and its control alone. All features are
indicators: what is ahead, under the agent and in its hands before the transition, and the colour of the floor on which
the transition ends.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import inner, njit
from wfairl.minigrid import physics
from wfairl.minigrid.physics import CELL_TYPES, COLORS, FLOORS, HANDS, NOTHING, Layout, LayoutTable, cell_entry

SITUATION_SIZES = (len(CELL_TYPES), len(FLOORS), len(FLOORS), len(CELL_TYPES), len(HANDS))
"""A situation is (under, floor under, floor ahead, ahead, hand) in one number: see `np.ravel_multi_index`."""

AHEAD_NAMES = (*physics.TERRAINS, *physics.OBJECTS, "open door", "locked door")

FEATURE_NAMES = (
    *(f"{name} ahead" for name in AHEAD_NAMES),
    *(f"on {name}" for name in physics.TERRAINS),
    *(f"{name} in hand" for name in HANDS),
    *(f"to {color} floor" for color in COLORS),
)

PASSABLE = (physics.EMPTY, physics.FLOOR, physics.GOAL, physics.LAVA, physics.OPEN_DOOR)
"""What can be ahead of an agent that moves forward, as indices into `CELL_TYPES`."""


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


@inner
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


def transition_features(
    layout: Layout, states: NDArray[np.uint64], transitions: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The features of transitions between packed states of a scene; see `CompiledWorld.transition_features`."""
    bits, floor_under, floor_forward = _situation_tables()
    situations = find_situations(layout.table, np.ascontiguousarray(states))
    distinct, number_of_state = np.unique(bits[situations], return_inverse=True)
    rows, controls = np.divmod(transitions, len(physics.CONTROLS))
    floors = np.where(controls == physics.FORWARD, floor_forward[situations[rows]], floor_under[situations[rows]])
    pairs = floors * len(distinct) + number_of_state[rows]
    occurs = np.bincount(pairs, minlength=(1 + len(COLORS)) * len(distinct)) > 0
    floor, number = np.divmod(np.flatnonzero(occurs), len(distinct))
    before = distinct[number, None] >> np.arange(len(FEATURE_NAMES) - len(COLORS)) & 1
    features = np.hstack([before, 1 + np.arange(len(COLORS)) == floor[:, None]])
    return (np.cumsum(occurs) - 1)[pairs].astype(np.int32), features.astype(np.float64)


@cache
def _situation_tables() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The indicators of each situation as bits, and its floors after any control and after `FORWARD`.

    Each has the shape [situations]. Unique numbers are found many times faster than unique rows of indicators.
    """
    under, floor_under, floor_ahead, ahead, hand = np.indices(SITUATION_SIZES).reshape(5, -1)
    feature_ahead = np.array([AHEAD_NAMES.index("door" if "door" in name else name) for name in CELL_TYPES])
    bits = 1 << feature_ahead[ahead]
    bits |= (ahead == physics.OPEN_DOOR) << AHEAD_NAMES.index("open door")
    bits |= (ahead == physics.LOCKED_DOOR) << AHEAD_NAMES.index("locked door")
    bits |= 1 << (len(AHEAD_NAMES) + np.minimum(under, physics.DOOR))
    bits |= 1 << (len(AHEAD_NAMES) + len(physics.TERRAINS) + hand)
    moves = np.isin(ahead, PASSABLE) & ~np.isin(under, (physics.GOAL, physics.LAVA))
    return bits, floor_under, np.where(moves, floor_ahead, floor_under)
