"""The labels of transitions, compiled: the one place that defines when an atomic proposition holds.

A *mask* is a label as 64 bits, one for each proposition.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.support.compiling import inner, njit
from wfairl.core.worlds.compiled import LabelTable
from wfairl.minigrid import physics
from wfairl.minigrid.physics import NOTHING, LayoutTable, cell_entry

ANY_AT, DOOR_IS_OPEN, AGENT_ON_TERRAIN, AGENT_AT, ANY_IN_FRONT, DOOR_IN_FRONT, ALL_APART = range(7)
ALWAYS, ROLE_REACHED, ROLE_PICKED_UP, ROLE_OPENED, ROLE_PUT_NEXT = range(7, 12)
"""The questions that an atom of a label can ask; see `holds`."""

EVENTS = (ROLE_REACHED, ROLE_PICKED_UP, ROLE_OPENED, ROLE_PUT_NEXT)
"""Questions about what a control has just done: a label with such an atom depends on more than the state."""

ABOUT_FRONT = (ANY_IN_FRONT, DOOR_IN_FRONT, ROLE_REACHED)
"""Questions about what is in front of the agent: a label with such an atom can change by turning."""

NEW_MASK = -1
"""In place of the number of a mask that has none yet."""


class MaskNumbers:
    """An automaton that reads label masks; masks are numbered as they are met.

    Attributes:
        masks: in the order of their numbers, shape [masks] of uint64.
        table: the label of each mask, and the automaton's row for it.
    """

    def __init__(self, automaton: Automaton, propositions: Sequence[str]):
        self.masks, self.table, self._propositions = np.empty(0, np.uint64), LabelTable(automaton), propositions

    def number(self, mask: int) -> int:
        """The number of a mask, which gets one if it is new."""
        number = int(find_number(self.masks, np.uint64(mask)))
        if number == NEW_MASK:
            number = self.table.number(to_label(mask, self._propositions))
            self.masks = np.append(self.masks, np.uint64(mask))
        return number


def to_label(mask: int, propositions: Sequence[str]) -> Label:
    """The label of a mask, whose bit i stands for `propositions[i]`."""
    return frozenset(name for i, name in enumerate(propositions) if mask >> i & 1)


@njit(cache=True, nogil=True, exact=True)
def find_number(masks: NDArray[np.uint64], mask: np.uint64) -> int:
    """The number of a mask, or `NEW_MASK`; a scene has few labels, and a hash table is not faster."""
    for number in range(masks.size):
        if masks[number] == mask:
            return number
    return NEW_MASK


@njit(cache=True, nogil=True, exact=True)
def label_mask(layout: LayoutTable, atoms: NDArray[np.int32], fields: NDArray[np.int32], control: int) -> np.uint64:
    """The label of a transition: bit i is set if atom i holds after it; arguments as in `holds`."""
    mask = np.uint64(0)
    for i in range(atoms.shape[0]):
        if holds(layout, atoms, i, fields, control):
            mask |= np.uint64(1) << np.uint64(i)
    return mask


@njit(cache=True, nogil=True)
def holds(layout: LayoutTable, atoms: NDArray[np.int32], i: int, fields: NDArray[np.int32], control: int) -> bool:
    """Whether atom i holds after a transition.

    Args:
        layout: the scene.
        atoms: shape [atoms, 5].
        i: the number of the atom.
        fields: of the state after the transition, shape [fields].
        control: of the transition, or `NOTHING` if the transition changed nothing.

    An atom is a row of five integers, a question and its arguments:

        ANY_AT            first, end, place    an object among first..end-1 is at the place
        DOOR_IS_OPEN      door
        AGENT_ON_TERRAIN  terrain, colour      or `NOTHING` for any colour
        AGENT_AT          cell
        ANY_IN_FRONT      first, end           an object among first..end-1 is in front of the agent
        DOOR_IN_FRONT     colour               or `NOTHING` for any colour
        ALL_APART         first, end, cell, distance
            every object among first..end-1 is at least that many steps on the grid away from the cell;
            a carried object is where the agent is
        ALWAYS
        ROLE_REACHED      role                 the agent faces something of the role, or has just picked it up
        ROLE_PICKED_UP    role                 the agent has just picked something of the role up
        ROLE_OPENED       role                 the agent has just opened a door of the role
        ROLE_PUT_NEXT     role, other          the agent has just put something of the role beside one of the other
    """
    question, first, second = atoms[i, 0], atoms[i, 1], atoms[i, 2]
    if question == ANY_AT:
        return _any_at(fields, first, second, atoms[i, 3])
    if question == DOOR_IS_OPEN:
        return physics.door_state(layout, fields, first) & physics.IS_OPEN != 0
    if question == AGENT_ON_TERRAIN:
        return is_terrain(layout, fields[physics.AGENT], first, second)
    if question == AGENT_AT:
        return fields[physics.AGENT] == first
    if question == ALL_APART:
        return _all_apart(layout, fields, first, second, atoms[i, 3], atoms[i, 4])
    if question == ALWAYS:
        return True
    if question == ROLE_PICKED_UP:
        return _just_picked_up(layout, fields, first, control)
    front = physics.cell_in_front(layout, fields)
    if front == NOTHING:
        return False
    if question == ANY_IN_FRONT:
        return _any_at(fields, first, second, front)
    if question == DOOR_IN_FRONT:
        return is_terrain(layout, front, physics.DOOR, first)
    if question == ROLE_REACHED:
        return _has_role(layout, fields, front, first) or _just_picked_up(layout, fields, first, control)
    if question == ROLE_OPENED:
        if control != physics.TOGGLE or not cell_entry(layout, front, physics.DOOR_ROLES) >> first & 1:
            return False
        return physics.door_state(layout, fields, cell_entry(layout, front, physics.DOOR_AT)) & physics.IS_OPEN != 0
    return (
        control == physics.DROP
        and _has_role(layout, fields, front, first)
        and _is_beside(layout, fields, front, second)
    )


@inner
def _just_picked_up(layout: LayoutTable, fields: NDArray[np.int32], role: int, control: int) -> bool:
    if control != physics.PICKUP:
        return False
    obj = physics.carried_object(layout, fields)
    return obj != NOTHING and physics.object_entry(layout, obj, physics.ROLES) >> role & 1 != 0


@inner
def _has_role(layout: LayoutTable, fields: NDArray[np.int32], cell: int, role: int) -> bool:
    """Whether the object or the door on a cell has a role."""
    if cell_entry(layout, cell, physics.DOOR_ROLES) >> role & 1:
        return True
    obj = physics.object_at(layout, fields, cell)
    return obj != NOTHING and physics.object_entry(layout, obj, physics.ROLES) >> role & 1 != 0


@inner
def _is_beside(layout: LayoutTable, fields: NDArray[np.int32], cell: int, role: int) -> bool:
    """Whether something of a role is on a neighbour of a cell."""
    for direction in range(4):
        neighbour = cell_entry(layout, cell, physics.FRONT + direction)
        if neighbour != NOTHING and _has_role(layout, fields, neighbour, role):
            return True
    return False


@inner
def _any_at(fields: NDArray[np.int32], first: int, end: int, place: int) -> bool:
    for obj in range(first, end):  # noqa: SIM110 - compiled
        if fields[physics.FIRST_OBJECT + obj] == place:
            return True
    return False


@inner
def is_terrain(layout: LayoutTable, cell: int, terrain: int, color: int) -> bool:
    """Whether a cell has a terrain and a colour; the colour `NOTHING` stands for any."""
    if cell_entry(layout, cell, physics.TERRAIN) != terrain:
        return False
    return color == NOTHING or cell_entry(layout, cell, physics.TERRAIN_COLOR) == color


@inner
def _all_apart(layout: LayoutTable, fields: NDArray[np.int32], first: int, end: int, cell: int, least: int) -> bool:
    for obj in range(first, end):
        place = fields[physics.FIRST_OBJECT + obj]
        if place == layout[physics.CELLS] + physics.CARRIED:
            place = fields[physics.AGENT]
        if place < layout[physics.CELLS] and distance(layout, place, cell) < least:
            return False
    return True


@njit(cache=True, nogil=True)
def distance(layout: LayoutTable, one: int, other: int) -> int:
    """The Manhattan distance of two cells."""
    return abs(cell_entry(layout, one, physics.CELL_X) - cell_entry(layout, other, physics.CELL_X)) + abs(
        cell_entry(layout, one, physics.CELL_Y) - cell_entry(layout, other, physics.CELL_Y)
    )
