"""What an abstraction keeps of a scene, and abstract states as numbers.

An abstract state has the agent's pose, the automaton state, and of the rest:

    hand     nothing, some object, or an object of a *class*
    moved    a bit for each class: whether one of its objects lies elsewhere than at the start
    blocked  a bit for each *blocker*: whether the object that was on this cell at the start is still there. There may
             be one bit more for the *crowd*: whether all objects that are kept in no other way are where they were
    opened   a bit for each *gate*, a door that was shut at the start

The README of this package says what classes, blockers and gates are for.
"""

from collections import namedtuple
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit
from wfairl.minigrid import physics
from wfairl.minigrid.physics import Layout, LayoutTable

EMPTY_HAND, OTHER_OBJECT, FIRST_CLASS = range(3)
"""Values of the hand; an object of class c is FIRST_CLASS + c."""

NOT_KEPT = -1
"""In place of the classes of an atom: the pattern does not keep what the atom is about."""

_COLUMNS = "cell heading hand moved blocked opened control dropped price"
EFFECT: Any = cast(Any, namedtuple)("EFFECT", _COLUMNS)(*range(9))
"""Columns of an effect: an abstract state without its automaton state, and what led to it.

    cell        the agent's cell, a number among the walkable cells
    heading     the direction that the agent faces
    hand, moved, blocked, opened     see the head of this module
    control     what led to the state, or `ANY_CONTROL`
    dropped     the hand before the control, if the control dropped what it held; else `EMPTY_HAND`
    price       see `prices`
"""

EFFECT_COLUMNS = len(EFFECT)

Effects = NDArray[np.int64]
"""Rows of effects, shape [rows, EFFECT_COLUMNS]."""

PatternData = NDArray[np.int64]
"""The numbers and arrays of a `Pattern`; see `PatternTable`."""


@dataclass(frozen=True)
class PatternSpec:
    """What a pattern keeps."""

    atoms: tuple[int, ...]  # of the labels; their objects become classes
    blockers: tuple[int, ...]  # cells
    gates: tuple[int, ...]  # doors
    crowd: bool = False  # whether there is a bit for the crowd

    @property
    def is_coarsest(self) -> bool:
        """Whether there is nothing to leave out."""
        return not (self.atoms or self.blockers or self.gates)

    def coarser(self) -> "PatternSpec":
        """Without the last blocker. If there is none, without the last atom; if there is none, the last gate."""
        if self.blockers:
            return replace(self, blockers=self.blockers[:-1])
        if self.atoms:
            return replace(self, atoms=self.atoms[:-1])
        return replace(self, gates=self.gates[:-1])


class PatternTable(NamedTuple):
    """A pattern as compiled code reads it; many arrays would cost a reference count each at every call.

    `data` holds the numbers and arrays of the `Pattern`, one behind the other. `data[AT.cells]` is a number. Entry i of
    an array is `data[data[AT.walkable] + i]`.
    """

    layout: LayoutTable
    data: PatternData


class StartPlaces(NamedTuple):
    """Where objects and doors are at the start, to tell what has changed since."""

    # whether an object of each object's group was at a place at the start; shape [objects, places]
    home: NDArray[np.bool_]
    hands: NDArray[np.int64]  # the hand that holds each object, shape [objects]
    # cell, group (its first object) and bit of each object that is a blocker or of the crowd; shape [blockers, 3]
    blockers: NDArray[np.int64]
    gates: NDArray[np.int64]  # the doors that are gates, shape [gates]
    # sets of boxes; every path from an automaton state to acceptance needs a box of each set;
    # shape [automaton states, sets, objects]
    needed: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pattern:
    """What an abstraction keeps of one scene and one automaton."""

    layout: Layout  # the scene
    places: StartPlaces  # where objects and doors are at the start
    states: int  # the number of automaton states
    hands: int  # the number of hands
    cells: int  # the number of walkable cells
    blocker_bits: int  # the number of bits for blockers, with the crowd
    gate_bits: int  # the number of bits for gates
    crowd: int  # the bit of the crowd among the bits of blockers, or `NOTHING`
    atom_count: int  # the number of atoms
    most_changes: int  # the largest number of changes of one automaton state
    walkable: NDArray[np.int64]  # the cells that are no walls, shape [walkable]
    number_of: NDArray[np.int64]  # number of each cell among the walkable ones, or `NOTHING`; shape [cells]
    # the hand after picking up the object that lay on a cell at the start, 0 without one; shape [cells]
    hand_at: NDArray[np.int64]
    is_box: NDArray[np.bool_]  # whether this object was a box, shape [cells]
    hand_kind: NDArray[np.int64]  # what a hand shows, an index into `HANDS` or `ANY_HAND`; shape [hands]
    alike: NDArray[np.bool_]  # whether the objects of a hand's class are all of one group, shape [hands]
    inside_of: NDArray[np.int64]  # bits of the classes of what is inside the boxes of a hand's class, shape [hands]
    unlocks: NDArray[np.int64]  # bits of the classes whose keys fit each door, shape [doors]
    was_locked: NDArray[np.bool_]  # whether each door was locked at the start, shape [doors]
    gate_of: NDArray[np.int64]  # bit of each door among the gates, or `NOTHING`; shape [doors]
    # bit of each cell among the blockers, the bit of the crowd, or `NOTHING`; shape [cells]
    blocker_at: NDArray[np.int64]
    atoms: NDArray[np.int32]  # of the labels, shape [atoms, 5]
    # bits of the classes that each atom is about, and bits of the classes beside which it puts them, or `NOT_KEPT`;
    # shape [atoms, 2]
    atom_classes: NDArray[np.int64]
    # bits of the classes that still matter in each automaton state, shape [automaton states]
    relevant: NDArray[np.int64]
    # automaton state, bits of the atoms that must hold and must not hold, and the state after, sorted by the first;
    # shape [changes, 4]
    changes: NDArray[np.int64]
    first_change: NDArray[np.int64]  # where the changes of each automaton state begin, shape [automaton states + 1]
    price_class: NDArray[np.int64]  # which poses are alike to a price, shape [walkable * 4]

    @cached_property
    def table(self) -> PatternTable:
        """The pattern for compiled code: numbers and positions of arrays, and then the arrays."""
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
        """The number of dense numbers; see `dense_index`."""
        bits = self.hands - FIRST_CLASS + self.blocker_bits + self.gate_bits
        return 4 * self.cells * self.states * self.hands << bits

    def index(self, state: NDArray[np.int32], automaton_state: int) -> int:
        """The dense number of the abstraction of a state, given by its fields of shape [fields]."""
        row = np.empty((1, EFFECT_COLUMNS), np.int64)
        return int(abstract_index(self.table, self.places, state, automaton_state, row))


