"""What an abstraction keeps of a scene: a smaller one, in which most objects are forgotten.

The abstraction of a state keeps the agent's pose, the automaton state and what matters of the rest:

    hand     nothing, something, or an object of a *class* that the task is about or that unlocks a door
    moved    a bit for each class: whether one of its objects lies elsewhere than at the start
    blocked  a bit for each *blocker*: whether the object that stood on this cell at the start still does; and perhaps
             one for the *crowd*: whether all objects that do not matter otherwise still lie where they did
    open     a bit for each *gate*: a door that was shut at the start
    spot     of each object that is *tracked*: the cell on which it lies, if it was moved

Everything forgotten is taken to be as the agent would wish: a moved object is wherever it would be of use, other
objects block nothing, other doors are open. So every transition of the scene is one of the abstraction, at no higher
cost, and the cost-to-go there is a consistent lower bound here: a *pattern database* (Culberson and Schaeffer).
"""

from collections import namedtuple
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit
from wfairl.minigrid import physics
from wfairl.minigrid.physics import CELL_TYPES, HANDS, NOTHING, Layout, LayoutTable, door_state, object_entry

EMPTY_HAND, SOMETHING, FIRST_CLASS = range(3)
"""Values of the hand: nothing, something that does not matter; an object of class c is FIRST_CLASS + c."""

FORGOTTEN = -1
"""Classes of an atom that may hold or not, whatever the abstraction keeps."""

IDLE = len(physics.CONTROLS)
"""In a price: any control, one that does nothing."""

ANY_HAND = len(HANDS)
"""In a price: something in the hand, whatever it is."""

WILD = len(CELL_TYPES)
AHEADS = WILD + len(physics.TERRAINS)
"""In a price: what is ahead, one of `CELL_TYPES`, or WILD + terrain for anything that may be there."""

MOST_TRACKED = 4

NUMBER, HEADING, HAND, MOVED, BLOCKED, OPENED, CONTROL, DROPPED, PRICE, SPOTS = range(10)
EFFECT_COLUMNS = SPOTS + MOST_TRACKED
"""Columns of an effect: an abstract state without its automaton state, what led to it, what was dropped, the price; and
where tracked objects lie, a number among the walkable cells + 1, or 0 for one that was not moved, is held or gone."""

PatternData = NDArray[np.int64]
"""The numbers and arrays of a `Pattern`; see `PatternTable`."""

Effects = NDArray[np.int64]
"""Rows of abstract states and what led to them, shape [rows, EFFECT_COLUMNS]."""


@dataclass(frozen=True)
class PatternSpec:
    """What a pattern keeps: atoms, cells of blockers, doors that are gates, whether a crowd, and tracked objects."""

    atoms: tuple[int, ...]
    blockers: tuple[int, ...]
    gates: tuple[int, ...]
    crowd: bool = False
    tracked: tuple[int, ...] = ()

    @property
    def is_coarsest(self) -> bool:
        """Whether there is nothing to leave out."""
        return not (self.atoms or self.blockers or self.gates)

    def coarser(self) -> "PatternSpec":
        """Without the last blocker, or else atom, or else gate."""
        if self.blockers:
            return replace(self, blockers=self.blockers[:-1])
        if self.atoms:
            return replace(self, atoms=self.atoms[:-1])
        return replace(self, gates=self.gates[:-1])


class PatternTable(NamedTuple):
    """A pattern as compiled code reads it; many arrays would cost a reference count each at every call.

    Attributes:
        layout: the scene.
        data: the numbers and arrays of the `Pattern`, one behind the other: `data[AT.cells]` is a number, and the entry
            i of an array is `data[data[AT.walkable] + i]`.
    """

    layout: LayoutTable
    data: PatternData


