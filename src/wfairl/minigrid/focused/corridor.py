"""Sharper bounds near the cheapest plans: a fine pattern, explored only where a coarse abstraction is cheap.

A fine pattern keeps every door and object that the cheapest plans meet. It has too many states to explore them all. But
A* from its start, directed by the coarse bounds h, closes only states with g + h below some D, the least g + h that is
left open when A* stops. With V the cost-to-go over transitions between closed states,

    min(V(a), D - g(a))

is a lower bound at every state whose abstraction a is closed. A path from a stays among closed states and costs at
least V(a); or it leaves them, and then a path from the start through a and there costs at least D.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.typed import Dict
from numpy.typing import NDArray

from wfairl.core.planning.shortest_path import doubled
from wfairl.core.support.compiling import inner, njit
from wfairl.minigrid.focused.abstract_physics import abstract_transitions, make_buffers
from wfairl.minigrid.focused.abstraction import (
    ACCEPTANCE,
    UNMET_STATE,
    Abstraction,
    AbstractStates,
    costs_to_acceptance,
    sort_by_target,
)
from wfairl.minigrid.focused.pattern import (
    AT,
    EFFECT,
    EFFECT_COLUMNS,
    FIRST_CLASS,
    OTHER_OBJECT,
    EffectRows,
    Pattern,
    PatternData,
    PatternTable,
    abstract_indices,
    dense_index,
    read_index,
)

LEAST_CLOSED, MOST_CLOSED = 2_000, 300_000
"""States that a corridor closes at least, even if acceptance is found at once, and at most."""

CORRIDOR_FACTOR = 8
"""A corridor closes this many times the states that it takes to find its cheapest plan, between these limits."""


class CoarseBounds(NamedTuple):
    """The bounds that direct the search, and how a fine abstract state is read as a coarse one."""

    abstract: AbstractStates  # the coarse abstraction
    cost_to_go: NDArray[np.float64]  # of its states, shape [states]
    hands: NDArray[np.int64]  # the coarse hand of each fine hand, shape [fine hands]
    classes: NDArray[np.int64]  # the bit of the coarse class of each fine class, 0 without one; shape [fine classes]
    blockers: NDArray[np.int64]  # the fine bit of each coarse blocker, shape [coarse blockers]
    gates: NDArray[np.int64]  # the fine bit of each coarse gate, shape [coarse gates]


@dataclass(frozen=True, eq=False)
class Corridor:
    """The closed states of a fine pattern."""

    pattern: Pattern  # what it keeps
    indices: NDArray[np.int64]  # their dense numbers, ascending; shape [states]
    bounds: NDArray[np.float64]  # lower bounds on their cost-to-go, shape [states]
    # the agent's cells along the cheapest plan, the last first; empty if acceptance was not reached
    path: NDArray[np.int64]

    def bound(self, states: NDArray[np.uint64], automaton_states: NDArray[np.int32]) -> NDArray[np.float64]:
        """Lower bounds on the cost-to-go of packed states, 0 where nothing is known: [states, words] -> [states]."""
        indices = abstract_indices(self.pattern.table, states, automaton_states)
        at = np.minimum(np.searchsorted(self.indices, indices), len(self.indices) - 1)
        return np.where(self.indices[at] == indices, self.bounds[at], 0.0)


def explore_corridor(pattern: Pattern, coarse: CoarseBounds, prices: NDArray[np.float64], start: int) -> Corridor:
    """Close the states of a fine pattern near its cheapest plans.

    Args:
        pattern: what it keeps.
        coarse: the bounds that direct the search.
        prices: the least cost of each price, shape [prices].
        start: dense number of the start.
    """
    states, transitions, least_open = _close_states(pattern.table, coarse, prices, start)
    dense, cost_so_far, parents, closed = states
    first, source, cost = sort_by_target(*transitions, len(dense))
    bounds = np.minimum(costs_to_acceptance(first, source, cost), least_open - cost_so_far)
    path = _path_back(pattern.table.data, dense, parents) if closed[ACCEPTANCE] else np.empty(0, np.int64)
    kept = 1 + np.flatnonzero(closed[1:])
    kept = kept[np.argsort(dense[kept])]
    return Corridor(pattern, dense[kept], bounds[kept], path)


def coarse_bounds(fine: Pattern, abstraction: Abstraction, cost_to_go: NDArray[np.float64]) -> CoarseBounds:
    """The bounds of an abstraction, with the cost-to-go of its states, for a pattern that keeps all that it keeps."""
    hands = np.minimum(np.arange(fine.hands), OTHER_OBJECT)
    hands[fine.hand_of] = abstraction.pattern.hand_of
    coarse_class = hands[FIRST_CLASS:] - FIRST_CLASS
    return CoarseBounds(
        abstract=abstraction.states,
        cost_to_go=cost_to_go,
        hands=hands,
        classes=np.where(coarse_class >= 0, 1 << np.maximum(coarse_class, 0), 0),
        blockers=fine.blocker_at[list(abstraction.spec.blockers)],
        gates=fine.gate_of[list(abstraction.spec.gates)],
    )


@njit(cache=True, nogil=True)
def _close_states(
    pattern: PatternTable, coarse: CoarseBounds, prices: NDArray[np.float64], start: int
) -> tuple[Any, ...]:
    """A* from the start; see `explore_corridor` for the arguments.

    Returns:
        Dense number, cost so far, parent and whether it is closed, of each state; sources, targets and costs of the
        transitions from closed states; and the least g + h that is left open.
    """
    number_of = Dict.empty(types.int64, types.int64)
    room = 1 << 12
    dense, parents, closed = np.empty(room, np.int64), np.zeros(room, np.int64), np.zeros(room, np.bool_)
    cost_so_far, ahead = np.empty(room, np.float64), np.empty(room, np.float64)
    sources, targets, costs = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.float64)
    buffers = make_buffers(pattern.data)
    _, next_indices, next_prices = buffers
    row = np.empty((1, EFFECT_COLUMNS), np.int64)
    number_of[start] = 1
    dense[ACCEPTANCE], cost_so_far[ACCEPTANCE], ahead[ACCEPTANCE] = start, np.inf, 0.0
    dense[1], cost_so_far[1], ahead[1] = start, 0.0, _coarse_bound(pattern.data, coarse, start, row)
    heap = [(ahead[1], 0.0, 1)]
    count, filled, done, limit, least_open = 2, 0, 0, MOST_CLOSED, np.inf
    while heap:
        key, minus_cost, node = heappop(heap)
        if -minus_cost > cost_so_far[node] or (closed[node] and -minus_cost == cost_so_far[node]):
            continue
        if node == ACCEPTANCE:
            limit = min(MOST_CLOSED, max(LEAST_CLOSED, CORRIDOR_FACTOR * done))
            closed[ACCEPTANCE] = True
            continue
        if done >= limit:
            least_open = key
            break
        closed[node] = True
        done += 1
        transitions = abstract_transitions(pattern, dense[node], buffers)
        while filled + transitions > sources.size:
            sources, targets, costs = doubled(sources), doubled(targets), doubled(costs)
        for i in range(transitions):
            target = ACCEPTANCE
            if next_indices[i] >= 0:
                if next_indices[i] in number_of:
                    target = number_of[next_indices[i]]
                else:
                    if count == dense.size:
                        dense, parents, closed = doubled(dense), doubled(parents), doubled(closed)
                        cost_so_far, ahead = doubled(cost_so_far), doubled(ahead)
                    target = count
                    number_of[next_indices[i]] = target
                    dense[target], cost_so_far[target] = next_indices[i], np.inf
                    ahead[target] = _coarse_bound(pattern.data, coarse, next_indices[i], row)
                    count += 1
            if target == node or ahead[target] == np.inf:
                continue
            cost = prices[next_prices[i]]
            sources[filled], targets[filled], costs[filled] = node, target, cost
            filled += 1
            if cost_so_far[node] + cost < cost_so_far[target]:
                cost_so_far[target], parents[target], closed[target] = cost_so_far[node] + cost, node, False
                heappush(heap, (cost_so_far[target] + ahead[target], -cost_so_far[target], target))
    states = dense[:count], cost_so_far[:count], parents[:count], closed[:count]
    return states, (sources[:filled], targets[:filled], costs[:filled]), least_open


@inner
def _coarse_bound(data: PatternData, coarse: CoarseBounds, index: int, row: EffectRows) -> float:
    """The coarse bound of a fine abstract state, given by its dense number; `row` is overwritten."""
    state = read_index(data, index, row, 0)
    moved, blocked, opened = row[0, EFFECT.moved], row[0, EFFECT.blocked], row[0, EFFECT.opened]
    row[0, EFFECT.hand] = coarse.hands[row[0, EFFECT.hand]]
    row[0, EFFECT.moved], row[0, EFFECT.blocked], row[0, EFFECT.opened] = 0, 0, 0
    for c in range(coarse.classes.size):
        if moved >> c & 1:
            row[0, EFFECT.moved] |= coarse.classes[c]
    for i in range(coarse.blockers.size):
        row[0, EFFECT.blocked] |= (blocked >> coarse.blockers[i] & 1) << i
    for i in range(coarse.gates.size):
        row[0, EFFECT.opened] |= (opened >> coarse.gates[i] & 1) << i
    number = coarse.abstract.number_of[dense_index(coarse.abstract.pattern.data, row, 0, state)]
    return 0.0 if number == UNMET_STATE else coarse.cost_to_go[number]


@njit(cache=True, nogil=True)
def _path_back(data: PatternData, dense: NDArray[np.int64], parents: NDArray[np.int64]) -> NDArray[np.int64]:
    """The agent's cells along the path to acceptance, the last first; shape [steps]."""
    path = np.empty(dense.size, np.int64)
    row = np.empty((1, EFFECT_COLUMNS), np.int64)
    count, node = 0, parents[ACCEPTANCE]
    while node != 0:
        read_index(data, dense[node], row, 0)
        path[count] = data[data[AT.walkable] + row[0, EFFECT.cell]]
        count, node = count + 1, parents[node]
    return path[:count]
