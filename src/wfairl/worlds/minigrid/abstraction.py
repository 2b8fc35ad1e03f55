"""An abstraction explored whole: its transitions, and what no plan in it can avoid; see `pattern`.

What every abstract plan walks through although it is forgotten, a shut door or an object that lies there, is an
*obstacle*: to remove it costs one control more, which is added to the bound as long as it is there. A step with which
the automaton changes may be the one that removes an obstacle, so as many obstacles as there can be such steps are not
counted (`Places.spare`).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfairl.compiling import njit
from wfairl.worlds.lazy_world import LOST
from wfairl.worlds.minigrid.abstract_effects import MOST_EFFECTS
from wfairl.worlds.minigrid.abstract_rules import abstract_edges, most_edges
from wfairl.worlds.minigrid.packing import fields_count, unpack
from wfairl.worlds.minigrid.pattern import (
    EFFECT_COLUMNS,
    NUMBER,
    WALKABLE,
    Pattern,
    PatternTable,
    Places,
    abstract_index,
    lies_on,
    read_index,
)
from wfairl.worlds.minigrid.rules import CELLS, FIRST_OBJECT, GONE, IS_OPEN, NOTHING, Layout, Table, door_state

GOAL = 0
"""Number of acceptance among the abstract states."""

UNKNOWN = -1
"""Number of an abstract state that was never met."""


@dataclass(frozen=True)
class Keep:
    """What a pattern keeps: atoms, cells of blockers, doors that are gates, whether a crowd, and tracked objects."""

    atoms: tuple[int, ...]
    blockers: tuple[int, ...]
    gates: tuple[int, ...]
    crowd: bool = False
    tracked: tuple[int, ...] = ()

    def coarser(self) -> "Keep":
        """Without the last blocker, or else atom, or else gate."""
        if self.blockers:
            return replace(self, blockers=self.blockers[:-1])
        if self.atoms:
            return replace(self, atoms=self.atoms[:-1])
        return replace(self, gates=self.gates[:-1])


@dataclass(frozen=True, eq=False)
class Abstraction:
    """A smaller scene, explored whole, with its transitions sorted by where they lead.

    Attributes:
        first: transitions into n are those from first[n] to first[n + 1], n = 0 being acceptance; shape [states + 1].
        source: where a transition comes from, shape [transitions].
        price: what it costs, an index into `price_list`; shape [transitions].
        layout, pattern, places, number_of: what numbers states.
        unavoidable: the obstacles on every way from each abstract state, as bits; shape [states].
        keep: what it keeps.
    """

    first: NDArray[np.uint32]
    source: NDArray[np.uint32]
    price: NDArray[np.int64]
    layout: Layout
    pattern: Pattern
    places: Places
    number_of: NDArray[np.int32]
    unavoidable: NDArray[np.uint64]
    keep: Keep

    def __len__(self) -> int:
        """The number of abstract states, with acceptance."""
        return len(self.first) - 1

    def number(
        self, states: NDArray[np.uint64], automaton_states: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
        """The abstract states of packed states, and bits of what stands in the way of each; shape [states] each."""
        numbers, in_the_way = np.empty(len(states), np.int32), np.empty(len(states), np.uint64)
        number_states(
            self.layout.table, self.pattern.table, self.places, self.number_of, self.unavoidable, states,
            automaton_states, numbers, in_the_way,
        )  # fmt: skip
        return numbers, in_the_way


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
    room = most_edges(table)
    queue = np.empty(most + room, np.int64)
    sources, ends, paid = np.empty(1 << 14, np.int64), np.empty(1 << 14, np.int64), np.empty(1 << 14, np.int64)
    targets, prices = np.empty(room, np.int64), np.empty(room, np.int64)
    effects = np.empty(MOST_EFFECTS * EFFECT_COLUMNS, np.int64)
    queue[GOAL], queue[1], number_of[start] = start, start, 1  # acceptance has no state of its own
    count, node, filled = 2, 1, 0
    while node < count:
        edges = abstract_edges(layout, table, queue[node], effects, targets, prices)
        while filled + edges > sources.size:
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
    source, price = np.empty(targets.size, np.uint32), np.empty_like(prices)
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
        numbers: becomes the number of each, `UNKNOWN` for one never met, or `LOST`; shape [states].
        in_the_way: becomes bits of obstacles, shape [states].
    """
    fields = np.empty(fields_count(layout), np.int32)
    effects = np.empty(EFFECT_COLUMNS, np.int64)
    for i in range(states.shape[0]):
        unpack(layout, states[i], fields)
        if _is_lost(layout, places, fields, automaton_states[i]):
            numbers[i], in_the_way[i] = LOST, 0
            continue
        number = number_of[abstract_index(layout, table, places, fields, automaton_states[i], effects)]
        numbers[i], in_the_way[i] = number, 0
        if number == UNKNOWN:
            continue
        in_the_way[i] = sets[number]
        for j in range(places.obstacles.shape[0]):
            if in_the_way[i] >> np.uint64(j) & np.uint64(1) and not _is_there(layout, places, j, fields):
                in_the_way[i] &= ~(np.uint64(1) << np.uint64(j))
        in_the_way[i] = without_spare(places, automaton_states[i], in_the_way[i])