class Places(NamedTuple):
    """What tells whether objects and doors are where and as they were at the start.

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
        needed: sets of boxes, one of which every path from an automaton state to acceptance needs;
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


@dataclass(frozen=True, eq=False)
class Pattern:
    """What an abstraction keeps of one scene and one automaton.

    A *hand* is 0 for nothing, 1 for something that does not matter, and 2 + c for an object of class c.

    Attributes:
        layout: the scene.
        places: where objects and doors are to begin with.
        states, hands, cells: how many automaton states, hands and walkable cells there are.
        blocker_bits, gate_bits: how many bits there are for blockers with the crowd, and for gates.
        crowd: the bit of the crowd among those of the blockers, or `NOTHING`.
        tracked_count, atom_count, most_changes: how many tracked objects, atoms, and changes of one state at most.
        walkable: the cells that are no walls, shape [walkable].
        number_of: number of a cell among them, or `NOTHING`; shape [cells].
        hand_at: the hand after picking up what lay on a cell at the start, 0 if nothing did; shape [cells].
        is_box: whether that was a box, shape [cells].
        hand_kind: what a hand shows, an index into `HANDS` or `ANY_HAND`; shape [hands].
        alike: whether the objects of a hand's class are all of one group, shape [hands].
        inside_of: bits of the classes of what is in the boxes of a hand's class, shape [hands].
        unlocks: bits of the classes whose keys fit each door, shape [doors].
        was_locked: whether each door was locked at the start, shape [doors].
        gate_of: bit of a door among the gates, or `NOTHING`; shape [doors].
        blocker_at: bit of a cell among the blockers, that of the crowd, or `NOTHING`; shape [cells].
        tracked: the hand that holds each tracked object, the only one of its class; shape [tracked].
        atoms: of the labels, shape [atoms, 5].
        atom_classes: bits of the classes that each atom is about, and of those that it puts them next to, or
            `FORGOTTEN`; shape [atoms, 2].
        relevant: bits of the classes that still matter in each automaton state, shape [automaton states].
        changes: automaton state, what must hold and what must not (bits of atoms), and the state after;
            shape [changes, 4], sorted by the state.
        first_change: where the changes of a state begin, shape [automaton states + 1].
        price_class: which poses are alike to a price, shape [walkable * 4].
    """

    layout: Layout
    places: Places
    states: int
    hands: int
    cells: int
    blocker_bits: int
    gate_bits: int
    crowd: int
    tracked_count: int
    atom_count: int
    most_changes: int
    walkable: NDArray[np.int64]
    number_of: NDArray[np.int64]
    hand_at: NDArray[np.int64]
    is_box: NDArray[np.bool_]
    hand_kind: NDArray[np.int64]
    alike: NDArray[np.bool_]
    inside_of: NDArray[np.int64]
    unlocks: NDArray[np.int64]
    was_locked: NDArray[np.bool_]
    gate_of: NDArray[np.int64]
    blocker_at: NDArray[np.int64]
    tracked: NDArray[np.int64]
    atoms: NDArray[np.int32]
    atom_classes: NDArray[np.int64]
    relevant: NDArray[np.int64]
    changes: NDArray[np.int64]
    first_change: NDArray[np.int64]
    price_class: NDArray[np.int64]

    @cached_property
    def table(self) -> PatternTable:
        """It in one flat array: numbers and where arrays begin, and then the arrays."""
        head: list[int] = []
        arrays: list[NDArray[Any]] = []
        end = len(AT)
        for name in AT._fields:
            value = getattr(self, name)
            head.append(value if isinstance(value, int) else end)
            if not isinstance(value, int):
                arrays.append(value.ravel())
                end += value.size
        return PatternTable(self.layout.table, np.concatenate([head, *arrays]).astype(np.int64))

    @property
    def combinations(self) -> int:
        """How many dense numbers there are."""
        bits = self.hands - FIRST_CLASS + self.blocker_bits + self.gate_bits
        return 4 * self.cells * self.states * self.hands * (self.cells + 1) ** self.tracked_count << bits


_NAMES = [field.name for field in fields(Pattern) if field.name not in ("layout", "places")]
AT: Any = cast(Any, namedtuple)("AT", _NAMES)(*range(len(_NAMES)))
"""Positions of numbers, and of where arrays begin, in `PatternTable.data`."""


@njit(cache=True, nogil=True)
def abstract_index(
    pattern: PatternTable, places: Places, fields: NDArray[np.int32], automaton_state: int, effects: Effects
) -> int:
    """The dense number of a state's abstraction; the first row of `effects` is overwritten."""
    layout, data = pattern
    cells = layout[physics.CELLS]
    hand, moved = EMPTY_HAND, 0
    for slot in range(MOST_TRACKED):
        effects[0, SPOTS + slot] = 0
    for obj in range(layout[physics.OBJECTS_COUNT]):
        place = fields[physics.FIRST_OBJECT + obj]
        holder = places.hands[obj]
        if place == cells + physics.CARRIED:
            hand = holder
            moved |= data[data[AT.inside_of] + holder]
        elif place == cells + physics.GONE:
            moved |= data[data[AT.inside_of] + holder]
            if tracked_slot(data, holder) != NOTHING:
                moved |= 1 << (holder - FIRST_CLASS)
        elif holder >= FIRST_CLASS and not places.home[obj, place]:
            moved |= data[data[AT.inside_of] + holder] | 1 << (holder - FIRST_CLASS)
            slot = tracked_slot(data, holder)
            if slot != NOTHING and place < cells:
                effects[0, SPOTS + slot] = data[data[AT.number_of] + place] + 1
    blocked = (1 << data[AT.blocker_bits]) - 1
    for i in range(places.blockers.shape[0]):
        if not lies_on(layout, fields, places.blockers[i, 1], places.blockers[i, 0]):
            blocked &= ~(1 << places.blockers[i, 2])
    opened = 0
    for i in range(places.gates.size):
        door = places.gates[i]
        state = door_state(layout, fields, door)
        if (data[data[AT.was_locked] + door] and not state & physics.IS_LOCKED) or state & physics.IS_OPEN:
            opened |= 1 << i
    effects[0, NUMBER], effects[0, HEADING] = (
        data[data[AT.number_of] + fields[physics.AGENT]],
        fields[physics.DIRECTION],
    )
    effects[0, HAND], effects[0, MOVED], effects[0, BLOCKED], effects[0, OPENED] = hand, moved, blocked, opened
    return dense_index(data, effects, 0, automaton_state)


