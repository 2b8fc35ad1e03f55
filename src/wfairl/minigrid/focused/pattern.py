"""Patterns, which say what an abstraction keeps of a scene (`make_pattern`), and abstract states as numbers.

An abstract state has the agent's pose, the automaton state, and of the rest:

    hand     nothing, some object, or an object of a *class*
    moved    a bit for each class: whether one of its objects lies elsewhere than at the start
    blocked  a bit for each *blocker*: whether the object that was on this cell at the start is still there. There may
             be one bit more for the *crowd*: whether all objects that are kept in no other way are where they were
    opened   a bit for each *gate*, a door that was shut at the start

The README of this package says what classes, blockers and gates are for.
"""

from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import inner, njit
from wfairl.minigrid import physics
from wfairl.minigrid.focused.prices import ANY_HAND, price_classes
from wfairl.minigrid.focused.task_demands import TaskDemands
from wfairl.minigrid.physics import NOTHING, Layout, LayoutTable

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

EffectRows = NDArray[np.int64]
"""Rows of effects, shape [rows, EFFECT_COLUMNS]."""

PatternData = NDArray[np.int64]
"""The numbers and arrays of a `Pattern`; see `PatternTable`."""


@dataclass(frozen=True)
class PatternSpec:
    """The choice of a pattern."""

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


@dataclass(frozen=True, eq=False)
class Pattern:
    """The parts of one scene and one automaton that an abstraction keeps."""

    layout: Layout  # the scene
    states: int  # the number of automaton states
    hands: int  # the number of hands
    cells: int  # the number of walkable cells
    blocker_bits: int  # the number of bits for blockers, with the crowd
    gate_bits: int  # the number of bits for gates
    crowd: int  # the bit of the crowd among the bits of blockers, or `NOTHING`
    atom_count: int  # the number of atoms
    most_changes: int  # the largest number of changes of one automaton state
    hand_of: NDArray[np.int64]  # the hand that holds each object, shape [objects]
    walkable: NDArray[np.int64]  # the cells that are no walls, shape [walkable]
    number_of: NDArray[np.int64]  # number of each cell among the walkable ones, or `NOTHING`; shape [cells]
    # the hand after picking up the object that lay on a cell at the start, 0 without one; shape [cells]
    hand_at: NDArray[np.int64]
    is_box: NDArray[np.bool_]  # whether this object was a box, shape [cells]
    hand_kind: NDArray[np.int64]  # what a hand shows, an index into `HANDS` or `ANY_HAND`; shape [hands]
    inside_of: NDArray[np.int64]  # bits of the classes of what is inside the boxes of a hand's class, shape [hands]
    unlocks: NDArray[np.int64]  # bits of the classes whose keys fit each door, shape [doors]
    was_locked: NDArray[np.bool_]  # whether each door was locked at the start, shape [doors]
    gate_of: NDArray[np.int64]  # bit of each door among the gates, or `NOTHING`; shape [doors]
    # bit of each cell among the blockers, the bit of the crowd, or `NOTHING`; shape [cells]
    blocker_at: NDArray[np.int64]
    standing_count: int  # the number of cells with such a bit
    standing: NDArray[np.int64]  # these cells, each with the group of its object and the bit; shape [standing, 3]
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
        return int(abstract_index(self.table, state, automaton_state, row))


_NAMES = [field.name for field in fields(Pattern) if field.name != "layout"]
AT: Any = cast(Any, namedtuple)("AT", _NAMES)(*range(len(_NAMES)))
"""Positions of numbers, and of where arrays begin, in `PatternTable.data`."""


@njit(cache=True, nogil=True)
def abstract_index(pattern: PatternTable, fields: NDArray[np.int32], automaton_state: int, effects: EffectRows) -> int:
    """The dense number of the abstraction of a state; the first row of `effects` becomes the abstract state."""
    layout, data = pattern
    cells = layout[physics.CELLS]
    hand, moved = EMPTY_HAND, 0
    for obj in range(layout[physics.OBJECTS_COUNT]):
        place = fields[physics.FIRST_OBJECT + obj]
        holder = data[data[AT.hand_of] + obj]
        if place == cells + physics.CARRIED:
            hand = holder
            moved |= data[data[AT.inside_of] + holder]
        elif place == cells + physics.GONE:
            moved |= data[data[AT.inside_of] + holder]
        elif holder >= FIRST_CLASS and place < cells and data[data[AT.hand_at] + place] != holder:
            moved |= data[data[AT.inside_of] + holder] | 1 << (holder - FIRST_CLASS)
    blocked = (1 << data[AT.blocker_bits]) - 1
    for i in range(data[AT.standing_count]):
        row = data[AT.standing] + 3 * i
        if not lies_on(layout, fields, data[row + 1], data[row]):
            blocked &= ~(1 << data[row + 2])
    opened = 0
    for door in range(layout[physics.DOORS_COUNT]):
        gate, state = data[data[AT.gate_of] + door], physics.door_state(layout, fields, door)
        was_unlocked = data[data[AT.was_locked] + door] and not state & physics.IS_LOCKED
        if gate != NOTHING and (was_unlocked or state & physics.IS_OPEN):
            opened |= 1 << gate
    effects[0, EFFECT.cell] = data[data[AT.number_of] + fields[physics.AGENT]]
    effects[0, EFFECT.heading], effects[0, EFFECT.hand] = fields[physics.DIRECTION], hand
    effects[0, EFFECT.moved], effects[0, EFFECT.blocked], effects[0, EFFECT.opened] = moved, blocked, opened
    return dense_index(data, effects, 0, automaton_state)


