"""The transitions of an abstraction: what controls can do, and the changes of the automaton that labels then allow."""

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import inner, njit
from wfairl.minigrid import atoms, physics
from wfairl.minigrid.focused.pattern import (
    AT,
    EFFECT,
    EFFECT_COLUMNS,
    EMPTY_HAND,
    FIRST_CLASS,
    NOT_KEPT,
    OTHER_OBJECT,
    EffectRows,
    PatternData,
    PatternTable,
    dense_index,
    read_index,
)
from wfairl.minigrid.focused.prices import AHEADS, ANY_AHEAD, ANY_CONTROL, ANY_HAND
from wfairl.minigrid.physics import CLOSED_DOOR, FIRST_OBJECT_TYPE, LOCKED_DOOR, NOTHING, OPEN_DOOR, cell_entry

MOST_EFFECTS = 7 + 2 * 63 + 1
"""Effects in one abstract state: 7, and two for each of at most 63 classes: to pick up its object and to open it."""

ORIGIN = MOST_EFFECTS - 1
"""The row of effects that holds the abstract state before the control."""

HOLDS, FAILS, MAY_HOLD = 1, 2, 3
"""The knowledge of an atom in an abstract state: two bits, whether it can hold and whether it can fail."""

Buffers = tuple[EffectRows, NDArray[np.int64], NDArray[np.int64]]
"""Room for the transitions of one abstract state: effects, targets and prices."""


@inner
def make_buffers(data: PatternData) -> Buffers:
    """Room for the most transitions of an abstract state: each effect with each change, or with none."""
    most = MOST_EFFECTS * (1 + data[AT.most_changes])
    effects = np.empty((MOST_EFFECTS, EFFECT_COLUMNS), np.int64)
    return effects, np.empty(most, np.int64), np.empty(most, np.int64)


@inner
def abstract_transitions(pattern: PatternTable, index: int, buffers: Buffers) -> int:
    """Write the transitions of an abstract state, given by its dense number, into the buffers.

    After each effect the automaton stays in its state, or changes in a way that the label may allow. A target is a
    dense number, or -1 for acceptance.

    Returns:
        The number of transitions.
    """
    layout, data = pattern
    effects, targets, prices = buffers
    state = read_index(data, index, effects, ORIGIN)
    first, end = data[data[AT.first_change] + state], data[data[AT.first_change] + state + 1]
    asked = 0
    for j in range(first, end):
        change = data[AT.changes] + 4 * j
        asked |= data[change + 1] | data[change + 2]
    count = 0
    for i in range(_write_effects(pattern, state, effects)):
        if i > 0:  # after effect 0 nothing has changed
            targets[count], prices[count] = dense_index(data, effects, i, state), effects[i, EFFECT.price]
            count += 1
        cell = data[data[AT.walkable] + effects[i, EFFECT.cell]]
        front = cell_entry(layout, cell, physics.FRONT + effects[i, EFFECT.heading])
        may, may_not = 0, 0
        for j in range(data[AT.atom_count]):
            if asked >> j & 1:
                truth = _truth_of(pattern, j, cell, front, effects, i)
                may |= (truth & HOLDS) << j
                may_not |= (truth >> 1) << j
        for j in range(first, end):
            change = data[AT.changes] + 4 * j
            if data[change + 1] & ~may == 0 and data[change + 2] & ~may_not == 0:
                after = data[change + 3]
                targets[count] = -1 if after < 0 else dense_index(data, effects, i, after)
                prices[count] = effects[i, EFFECT.price]
                count += 1
    return count


