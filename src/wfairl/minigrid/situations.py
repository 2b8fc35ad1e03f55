"""The situation of a state: what is under the agent and ahead of it, the floors there, and what the agent carries.

A local cost depends on the situation of a transition and its control alone. So do its features, which are indicators:
what the agent carries before the transition, and the coloured floor or the door on which it ends. They say what
happens; what is only seen from there goes with each step onto coloured floor, and few demonstrations would not tell
these apart.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import inner, njit
from wfairl.minigrid import physics
from wfairl.minigrid.physics import CELL_TYPES, COLORS, FLOORS, HANDS, NOTHING, Layout, LayoutTable, cell_entry

SITUATION_SIZES = (len(CELL_TYPES), len(FLOORS), len(FLOORS), len(CELL_TYPES), len(HANDS))
"""A situation is (under, floor under, floor ahead, ahead, hand) in one number: see `np.ravel_multi_index`."""

GROUNDS = (*(f"{color} floor" for color in COLORS), "door")
"""The cells other than plain ones that a transition may end on."""

FEATURE_NAMES = (*(f"{name} in hand" for name in HANDS), *(f"to {ground}" for ground in GROUNDS))

PASSABLE = (physics.EMPTY, physics.FLOOR, physics.GOAL, physics.LAVA, physics.OPEN_DOOR)
"""The cells that an agent can move onto, as indices into `CELL_TYPES`."""


@njit(cache=True, nogil=True)
def find_situations(layout: LayoutTable, states: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The situations of packed states: [states, words] -> [states]."""
    situations = np.empty(states.shape[0], np.int64)
    fields = np.empty(physics.fields_count(layout), np.int32)
    for i in range(states.shape[0]):
        physics.unpack(layout, states[i], fields)
        cell, front = fields[physics.AGENT], physics.cell_in_front(layout, fields)
        number = cell_type(layout, fields, cell)
        number = (number * len(FLOORS) + _floor(layout, cell)) * len(FLOORS) + _floor(layout, front)
        number = number * len(CELL_TYPES) + cell_type(layout, fields, front)
        situations[i] = number * len(HANDS) + hand_shown(layout, fields)
    return situations


@inner
def hand_shown(layout: LayoutTable, fields: NDArray[np.int32]) -> int:
    """The thing that the agent carries, an index into `HANDS`."""
    obj = physics.carried_object(layout, fields)
    return 0 if obj == NOTHING else 1 + physics.object_entry(layout, obj, physics.OBJECT_KIND)


@inner
def cell_type(layout: LayoutTable, fields: NDArray[np.int32], cell: int) -> int:
    """The type that a cell shows, an index into `CELL_TYPES`; a wall beyond the edge of the grid."""
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
    situations = find_situations(layout.table, np.ascontiguousarray(states))
    rows, controls = np.divmod(transitions, len(physics.CONTROLS))
    kinds = _kinds()[(controls == physics.FORWARD).astype(int), situations[rows]]
    occurs = np.bincount(kinds, minlength=len(HANDS) * (1 + len(GROUNDS))) > 0
    hand, ground = np.divmod(np.flatnonzero(occurs), 1 + len(GROUNDS))
    features = np.hstack([hand[:, None] == np.arange(len(HANDS)), ground[:, None] == 1 + np.arange(len(GROUNDS))])
    return (np.cumsum(occurs) - 1)[kinds].astype(np.int32), features.astype(np.float64)


@cache
def _kinds() -> NDArray[np.int64]:
    """hand * (1 + grounds) + what a transition ends on, of any control and of `FORWARD`; shape [2, situations]."""
    under, floor_under, floor_ahead, ahead, hand = np.indices(SITUATION_SIZES).reshape(5, -1)
    moves = np.isin(ahead, PASSABLE) & ~np.isin(under, (physics.GOAL, physics.LAVA))
    here, there = (
        np.where(cell == physics.OPEN_DOOR, len(GROUNDS), floor)
        for cell, floor in ((under, floor_under), (ahead, floor_ahead))
    )
    return hand * (1 + len(GROUNDS)) + np.stack([here, np.where(moves, there, here)])
