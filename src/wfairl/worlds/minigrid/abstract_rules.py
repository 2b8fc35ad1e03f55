"""What controls can do in an abstract state, and what may be said of the labels then; see `pattern`."""

import numpy as np
from numpy.typing import NDArray

from wfairl.compiling import njit
from wfairl.worlds.minigrid.atoms import (
    AGENT_AT,
    AGENT_ON_TERRAIN,
    ALL_APART,
    ALWAYS,
    ANY_AT,
    ANY_IN_FRONT,
    DOOR_IN_FRONT,
    DOOR_IS_OPEN,
    ROLE_OPENED,
    ROLE_PICKED_UP,
    ROLE_REACHED,
)
from wfairl.worlds.minigrid.pattern import (
    AHEADS,
    ALIKE,
    ANY_HAND,
    ATOM_CLASSES,
    ATOM_ROWS,
    ATOMS,
    BLOCKED,
    BLOCKER,
    CHANGES,
    CLASSES,
    CONTROL,
    CROWD,
    DROPPED,
    EFFECT_COLUMNS,
    EMPTY_HAND,
    FIRST_CHANGE,
    FIRST_CLASS,
    FORGOTTEN,
    GATE,
    HAND,
    HAND_KIND,
    HAND_OF,
    HEADING,
    IDLE,
    INSIDE_OF,
    IS_BOX,
    MOST_TRACKED,
    MOVED,
    NUMBER,
    NUMBER_OF,
    OPENED,
    POSES,
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
    dense_index,
    read_index,
    tracked_slot,
)
from wfairl.worlds.minigrid.rules import (
    BOX,
    CARRIED,
    CELLS,
    COLUMN,
    DOOR,
    DOOR_AT,
    DOOR_ROLES,
    DROP,
    EMPTY,
    FORWARD,
    FRONT,
    LAVA,
    LEFT,
    NOTHING,
    PICKUP,
    RIGHT,
    ROW,
    TERRAIN,
    TERRAIN_COLOR,
    TOGGLE,
    WALL,
    Table,
    cell_entry,
)
from wfairl.worlds.minigrid.rules import GOAL as GOAL_TERRAIN
from wfairl.worlds.minigrid.view import CLOSED_DOOR, LOCKED_DOOR, OPEN_DOOR

MOST_EFFECTS, MOST_EDGES = 40, 1024
"""Of one abstract state: 7, one for each class to pick up, and an edge for each change of the automaton after each."""

HERE = (MOST_EFFECTS - 1) * EFFECT_COLUMNS
"""The last row of effects holds the abstract state that they are of."""


@njit(cache=True, nogil=True)
def abstract_edges(
    layout: Table,
    table: PatternTable,
    index: int,
    effects: NDArray[np.int64],
    targets: NDArray[np.int64],
    prices: NDArray[np.int64],
) -> int:
    """Write the dense numbers after every abstract transition (-1 for acceptance) and their prices; how many.

    After each effect the automaton stays where it is, or changes in a way that the label may allow.
    """
    state = read_index(table, index, effects, HERE)
    first, end = table[table[FIRST_CHANGE] + state], table[table[FIRST_CHANGE] + state + 1]
    asked = 0
    for j in range(first, end):
        asked |= table[table[CHANGES] + 4 * j + 1] | table[table[CHANGES] + 4 * j + 2]
    edges = 0
    for i in range(_effects(layout, table, state, effects)):
        at = EFFECT_COLUMNS * i
        if i > 0:  # the first is that nothing changes
            targets[edges], prices[edges] = dense_index(table, effects, at, state), effects[at + PRICE]
            edges += 1
        cell = table[table[WALKABLE] + effects[at + NUMBER]]
        front = cell_entry(layout, cell, FRONT + effects[at + HEADING])
        may, may_not = 0, 0
        for j in range(table[SIZES + ATOMS]):
            if asked >> j & 1:
                truth = _truth(layout, table, j, cell, front, effects, at)
                may |= (truth & 1) << j
                may_not |= (truth >> 1) << j
        for j in range(first, end):
            if table[table[CHANGES] + 4 * j + 1] & ~may == 0 and table[table[CHANGES] + 4 * j + 2] & ~may_not == 0:
                after = table[table[CHANGES] + 4 * j + 3]
                targets[edges] = -1 if after < 0 else dense_index(table, effects, at, after)
                prices[edges] = effects[at + PRICE]
                edges += 1
    return edges


