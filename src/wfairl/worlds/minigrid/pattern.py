"""What an abstraction keeps of a scene: a smaller one, in which most objects are forgotten.

The abstraction of a state keeps the agent's pose, the automaton state and what matters of the rest:

    hand     nothing, something, or an object of a *class* that the task speaks of or that unlocks a door
    moved    a bit for each class: whether one of its objects lies elsewhere than at the start
    blocked  a bit for each *blocker*: whether the object that stood on this cell at the start still does; and perhaps
             one for the *crowd*: whether all objects that do not matter otherwise still lie where they did
    open     a bit for each *gate*: a door that was shut at the start
    spot     of each object that is *tracked*: the cell on which it lies, if it was moved

Everything forgotten is taken to be as the agent would wish: a moved object is wherever it would be of use, other
objects stand in nobody's way, other doors are open. So every transition of the scene is one of the abstraction, at no
higher cost, and the cost-to-go there is a consistent lower bound here: a *pattern database* (Culberson and Schaeffer).
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.compiling import njit
from wfairl.worlds.minigrid.rules import (
    AGENT,
    CARRIED,
    CELLS,
    CONTROLS,
    DIRECTION,
    FIRST_OBJECT,
    GONE,
    GROUP_END,
    IS_LOCKED,
    IS_OPEN,
    NOTHING,
    OBJECTS_COUNT,
    TERRAINS,
    Table,
    door_state,
    object_entry,
)
from wfairl.worlds.minigrid.view import HANDS, SIGHTS

EMPTY_HAND, SOMETHING, FIRST_CLASS = range(3)
"""Values of the hand; class c is FIRST_CLASS + c."""


FORGOTTEN = -1
"""Classes of an atom that may hold or not, whatever the abstraction keeps."""

IDLE = len(CONTROLS)
"""In a price: any control, one that does nothing."""

ANY_HAND = len(HANDS)
"""In a price: something in the hand, whatever it is."""

WILD = len(SIGHTS)
AHEADS = WILD + len(TERRAINS)
"""In a price: what is ahead, one of `SIGHTS`, or WILD + terrain for anything that may be there."""

WALKABLE, NUMBER_OF, HAND_OF, IS_BOX, HAND_KIND, ALIKE, INSIDE_OF, UNLOCKS, BLOCKER, GATE, WAS_LOCKED = range(11)
ATOM_ROWS, ATOM_CLASSES, RELEVANT, CHANGES, FIRST_CHANGE, PRICE_CLASS, TRACKED_HAND, SIZES = range(11, 19)
STATES, CLASSES, BLOCKERS, GATES, ATOMS, POSES, CROWD, TRACKED, SIZES_COUNT = range(9)
"""Positions in the head of a pattern's table; see `Pattern`."""

PatternTable = NDArray[np.int64]

MOST_TRACKED = 4

