"""What controls can do in an abstract state; see `pattern`."""

from wfairl.core.support.compiling import njit
from wfairl.minigrid import physics
from wfairl.minigrid.focused.pattern import (
    AHEADS,
    ANY_HAND,
    AT,
    BLOCKED,
    CONTROL,
    DROPPED,
    EFFECT_COLUMNS,
    EMPTY_HAND,
    FIRST_CLASS,
    HAND,
    HEADING,
    IDLE,
    MOVED,
    NUMBER,
    OPENED,
    PRICE,
    SOMETHING,
    SPOTS,
    WILD,
    Effects,
    PatternData,
    PatternTable,
    tracked_slot,
)
from wfairl.minigrid.physics import CLOSED_DOOR, LOCKED_DOOR, NOTHING, OPEN_DOOR, cell_entry

MOST_EFFECTS = 7 + 2 * 63 + 1
"""Of one abstract state: 7, and for each class, which has a bit of its own, one to pick it up and one to open it."""

HERE = MOST_EFFECTS - 1
"""The last row of effects holds the abstract state that they are of."""


@njit(cache=True, nogil=True)
def abstract_effects(pattern: PatternTable, state: int, effects: Effects) -> int:
    """Write what controls can do in the abstract state at `HERE`, a row each, the first that nothing changes; how many.

    Args:
        pattern: the scene and what is kept of it.
        state: the automaton state.
        effects: shape [`MOST_EFFECTS`, `EFFECT_COLUMNS`].
    """
    layout, data = pattern
    number, heading = effects[HERE, NUMBER], effects[HERE, HEADING]
    cell = data[data[AT.walkable] + number]
    front = cell_entry(layout, cell, physics.FRONT + heading)
    terrain = physics.WALL if front == NOTHING else cell_entry(layout, front, physics.TERRAIN)
    place = data[data[AT.price_class] + 4 * number + heading] * AHEADS
    carried = data[data[AT.hand_kind] + effects[HERE, HAND]]
    effects[HERE, DROPPED], effects[HERE, PRICE] = EMPTY_HAND, (place * (ANY_HAND + 1) + carried) * (IDLE + 1)
    count = _turn(effects, WILD + terrain)
    if cell_entry(layout, cell, physics.TERRAIN) in (physics.GOAL, physics.LAVA):
        return 1  # the episode is over
    if terrain == physics.WALL:
        return count
    if terrain == physics.DOOR:
        count, is_shut = _toggle_door(data, effects, count, cell_entry(layout, front, physics.DOOR_AT))
        if is_shut:
            return count
    stands, there, is_box = _ahead(data, state, front, effects)
    if not stands:
        _add(effects, count, physics.FORWARD, OPEN_DOOR if terrain == physics.DOOR else terrain)
        effects[count, NUMBER] = data[data[AT.number_of] + front]
        count += 1
    if terrain == physics.DOOR:
        return count
    is_free = terrain == physics.EMPTY and not stands
    if effects[HERE, HAND] == EMPTY_HAND:
        count = _pick_up(data, effects, count, front, terrain, stands, there)
    elif is_free:
        count = _drop(data, effects, count, front)
    if is_box and there != EMPTY_HAND:
        return _open_box(data, effects, count, front, there)
    return _open_moved_boxes(data, effects, count, front) if is_free else count


@njit(cache=True, nogil=True)
def _turn(effects: Effects, ahead: int) -> int:
    """Do nothing, and turn to either side."""
    _add(effects, 0, IDLE, ahead)
    _add(effects, 1, physics.LEFT, ahead)
    effects[1, HEADING] = (effects[HERE, HEADING] + 3) % 4
    _add(effects, 2, physics.RIGHT, ahead)
    effects[2, HEADING] = (effects[HERE, HEADING] + 1) % 4
    return 3


@njit(cache=True, nogil=True)
def _toggle_door(data: PatternData, effects: Effects, count: int, door: int) -> tuple[int, bool]:
    """Open or close a door, unless it is locked and no key at hand; the new count, and whether it was shut."""
    gate, is_locked = data[data[AT.gate_of] + door], data[data[AT.was_locked] + door]
    hand, opened = effects[HERE, HAND], effects[HERE, OPENED]
    if gate == NOTHING or (is_locked and opened >> gate & 1):
        _add(effects, count, physics.TOGGLE, WILD + physics.DOOR)  # forgotten, or not locked any more: in any state
        return count + 1, False
    if opened >> gate & 1:
        _add(effects, count, physics.TOGGLE, OPEN_DOOR)
        effects[count, OPENED] = opened & ~(1 << gate)
        return count + 1, False
    if is_locked and (hand < FIRST_CLASS or not data[data[AT.unlocks] + door] >> (hand - FIRST_CLASS) & 1):
        return count, True
    _add(effects, count, physics.TOGGLE, LOCKED_DOOR if is_locked else CLOSED_DOOR)
    effects[count, OPENED] = opened | 1 << gate
    return count + 1, True