@njit(cache=True, nogil=True)
def _effects(layout: Table, table: PatternTable, state: int, effects: NDArray[np.int64]) -> int:
    """Write what controls can do in the abstract state at `HERE`, a row each, the first that nothing changes; how many.

    Args:
        layout, table: the scene and the pattern.
        state: the automaton state.
        effects: one row after the other, shape [`MOST_EFFECTS` * `EFFECT_COLUMNS`].
    """
    classes = table[SIZES + CLASSES]
    number, direction, hand = effects[HERE + NUMBER], effects[HERE + HEADING], effects[HERE + HAND]
    moved, blocked, opened = effects[HERE + MOVED], effects[HERE + BLOCKED], effects[HERE + OPENED]
    pose = number * 4 + direction
    cell = table[table[WALKABLE] + number]
    front = cell_entry(layout, cell, FRONT + direction)
    terrain = WALL if front == NOTHING else cell_entry(layout, front, TERRAIN)
    wild = WILD + terrain
    held = table[table[HAND_KIND] + hand]
    here = table[table[PRICE_CLASS] + pose] * AHEADS
    count = 0
    own = cell_entry(layout, cell, TERRAIN)
    for control in (NOTHING, LEFT, RIGHT):
        turned = direction if control == NOTHING else (direction + (3 if control == LEFT else 1)) % 4
        price = _price(here + wild, held, IDLE if control == NOTHING else control)
        count = _write(effects, count, number, turned, hand, moved, blocked, opened, control, EMPTY_HAND, price)
        if own in (GOAL_TERRAIN, LAVA):
            return count
    if terrain == WALL:
        return count
    if terrain == DOOR:
        door = cell_entry(layout, front, DOOR_AT)
        gate = table[table[GATE] + door]
        is_locked = table[table[WAS_LOCKED] + door]
        sight, after = wild, opened  # a door that is forgotten, or not locked any more, may be in any state
        if gate != NOTHING and not opened >> gate & 1:
            fits = hand >= FIRST_CLASS and table[table[UNLOCKS] + door] >> (hand - FIRST_CLASS) & 1 != 0
            if is_locked and not fits:
                return count
            sight, after = LOCKED_DOOR if is_locked else CLOSED_DOOR, opened | 1 << gate
        elif gate != NOTHING and not is_locked:
            sight, after = OPEN_DOOR, opened & ~(1 << gate)
        price = _price(here + sight, held, TOGGLE)
        count = _write(effects, count, number, direction, hand, moved, blocked, after, TOGGLE, EMPTY_HAND, price)
        if gate != NOTHING and not opened >> gate & 1:
            return count
    bit, lies = table[table[BLOCKER] + front], table[table[HAND_OF] + front]
    stands = bit != NOTHING and blocked >> bit & 1 != 0
    if bit == NOTHING and lies >= FIRST_CLASS and lies != hand and not table[table[IS_BOX] + front]:
        # Of a class that matters, and none of which was moved, all lie where they did; boxes may have been opened.
        stands = (table[table[RELEVANT] + state] & ~moved) >> (lies - FIRST_CLASS) & 1 != 0
    there = lies if stands or bit == NOTHING or bit == table[SIZES + CROWD] else EMPTY_HAND
    is_box, ahead = table[table[IS_BOX] + front] != 0, table[table[NUMBER_OF] + front]
    if tracked_slot(table, there) != NOTHING and (moved >> (there - FIRST_CLASS) & 1 or there == hand):
        there = EMPTY_HAND  # it lies elsewhere
    for slot in range(table[SIZES + TRACKED]):
        if effects[HERE + SPOTS + slot] == ahead + 1:
            stands, there = True, table[table[TRACKED_HAND] + slot]
            is_box = table[table[HAND_KIND] + there] == 1 + BOX
    if not stands:
        price = _price(here + (OPEN_DOOR if terrain == DOOR else terrain), held, FORWARD)
        count = _write(effects, count, ahead, direction, hand, moved, blocked, opened, FORWARD, EMPTY_HAND, price)
    if terrain == DOOR:
        return count
    left = blocked & ~(1 << bit) if bit != NOTHING else blocked
    if hand == EMPTY_HAND:
        for taken in range(SOMETHING, FIRST_CLASS + classes):
            slot = tracked_slot(table, taken)
            is_moved = taken == SOMETHING or (slot == NOTHING and moved >> (taken - FIRST_CLASS) & 1 != 0)
            if taken == there or (is_moved and not stands):
                kind = table[table[HAND_KIND] + taken]
                price = _price(here + (wild if kind == ANY_HAND else LOCKED_DOOR + kind), held, PICKUP)
                after = moved | table[table[INSIDE_OF] + taken]
                if slot != NOTHING:
                    after &= ~(1 << (taken - FIRST_CLASS))
                count = _write(effects, count, number, direction, taken, after, left, opened, PICKUP, EMPTY_HAND, price)
                _lay(effects, count, slot, 0)
    elif terrain == EMPTY and not stands:
        price = _price(here + EMPTY, held, DROP)
        after = moved | 1 << (hand - FIRST_CLASS) if hand >= FIRST_CLASS else moved
        if lies != hand or not table[table[ALIKE] + hand]:
            count = _write(effects, count, number, direction, EMPTY_HAND, after, blocked, opened, DROP, hand, price)
            _lay(effects, count, tracked_slot(table, hand), ahead + 1)
        if lies == hand:  # it is put back where one like it was
            back = blocked | 1 << bit if bit != NOTHING else blocked
            count = _write(effects, count, number, direction, EMPTY_HAND, moved, back, opened, DROP, hand, price)
    if is_box and there != EMPTY_HAND:
        price = _price(here + LOCKED_DOOR + 1 + BOX, held, TOGGLE)
        slot = tracked_slot(table, there)
        after = moved | table[table[INSIDE_OF] + there]
        if slot != NOTHING:
            after |= 1 << (there - FIRST_CLASS)
        count = _write(effects, count, number, direction, hand, after, left, opened, TOGGLE, EMPTY_HAND, price)
        _lay(effects, count, slot, 0)
        _lay_out(table, effects, count, there, ahead + 1)
    elif terrain == EMPTY and not stands:
        # A box that lies here since it was moved. What is inside is anywhere by now, unless it is tracked.
        price = _price(here + LOCKED_DOOR + 1 + BOX, held, TOGGLE)
        for box in range(FIRST_CLASS, FIRST_CLASS + classes):
            if moved >> (box - FIRST_CLASS) & 1 and tracked_slot(table, box) == NOTHING:
                more = _write(
                    effects, count, number, direction, hand, moved, blocked, opened, TOGGLE, EMPTY_HAND, price
                )
                if _lay_out(table, effects, more, box, ahead + 1):
                    count = more
    return count