@njit(cache=True, nogil=True)
def abstract_indices(
    pattern: PatternTable, states: NDArray[np.uint64], automaton_states: NDArray[np.int32]
) -> NDArray[np.int64]:
    """The dense numbers of the abstractions of packed states: [states, words] -> [states]."""
    indices = np.empty(states.shape[0], np.int64)
    fields, row = np.empty(physics.fields_count(pattern.layout), np.int32), np.empty((1, EFFECT_COLUMNS), np.int64)
    for i in range(states.shape[0]):
        physics.unpack(pattern.layout, states[i], fields)
        indices[i] = abstract_index(pattern, fields, automaton_states[i], row)
    return indices


@inner
def lies_on(layout: LayoutTable, fields: NDArray[np.int32], group: int, cell: int) -> bool:
    """Whether an object of a group, given by its first object, lies on a cell."""
    for obj in range(group, physics.object_entry(layout, group, physics.GROUP_END)):
        if fields[physics.FIRST_OBJECT + obj] == cell:
            return True
    return False


@inner
def dense_index(data: PatternData, effects: EffectRows, row: int, state: int) -> int:
    """An abstract state in one number, its *dense number*; classes that matter no more in `state` are left out."""
    relevant, hand = data[data[AT.relevant] + state], effects[row, EFFECT.hand]
    if hand >= FIRST_CLASS and not relevant >> (hand - FIRST_CLASS) & 1:
        hand = OTHER_OBJECT
    pose = effects[row, EFFECT.cell] * 4 + effects[row, EFFECT.heading]
    index = (pose * data[AT.states] + state) * data[AT.hands] + hand
    index = index << data[AT.gate_bits] | effects[row, EFFECT.opened]
    index = index << data[AT.blocker_bits] | effects[row, EFFECT.blocked]
    return index << (data[AT.hands] - FIRST_CLASS) | (effects[row, EFFECT.moved] & relevant)


@inner
def read_index(data: PatternData, index: int, effects: EffectRows, row: int) -> int:
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


def make_pattern(task: TaskDemands, spec: PatternSpec) -> Pattern:
    """The pattern that keeps what a specification says."""
    layout, cells, walkable = task.layout, task.layout.cells, task.layout.walkable
    doors = range(layout.doors)
    hands, classes = _hands(task, spec)
    lying = task.places < len(cells)
    hand_at, is_box = np.full(len(cells), EMPTY_HAND, np.int64), np.zeros(len(cells), bool)
    hand_at[task.places[lying]] = hands[lying]
    is_box[task.places[lying]] = layout.objects[lying, physics.OBJECT_KIND] == physics.BOX
    hand_kind, inside_of = _describe_hands(task, hands, FIRST_CLASS + classes)
    unlocks = np.array([_class_bits(hands[task.keys(door)]) for door in doors] or [0], np.int64)
    crowd = len(spec.blockers) if spec.crowd else NOTHING
    blocker_at = np.full(len(cells), NOTHING, np.int64)
    if spec.crowd:
        blocker_at[task.places[lying & (hands == OTHER_OBJECT)]] = crowd
    blocker_at[list(spec.blockers)] = np.arange(len(spec.blockers))
    standing = np.flatnonzero(blocker_at != NOTHING)
    atom_classes = _atom_classes(task, spec, hands)
    always_relevant = _class_bits(hand_at[list(spec.blockers)]) if spec.crowd else 0
    changes = np.array(task.changes, np.int64).reshape(-1, 4)
    first_change = np.searchsorted(changes[:, 0], np.arange(task.states + 1))
    return Pattern(
        layout=layout,
        states=task.states,
        hands=len(hand_kind),
        cells=len(walkable),
        blocker_bits=len(spec.blockers) + spec.crowd,
        gate_bits=len(spec.gates),
        crowd=crowd,
        atom_count=len(task.atoms),
        most_changes=int(np.diff(first_change).max()),
        hand_of=hands,
        walkable=walkable,
        number_of=_numbers(walkable, len(cells)),
        hand_at=hand_at,
        is_box=is_box,
        hand_kind=hand_kind,
        inside_of=inside_of,
        unlocks=unlocks,
        was_locked=np.array([task.is_locked(door) for door in doors] or [False]),
        gate_of=_numbers(spec.gates, max(1, layout.doors)),
        blocker_at=blocker_at,
        standing_count=len(standing),
        standing=np.stack([standing, task.groups_on(standing), blocker_at[standing]], axis=1).astype(np.int64),
        atoms=task.atoms,
        atom_classes=atom_classes,
        relevant=_relevant(task, atom_classes, unlocks[list(spec.gates)], inside_of) | always_relevant,
        changes=changes,
        first_change=first_change,
        price_class=price_classes(layout)[1],
    )