@njit(cache=True, nogil=True)
def _ahead(data: PatternData, state: int, front: int, effects: Effects) -> tuple[bool, int, bool]:
    """Whether something surely stands on the cell in front, the hand that would hold what does or may, and if a box."""
    hand, moved = effects[HERE, HAND], effects[HERE, MOVED]
    bit, lies = data[data[AT.blocker_at] + front], data[data[AT.hand_at] + front]
    is_box = data[data[AT.is_box] + front] != 0
    stands = bit != NOTHING and effects[HERE, BLOCKED] >> bit & 1 != 0
    if bit == NOTHING and lies >= FIRST_CLASS and lies != hand and not is_box:
        # Of a class that matters, and none of which was moved, all lie where they did; boxes may have been opened.
        stands = (data[data[AT.relevant] + state] & ~moved) >> (lies - FIRST_CLASS) & 1 != 0
    there = lies if stands or bit in (NOTHING, data[AT.crowd]) else EMPTY_HAND
    if tracked_slot(data, there) != NOTHING and (moved >> (there - FIRST_CLASS) & 1 or there == hand):
        there = EMPTY_HAND  # it lies elsewhere
    for slot in range(data[AT.tracked_count]):
        if effects[HERE, SPOTS + slot] == data[data[AT.number_of] + front] + 1:
            stands, there = True, data[data[AT.tracked] + slot]
            is_box = data[data[AT.hand_kind] + there] == 1 + physics.BOX
    return stands, there, is_box


@njit(cache=True, nogil=True)
def _pick_up(
    data: PatternData, effects: Effects, count: int, front: int, terrain: int, stands: bool, there: int
) -> int:
    """Pick up what is in front, or something that was moved and may lie there."""
    for taken in range(SOMETHING, data[AT.hands]):
        slot = tracked_slot(data, taken)
        is_moved = taken == SOMETHING or (slot == NOTHING and effects[HERE, MOVED] >> (taken - FIRST_CLASS) & 1 != 0)
        if taken == there or (is_moved and not stands):
            kind = data[data[AT.hand_kind] + taken]
            _add(effects, count, physics.PICKUP, WILD + terrain if kind == ANY_HAND else LOCKED_DOOR + kind)
            effects[count, HAND] = taken
            effects[count, MOVED] |= data[data[AT.inside_of] + taken]
            if slot != NOTHING:
                effects[count, MOVED] &= ~(1 << (taken - FIRST_CLASS))
                effects[count, SPOTS + slot] = 0
            _remove_blocker(data, effects, count, front)
            count += 1
    return count


@njit(cache=True, nogil=True)
def _drop(data: PatternData, effects: Effects, count: int, front: int) -> int:
    """Drop what is held on the free cell in front."""
    hand, lies, bit = effects[HERE, HAND], data[data[AT.hand_at] + front], data[data[AT.blocker_at] + front]
    if lies != hand or not data[data[AT.alike] + hand]:
        _add(effects, count, physics.DROP, physics.EMPTY)
        effects[count, HAND], effects[count, DROPPED] = EMPTY_HAND, hand
        if hand >= FIRST_CLASS:
            effects[count, MOVED] |= 1 << (hand - FIRST_CLASS)
        slot = tracked_slot(data, hand)
        if slot != NOTHING:
            effects[count, SPOTS + slot] = data[data[AT.number_of] + front] + 1
        count += 1
    if lies == hand:  # it is put back where one like it was
        _add(effects, count, physics.DROP, physics.EMPTY)
        effects[count, HAND], effects[count, DROPPED] = EMPTY_HAND, hand
        if bit != NOTHING:
            effects[count, BLOCKED] |= 1 << bit
        count += 1
    return count


@njit(cache=True, nogil=True)
def _open_box(data: PatternData, effects: Effects, count: int, front: int, box: int) -> int:
    """Open the box in front, which is gone then; what was in it lies there."""
    _add(effects, count, physics.TOGGLE, LOCKED_DOOR + 1 + physics.BOX)
    effects[count, MOVED] |= data[data[AT.inside_of] + box]
    slot = tracked_slot(data, box)
    if slot != NOTHING:
        effects[count, MOVED] |= 1 << (box - FIRST_CLASS)
        effects[count, SPOTS + slot] = 0
    _remove_blocker(data, effects, count, front)
    _lay_out(data, effects, count, box, front)
    return count + 1


@njit(cache=True, nogil=True)
def _open_moved_boxes(data: PatternData, effects: Effects, count: int, front: int) -> int:
    """Open a box that may lie in front since it was moved. What is inside is anywhere by now, unless it is tracked."""
    for box in range(FIRST_CLASS, data[AT.hands]):
        if effects[HERE, MOVED] >> (box - FIRST_CLASS) & 1 and tracked_slot(data, box) == NOTHING:
            _add(effects, count, physics.TOGGLE, LOCKED_DOOR + 1 + physics.BOX)
            if _lay_out(data, effects, count, box, front):
                count += 1
    return count


@njit(cache=True, nogil=True)
def _lay_out(data: PatternData, effects: Effects, row: int, box: int, front: int) -> bool:
    """Put what was in a box, and is tracked, where the box was; whether there was any."""
    any_inside = False
    for slot in range(data[AT.tracked_count]):
        if data[data[AT.inside_of] + box] >> (data[data[AT.tracked] + slot] - FIRST_CLASS) & 1:
            effects[row, SPOTS + slot] = data[data[AT.number_of] + front] + 1
            any_inside = True
    return any_inside


@njit(cache=True, nogil=True)
def _remove_blocker(data: PatternData, effects: Effects, row: int, front: int) -> None:
    """Note that nothing stands in front any more."""
    bit = data[data[AT.blocker_at] + front]
    if bit != NOTHING:
        effects[row, BLOCKED] &= ~(1 << bit)


@njit(cache=True, nogil=True)
def _add(effects: Effects, row: int, control: int, ahead: int) -> None:
    """Write the abstract state as it is into a row, for a control whose price depends on what is ahead."""
    for column in range(EFFECT_COLUMNS):
        effects[row, column] = effects[HERE, column]
    effects[row, CONTROL] = control
    effects[row, PRICE] += ahead * (ANY_HAND + 1) * (IDLE + 1) + control