@njit(cache=True, nogil=True)
def _lay_out(table: PatternTable, effects: NDArray[np.int64], count: int, box: int, spot: int) -> bool:
    """Put what was in a box, and is tracked, where the box was in the last effect; whether there was any."""
    any_inside = False
    for slot in range(table[SIZES + TRACKED]):
        if table[table[INSIDE_OF] + box] >> (table[table[TRACKED_HAND] + slot] - FIRST_CLASS) & 1:
            _lay(effects, count, slot, spot)
            any_inside = True
    return any_inside


@njit(cache=True, nogil=True)
def _lay(effects: NDArray[np.int64], count: int, slot: int, spot: int) -> None:
    """Put a tracked object somewhere in the last effect."""
    if slot != NOTHING:
        effects[EFFECT_COLUMNS * (count - 1) + SPOTS + slot] = spot


@njit(cache=True, nogil=True)
def _price(ahead: int, carried: int, control: int) -> int:
    return (ahead * (ANY_HAND + 1) + carried) * (IDLE + 1) + control


@njit(cache=True, nogil=True)
def _write(
    effects: NDArray[np.int64],
    count: int,
    number: int,
    heading: int,
    hand: int,
    moved: int,
    blocked: int,
    opened: int,
    control: int,
    dropped: int,
    price: int,
) -> int:
    """Write one effect; the new count."""
    at = EFFECT_COLUMNS * count
    effects[at + NUMBER], effects[at + HEADING], effects[at + HAND] = number, heading, hand
    effects[at + MOVED], effects[at + BLOCKED], effects[at + OPENED] = moved, blocked, opened
    effects[at + CONTROL], effects[at + DROPPED], effects[at + PRICE] = control, dropped, price
    for slot in range(MOST_TRACKED):
        effects[at + SPOTS + slot] = effects[HERE + SPOTS + slot]
    return count + 1


