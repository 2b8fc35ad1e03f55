"""What controls can do in an abstract state; see `pattern`."""

import numpy as np
from numpy.typing import NDArray

from wfairl.compiling import njit
from wfairl.worlds.minigrid.pattern import (
    AHEADS,
    ALIKE,
    ANY_HAND,
    BLOCKED,
    BLOCKER,
    CLASSES,
    CONTROL,
    CROWD,
    DROPPED,
    EFFECT_COLUMNS,
    EMPTY_HAND,
    FIRST_CLASS,
    GATE,
    HAND,
    HAND_KIND,
    HAND_OF,
    HEADING,
    IDLE,
    INSIDE_OF,
    IS_BOX,
    MOVED,
    NUMBER,
    NUMBER_OF,
    OPENED,
    PRICE,
    PRICE_CLASS,
    RELEVANT,
    SIZES,
    SOMETHING,
    SPOTS,
    TRACKED,
    TRACKED_HAND,
    UNLOCKS,
    WALKABLE,
    WAS_LOCKED,
    WILD,
    PatternTable,
    tracked_slot,
)
from wfairl.worlds.minigrid.rules import (
    BOX,
    DOOR,
    DOOR_AT,
    DROP,
    EMPTY,
    FORWARD,
    FRONT,
    LAVA,
    LEFT,
    NOTHING,
    PICKUP,
    RIGHT,
    TERRAIN,
    TOGGLE,
    WALL,
    Table,
    cell_entry,
)
from wfairl.worlds.minigrid.rules import GOAL as GOAL_TERRAIN
from wfairl.worlds.minigrid.view import CLOSED_DOOR, LOCKED_DOOR, OPEN_DOOR

MOST_EFFECTS = 7 + 2 * 63 + 1
"""Of one abstract state: 7, and for each class, which has a bit of its own, one to pick it up and one to open it."""

HERE = (MOST_EFFECTS - 1) * EFFECT_COLUMNS
"""The last row of effects holds the abstract state that they are of."""


@njit(cache=True, nogil=True)
def abstract_effects(layout: Table, table: PatternTable, state: int, effects: NDArray[np.int64]) -> int:
    """Write what controls can do in the abstract state at `HERE`, a row each, the first that nothing changes; how many.

    Args:
        layout, table: the scene and the pattern.
        state: the automaton state.
        effects: one row after the other, shape [`MOST_EFFECTS` * `EFFECT_COLUMNS`].
    """
    cell = table[table[WALKABLE] + effects[HERE + NUMBER]]
    front = cell_entry(layout, cell, FRONT + effects[HERE + HEADING])
    terrain = WALL if front == NOTHING else cell_entry(layout, front, TERRAIN)
    place = table[table[PRICE_CLASS] + 4 * effects[HERE + NUMBER] + effects[HERE + HEADING]] * AHEADS
    carried = table[table[HAND_KIND] + effects[HERE + HAND]]
    effects[HERE + DROPPED], effects[HERE + PRICE] = EMPTY_HAND, (place * (ANY_HAND + 1) + carried) * (IDLE + 1)
    count = _turn(effects, WILD + terrain)
    if cell_entry(layout, cell, TERRAIN) in (GOAL_TERRAIN, LAVA):
        return 1  # the episode is over
    if terrain == WALL:
        return count
    if terrain == DOOR:
        count, is_shut = _toggle_door(table, effects, count, cell_entry(layout, front, DOOR_AT))
        if is_shut:
            return count
    stands, there, is_box = _ahead(table, state, front, effects)
    if not stands:
        at = _add(effects, count, FORWARD, OPEN_DOOR if terrain == DOOR else terrain)
        effects[at + NUMBER] = table[table[NUMBER_OF] + front]
        count += 1
    if terrain == DOOR:
        return count
    is_free = terrain == EMPTY and not stands
    if effects[HERE + HAND] == EMPTY_HAND:
        count = _pick_up(table, effects, count, front, terrain, stands, there)
    elif is_free:
        count = _drop(table, effects, count, front)
    if is_box and there != EMPTY_HAND:
        return _open_box(table, effects, count, front, there)
    return _open_moved_boxes(table, effects, count, front) if is_free else count