@inner
def _write_effects(pattern: PatternTable, state: int, effects: EffectRows) -> int:
    """Write the effects of all controls in the abstract state at `ORIGIN`; effect 0 changes nothing. Their number."""
    layout, data = pattern
    number, heading = effects[ORIGIN, EFFECT.cell], effects[ORIGIN, EFFECT.heading]
    cell = data[data[AT.walkable] + number]
    front = cell_entry(layout, cell, physics.FRONT + heading)
    terrain = physics.WALL if front == NOTHING else cell_entry(layout, front, physics.TERRAIN)
    place = data[data[AT.price_class] + 4 * number + heading] * AHEADS
    carried = data[data[AT.hand_kind] + effects[ORIGIN, EFFECT.hand]]
    effects[ORIGIN, EFFECT.dropped] = EMPTY_HAND
    effects[ORIGIN, EFFECT.price] = (place * (ANY_HAND + 1) + carried) * (ANY_CONTROL + 1)
    count = _turn(effects, ANY_AHEAD + terrain)
    if cell_entry(layout, cell, physics.TERRAIN) in (physics.GOAL, physics.LAVA):
        return 1  # the episode is over
    if terrain == physics.WALL:
        return count
    if terrain == physics.DOOR:
        count, is_shut = _toggle_door(data, effects, count, cell_entry(layout, front, physics.DOOR_AT))
        if is_shut:
            return count
    stands, there, is_box = _find_ahead(data, state, front, effects)
    if not stands:
        _add(effects, count, physics.FORWARD, OPEN_DOOR if terrain == physics.DOOR else terrain)
        effects[count, EFFECT.cell] = data[data[AT.number_of] + front]
        count += 1
    if terrain == physics.DOOR:
        return count
    if effects[ORIGIN, EFFECT.hand] == EMPTY_HAND:
        count = _pick_up(data, effects, count, front, terrain, stands, there)
    elif terrain == physics.EMPTY and not stands:
        count = _drop(data, effects, count, front)
    return _open_box(data, effects, count, front, there) if is_box and there != EMPTY_HAND else count


@inner
def _turn(effects: EffectRows, ahead: int) -> int:
    """Add the effects of doing nothing and of turning to either side; the number of effects."""
    _add(effects, 0, ANY_CONTROL, ahead)
    _add(effects, 1, physics.LEFT, ahead)
    effects[1, EFFECT.heading] = (effects[ORIGIN, EFFECT.heading] + 3) % 4
    _add(effects, 2, physics.RIGHT, ahead)
    effects[2, EFFECT.heading] = (effects[ORIGIN, EFFECT.heading] + 1) % 4
    return 3


@inner
def _toggle_door(data: PatternData, effects: EffectRows, count: int, door: int) -> tuple[int, bool]:
    """Add the effect of toggling a door; the number of effects, and whether the door is surely shut."""
    gate, was_locked = data[data[AT.gate_of] + door], data[data[AT.was_locked] + door]
    hand, opened = effects[ORIGIN, EFFECT.hand], effects[ORIGIN, EFFECT.opened]
    if gate == NOTHING or (was_locked and opened >> gate & 1):
        # A door that is no gate, or a gate that is no longer locked, may be open or shut.
        _add(effects, count, physics.TOGGLE, ANY_AHEAD + physics.DOOR)
        return count + 1, False
    if opened >> gate & 1:
        _add(effects, count, physics.TOGGLE, OPEN_DOOR)
        effects[count, EFFECT.opened] = opened & ~(1 << gate)
        return count + 1, False
    if was_locked and (hand < FIRST_CLASS or not data[data[AT.unlocks] + door] >> (hand - FIRST_CLASS) & 1):
        return count, True
    _add(effects, count, physics.TOGGLE, LOCKED_DOOR if was_locked else CLOSED_DOOR)
    effects[count, EFFECT.opened] = opened | 1 << gate
    return count + 1, True


@inner
def _find_ahead(data: PatternData, state: int, front: int, effects: EffectRows) -> tuple[bool, int, bool]:
    """Look at the cell in front.

    Returns:
        Whether an object is surely there; the hand after picking up the object that is or may be there, `EMPTY_HAND` if
        there can be none; and whether this object is a box.
    """
    hand, moved = effects[ORIGIN, EFFECT.hand], effects[ORIGIN, EFFECT.moved]
    bit, lay = data[data[AT.blocker_at] + front], data[data[AT.hand_at] + front]
    is_box = data[data[AT.is_box] + front] != 0
    stands = bit != NOTHING and effects[ORIGIN, EFFECT.blocked] >> bit & 1 != 0
    if bit == NOTHING and lay >= FIRST_CLASS and lay != hand and not is_box:
        # If no object of a class that matters was moved, all of them are where they were. Boxes may have been opened.
        stands = (data[data[AT.relevant] + state] & ~moved) >> (lay - FIRST_CLASS) & 1 != 0
    there = lay if stands or bit in (NOTHING, data[AT.crowd]) else EMPTY_HAND
    return stands, there, is_box


