"""What a plan costs at least: the exact cost-to-go of a smaller scene, in which most objects are forgotten.

The abstraction of a state keeps the agent's pose, the automaton state and what matters of the rest:

    hand     nothing, something, or an object of a *class* that the task speaks of or that unlocks a door
    moved    a bit for each class: whether one of its objects lies elsewhere than at the start
    blocked  a bit for each *blocker*: whether the object that stood on this cell at the start still does
    open     a bit for each *gate*: a door that was shut at the start

Everything forgotten is taken to be as the agent would wish: a moved object is wherever it would be of use, other
objects stand in nobody's way, other doors are open. So every transition of the scene is one of the abstraction, at no
higher cost, and the cost-to-go there is a consistent lower bound here: a *pattern database* (Culberson and Schaeffer).
Blockers and gates are chosen where the cheapest abstract plan walks through something that stands in the way.

What every abstract plan walks through although it is forgotten, a shut door or an object that lies there, is an
*obstacle*: to remove it costs one control more, which is added to the bound as long as it is there.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.compiling import njit
from wfairl.worlds.minigrid.packing import fields_count, unpack
from wfairl.worlds.minigrid.rules import (
    AGENT,
    AGENT_AT,
    AGENT_ON_TERRAIN,
    ALL_APART,
    ALWAYS,
    ANY_AT,
    ANY_IN_FRONT,
    BOX,
    CARRIED,
    CELLS,
    COLUMN,
    CONTROLS,
    DIRECTION,
    DOOR,
    DOOR_AT,
    DOOR_IN_FRONT,
    DOOR_IS_OPEN,
    DOOR_ROLES,
    DROP,
    EMPTY,
    FIRST_OBJECT,
    FORWARD,
    FRONT,
    GONE,
    GROUP_END,
    IS_LOCKED,
    IS_OPEN,
    LAVA,
    LEFT,
    NOTHING,
    OBJECTS_COUNT,
    PICKUP,
    RIGHT,
    ROLE_OPENED,
    ROLE_PICKED_UP,
    ROLE_REACHED,
    ROW,
    TERRAIN,
    TERRAIN_COLOR,
    TERRAINS,
    TOGGLE,
    WALL,
    Table,
    cell_entry,
    door_state,
    object_entry,
)  # fmt: skip
from wfairl.worlds.minigrid.rules import GOAL as GOAL_TERRAIN
from wfairl.worlds.minigrid.view import CLOSED_DOOR, HANDS, LOCKED_DOOR, OPEN_DOOR, SIGHTS

EMPTY_HAND, SOMETHING, FIRST_CLASS = range(3)
"""Values of the hand; class c is FIRST_CLASS + c."""

GOAL = 0
"""Number of acceptance among the abstract states."""

UNKNOWN = -1
"""Number of an abstract state that was never met."""

FORGOTTEN = -1
"""Classes of an atom that may hold or not, whatever the abstraction keeps."""

IDLE = len(CONTROLS)
"""In a price: any control, one that does nothing."""

ANY_HAND = len(HANDS)
"""In a price: something in the hand, whatever it is."""

WILD = len(SIGHTS)
AHEADS = WILD + len(TERRAINS)
"""In a price: what is ahead, one of `SIGHTS`, or WILD + terrain for anything that may be there."""


WALKABLE, NUMBER_OF, HAND_OF, IS_BOX, HAND_KIND, INSIDE_OF, UNLOCKS, BLOCKER, GATE, WAS_LOCKED = range(10)
ATOM_ROWS, ATOM_CLASSES, RELEVANT, CHANGES, FIRST_CHANGE, PRICE_CLASS, SIZES = range(10, 17)
STATES, CLASSES, BLOCKERS, GATES, ATOMS, POSES, SIZES_COUNT = range(7)
"""Positions in the head of a pattern's table; see `Pattern`."""