@njit(cache=True, nogil=True)
def _turn(effects: NDArray[np.int64], sight: int) -> int:
    """Do nothing, and turn to either side."""
    _add(effects, 0, IDLE, sight)
    at = _add(effects, 1, LEFT, sight)
    effects[at + HEADING] = (effects[HERE + HEADING] + 3) % 4
    at = _add(effects, 2, RIGHT, sight)
    effects[at + HEADING] = (effects[HERE + HEADING] + 1) % 4
    return 3


@njit(cache=True, nogil=True)
def _toggle_door(table: PatternTable, effects: NDArray[np.int64], count: int, door: int) -> tuple[int, bool]:
    """Open or close a door, unless it is locked and no key at hand; the new count, and whether it was shut."""
    gate, is_locked = table[table[GATE] + door], table[table[WAS_LOCKED] + door] != 0
    hand, opened = effects[HERE + HAND], effects[HERE + OPENED]
    if gate == NOTHING or (is_locked and opened >> gate & 1):
        _add(effects, count, TOGGLE, WILD + DOOR)  # forgotten, or not locked any more: in any state
        return count + 1, False
    if opened >> gate & 1:
        at = _add(effects, count, TOGGLE, OPEN_DOOR)
        effects[at + OPENED] = opened & ~(1 << gate)
        return count + 1, False
    if is_locked and (hand < FIRST_CLASS or not table[table[UNLOCKS] + door] >> (hand - FIRST_CLASS) & 1):
        return count, True
    at = _add(effects, count, TOGGLE, LOCKED_DOOR if is_locked else CLOSED_DOOR)
    effects[at + OPENED] = opened | 1 << gate
    return count + 1, True


@njit(cache=True, nogil=True)
def _ahead(table: PatternTable, state: int, front: int, effects: NDArray[np.int64]) -> tuple[bool, int, bool]:
    """Whether something surely stands on the cell in front, the hand that would hold what does or may, and if a box."""
    hand, moved = effects[HERE + HAND], effects[HERE + MOVED]
    bit, lies = table[table[BLOCKER] + front], table[table[HAND_OF] + front]
    is_box = table[table[IS_BOX] + front] != 0
    stands = bit != NOTHING and effects[HERE + BLOCKED] >> bit & 1 != 0
    if bit == NOTHING and lies >= FIRST_CLASS and lies != hand and not is_box:
        # Of a class that matters, and none of which was moved, all lie where they did; boxes may have been opened.
        stands = (table[table[RELEVANT] + state] & ~moved) >> (lies - FIRST_CLASS) & 1 != 0
    there = lies if stands or bit == NOTHING or bit == table[SIZES + CROWD] else EMPTY_HAND
    if tracked_slot(table, there) != NOTHING and (moved >> (there - FIRST_CLASS) & 1 or there == hand):
        there = EMPTY_HAND  # it lies elsewhere
    for slot in range(table[SIZES + TRACKED]):
        if effects[HERE + SPOTS + slot] == table[table[NUMBER_OF] + front] + 1:
            stands, there = True, table[table[TRACKED_HAND] + slot]
            is_box = table[table[HAND_KIND] + there] == 1 + BOX
    return stands, there, is_box


@njit(cache=True, nogil=True)
def _pick_up(
    table: PatternTable, effects: NDArray[np.int64], count: int, front: int, terrain: int, stands: bool, there: int
) -> int:
    """Pick up what is in front, or something that was moved and may lie there."""
    for taken in range(SOMETHING, FIRST_CLASS + table[SIZES + CLASSES]):
        slot = tracked_slot(table, taken)
        is_moved = taken == SOMETHING or (slot == NOTHING and effects[HERE + MOVED] >> (taken - FIRST_CLASS) & 1 != 0)
        if taken == there or (is_moved and not stands):
            kind = table[table[HAND_KIND] + taken]
            sight = WILD + terrain if kind == ANY_HAND else LOCKED_DOOR + kind
            at = _add(effects, count, PICKUP, sight)
            effects[at + HAND] = taken
            effects[at + MOVED] |= table[table[INSIDE_OF] + taken]
            if slot != NOTHING:
                effects[at + MOVED] &= ~(1 << (taken - FIRST_CLASS))
                effects[at + SPOTS + slot] = 0
            effects[at + BLOCKED] = _without_blocker(table, effects, front)
            count += 1
    return count