_NAMES = [field.name for field in fields(Pattern) if field.name not in ("layout", "places")]
AT: Any = cast(Any, namedtuple)("AT", _NAMES)(*range(len(_NAMES)))
"""Positions of numbers, and of where arrays begin, in `PatternTable.data`."""


@njit(cache=True, nogil=True)
def abstract_index(
    pattern: PatternTable, places: StartPlaces, fields: NDArray[np.int32], automaton_state: int, effects: Effects
) -> int:
    """The dense number of the abstraction of a state; the first row of `effects` becomes the abstract state."""
    layout, data = pattern
    cells = layout[physics.CELLS]
    hand, moved = EMPTY_HAND, 0
    for obj in range(layout[physics.OBJECTS_COUNT]):
        place = fields[physics.FIRST_OBJECT + obj]
        holder = places.hands[obj]
        if place == cells + physics.CARRIED:
            hand = holder
            moved |= data[data[AT.inside_of] + holder]
        elif place == cells + physics.GONE:
            moved |= data[data[AT.inside_of] + holder]
        elif holder >= FIRST_CLASS and not places.home[obj, place]:
            moved |= data[data[AT.inside_of] + holder] | 1 << (holder - FIRST_CLASS)
    blocked = (1 << data[AT.blocker_bits]) - 1
    for i in range(places.blockers.shape[0]):
        if not lies_on(layout, fields, places.blockers[i, 1], places.blockers[i, 0]):
            blocked &= ~(1 << places.blockers[i, 2])
    opened = 0
    for i in range(places.gates.size):
        door = places.gates[i]
        state = physics.door_state(layout, fields, door)
        if (data[data[AT.was_locked] + door] and not state & physics.IS_LOCKED) or state & physics.IS_OPEN:
            opened |= 1 << i
    effects[0, EFFECT.cell] = data[data[AT.number_of] + fields[physics.AGENT]]
    effects[0, EFFECT.heading], effects[0, EFFECT.hand] = fields[physics.DIRECTION], hand
    effects[0, EFFECT.moved], effects[0, EFFECT.blocked], effects[0, EFFECT.opened] = moved, blocked, opened
    return dense_index(data, effects, 0, automaton_state)


@njit(cache=True, nogil=True)
def lies_on(layout: LayoutTable, fields: NDArray[np.int32], group: int, cell: int) -> bool:
    """Whether an object of a group, given by its first object, lies on a cell."""
    for obj in range(group, physics.object_entry(layout, group, physics.GROUP_END)):
        if fields[physics.FIRST_OBJECT + obj] == cell:
            return True
    return False


@njit(cache=True, nogil=True)
def dense_index(data: PatternData, effects: Effects, row: int, state: int) -> int:
    """An abstract state in one number, its *dense number*; classes that matter no more in `state` are left out."""
    relevant, hand = data[data[AT.relevant] + state], effects[row, EFFECT.hand]
    if hand >= FIRST_CLASS and not relevant >> (hand - FIRST_CLASS) & 1:
        hand = OTHER_OBJECT
    pose = effects[row, EFFECT.cell] * 4 + effects[row, EFFECT.heading]
    index = (pose * data[AT.states] + state) * data[AT.hands] + hand
    index = index << data[AT.gate_bits] | effects[row, EFFECT.opened]
    index = index << data[AT.blocker_bits] | effects[row, EFFECT.blocked]
    return index << (data[AT.hands] - FIRST_CLASS) | (effects[row, EFFECT.moved] & relevant)


@njit(cache=True, nogil=True)
def read_index(data: PatternData, index: int, effects: Effects, row: int) -> int:
    """Write the abstract state of a dense number into a row, and return its automaton state."""
    states, hands = data[AT.states], data[AT.hands]
    classes, blockers, gates = hands - FIRST_CLASS, data[AT.blocker_bits], data[AT.gate_bits]
    effects[row, EFFECT.moved], index = index & ((1 << classes) - 1), index >> classes
    effects[row, EFFECT.blocked], index = index & ((1 << blockers) - 1), index >> blockers
    effects[row, EFFECT.opened], index = index & ((1 << gates) - 1), index >> gates
    effects[row, EFFECT.hand], index = index % hands, index // hands
    pose = index // states
    effects[row, EFFECT.cell], effects[row, EFFECT.heading] = pose // 4, pose % 4
    return index % states
