"""The features of transitions in a MiniGrid scene, on which linear and tabular costs depend.

All features are indicators: what is in front of the agent, under it and in its hands before the transition, and the
colour of the floor on which the transition ends.
"""

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit
from wfairl.minigrid import physics
from wfairl.minigrid.physics import COLORS, CONTROLS, HANDS, NOTHING, OBJECTS, TERRAINS, Layout, LayoutTable

FEATURE_NAMES = (
    *(f"{name} ahead" for name in (*TERRAINS, *OBJECTS, "open door", "locked door")),
    *(f"on {name}" for name in TERRAINS),
    *(f"{name} in hand" for name in HANDS),
    *(f"to {color} floor" for color in COLORS),
)
"""Names of the features of a transition."""


def transition_features(
    layout: Layout, states: NDArray[np.uint64], transitions: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The features of transitions, as indices into the distinct ones.

    Args:
        layout: the scene.
        states: packed states, shape [states, words].
        transitions: row of `states` * controls + control, shape [transitions].

    Returns:
        Row of each transition, shape [transitions], and the distinct features, shape [distinct, features].
    """
    rows, controls = transitions // len(CONTROLS), (transitions % len(CONTROLS)).astype(np.int64)
    states = np.ascontiguousarray(states)
    # Indicators are the bits of a number: unique numbers are found many times faster than unique rows.
    before = _state_features(layout, physics.unpack_all(layout.table, states))
    distinct, before_of_state = np.unique(before @ (1 << np.arange(before.shape[1])), return_inverse=True)
    arrived = layout.floor_colors[_cells_after(layout.table, states, rows, controls)]
    pairs = arrived * len(distinct) + before_of_state[rows]
    occurs = np.bincount(pairs, minlength=(1 + len(COLORS)) * len(distinct)) > 0
    entered, number = np.divmod(np.flatnonzero(occurs), len(distinct))
    features = np.hstack(
        [distinct[number, None] >> np.arange(before.shape[1]) & 1, 1 + np.arange(len(COLORS)) == entered[:, None]]
    )
    return (np.cumsum(occurs) - 1)[pairs].astype(np.int32), features.astype(np.float64)


def _state_features(layout: Layout, fields: NDArray[np.int32]) -> NDArray[np.uint8]:
    """What is in front of the agent, under it, and in its hands: [states, fields] -> [states, 21]."""
    cells, many = layout.cells, np.arange(len(fields))
    under = cells[fields[:, physics.AGENT], physics.TERRAIN]
    front = cells[fields[:, physics.AGENT], physics.FRONT + fields[:, physics.DIRECTION]]
    ahead = np.where(front == NOTHING, physics.WALL, cells[front, physics.TERRAIN])
    carried = np.zeros(len(fields), np.int64)
    for obj, kind in enumerate(layout.objects[:, physics.OBJECT_KIND]):
        place = fields[:, physics.FIRST_OBJECT + obj]
        ahead = np.where((place == front) & (front != NOTHING), len(TERRAINS) + kind, ahead)
        carried[place == len(cells) + physics.CARRIED] = 1 + kind
    is_door = ahead == physics.DOOR
    doors = layout.first_door + np.where(is_door, cells[front, physics.DOOR_AT], 0)
    door = np.where(is_door, fields[many, np.minimum(doors, fields.shape[1] - 1)], 0)
    aheads = len(TERRAINS) + len(OBJECTS)
    features = np.zeros((len(fields), aheads + 2 + len(TERRAINS) + len(HANDS)), np.uint8)
    features[many, ahead] = 1
    features[:, aheads] = (door & physics.IS_OPEN) != 0
    features[:, aheads + 1] = (door & physics.IS_LOCKED) != 0
    features[many, aheads + 2 + under] = 1
    features[many, aheads + 2 + len(TERRAINS) + carried] = 1
    return features


@njit(cache=True, nogil=True)
def _cells_after(
    layout: LayoutTable, states: NDArray[np.uint64], rows: NDArray[np.int64], controls: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The agent's cell after a control in each of some states.

    Args:
        layout: the scene.
        states: packed states, shape [states, words].
        rows, controls: the row of `states` and the control of each transition, shape [transitions] each.
    """
    cells = np.empty(rows.size, np.int64)
    fields = np.empty(physics.fields_count(layout), np.int32)
    for i in range(rows.size):
        physics.unpack(layout, states[rows[i]], fields)
        physics.apply_control(layout, fields, controls[i])
        cells[i] = fields[physics.AGENT]
    return cells