@njit(cache=True, nogil=True)
def _drop(table: PatternTable, effects: NDArray[np.int64], count: int, front: int) -> int:
    """Drop what is held on the free cell in front."""
    hand, lies, bit = effects[HERE + HAND], table[table[HAND_OF] + front], table[table[BLOCKER] + front]
    if lies != hand or not table[table[ALIKE] + hand]:
        at = _add(effects, count, DROP, EMPTY)
        effects[at + HAND], effects[at + DROPPED] = EMPTY_HAND, hand
        if hand >= FIRST_CLASS:
            effects[at + MOVED] |= 1 << (hand - FIRST_CLASS)
        slot = tracked_slot(table, hand)
        if slot != NOTHING:
            effects[at + SPOTS + slot] = table[table[NUMBER_OF] + front] + 1
        count += 1
    if lies == hand:  # it is put back where one like it was
        at = _add(effects, count, DROP, EMPTY)
        effects[at + HAND], effects[at + DROPPED] = EMPTY_HAND, hand
        if bit != NOTHING:
            effects[at + BLOCKED] |= 1 << bit
        count += 1
    return count


@njit(cache=True, nogil=True)
def _open_box(table: PatternTable, effects: NDArray[np.int64], count: int, front: int, box: int) -> int:
    """Open the box in front, which is gone then; what was in it lies there."""
    at = _add(effects, count, TOGGLE, LOCKED_DOOR + 1 + BOX)
    effects[at + MOVED] |= table[table[INSIDE_OF] + box]
    slot = tracked_slot(table, box)
    if slot != NOTHING:
        effects[at + MOVED] |= 1 << (box - FIRST_CLASS)
        effects[at + SPOTS + slot] = 0
    effects[at + BLOCKED] = _without_blocker(table, effects, front)
    _lay_out(table, effects, at, box, front)
    return count + 1


@njit(cache=True, nogil=True)
def _open_moved_boxes(table: PatternTable, effects: NDArray[np.int64], count: int, front: int) -> int:
    """Open a box that may lie in front since it was moved. What is inside is anywhere by now, unless it is tracked."""
    for box in range(FIRST_CLASS, FIRST_CLASS + table[SIZES + CLASSES]):
        if effects[HERE + MOVED] >> (box - FIRST_CLASS) & 1 and tracked_slot(table, box) == NOTHING:
            at = _add(effects, count, TOGGLE, LOCKED_DOOR + 1 + BOX)
            if _lay_out(table, effects, at, box, front):
                count += 1
    return count


@njit(cache=True, nogil=True)
def _lay_out(table: PatternTable, effects: NDArray[np.int64], at: int, box: int, front: int) -> bool:
    """Put what was in a box, and is tracked, where the box was; whether there was any."""
    any_inside = False
    for slot in range(table[SIZES + TRACKED]):
        if table[table[INSIDE_OF] + box] >> (table[table[TRACKED_HAND] + slot] - FIRST_CLASS) & 1:
            effects[at + SPOTS + slot] = table[table[NUMBER_OF] + front] + 1
            any_inside = True
    return any_inside


@njit(cache=True, nogil=True)
def _without_blocker(table: PatternTable, effects: NDArray[np.int64], front: int) -> int:
    """The bits of the blockers when nothing stands in front any more."""
    bit = table[table[BLOCKER] + front]
    return effects[HERE + BLOCKED] & ~(1 << bit) if bit != NOTHING else effects[HERE + BLOCKED]


@njit(cache=True, nogil=True)
def _add(effects: NDArray[np.int64], count: int, control: int, sight: int) -> int:
    """Write the abstract state as it is for a control, whose price depends on the sight ahead; where the row begins."""
    at = EFFECT_COLUMNS * count
    for column in range(EFFECT_COLUMNS):
        effects[at + column] = effects[HERE + column]
    effects[at + CONTROL] = control
    effects[at + PRICE] += sight * (ANY_HAND + 1) * (IDLE + 1) + control
    return at
