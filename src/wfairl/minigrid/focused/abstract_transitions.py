"""The transitions of an abstraction: effects of controls, and the changes of the automaton that labels then allow."""

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit
from wfairl.minigrid import atoms, physics
from wfairl.minigrid.focused.abstract_effects import HERE, MOST_EFFECTS, abstract_effects
from wfairl.minigrid.focused.pattern import (
    AT,
    BLOCKED,
    CONTROL,
    DROPPED,
    EFFECT_COLUMNS,
    FIRST_CLASS,
    FORGOTTEN,
    HAND,
    HEADING,
    MOVED,
    NUMBER,
    OPENED,
    PRICE,
    SPOTS,
    Effects,
    PatternData,
    PatternTable,
    dense_index,
    read_index,
)
from wfairl.minigrid.physics import NOTHING, cell_entry

TRUE, FALSE, EITHER = 1, 2, 3
"""What is known of an atom in an abstract state; bits of what it may be."""

Buffers = tuple[Effects, NDArray[np.int64], NDArray[np.int64]]
"""Room for the transitions of one abstract state: effects, targets and prices."""


@njit(cache=True, nogil=True)
def make_buffers(data: PatternData) -> Buffers:
    """Room for as many transitions as an abstract state may have: for each effect, with each change or none."""
    most = MOST_EFFECTS * (1 + data[AT.most_changes])
    effects = np.empty((MOST_EFFECTS, EFFECT_COLUMNS), np.int64)
    return effects, np.empty(most, np.int64), np.empty(most, np.int64)


@njit(cache=True, nogil=True)
def abstract_transitions(pattern: PatternTable, index: int, buffers: Buffers) -> int:
    """Write the dense numbers after every abstract transition (-1 for acceptance) and their prices; how many.

    After each effect the automaton stays where it is, or changes in a way that the label may allow.
    """
    layout, data = pattern
    effects, targets, prices = buffers
    state = read_index(data, index, effects, HERE)
    first, end = data[data[AT.first_change] + state], data[data[AT.first_change] + state + 1]
    asked = 0
    for j in range(first, end):
        change = data[AT.changes] + 4 * j
        asked |= data[change + 1] | data[change + 2]
    count = 0
    for i in range(abstract_effects(pattern, state, effects)):
        if i > 0:  # the first is that nothing changes
            targets[count], prices[count] = dense_index(data, effects, i, state), effects[i, PRICE]
            count += 1
        cell = data[data[AT.walkable] + effects[i, NUMBER]]
        front = cell_entry(layout, cell, physics.FRONT + effects[i, HEADING])
        may, may_not = 0, 0
        for j in range(data[AT.atom_count]):
            if asked >> j & 1:
                truth = _truth_of(pattern, j, cell, front, effects, i)
                may |= (truth & TRUE) << j
                may_not |= (truth >> 1) << j
        for j in range(first, end):
            change = data[AT.changes] + 4 * j
            if data[change + 1] & ~may == 0 and data[change + 2] & ~may_not == 0:
                after = data[change + 3]
                targets[count] = -1 if after < 0 else dense_index(data, effects, i, after)
                prices[count] = effects[i, PRICE]
                count += 1
    return count