@njit(cache=True, nogil=True)
def tracked_slot(data: PatternData, hand: int) -> int:
    """Which tracked object a hand holds, or `NOTHING`."""
    for slot in range(data[AT.tracked_count]):
        if data[data[AT.tracked] + slot] == hand:
            return slot
    return NOTHING


@njit(cache=True, nogil=True)
def lies_on(layout: LayoutTable, fields: NDArray[np.int32], group: int, cell: int) -> bool:
    """Whether an object of a group, which is named by its first one, lies on a cell."""
    for obj in range(group, object_entry(layout, group, physics.GROUP_END)):
        if fields[physics.FIRST_OBJECT + obj] == cell:
            return True
    return False


@njit(cache=True, nogil=True)
def dense_index(data: PatternData, effects: Effects, row: int, state: int) -> int:
    """An abstract state in one number; what does not matter any more in an automaton state is forgotten."""
    relevant, hand = data[data[AT.relevant] + state], effects[row, HAND]
    if hand >= FIRST_CLASS and not relevant >> (hand - FIRST_CLASS) & 1:
        hand = SOMETHING
    pose = effects[row, NUMBER] * 4 + effects[row, HEADING]
    index = (pose * data[AT.states] + state) * data[AT.hands] + hand
    for slot in range(data[AT.tracked_count]):
        index *= data[AT.cells] + 1
        if relevant >> (data[data[AT.tracked] + slot] - FIRST_CLASS) & 1:
            index += effects[row, SPOTS + slot]
    index = (index << data[AT.gate_bits] | effects[row, OPENED]) << data[AT.blocker_bits] | effects[row, BLOCKED]
    return index << (data[AT.hands] - FIRST_CLASS) | (effects[row, MOVED] & relevant)


@njit(cache=True, nogil=True)
def read_index(data: PatternData, index: int, effects: Effects, row: int) -> int:
    """Write the abstract state of a dense number, from the column `NUMBER` to `OPENED`; its automaton state."""
    states, hands = data[AT.states], data[AT.hands]
    classes, blockers, gates = hands - FIRST_CLASS, data[AT.blocker_bits], data[AT.gate_bits]
    effects[row, MOVED], index = index & ((1 << classes) - 1), index >> classes
    effects[row, BLOCKED], index = index & ((1 << blockers) - 1), index >> blockers
    effects[row, OPENED], index = index & ((1 << gates) - 1), index >> gates
    spots = data[AT.cells] + 1
    for slot in range(data[AT.tracked_count] - 1, -1, -1):
        effects[row, SPOTS + slot], index = index % spots, index // spots
    effects[row, HAND], index = index % hands, index // hands
    pose = index // states
    effects[row, NUMBER], effects[row, HEADING] = pose // 4, pose % 4
    return index % states