@njit(cache=True, nogil=True)
def _truth(
    layout: Table,
    table: PatternTable,
    i: int,
    cell: int,
    front: int,
    effects: NDArray[np.int64],
    at: int,
) -> int:
    """What may be said of an atom after a transition: 1 that it holds, 2 that it does not, 3 either."""
    atom = table[ATOM_ROWS] + 5 * i
    question, classes = table[atom], table[table[ATOM_CLASSES] + 2 * i]
    if classes == FORGOTTEN:
        return 3
    hand, moved, opened, control = (
        effects[at + HAND],
        effects[at + MOVED],
        effects[at + OPENED],
        effects[at + CONTROL],
    )
    holds_one = hand >= FIRST_CLASS and classes >> (hand - FIRST_CLASS) & 1 != 0
    if question == ANY_AT:
        if table[atom + 1] == table[atom + 2]:
            return 2
        if table[atom + 3] != layout[CELLS] + CARRIED:
            return 3
        return 1 if holds_one else 2
    if question == DOOR_IS_OPEN:
        gate = table[table[GATE] + table[atom + 1]]
        if gate == NOTHING or (table[table[WAS_LOCKED] + table[atom + 1]] and opened >> gate & 1):
            return 3
        return 1 if opened >> gate & 1 else 2
    if question == AGENT_ON_TERRAIN:
        is_color = table[atom + 2] == NOTHING or cell_entry(layout, cell, TERRAIN_COLOR) == table[atom + 2]
        return 1 if cell_entry(layout, cell, TERRAIN) == table[atom + 1] and is_color else 2
    if question == AGENT_AT:
        return 1 if cell == table[atom + 1] else 2
    if question == ALL_APART:
        return 3 if _may_be_apart(layout, table, atom, classes, cell, hand, moved) else 2
    if question == ALWAYS:
        return 1
    if question == ROLE_PICKED_UP:
        return 1 if control == PICKUP and holds_one else 2
    if front == NOTHING:
        return 2
    if question == ANY_IN_FRONT:
        return 3 if _may_lie(layout, table, classes, front, effects, at) else 2
    if question == DOOR_IN_FRONT:
        is_color = table[atom + 1] == NOTHING or cell_entry(layout, front, TERRAIN_COLOR) == table[atom + 1]
        return 1 if cell_entry(layout, front, TERRAIN) == DOOR and is_color else 2
    has_role = cell_entry(layout, front, DOOR_ROLES) >> table[atom + 1] & 1 != 0
    if question == ROLE_REACHED:
        if has_role or (control == PICKUP and holds_one):
            return 1
        return 3 if _may_lie(layout, table, classes, front, effects, at) else 2
    if question == ROLE_OPENED:
        gate = table[table[GATE] + cell_entry(layout, front, DOOR_AT)] if has_role else NOTHING
        is_open = gate == NOTHING or opened >> gate & 1 != 0
        return 3 if control == TOGGLE and has_role and is_open else 2
    dropped = effects[at + DROPPED]
    put = dropped >= FIRST_CLASS and classes >> (dropped - FIRST_CLASS) & 1 != 0
    if control != DROP or not put:
        return 2
    for direction in range(4):
        beside = cell_entry(layout, front, FRONT + direction)
        if beside != NOTHING:
            if cell_entry(layout, beside, DOOR_ROLES) >> table[atom + 2] & 1:
                return 3
            if _may_lie(layout, table, table[table[ATOM_CLASSES] + 2 * i + 1], beside, effects, at):
                return 3
    return 2


@njit(cache=True, nogil=True)
def _may_lie(layout: Table, table: PatternTable, classes: int, cell: int, effects: NDArray[np.int64], at: int) -> bool:
    """Whether an object of some classes may lie on a cell, in the abstract state of an effect."""
    for slot in range(table[SIZES + TRACKED]):
        own = 1 << (table[table[TRACKED_HAND] + slot] - FIRST_CLASS)
        if classes & own and effects[at + SPOTS + slot] == table[table[NUMBER_OF] + cell] + 1:
            return True
        if effects[at + MOVED] & own:
            classes &= ~own  # it lies nowhere else
    bit = table[table[BLOCKER] + cell]
    stands = bit != NOTHING and effects[at + BLOCKED] >> bit & 1 != 0
    if effects[at + MOVED] & classes and not stands and cell_entry(layout, cell, TERRAIN) == EMPTY:  # if dropped there
        return True
    holder = table[table[HAND_OF] + cell]
    return holder >= FIRST_CLASS and classes >> (holder - FIRST_CLASS) & 1 != 0 and (stands or bit == NOTHING)


@njit(cache=True, nogil=True)
def _may_be_apart(
    layout: Table, table: PatternTable, atom: int, classes: int, cell: int, hand: int, moved: int
) -> bool:
    """Whether all objects of some classes may be as far from a cell as an atom asks for."""
    holds_one = hand >= FIRST_CLASS and classes >> (hand - FIRST_CLASS) & 1 != 0
    if holds_one and _distance(layout, cell, table[atom + 3]) < table[atom + 4]:
        return False
    if moved & classes:
        return True
    near = 0
    for number in range(table[SIZES + POSES] // 4):
        other = table[table[WALKABLE] + number]
        holder = table[table[HAND_OF] + other]
        if holder >= FIRST_CLASS and classes >> (holder - FIRST_CLASS) & 1:
            near += _distance(layout, other, table[atom + 3]) < table[atom + 4]
    return near == 0 or (near == 1 and holds_one)


@njit(cache=True, nogil=True)
def _distance(layout: Table, one: int, other: int) -> int:
    return abs(cell_entry(layout, one, COLUMN) - cell_entry(layout, other, COLUMN)) + abs(
        cell_entry(layout, one, ROW) - cell_entry(layout, other, ROW)
    )