@njit(cache=True, nogil=True)
def _is_lost(layout: Table, places: Places, fields: NDArray[np.int32], automaton_state: int) -> bool:
    """Whether all boxes are gone one of which is needed for acceptance."""
    for j in range(places.needed.shape[1]):
        needed, left = 0, 0
        for thing in range(places.needed.shape[2]):
            if places.needed[automaton_state, j, thing]:
                needed += 1
                left += fields[FIRST_OBJECT + thing] != layout[CELLS] + GONE
        if needed and not left:
            return True
    return False


@njit(cache=True, nogil=True)
def without_spare(places: Places, automaton_state: int, obstacles: np.uint64) -> np.uint64:
    """Bits of obstacles without those that a step may remove with which the automaton changes."""
    spare, spare_of_all = places.spare[automaton_state, 0], places.spare[automaton_state, 1]
    for j in range(places.obstacles.shape[0]):
        if spare_of_all > 0 and obstacles >> np.uint64(j) & np.uint64(1) and (spare > 0 or j < places.role_doors):
            spare, spare_of_all = spare - (j >= places.role_doors), spare_of_all - 1
            obstacles &= ~(np.uint64(1) << np.uint64(j))
    return obstacles


@njit(cache=True, nogil=True)
def _is_there(layout: Table, places: Places, obstacle: int, fields: NDArray[np.int32]) -> bool:
    """Whether an obstacle is still in the way."""
    what, group = places.obstacles[obstacle, 0], places.obstacles[obstacle, 1]
    if group == NOTHING:
        return door_state(layout, fields, what) & IS_OPEN == 0
    return lies_on(layout, fields, group, what)


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
    room = most_edges(table)
    targets, prices = np.empty(room, np.int64), np.empty(room, np.int64)
    effects = np.empty(MOST_EFFECTS * EFFECT_COLUMNS, np.int64)
    row = np.empty(EFFECT_COLUMNS, np.int64)
    left = steps[number_of[begin]]
    cells = np.empty(max(0, left) + 1, np.int64)
    read_index(table, begin, row, 0)
    cells[0] = table[table[WALKABLE] + row[NUMBER]]
    count = 1
    while left > 1:
        for i in range(abstract_edges(layout, table, begin, effects, targets, prices)):
            if targets[i] >= 0 and steps[number_of[targets[i]]] == left - 1:
                begin = targets[i]
                break
        left -= 1
        read_index(table, begin, row, 0)
        cells[count] = table[table[WALKABLE] + row[NUMBER]]
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
