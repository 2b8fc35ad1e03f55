"""What may be said of the labels in an abstract state; see `pattern`."""

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
    ATOM_CLASSES,
    ATOM_ROWS,
    BLOCKED,
    BLOCKER,
    CONTROL,
    DROPPED,
    FIRST_CLASS,
    FORGOTTEN,
    GATE,
    HAND,
    HAND_OF,
    MOVED,
    NUMBER_OF,
    OPENED,
    POSES,
    SIZES,
    SPOTS,
    TRACKED,
    TRACKED_HAND,
    WALKABLE,
    WAS_LOCKED,
    PatternTable,
)
from wfairl.worlds.minigrid.rules import (
    CARRIED,
    CELLS,
    COLUMN,
    DOOR,
    DOOR_AT,
    DOOR_ROLES,
    DROP,
    EMPTY,
    FRONT,
    NOTHING,
    PICKUP,
    ROW,
    TERRAIN,
    TERRAIN_COLOR,
    TOGGLE,
    Table,
    cell_entry,
)


@njit(cache=True, nogil=True)
def truth_of(
    layout: Table,
    table: PatternTable,
    i: int,
    cell: int,
    front: int,
    effects: NDArray[np.int64],
    at: int,
) -> int:
    """What may be said of an atom after an effect: 1 that it holds, 2 that it does not, 3 either.

    Args:
        layout, table: the scene and the pattern.
        i: which atom.
        cell, front: where the agent is after it, and the cell in front.
        effects, at: the effects, and where this one begins.
    """
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