@njit(cache=True, nogil=True)
def _truth_of(pattern: PatternTable, i: int, cell: int, front: int, effects: Effects, row: int) -> int:
    """What is known of an atom after an effect: `TRUE`, `FALSE` or `EITHER`.

    Args:
        pattern: the scene and what is kept of it.
        i: which atom.
        cell, front: where the agent is after it, and the cell in front.
        effects, row: the effects, and which of them.
    """
    layout, data = pattern
    atom, classes = data[AT.atoms] + 5 * i, data[data[AT.atom_classes] + 2 * i]
    question, first, second = data[atom], data[atom + 1], data[atom + 2]
    if classes == FORGOTTEN:
        return EITHER
    opened, control = effects[row, OPENED], effects[row, CONTROL]
    holds_one = _is_of(classes, effects[row, HAND])
    if question == atoms.ANY_AT:
        if first == second:
            return FALSE
        if data[atom + 3] != layout[physics.CELLS] + physics.CARRIED:
            return EITHER
        return TRUE if holds_one else FALSE
    if question == atoms.DOOR_IS_OPEN:
        gate = data[data[AT.gate_of] + first]
        if gate == NOTHING or (data[data[AT.was_locked] + first] and opened >> gate & 1):
            return EITHER
        return TRUE if opened >> gate & 1 else FALSE
    if question == atoms.AGENT_ON_TERRAIN:
        return TRUE if atoms.is_terrain(layout, cell, first, second) else FALSE
    if question == atoms.AGENT_AT:
        return TRUE if cell == first else FALSE
    if question == atoms.ALL_APART:
        return EITHER if _may_be_apart(pattern, i, cell, effects, row) else FALSE
    if question == atoms.ALWAYS:
        return TRUE
    if question == atoms.ROLE_PICKED_UP:
        return TRUE if control == physics.PICKUP and holds_one else FALSE
    if front == NOTHING:
        return FALSE
    if question == atoms.ANY_IN_FRONT:
        return EITHER if _may_lie(pattern, classes, front, effects, row) else FALSE
    if question == atoms.DOOR_IN_FRONT:
        return TRUE if atoms.is_terrain(layout, front, physics.DOOR, first) else FALSE
    has_role = cell_entry(layout, front, physics.DOOR_ROLES) >> first & 1 != 0
    if question == atoms.ROLE_REACHED:
        if has_role or (control == physics.PICKUP and holds_one):
            return TRUE
        return EITHER if _may_lie(pattern, classes, front, effects, row) else FALSE
    if question == atoms.ROLE_OPENED:
        gate = data[data[AT.gate_of] + cell_entry(layout, front, physics.DOOR_AT)] if has_role else NOTHING
        is_open = gate == NOTHING or opened >> gate & 1 != 0
        return EITHER if control == physics.TOGGLE and has_role and is_open else FALSE
    if control == physics.DROP and _is_of(classes, effects[row, DROPPED]):
        for direction in range(4):
            beside = cell_entry(layout, front, physics.FRONT + direction)
            if beside != NOTHING and (
                cell_entry(layout, beside, physics.DOOR_ROLES) >> second & 1
                or _may_lie(pattern, data[data[AT.atom_classes] + 2 * i + 1], beside, effects, row)
            ):
                return EITHER
    return FALSE


@njit(cache=True, nogil=True)
def _is_of(classes: int, hand: int) -> bool:
    """Whether a hand holds an object of some classes, given as bits."""
    return hand >= FIRST_CLASS and classes >> (hand - FIRST_CLASS) & 1 != 0


@njit(cache=True, nogil=True)
def _may_lie(pattern: PatternTable, classes: int, cell: int, effects: Effects, row: int) -> bool:
    """Whether an object of some classes may lie on a cell, in the abstract state of an effect."""
    layout, data = pattern
    for slot in range(data[AT.tracked_count]):
        own = 1 << (data[data[AT.tracked] + slot] - FIRST_CLASS)
        if classes & own and effects[row, SPOTS + slot] == data[data[AT.number_of] + cell] + 1:
            return True
        if effects[row, MOVED] & own:
            classes &= ~own  # it lies nowhere else
    bit = data[data[AT.blocker_at] + cell]
    stands = bit != NOTHING and effects[row, BLOCKED] >> bit & 1 != 0
    is_empty = cell_entry(layout, cell, physics.TERRAIN) == physics.EMPTY
    if effects[row, MOVED] & classes and not stands and is_empty:  # it may have been dropped there
        return True
    return _is_of(classes, data[data[AT.hand_at] + cell]) and (stands or bit == NOTHING)


@njit(cache=True, nogil=True)
def _may_be_apart(pattern: PatternTable, i: int, cell: int, effects: Effects, row: int) -> bool:
    """Whether all objects that an atom is about may be as far from a cell as it asks for."""
    layout, data = pattern
    atom = data[AT.atoms] + 5 * i
    classes, center, least = data[data[AT.atom_classes] + 2 * i], data[atom + 3], data[atom + 4]
    holds_one = _is_of(classes, effects[row, HAND])
    if holds_one and atoms.distance(layout, cell, center) < least:
        return False
    if effects[row, MOVED] & classes:
        return True
    near = 0
    for number in range(data[AT.cells]):
        other = data[data[AT.walkable] + number]
        if _is_of(classes, data[data[AT.hand_at] + other]):
            near += atoms.distance(layout, other, center) < least
    return near == 0 or (near == 1 and holds_one)
