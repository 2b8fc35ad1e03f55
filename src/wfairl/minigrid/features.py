"""The features of transitions in a MiniGrid scene, on which costs depend.

All features are indicators: what is in front of the agent, under it and in its hands before the transition, and the
colour of the floor on which the transition ends.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from wfairl.minigrid import physics
from wfairl.minigrid.physics import CELL_TYPES, COLORS, CONTROLS, HANDS, OBJECTS, TERRAINS, Layout
from wfairl.minigrid.situations import SITUATION_SIZES, find_situations

AHEAD_NAMES = (*TERRAINS, *OBJECTS, "open door", "locked door")

FEATURE_NAMES = (
    *(f"{name} ahead" for name in AHEAD_NAMES),
    *(f"on {name}" for name in TERRAINS),
    *(f"{name} in hand" for name in HANDS),
    *(f"to {color} floor" for color in COLORS),
)
"""Names of the features of a transition."""

PASSABLE = (physics.EMPTY, physics.FLOOR, physics.GOAL, physics.LAVA, physics.OPEN_DOOR)
"""What can be ahead of an agent that moves forward, as indices into `CELL_TYPES`."""


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
    bits, floor_under, floor_forward = _situation_tables()
    situations = find_situations(layout.table, np.ascontiguousarray(states))
    distinct, number_of_state = np.unique(bits[situations], return_inverse=True)
    rows, controls = np.divmod(transitions, len(CONTROLS))
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
    bits |= 1 << (len(AHEAD_NAMES) + len(TERRAINS) + hand)
    moves = np.isin(ahead, PASSABLE) & ~np.isin(under, (physics.GOAL, physics.LAVA))
    return bits, floor_under, np.where(moves, floor_ahead, floor_under)