NUMBER, HEADING, HAND, MOVED, BLOCKED, OPENED, CONTROL, DROPPED, PRICE, SPOTS = range(10)
EFFECT_COLUMNS = SPOTS + MOST_TRACKED
"""Columns of an effect: an abstract state without its automaton state, what led to it, what was dropped, the price; and
where tracked objects lie, a number among the walkable cells + 1, or 0 for one that was not moved, is held or gone."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """What an abstraction keeps of one scene and one automaton.

    Compiled code reads all of it from one flat array, as it does a `Layout`. A *hand* is 0 for nothing, 1 for
    something that does not matter, and 2 + c for an object of class c.

    Attributes:
        walkable: the cells that are no walls, shape [walkable].
        number_of: number of a cell among them, or `NOTHING`; shape [cells].
        hand_of: the hand after picking up what lay on a cell at the start, 0 if nothing did; shape [cells].
        is_box: whether that was a box, shape [cells].
        hand_kind: what a hand shows, an index into `HANDS` or `ANY_HAND`; shape [hands].
        alike: whether the objects of a hand's class are all of one group, shape [hands].
        inside_of: bits of the classes of what is in the boxes of a hand's class, shape [hands].
        unlocks: bits of the classes whose keys fit each door, shape [doors].
        blocker: bit of a cell among the blockers, that of the crowd, or `NOTHING`; shape [cells].
        gate: bit of a door among the gates, or `NOTHING`; shape [doors].
        was_locked: whether each door was locked at the start, shape [doors].
        atom_rows: of the labels, shape [atoms, 5].
        atom_classes: bits of the classes that each atom speaks of, and of those that it puts them next to, or
            `FORGOTTEN`; shape [atoms, 2].
        relevant: bits of the classes that still matter in each automaton state, shape [automaton states].
        changes: automaton state, what must hold and what must not (bits of atoms), and the state after;
            shape [changes, 4], sorted by the state.
        first_change: where the changes of a state begin, shape [automaton states + 1].
        price_class: which poses are alike to a price, shape [walkable * 4].
        tracked_hand: the hand that holds each tracked object, the only one of its class; shape [tracked].
        sizes: automaton states, classes, bits of blockers, gates, atoms, poses, the bit of the crowd among those of
            the blockers or `NOTHING`, and tracked objects; shape [8].
    """

    walkable: NDArray[np.int64]
    number_of: NDArray[np.int64]
    hand_of: NDArray[np.int64]
    is_box: NDArray[np.bool_]
    hand_kind: NDArray[np.int64]
    alike: NDArray[np.bool_]
    inside_of: NDArray[np.int64]
    unlocks: NDArray[np.int64]
    blocker: NDArray[np.int64]
    gate: NDArray[np.int64]
    was_locked: NDArray[np.bool_]
    atom_rows: NDArray[np.int32]
    atom_classes: NDArray[np.int64]
    relevant: NDArray[np.int64]
    changes: NDArray[np.int64]
    first_change: NDArray[np.int64]
    price_class: NDArray[np.int64]
    tracked_hand: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @cached_property
    def table(self) -> PatternTable:
        """All of it in one flat array, for compiled code: where each begins, the sizes, and then the others."""
        *others, sizes = (np.asarray(getattr(self, field.name), np.int64).ravel() for field in fields(self))
        ends = SIZES + SIZES_COUNT + np.cumsum([0, *(array.size for array in others)])
        return np.concatenate([ends[:-1], sizes, *others])

    @property
    def combinations(self) -> int:
        """How many dense numbers there are."""
        states, classes, blockers, gates, _, poses, _, tracked = map(int, self.sizes)
        return poses * states * (FIRST_CLASS + classes) * (poses // 4 + 1) ** tracked << (classes + blockers + gates)


class Places(NamedTuple):
    """What tells whether objects and doors are where and as they were.

    Attributes:
        home: whether an object of each object's group was at a place at the start; shape [objects, places].
        hands: the hand that holds an object, shape [objects].
        blockers: cell, group (its first object) and bit of each object that is a blocker or of the crowd;
            shape [blockers, 3].
        gates: the doors that are gates, shape [gates].
        obstacles: of each obstacle its door and `NOTHING`, or its cell and the first object of its group; doors of a
            role come first; shape [obstacles, 2].
        role_doors: how many of them are doors of a role.
        spare: the most obstacles that may be removed, in an automaton state and after it, by steps with which the
            automaton changes: of those that are no doors of a role, and of all; shape [automaton states, 2].
        needed: sets of boxes, one of which every way from an automaton state to acceptance needs;
            shape [automaton states, sets, objects].
    """

    home: NDArray[np.bool_]
    hands: NDArray[np.int64]
    blockers: NDArray[np.int64]
    gates: NDArray[np.int64]
    obstacles: NDArray[np.int64]
    role_doors: int
    spare: NDArray[np.int64]
    needed: NDArray[np.bool_]


@njit(cache=True, nogil=True)
def abstract_index(
    layout: Table,
    table: PatternTable,
    places: Places,
    fields: NDArray[np.int32],
    automaton_state: int,
    effects: NDArray[np.int64],
) -> int:
    """The dense number of a state's abstraction; the first row of `effects` is overwritten."""
    cells = layout[CELLS]
    hand, moved = EMPTY_HAND, 0
    for slot in range(MOST_TRACKED):
        effects[SPOTS + slot] = 0
    for thing in range(layout[OBJECTS_COUNT]):
        place = fields[FIRST_OBJECT + thing]
        holder = places.hands[thing]
        if place == cells + CARRIED:
            hand = holder
            moved |= table[table[INSIDE_OF] + holder]
        elif place == cells + GONE:
            moved |= table[table[INSIDE_OF] + holder]
            if tracked_slot(table, holder) != NOTHING:
                moved |= 1 << (holder - FIRST_CLASS)
        elif holder >= FIRST_CLASS and not places.home[thing, place]:
            moved |= table[table[INSIDE_OF] + holder] | 1 << (holder - FIRST_CLASS)
            slot = tracked_slot(table, holder)
            if slot != NOTHING and place < cells:
                effects[SPOTS + slot] = table[table[NUMBER_OF] + place] + 1
    blocked = (1 << table[SIZES + BLOCKERS]) - 1
    for i in range(places.blockers.shape[0]):
        if not lies_on(layout, fields, places.blockers[i, 1], places.blockers[i, 0]):
            blocked &= ~(1 << places.blockers[i, 2])
    opened = 0
    for i in range(places.gates.size):
        door = places.gates[i]
        state = door_state(layout, fields, door)
        if (table[table[WAS_LOCKED] + door] and not state & IS_LOCKED) or state & IS_OPEN:
            opened |= 1 << i
    effects[NUMBER], effects[HEADING], effects[HAND] = table[table[NUMBER_OF] + fields[AGENT]], fields[DIRECTION], hand
    effects[MOVED], effects[BLOCKED], effects[OPENED] = moved, blocked, opened
    return dense_index(table, effects, 0, automaton_state)


