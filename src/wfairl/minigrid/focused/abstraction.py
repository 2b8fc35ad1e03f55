"""An abstraction explored whole: its transitions, and the obstacles that no plan in it can avoid; see `pattern`.

What every abstract plan goes through although it is forgotten, a shut door or an object that lies there, is an
*obstacle*: to remove it costs one control more, which is added to the bound as long as it is there. A step with which
the automaton changes may be the one that removes an obstacle, so as many obstacles as there can be such steps are not
counted (`Pattern.spare`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit
from wfairl.minigrid import physics
from wfairl.minigrid.focused.abstract_effects import HERE
from wfairl.minigrid.focused.abstract_transitions import abstract_transitions, make_buffers
from wfairl.minigrid.focused.lazy_world import LOST
from wfairl.minigrid.focused.pattern import (
    AT,
    EFFECT_COLUMNS,
    NUMBER,
    Pattern,
    PatternSpec,
    PatternTable,
    Places,
    abstract_index,
    lies_on,
)
from wfairl.minigrid.physics import NOTHING, LayoutTable, door_state, fields_count, unpack

GOAL = 0
"""Number of acceptance among the abstract states."""

UNKNOWN = -1
"""Number of an abstract state that was never met."""


@dataclass(frozen=True, eq=False)
class Abstraction:
    """A smaller scene, explored whole, with its transitions sorted by where they lead.

    Attributes:
        spec, pattern: what it keeps.
        number_of: number of each dense one, or `UNKNOWN`; shape [dense].
        first: transitions into n are those from first[n] to first[n + 1], n = 0 being acceptance; shape [states + 1].
        source: where a transition comes from, shape [transitions].
        price: an index into the least costs of prices, see `Situations.least_costs`; shape [transitions].
        unavoidable: the obstacles on every path from each abstract state, as bits; shape [states].
    """

    spec: PatternSpec
    pattern: Pattern
    number_of: NDArray[np.int32]
    first: NDArray[np.uint32]
    source: NDArray[np.uint32]
    price: NDArray[np.int64]
    unavoidable: NDArray[np.uint64]

    def __len__(self) -> int:
        """The number of abstract states, with acceptance."""
        return len(self.first) - 1

    def number(
        self, states: NDArray[np.uint64], automaton_states: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
        """The abstract states of packed states, and bits of the unavoidable obstacles that are still there.

        Args:
            states: packed states, shape [states, words].
            automaton_states: shape [states].

        Returns:
            The number of each, `UNKNOWN` for one never met, or `LOST`; and bits of obstacles; shape [states] each.
        """
        table, places = self.pattern.table, self.pattern.places
        return number_states(table, places, self.number_of, self.unavoidable, states, automaton_states)


@njit(cache=True, nogil=True)
def explore_pattern(
    pattern: PatternTable, start: int, dense: int, most: int
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
    buffers = make_buffers(pattern.data)
    _, next_indices, next_prices = buffers
    queue = np.empty(most + next_indices.size, np.int64)
    sources, targets, prices = np.empty(1 << 14, np.int64), np.empty(1 << 14, np.int64), np.empty(1 << 14, np.int64)
    queue[GOAL], queue[1], number_of[start] = start, start, 1  # acceptance has no state of its own
    count, node, filled = 2, 1, 0
    while node < count:
        transitions = abstract_transitions(pattern, queue[node], buffers)
        while filled + transitions > sources.size:
            sources, targets, prices = doubled(sources), doubled(targets), doubled(prices)
        for i in range(transitions):
            target = GOAL
            if next_indices[i] >= 0:
                target = number_of[next_indices[i]]
                if target == UNKNOWN:
                    target = number_of[next_indices[i]] = count
                    queue[count] = next_indices[i]
                    count += 1
            if target != node:
                sources[filled], targets[filled], prices[filled] = node, target, next_prices[i]
                filled += 1
        if count > most:
            return number_of, queue, sources, targets, prices, 0
        node += 1
    return number_of, queue[:count], sources[:filled], targets[:filled], prices[:filled], count


@njit(cache=True, nogil=True)
def doubled(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """An array with twice the room, filled up with zeros."""
    larger = np.zeros(2 * array.size, array.dtype)
    larger[: array.size] = array
    return larger


@njit(cache=True, nogil=True)
def sort_by_target(
    sources: NDArray[np.int64], targets: NDArray[np.int64], weights: NDArray[np.generic], count: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.generic]]:
    """Transitions sorted by where they lead: those into n from first[n] to first[n + 1], source and weight of each."""
    first = np.zeros(count + 1, np.uint32)
    for target in targets:
        first[target + 1] += np.uint32(1)
    for node in range(count):
        first[node + 1] += first[node]
    free = first[:-1].copy()
    source, weight = np.empty(targets.size, np.uint32), np.empty_like(weights)
    for i in range(targets.size):
        at = free[targets[i]]
        source[at], weight[at] = sources[i], weights[i]
        free[targets[i]] += np.uint32(1)
    return first, source, weight


@njit(cache=True, nogil=True)
def number_states(
    pattern: PatternTable,
    places: Places,
    number_of: NDArray[np.int32],
    unavoidable: NDArray[np.uint64],
    states: NDArray[np.uint64],
    automaton_states: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """See `Abstraction.number`."""
    layout = pattern.layout
    numbers, obstacles = np.empty(states.shape[0], np.int32), np.zeros(states.shape[0], np.uint64)
    fields, row = np.empty(fields_count(layout), np.int32), np.empty((1, EFFECT_COLUMNS), np.int64)
    for i in range(states.shape[0]):
        unpack(layout, states[i], fields)
        if _is_lost(layout, places, fields, automaton_states[i]):
            numbers[i] = LOST
            continue
        numbers[i] = number_of[abstract_index(pattern, places, fields, automaton_states[i], row)]
        if numbers[i] == UNKNOWN:
            continue
        left = unavoidable[numbers[i]]
        for j in range(places.obstacles.shape[0]):
            if left >> np.uint64(j) & np.uint64(1) and not _is_there(layout, places, j, fields):
                left &= ~(np.uint64(1) << np.uint64(j))
        obstacles[i] = without_spare(places, automaton_states[i], left)
    return numbers, obstacles


@njit(cache=True, nogil=True)
def _is_lost(layout: LayoutTable, places: Places, fields: NDArray[np.int32], automaton_state: int) -> bool:
    """Whether all boxes are gone one of which is needed for acceptance."""
    for j in range(places.needed.shape[1]):
        needed, left = 0, 0
        for obj in range(places.needed.shape[2]):
            if places.needed[automaton_state, j, obj]:
                needed += 1
                left += fields[physics.FIRST_OBJECT + obj] != layout[physics.CELLS] + physics.GONE
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
def _is_there(layout: LayoutTable, places: Places, obstacle: int, fields: NDArray[np.int32]) -> bool:
    """Whether an obstacle has not been removed."""
    what, group = places.obstacles[obstacle, 0], places.obstacles[obstacle, 1]
    if group == NOTHING:
        return door_state(layout, fields, what) & physics.IS_OPEN == 0
    return lies_on(layout, fields, group, what)


@njit(cache=True, nogil=True)
def count_steps(first: NDArray[np.uint32], source: NDArray[np.uint32]) -> NDArray[np.int32]:
    """The fewest abstract transitions to acceptance, `UNKNOWN` where there is no path; shape [states]."""
    steps = np.full(first.size - 1, UNKNOWN, np.int32)
    queue = np.empty(first.size - 1, np.int64)
    queue[0], steps[GOAL] = GOAL, 0
    done, count = 0, 1
    while done < count:
        target = queue[done]
        done += 1
        for i in range(first[target], first[target + 1]):
            node = source[i]
            if steps[node] == UNKNOWN:
                steps[node] = steps[target] + 1
                queue[count] = node
                count += 1
    return steps


@njit(cache=True, nogil=True)
def shortest_path(
    pattern: PatternTable, number_of: NDArray[np.int32], steps: NDArray[np.int32], start: int
) -> NDArray[np.int64]:
    """The cells of a shortest abstract plan, from a dense number on; `steps` is from `count_steps`."""
    data = pattern.data
    buffers = make_buffers(data)
    effects, targets, _ = buffers
    length = steps[number_of[start]]
    cells = np.empty(max(1, length), np.int64)
    for t in range(cells.size):
        transitions = abstract_transitions(pattern, start, buffers)
        cells[t] = data[data[AT.walkable] + effects[HERE, NUMBER]]
        for i in range(transitions):
            if targets[i] >= 0 and steps[number_of[targets[i]]] == length - t - 1:
                start = targets[i]
                break
    return cells


@njit(cache=True, nogil=True)
def unavoidable_obstacles(
    first: NDArray[np.uint32], source: NDArray[np.uint32], cells: NDArray[np.int64], obstacle: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """The obstacles that every path from an abstract state to acceptance enters, as bits; shape [states].

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