@inner
def _pick_up(
    data: PatternData, effects: EffectRows, count: int, front: int, terrain: int, stands: bool, there: int
) -> int:
    """Add the effects of picking up the object in front, or a moved object that may lie there; their number."""
    for taken in range(OTHER_OBJECT, data[AT.hands]):
        is_moved = taken == OTHER_OBJECT or effects[ORIGIN, EFFECT.moved] >> (taken - FIRST_CLASS) & 1 != 0
        if taken == there or (is_moved and not stands):
            kind = data[data[AT.hand_kind] + taken]
            _add(effects, count, physics.PICKUP, ANY_AHEAD + terrain if kind == ANY_HAND else LOCKED_DOOR + kind)
            effects[count, EFFECT.hand] = taken
            effects[count, EFFECT.moved] |= data[data[AT.inside_of] + taken]
            _remove_blocker(data, effects, count, front)
            count += 1
    return count


@inner
def _drop(data: PatternData, effects: EffectRows, count: int, front: int) -> int:
    """Add the effects of dropping the carried object on the free cell in front; the number of effects."""
    hand, lay = effects[ORIGIN, EFFECT.hand], data[data[AT.hand_at] + front]
    for is_put_back in range(1 + (lay == hand)):  # where one like it was
        _add(effects, count, physics.DROP, physics.EMPTY)
        effects[count, EFFECT.hand], effects[count, EFFECT.dropped] = EMPTY_HAND, hand
        bit = data[data[AT.blocker_at] + front]
        if is_put_back and bit != NOTHING:
            effects[count, EFFECT.blocked] |= 1 << bit
        elif not is_put_back and hand >= FIRST_CLASS:
            effects[count, EFFECT.moved] |= 1 << (hand - FIRST_CLASS)
        count += 1
    return count


@inner
def _open_box(data: PatternData, effects: EffectRows, count: int, front: int, box: int) -> int:
    """Add the effect of opening the box in front: the box is gone, and its contents lie there."""
    _add(effects, count, physics.TOGGLE, FIRST_OBJECT_TYPE + physics.BOX)
    effects[count, EFFECT.moved] |= data[data[AT.inside_of] + box]
    _remove_blocker(data, effects, count, front)
    return count + 1


@inner
def _remove_blocker(data: PatternData, effects: EffectRows, row: int, front: int) -> None:
    """Note that the object in front is gone."""
    bit = data[data[AT.blocker_at] + front]
    if bit != NOTHING:
        effects[row, EFFECT.blocked] &= ~(1 << bit)


@njit(cache=True, nogil=True)
def _add(effects: EffectRows, row: int, control: int, ahead: int) -> None:
    """Copy the abstract state at `ORIGIN` into a row, with the price of a control for what is ahead."""
    for column in range(EFFECT_COLUMNS):
        effects[row, column] = effects[ORIGIN, column]
    effects[row, EFFECT.control] = control
    effects[row, EFFECT.price] += ahead * (ANY_HAND + 1) * (ANY_CONTROL + 1) + control