@njit(cache=True, nogil=True)
def tracked_slot(table: PatternTable, hand: int) -> int:
    """Which tracked object a hand holds, or `NOTHING`."""
    for slot in range(table[SIZES + TRACKED]):
        if table[table[TRACKED_HAND] + slot] == hand:
            return slot
    return NOTHING


@njit(cache=True, nogil=True)
def lies_on(layout: Table, fields: NDArray[np.int32], group: int, cell: int) -> bool:
    """Whether an object of a group, which is named by its first one, lies on a cell."""
    for thing in range(group, object_entry(layout, group, GROUP_END)):  # noqa: SIM110 - compiled
        if fields[FIRST_OBJECT + thing] == cell:
            return True
    return False


@njit(cache=True, nogil=True)
def dense_index(table: PatternTable, effects: NDArray[np.int64], at: int, state: int) -> int:
    """All of it in one number; what does not matter any more in an automaton state is forgotten."""
    states, classes, blockers, gates = (
        table[SIZES + STATES],
        table[SIZES + CLASSES],
        table[SIZES + BLOCKERS],
        table[SIZES + GATES],
    )
    relevant, hand = table[table[RELEVANT] + state], effects[at + HAND]
    if hand >= FIRST_CLASS and not relevant >> (hand - FIRST_CLASS) & 1:
        hand = SOMETHING
    index = ((effects[at + NUMBER] * 4 + effects[at + HEADING]) * states + state) * (FIRST_CLASS + classes) + hand
    for slot in range(table[SIZES + TRACKED]):
        index *= table[SIZES + POSES] // 4 + 1
        if relevant >> (table[table[TRACKED_HAND] + slot] - FIRST_CLASS) & 1:
            index += effects[at + SPOTS + slot]
    return ((index << gates | effects[at + OPENED]) << blockers | effects[at + BLOCKED]) << classes | (
        effects[at + MOVED] & relevant
    )


@njit(cache=True, nogil=True)
def read_index(table: PatternTable, index: int, effects: NDArray[np.int64], at: int) -> int:
    """Write the abstract state of a dense number, from the column `NUMBER` to `OPENED`; its automaton state."""
    classes, blockers, gates = table[SIZES + CLASSES], table[SIZES + BLOCKERS], table[SIZES + GATES]
    effects[at + MOVED], index = index & ((1 << classes) - 1), index >> classes
    effects[at + BLOCKED], index = index & ((1 << blockers) - 1), index >> blockers
    effects[at + OPENED], index = index & ((1 << gates) - 1), index >> gates
    for back in range(table[SIZES + TRACKED]):
        slot = table[SIZES + TRACKED] - 1 - back
        spots = table[SIZES + POSES] // 4 + 1
        effects[at + SPOTS + slot], index = index % spots, index // spots
    effects[at + HAND], index = index % (FIRST_CLASS + classes), index // (FIRST_CLASS + classes)
    pose = index // table[SIZES + STATES]
    effects[at + NUMBER], effects[at + HEADING] = pose // 4, pose % 4
    return index % table[SIZES + STATES]