PatternTable = NDArray[np.int64]


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
        inside_of: bits of the classes of what is in the boxes of a hand's class, shape [hands].
        unlocks: bits of the classes whose keys fit each door, shape [doors].
        blocker: bit of a cell among the blockers, or `NOTHING`; shape [cells].
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
        sizes: automaton states, classes, blockers, gates, atoms and poses; shape [6].
    """

    walkable: NDArray[np.int64]
    number_of: NDArray[np.int64]
    hand_of: NDArray[np.int64]
    is_box: NDArray[np.bool_]
    hand_kind: NDArray[np.int64]
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
        states, classes, blockers, gates, _, poses = map(int, self.sizes)
        return poses * states * (FIRST_CLASS + classes) << (classes + blockers + gates)


class Places(NamedTuple):
    """What tells whether objects and doors are where and as they were.

    Attributes:
        home: whether an object of each object's group was at a place at the start; shape [objects, places].
        hands: the hand that holds an object, shape [objects].
        blockers: cell and group (its first object) of each blocker, shape [blockers, 2].
        gates: the doors that are gates, shape [gates].
        obstacles: of each obstacle its door and `NOTHING`, or its cell and the first object of its group;
            shape [obstacles, 2].
    """

    home: NDArray[np.bool_]
    hands: NDArray[np.int64]
    blockers: NDArray[np.int64]
    gates: NDArray[np.int64]
    obstacles: NDArray[np.int64]


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
    at = 0
    cells = layout[CELLS]
    hand, moved = EMPTY_HAND, 0
    for thing in range(layout[OBJECTS_COUNT]):
        place = fields[FIRST_OBJECT + thing]
        holder = places.hands[thing]
        if place == cells + CARRIED:
            hand = holder
            moved |= table[table[INSIDE_OF] + holder]
        elif place == cells + GONE:
            moved |= table[table[INSIDE_OF] + holder]
        elif holder >= FIRST_CLASS and not places.home[thing, place]:
            moved |= table[table[INSIDE_OF] + holder] | 1 << (holder - FIRST_CLASS)
    blocked = 0
    for i in range(places.blockers.shape[0]):
        cell, first = places.blockers[i, 0], places.blockers[i, 1]
        for thing in range(first, object_entry(layout, first, GROUP_END)):
            if fields[FIRST_OBJECT + thing] == cell:
                blocked |= 1 << i
    opened = 0
    for i in range(places.gates.size):
        door = places.gates[i]
        state = door_state(layout, fields, door)
        if (table[table[WAS_LOCKED] + door] and not state & IS_LOCKED) or state & IS_OPEN:
            opened |= 1 << i
    effects[at + NUMBER], effects[at + HEADING], effects[at + HAND] = (
        table[table[NUMBER_OF] + fields[AGENT]],
        fields[DIRECTION],
        hand,
    )
    effects[at + MOVED], effects[at + BLOCKED], effects[at + OPENED] = moved, blocked, opened
    return _dense(table, effects, at, automaton_state)


@njit(cache=True, nogil=True)
def _dense(table: PatternTable, effects: NDArray[np.int64], at: int, state: int) -> int:
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
    return ((index << gates | effects[at + OPENED]) << blockers | effects[at + BLOCKED]) << classes | (
        effects[at + MOVED] & relevant
    )


MOST_EFFECTS, MOST_EDGES = 40, 1024
"""Of one abstract state: 7, one for each class to pick up, and an edge for each change of the automaton after each."""

NUMBER, HEADING, HAND, MOVED, BLOCKED, OPENED, CONTROL, DROPPED, PRICE, EFFECT_COLUMNS = range(10)
"""Columns of an effect: an abstract state without its automaton state, what led to it, what was dropped, the price."""


@njit(cache=True, nogil=True)
def _edges(
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
    states, classes = table[SIZES + STATES], table[SIZES + CLASSES]
    bits = classes + table[SIZES + BLOCKERS] + table[SIZES + GATES]
    state = (index >> bits) // (FIRST_CLASS + classes) % states
    first, end = table[table[FIRST_CHANGE] + state], table[table[FIRST_CHANGE] + state + 1]
    asked = 0
    for j in range(first, end):
        asked |= table[table[CHANGES] + 4 * j + 1] | table[table[CHANGES] + 4 * j + 2]
    edges = 0
    for i in range(_effects(layout, table, index, effects)):
        at = EFFECT_COLUMNS * i
        if i > 0:  # the first is that nothing changes
            targets[edges], prices[edges] = _dense(table, effects, at, state), effects[at + PRICE]
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
                targets[edges] = -1 if after < 0 else _dense(table, effects, at, after)
                prices[edges] = effects[at + PRICE]
                edges += 1
    return edges


@njit(cache=True, nogil=True)
def _effects(layout: Table, table: PatternTable, index: int, effects: NDArray[np.int64]) -> int:
    """Write what controls can do in an abstract state, a row each, the first that nothing changes; how many."""
    states, classes, blockers, gates = (
        table[SIZES + STATES],
        table[SIZES + CLASSES],
        table[SIZES + BLOCKERS],
        table[SIZES + GATES],
    )
    moved, rest = index & ((1 << classes) - 1), index >> classes
    blocked, rest = rest & ((1 << blockers) - 1), rest >> blockers
    opened, rest = rest & ((1 << gates) - 1), rest >> gates
    hand, pose = rest % (FIRST_CLASS + classes), rest // (FIRST_CLASS + classes) // states
    number, direction = pose // 4, pose % 4
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
    bit = table[table[BLOCKER] + front]
    stands = bit != NOTHING and blocked >> bit & 1 != 0
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
    if not stands:
        price = _price(here + (OPEN_DOOR if terrain == DOOR else terrain), held, FORWARD)
        ahead = table[table[NUMBER_OF] + front]
        count = _write(effects, count, ahead, direction, hand, moved, blocked, opened, FORWARD, EMPTY_HAND, price)
    if terrain == DOOR:
        return count
    there = table[table[HAND_OF] + front] if bit == NOTHING or stands else EMPTY_HAND
    left = blocked & ~(1 << bit) if stands else blocked
    if hand == EMPTY_HAND:
        for taken in range(SOMETHING, FIRST_CLASS + classes):
            is_moved = taken == SOMETHING or moved >> (taken - FIRST_CLASS) & 1 != 0
            if taken == there or (is_moved and not stands):
                kind = table[table[HAND_KIND] + taken]
                price = _price(here + (wild if kind == ANY_HAND else LOCKED_DOOR + kind), held, PICKUP)
                lies = moved | table[table[INSIDE_OF] + taken]
                count = _write(effects, count, number, direction, taken, lies, left, opened, PICKUP, EMPTY_HAND, price)
    elif terrain == EMPTY and not stands:
        price = _price(here + EMPTY, held, DROP)
        lies = moved | 1 << (hand - FIRST_CLASS) if hand >= FIRST_CLASS else moved
        count = _write(effects, count, number, direction, EMPTY_HAND, lies, blocked, opened, DROP, hand, price)
        if table[table[HAND_OF] + front] == hand:  # it is put back where one like it was
            back = blocked | 1 << bit if bit != NOTHING else blocked
            count = _write(effects, count, number, direction, EMPTY_HAND, moved, back, opened, DROP, hand, price)
    if table[table[IS_BOX] + front] and there != EMPTY_HAND:
        price = _price(here + LOCKED_DOOR + 1 + BOX, held, TOGGLE)
        lies = moved | table[table[INSIDE_OF] + there]
        count = _write(effects, count, number, direction, hand, lies, left, opened, TOGGLE, EMPTY_HAND, price)
    return count


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
    hand, moved, blocked, opened, control = (
        effects[at + HAND],
        effects[at + MOVED],
        effects[at + BLOCKED],
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
        return 3 if _may_lie(table, classes, front, moved, blocked) else 2
    if question == DOOR_IN_FRONT:
        is_color = table[atom + 1] == NOTHING or cell_entry(layout, front, TERRAIN_COLOR) == table[atom + 1]
        return 1 if cell_entry(layout, front, TERRAIN) == DOOR and is_color else 2
    has_role = cell_entry(layout, front, DOOR_ROLES) >> table[atom + 1] & 1 != 0
    if question == ROLE_REACHED:
        if has_role or (control == PICKUP and holds_one):
            return 1
        return 3 if _may_lie(table, classes, front, moved, blocked) else 2
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
            if _may_lie(table, table[table[ATOM_CLASSES] + 2 * i + 1], beside, moved, blocked):
                return 3
    return 2


@njit(cache=True, nogil=True)
def _may_lie(table: PatternTable, classes: int, cell: int, moved: int, blocked: int) -> bool:
    """Whether an object of some classes may lie on a cell."""
    bit = table[table[BLOCKER] + cell]
    stands = bit != NOTHING and blocked >> bit & 1 != 0
    if moved & classes and not stands:
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


@njit(cache=True, nogil=True)
def explore_pattern(
    layout: Table, table: PatternTable, start: int, dense: int, most: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]:
    """Every abstract state that can be reached.

    Args:
        pattern: what is kept.
        start: dense number of where to begin.
        dense: how many dense numbers there are.
        most: give up beyond this number of states.

    Returns:
        Number of each dense one, or `UNKNOWN`; the dense ones by number, from 1 on; sources, targets and prices of the
        transitions; and the number of states with acceptance, which is number 0, or 0 if there are too many.
    """
    number_of = np.full(dense, UNKNOWN, np.int32)
    queue = np.empty(most + MOST_EDGES, np.int64)
    sources, ends, paid = np.empty(1 << 14, np.int64), np.empty(1 << 14, np.int64), np.empty(1 << 14, np.int64)
    targets, prices = np.empty(MOST_EDGES, np.int64), np.empty(MOST_EDGES, np.int64)
    effects = np.empty(MOST_EFFECTS * EFFECT_COLUMNS, np.int64)
    queue[GOAL], queue[1], number_of[start] = start, start, 1  # acceptance has no state of its own
    count, node, filled = 2, 1, 0
    while node < count:
        edges = _edges(layout, table, queue[node], effects, targets, prices)
        if filled + edges > sources.size:
            sources, ends, paid = _twice(sources), _twice(ends), _twice(paid)
        for i in range(edges):
            target = GOAL
            if targets[i] >= 0:
                target = number_of[targets[i]]
                if target == UNKNOWN:
                    target = number_of[targets[i]] = count
                    queue[count] = targets[i]
                    count += 1
            if target != node:
                sources[filled], ends[filled], paid[filled] = node, target, prices[i]
                filled += 1
        if count > most:
            return number_of, queue, sources, ends, paid, 0
        node += 1
    return number_of, queue[:count], sources[:filled], ends[:filled], paid[:filled], count


@njit(cache=True, nogil=True)
def _twice(array: NDArray[np.int64]) -> NDArray[np.int64]:
    larger = np.empty(2 * array.size, array.dtype)
    larger[: array.size] = array
    return larger


@njit(cache=True, nogil=True)
def sort_by_target(
    sources: NDArray[np.int64], targets: NDArray[np.int64], prices: NDArray[np.int64], count: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64]]:
    """Transitions sorted by where they lead: those into n from first[n] to first[n + 1], source and price of each."""
    first = np.zeros(count + 1, np.uint32)
    for target in targets:
        first[target + 1] += np.uint32(1)
    for node in range(count):
        first[node + 1] += first[node]
    free = first[:-1].copy()
    source, price = np.empty(targets.size, np.uint32), np.empty(targets.size, np.int64)
    for i in range(targets.size):
        at = free[targets[i]]
        source[at], price[at] = sources[i], prices[i]
        free[targets[i]] += np.uint32(1)
    return first, source, price


@njit(cache=True, nogil=True)
def number_states(
    layout: Table,
    table: PatternTable,
    places: Places,
    number_of: NDArray[np.int32],
    sets: NDArray[np.uint64],
    states: NDArray[np.uint64],
    automaton_states: NDArray[np.int32],
    numbers: NDArray[np.int32],
    in_the_way: NDArray[np.uint64],
) -> None:
    """Write the numbers of the abstractions of states, and which unavoidable obstacles are still there.

    Args:
        layout, table, places, number_of: the abstraction.
        sets: the unavoidable obstacles of each abstract state, from `unavoidable`.
        states: packed states, shape [states, words].
        automaton_states: shape [states].
        numbers: becomes the number of each, or `UNKNOWN` for one never met; shape [states].
        in_the_way: becomes bits of obstacles, shape [states].
    """
    fields = np.empty(fields_count(layout), np.int32)
    effects = np.empty(EFFECT_COLUMNS, np.int64)
    for i in range(states.shape[0]):
        unpack(layout, states[i], fields)
        number = number_of[abstract_index(layout, table, places, fields, automaton_states[i], effects)]
        numbers[i], in_the_way[i] = number, 0
        if number == UNKNOWN:
            continue
        for j in range(places.obstacles.shape[0]):
            if sets[number] >> np.uint64(j) & np.uint64(1) and _is_there(layout, places, j, fields):
                in_the_way[i] |= np.uint64(1) << np.uint64(j)


@njit(cache=True, nogil=True)
def _is_there(layout: Table, places: Places, obstacle: int, fields: NDArray[np.int32]) -> bool:
    """Whether an obstacle is still in the way."""
    what, group = places.obstacles[obstacle, 0], places.obstacles[obstacle, 1]
    if group == NOTHING:
        return door_state(layout, fields, what) & IS_OPEN == 0
    for thing in range(group, object_entry(layout, group, GROUP_END)):  # noqa: SIM110 - compiled
        if fields[FIRST_OBJECT + thing] == what:
            return True
    return False


@njit(cache=True, nogil=True)
def count_steps(first: NDArray[np.uint32], source: NDArray[np.uint32]) -> NDArray[np.int32]:
    """The fewest abstract transitions to acceptance, `UNKNOWN` where there is no way; shape [states]."""
    count = first.size - 1
    steps = np.full(count, UNKNOWN, np.int32)
    queue = np.empty(count, np.int64)
    queue[0], steps[GOAL] = GOAL, 0
    done, known = 0, 1
    while done < known:
        target = queue[done]
        done += 1
        for i in range(first[target], first[target + 1]):
            node = source[i]
            if steps[node] == UNKNOWN:
                steps[node] = steps[target] + 1
                queue[known] = node
                known += 1
    return steps


@njit(cache=True, nogil=True)
def cheapest_walk(
    layout: Table, table: PatternTable, number_of: NDArray[np.int32], steps: NDArray[np.int32], begin: int
) -> NDArray[np.int64]:
    """The cells that a shortest abstract plan goes through, from a dense number on."""
    states, classes, blockers, gates = (
        table[SIZES + STATES],
        table[SIZES + CLASSES],
        table[SIZES + BLOCKERS],
        table[SIZES + GATES],
    )
    per_pose = states * (FIRST_CLASS + classes) << (classes + blockers + gates)
    targets, prices = np.empty(MOST_EDGES, np.int64), np.empty(MOST_EDGES, np.int64)
    effects = np.empty(MOST_EFFECTS * EFFECT_COLUMNS, np.int64)
    left = steps[number_of[begin]]
    cells = np.empty(max(0, left) + 1, np.int64)
    cells[0] = table[table[WALKABLE] + begin // per_pose // 4]
    count = 1
    while left > 1:
        for i in range(_edges(layout, table, begin, effects, targets, prices)):
            if targets[i] >= 0 and steps[number_of[targets[i]]] == left - 1:
                begin = targets[i]
                break
        left -= 1
        cells[count] = table[table[WALKABLE] + begin // per_pose // 4]
        count += 1
    return cells[:count]


@njit(cache=True, nogil=True)
def unavoidable(
    first: NDArray[np.uint32], source: NDArray[np.uint32], cells: NDArray[np.int64], obstacle: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """The obstacles that every way from an abstract state to acceptance enters, as bits; shape [states].

        M(acceptance) = {},   M(a) = intersection over transitions a -> b of  M(b) + the obstacle on the cell of b

    Args:
        first, source: the transitions; see `sort_by_target`.
        cells: the cell of each abstract state, shape [states].
        obstacle: bit of the obstacle on each cell, or `NOTHING`; shape [cells].
    """
    count = first.size - 1
    sets = np.full(count, ~np.uint64(0))
    sets[GOAL] = 0
    waiting, queue = np.zeros(count, np.bool_), np.empty(count, np.int64)
    queue[0], waiting[GOAL] = GOAL, True
    begin, size = 0, 1
    while size:
        target = queue[begin]
        begin, size = (begin + 1) % count, size - 1
        waiting[target] = False
        entered = sets[target]
        cell = -1 if target == GOAL else cells[target]
        if cell >= 0 and obstacle[cell] != NOTHING:
            entered |= np.uint64(1) << np.uint64(obstacle[cell])
        for i in range(first[target], first[target + 1]):
            node = source[i]
            after = sets[node] & (sets[target] if cells[node] == cell else entered)
            if after != sets[node]:
                sets[node] = after
                if not waiting[node]:
                    waiting[node] = True
                    queue[(begin + size) % count] = node
                    size += 1
    return sets