def _hands(task: TaskDemands, spec: PatternSpec) -> tuple[NDArray[np.int64], int]:
    """The hand that holds each object, shape [objects], and the number of classes.

    Objects are of one class if the kept atoms, gates and blockers treat them and their contents alike.
    """
    objects = task.layout.objects
    groups = objects[:, physics.GROUP_FIRST]
    blocker_groups = task.groups_on(spec.blockers) if spec.crowd else []
    keys = [task.keys(door) for door in spec.gates if task.is_locked(door)]

    def signature(obj: int) -> tuple[int, ...]:
        if obj == NOTHING:
            return ()
        in_atoms = [task.is_about(i, obj, other) for i in spec.atoms for other in (False, True)]
        own = [*in_atoms, *(bool(key[obj]) for key in keys), *(groups[obj] == group for group in blocker_groups)]
        return (*map(int, own), *signature(int(objects[obj, physics.CONTENTS])))

    signatures = [signature(obj) for obj in range(len(objects))]
    classes = sorted({one for one in signatures if any(one)})
    hands = [FIRST_CLASS + classes.index(one) if any(one) else OTHER_OBJECT for one in signatures]
    return np.array(hands, np.int64), len(classes)


def _numbers(members: Sequence[int] | NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The position of each of 0, ..., count - 1 among the members, or `NOTHING`; shape [count]."""
    numbers = np.full(count, NOTHING, np.int64)
    numbers[np.asarray(members, np.int64)] = np.arange(len(members))
    return numbers


def _class_bits(hands: NDArray[np.int64]) -> int:
    """Bits of the classes of hands, shape [hands]."""
    return int(np.bitwise_or.reduce(1 << (hands[hands >= FIRST_CLASS] - FIRST_CLASS), initial=0))


def _describe_hands(
    task: TaskDemands, hands: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`hand_kind` and `inside_of` of a `Pattern`, for `count` hands."""
    objects = task.layout.objects
    kind, inside = np.full(count, ANY_HAND, np.int64), np.zeros(count, np.int64)
    kind[EMPTY_HAND] = 0
    for hand in range(OTHER_OBJECT, count):
        members = objects[hands == hand]
        contents = members[:, physics.CONTENTS]
        inside[hand] = _class_bits(hands[contents[contents != NOTHING]])
        if hand >= FIRST_CLASS:
            kinds = set(members[:, physics.OBJECT_KIND].tolist())
            kind[hand] = 1 + kinds.pop() if len(kinds) == 1 else ANY_HAND
    return kind, inside


def _atom_classes(task: TaskDemands, spec: PatternSpec, hands: NDArray[np.int64]) -> NDArray[np.int64]:
    """`atom_classes` of a `Pattern`."""
    bits = np.full((len(task.atoms), 2), NOT_KEPT, np.int64)
    for i in spec.atoms:
        for column in range(2):
            is_about = np.array([task.is_about(i, obj, bool(column)) for obj in range(len(hands))], bool)
            bits[i, column] = _class_bits(hands[is_about])
    return bits


def _relevant(
    task: TaskDemands, atom_classes: NDArray[np.int64], keys: NDArray[np.int64], inside: NDArray[np.int64]
) -> NDArray[np.int64]:
    """`relevant` of a `Pattern`: classes of atoms that are still to be read, keys of gates, and boxes around these.

    `keys` are bits of the classes whose keys fit each gate; `inside` is `inside_of`.
    """
    relevant = np.full(task.states, np.bitwise_or.reduce(keys, initial=0), np.int64)
    for _ in range(task.states + 1):
        for state, true, false, after in task.changes:
            for i in range(len(task.atoms)):
                if (true | false) >> i & 1 and atom_classes[i, 0] != NOT_KEPT:
                    relevant[state] |= atom_classes[i, 0] | atom_classes[i, 1]
            if after >= 0:
                relevant[state] |= relevant[after]
    for hand in range(FIRST_CLASS, len(inside)):
        relevant |= np.where(relevant & inside[hand], 1 << (hand - FIRST_CLASS), 0)
    return relevant