@inner
def _truth_of(pattern: PatternTable, i: int, cell: int, front: int, effects: EffectRows, row: int) -> int:
    """The knowledge of atom i after the effect of a row, with the agent on `cell`: `HOLDS`, `FAILS` or `MAY_HOLD`."""
    layout, data = pattern
    atom, classes = data[AT.atoms] + 5 * i, data[data[AT.atom_classes] + 2 * i]
    question, first, second = data[atom], data[atom + 1], data[atom + 2]
    if classes == NOT_KEPT:
        return MAY_HOLD
    opened, control = effects[row, EFFECT.opened], effects[row, EFFECT.control]
    holds_one = _is_of(classes, effects[row, EFFECT.hand])
    if question == atoms.ANY_AT:
        if first == second:
            return FAILS
        if data[atom + 3] != layout[physics.CELLS] + physics.CARRIED:
            return MAY_HOLD
        return HOLDS if holds_one else FAILS
    if question == atoms.DOOR_IS_OPEN:
        gate = data[data[AT.gate_of] + first]
        if gate == NOTHING or (data[data[AT.was_locked] + first] and opened >> gate & 1):
            return MAY_HOLD
        return HOLDS if opened >> gate & 1 else FAILS
    if question == atoms.AGENT_ON_TERRAIN:
        return HOLDS if atoms.is_terrain(layout, cell, first, second) else FAILS
    if question == atoms.AGENT_AT:
        return HOLDS if cell == first else FAILS
    if question == atoms.ALL_APART:
        return MAY_HOLD if _may_be_apart(pattern, i, cell, effects, row) else FAILS
    if question == atoms.ALWAYS:
        return HOLDS
    if question == atoms.ROLE_PICKED_UP:
        return HOLDS if control == physics.PICKUP and holds_one else FAILS
    if front == NOTHING:
        return FAILS
    if question == atoms.ANY_IN_FRONT:
        return MAY_HOLD if _may_lie(pattern, classes, front, effects, row) else FAILS
    if question == atoms.DOOR_IN_FRONT:
        return HOLDS if atoms.is_terrain(layout, front, physics.DOOR, first) else FAILS
    has_role = cell_entry(layout, front, physics.DOOR_ROLES) >> first & 1 != 0
    if question == atoms.ROLE_REACHED:
        if has_role or (control == physics.PICKUP and holds_one):
            return HOLDS
        return MAY_HOLD if _may_lie(pattern, classes, front, effects, row) else FAILS
    if question == atoms.ROLE_OPENED:
        gate = data[data[AT.gate_of] + cell_entry(layout, front, physics.DOOR_AT)] if has_role else NOTHING
        is_open = gate == NOTHING or opened >> gate & 1 != 0
        return MAY_HOLD if control == physics.TOGGLE and has_role and is_open else FAILS
    if control == physics.DROP and _is_of(classes, effects[row, EFFECT.dropped]):
        for direction in range(4):
            beside = cell_entry(layout, front, physics.FRONT + direction)
            if beside != NOTHING and (
                cell_entry(layout, beside, physics.DOOR_ROLES) >> second & 1
                or _may_lie(pattern, data[data[AT.atom_classes] + 2 * i + 1], beside, effects, row)
            ):
                return MAY_HOLD
    return FAILS


@inner
def _is_of(classes: int, hand: int) -> bool:
    """Whether a hand holds an object of one of the classes, given as bits."""
    return hand >= FIRST_CLASS and classes >> (hand - FIRST_CLASS) & 1 != 0


@inner
def _may_lie(pattern: PatternTable, classes: int, cell: int, effects: EffectRows, row: int) -> bool:
    """Whether an object of one of the classes, given as bits, may lie on a cell after an effect."""
    layout, data = pattern
    bit = data[data[AT.blocker_at] + cell]
    stands = bit != NOTHING and effects[row, EFFECT.blocked] >> bit & 1 != 0
    is_empty = cell_entry(layout, cell, physics.TERRAIN) == physics.EMPTY
    if effects[row, EFFECT.moved] & classes and not stands and is_empty:  # a moved object may have been dropped here
        return True
    return _is_of(classes, data[data[AT.hand_at] + cell]) and (stands or bit == NOTHING)


@inner
def _may_be_apart(pattern: PatternTable, i: int, cell: int, effects: EffectRows, row: int) -> bool:
    """Whether all objects of an `ALL_APART` atom may be as far away as it asks, with the agent on `cell`."""
    layout, data = pattern
    atom = data[AT.atoms] + 5 * i
    classes, center, least = data[data[AT.atom_classes] + 2 * i], data[atom + 3], data[atom + 4]
    holds_one = _is_of(classes, effects[row, EFFECT.hand])
    if holds_one and atoms.distance(layout, cell, center) < least:
        return False
    if effects[row, EFFECT.moved] & classes:
        return True
    near = 0
    for number in range(data[AT.cells]):
        other = data[data[AT.walkable] + number]
        if _is_of(classes, data[data[AT.hand_at] + other]):
            near += atoms.distance(layout, other, center) < least
    return near == 0 or (near == 1 and holds_one)
