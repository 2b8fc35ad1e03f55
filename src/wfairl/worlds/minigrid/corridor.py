"""Sharper bounds near the cheapest plans: a finer abstraction, explored only where a coarse one says that it is cheap.

A fine pattern keeps much that a coarse one forgets: every door and object that the cheapest plans meet. It has too many
states to explore them all, but A* from its start, directed by the coarse bounds h, closes only those with g + h below
some D, the least that is left open when it stops. With V the cost-to-go over transitions between closed states,

    min(V(a), D - g(a))

is a lower bound at every state whose abstraction a is closed: a way from a stays among closed states, or it leaves
them, and a way from the start through there costs at least D.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.typed import Dict
from numpy.typing import NDArray

from wfairl.compiling import njit
from wfairl.worlds.minigrid.abstract_effects import MOST_EFFECTS
from wfairl.worlds.minigrid.abstract_rules import abstract_edges, most_edges
from wfairl.worlds.minigrid.abstraction import GOAL, UNKNOWN, Abstraction, sort_by_target, without_spare
from wfairl.worlds.minigrid.packing import fields_count, unpack
from wfairl.worlds.minigrid.pattern import (
    BLOCKED,
    EFFECT_COLUMNS,
    FIRST_CLASS,
    HAND,
    MOVED,
    NUMBER,
    OPENED,
    SOMETHING,
    WALKABLE,
    Pattern,
    PatternTable,
    Places,
    abstract_index,
    dense_index,
    read_index,
)
from wfairl.worlds.minigrid.rules import NOTHING, Layout, Table

MOST_AT_LEAST = 2_000
"""States that are closed even if acceptance is found at once."""

NO_GOAL = -1
"""In place of the last transition: acceptance was not reached."""


class Coarse(NamedTuple):
    """The bounds that direct the search, and how a fine abstract state is read as a coarse one.

    Attributes:
        table, places, number_of, unavoidable: the coarse abstraction.
        cost_to_go: of its states, shape [states].
        removal: the least cost to remove an obstacle.
        hands: the coarse hand of each fine one, shape [hands].
        classes: bits of the coarse class of each fine one, 0 if it is none; shape [classes].
        blockers, gates: the fine bit of each coarse one, shape [blockers] and [gates].
        obstacle_bits: the fine bit of a blocker that tells whether a coarse obstacle stands, and of a gate that tells
            whether it is open, or `NOTHING`; shape [obstacles, 2].
    """

    table: PatternTable
    places: Places
    number_of: NDArray[np.int32]
    unavoidable: NDArray[np.uint64]
    cost_to_go: NDArray[np.float64]
    removal: float
    hands: NDArray[np.int64]
    classes: NDArray[np.int64]
    blockers: NDArray[np.int64]
    gates: NDArray[np.int64]
    obstacle_bits: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Corridor:
    """The closed states of a fine abstraction.

    Attributes:
        layout, pattern, places: what numbers states.
        number_of: number of a dense one, a compiled dictionary.
        bounds: lower bounds of the cost-to-go of numbers, 0 where nothing is known; shape [states].
        walk: cell and hand of each state of the cheapest plan in it, the last first; none if acceptance was not
            reached; shape [states, 2].
    """

    layout: Layout
    pattern: Pattern
    places: Places
    number_of: Any
    bounds: NDArray[np.float64]
    walk: NDArray[np.int64]

    def bound(self, states: NDArray[np.uint64], automaton_states: NDArray[np.int32]) -> NDArray[np.float64]:
        """Lower bounds of the cost-to-go of packed states, 0 where nothing is known; shape [states]."""
        table = self.layout.table
        return bound_states(
            table, self.pattern.table, self.places, self.number_of, self.bounds, states, automaton_states
        )


def explore_corridor(
    layout: Layout,
    pattern: Pattern,
    places: Places,
    coarse: Coarse,
    prices: NDArray[np.float64],
    begin: int,
    most: int,
    factor: int,
) -> Corridor:
    """Close states of a fine abstraction.

    Args:
        layout, pattern, places: the fine abstraction.
        coarse: what directs the search.
        prices: the least cost of each price.
        begin: dense number of the start.
        most: states to close at most.
        factor: continue after acceptance was found, until this many times more states are closed.
    """
    number_of, dense, paid, parents, closed, sources, targets, costs, last, least_open = close_states(
        layout.table, pattern.table, coarse, prices, begin, most, factor
    )
    walk = np.empty((0, 2), np.int64)
    if last != NO_GOAL:
        walk = walk_back(pattern.table, dense, parents, last)
    count = len(dense)
    first, source, cost = sort_by_target(sources, targets, costs, count)
    bounds = cost_to_go(first, source, cost)
    bounds = np.where(closed, np.minimum(bounds, least_open - paid), 0.0)
    return Corridor(layout, pattern, places, number_of, bounds, walk)


def link(
    fine: Pattern, fine_places: Places, found: Abstraction, cost_to_go: NDArray[np.float64], removal: float
) -> Coarse:
    """The bounds of a coarse abstraction for a fine one, which keeps all that it keeps."""
    hands = np.minimum(np.arange(len(fine.hand_kind)), SOMETHING)
    hands[fine_places.hands] = found.places.hands
    coarse_class = hands[FIRST_CLASS:] - FIRST_CLASS
    classes = np.where(coarse_class >= 0, 1 << np.maximum(coarse_class, 0), 0)
    blocker_bit = {int(cell): int(bit) for cell, _, bit in fine_places.blockers}
    gate_bit = {int(door): bit for bit, door in enumerate(fine_places.gates)}
    obstacle_bits = [
        (NOTHING, gate_bit.get(what, NOTHING)) if group == NOTHING else (blocker_bit.get(what, NOTHING), NOTHING)
        for what, group in found.places.obstacles.tolist()
    ]
    standing = found.places.blockers.tolist()
    return Coarse(
        found.pattern.table, found.places, found.number_of, found.unavoidable, cost_to_go, removal, hands, classes,
        np.array([blocker_bit[cell] for bit, cell in sorted((bit, cell) for cell, _, bit in standing)], np.int64),
        np.array([gate_bit[int(door)] for door in found.places.gates], np.int64),
        np.array(obstacle_bits, np.int64).reshape(-1, 2),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def close_states(
    layout: Table,
    table: PatternTable,
    coarse: Coarse,
    prices: NDArray[np.float64],
    begin: int,
    most: int,
    factor: int,
) -> tuple[Any, ...]:
    """A* from the start; see `explore_corridor`.

    Returns:
        Number of each dense one, dense ones by number, what each has paid, the number before it, whether it is closed;
        sources, targets and costs of the transitions from closed ones; the number before acceptance or `NO_GOAL`; and
        the least g + h that is left open.
    """
    number_of = Dict.empty(types.int64, types.int64)
    room = 1 << 12
    dense, parents = np.empty(room, np.int64), np.zeros(room, np.int64)
    paid, ahead = np.empty(room, np.float64), np.empty(room, np.float64)
    closed = np.zeros(room, np.bool_)
    sources, ends, costs = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.float64)
    edge_room = most_edges(table)
    targets, price = np.empty(edge_room, np.int64), np.empty(edge_room, np.int64)
    effects = np.empty(MOST_EFFECTS * EFFECT_COLUMNS, np.int64)
    row = np.empty(EFFECT_COLUMNS, np.int64)
    number_of[begin] = 1
    dense[GOAL], dense[1], paid[GOAL], paid[1], ahead[GOAL] = begin, begin, np.inf, 0.0, 0.0
    ahead[1] = coarse_bound(table, coarse, begin, row)
    heap = [(ahead[1], 0.0, 1)]
    count, filled, done, limit, last, least_open = 2, 0, 0, most, NO_GOAL, np.inf
    while heap:
        key, minus_paid, node = heappop(heap)
        if -minus_paid > paid[node] or (closed[node] and -minus_paid == paid[node]):
            continue
        if node == GOAL:
            limit, closed[GOAL] = min(most, max(MOST_AT_LEAST, factor * done)), True
            continue
        if done >= limit:
            least_open = key
            break
        closed[node] = True
        done += 1
        edges = abstract_edges(layout, table, dense[node], effects, targets, price)
        while filled + edges > sources.size:
            sources, ends = _longer(sources), _longer(ends)
            larger = np.empty(2 * costs.size, np.float64)
            larger[: costs.size] = costs
            costs = larger
        for i in range(edges):
            target = GOAL
            if targets[i] >= 0:
                if targets[i] in number_of:
                    target = number_of[targets[i]]
                else:
                    if count == dense.size:
                        dense, parents = _longer(dense), _longer(parents)
                        more_paid, more_ahead = np.empty(2 * count, np.float64), np.empty(2 * count, np.float64)
                        more_closed = np.zeros(2 * count, np.bool_)
                        more_paid[:count], more_ahead[:count], more_closed[:count] = paid, ahead, closed
                        paid, ahead, closed = more_paid, more_ahead, more_closed
                    target = count
                    number_of[targets[i]] = target
                    dense[target], paid[target] = targets[i], np.inf
                    ahead[target] = coarse_bound(table, coarse, targets[i], row)
                    count += 1
            cost = prices[price[i]]
            if target == node or ahead[target] == np.inf:
                continue
            sources[filled], ends[filled], costs[filled] = node, target, cost
            filled += 1
            if paid[node] + cost < paid[target]:
                paid[target], parents[target], closed[target] = paid[node] + cost, node, False
                heappush(heap, (paid[target] + ahead[target], -paid[target], target))
    if closed[GOAL]:
        last = parents[GOAL]
    return (
        number_of, dense[:count], paid[:count], parents[:count], closed[:count],
        sources[:filled], ends[:filled], costs[:filled], last, least_open,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _longer(array: NDArray[np.int64]) -> NDArray[np.int64]:
    larger = np.empty(2 * array.size, array.dtype)
    larger[: array.size] = array
    return larger


@njit(cache=True, nogil=True)
def coarse_bound(table: PatternTable, coarse: Coarse, index: int, row: NDArray[np.int64]) -> float:
    """The coarse bound of a fine abstract state, given by its dense number; `row` is overwritten."""
    state = read_index(table, index, row, 0)
    moved, blocked, opened = row[MOVED], row[BLOCKED], row[OPENED]
    row[HAND], row[MOVED], row[BLOCKED], row[OPENED] = coarse.hands[row[HAND]], 0, 0, 0
    for c in range(coarse.classes.size):
        if moved >> c & 1:
            row[MOVED] |= coarse.classes[c]
    for i in range(coarse.blockers.size):
        row[BLOCKED] |= (blocked >> coarse.blockers[i] & 1) << i
    for i in range(coarse.gates.size):
        row[OPENED] |= (opened >> coarse.gates[i] & 1) << i
    number = coarse.number_of[dense_index(coarse.table, row, 0, state)]
    if number == UNKNOWN:
        return 0.0
    obstacles = coarse.unavoidable[number]
    for j in range(coarse.obstacle_bits.shape[0]):
        block, gate = coarse.obstacle_bits[j, 0], coarse.obstacle_bits[j, 1]
        stands = (block != NOTHING and blocked >> block & 1 != 0) or (gate != NOTHING and opened >> gate & 1 == 0)
        if not stands:
            obstacles &= ~(np.uint64(1) << np.uint64(j))
    obstacles = without_spare(coarse.places, state, obstacles)
    bound = coarse.cost_to_go[number]
    while obstacles:
        obstacles &= obstacles - np.uint64(1)
        bound += coarse.removal
    return bound


@njit(cache=True, nogil=True)
def cost_to_go(first: NDArray[np.uint32], source: NDArray[np.uint32], cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least cost to acceptance over transitions sorted by where they lead, inf where there is no way."""
    least = np.full(first.size - 1, np.inf)
    least[GOAL] = 0.0
    heap: list[tuple[Any, Any]] = [(0.0, GOAL)]
    while heap:
        key, target = heappop(heap)
        if key > least[target]:
            continue
        for i in range(first[target], first[target + 1]):
            node = np.int64(source[i])
            if key + cost[i] < least[node]:
                least[node] = key + cost[i]
                heappush(heap, (least[node], node))
    return least


@njit(cache=True, nogil=True)
def walk_back(
    table: PatternTable, dense: NDArray[np.int64], parents: NDArray[np.int64], last: int
) -> NDArray[np.int64]:
    """Cells and hands on the way to a number, the last first."""
    walk = np.empty((dense.size, 2), np.int64)
    row = np.empty(EFFECT_COLUMNS, np.int64)
    count = 0
    while last != 0:
        read_index(table, dense[last], row, 0)
        walk[count, 0], walk[count, 1] = table[table[WALKABLE] + row[NUMBER]], row[HAND]
        count, last = count + 1, parents[last]
    return walk[:count]


@njit(cache=True, nogil=True)
def bound_states(
    layout: Table,
    table: PatternTable,
    places: Places,
    number_of: Any,
    bounds: NDArray[np.float64],
    states: NDArray[np.uint64],
    automaton_states: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Lower bounds of packed states; see `Corridor`."""
    found = np.zeros(states.shape[0], np.float64)
    fields, row = np.empty(fields_count(layout), np.int32), np.empty(EFFECT_COLUMNS, np.int64)
    for i in range(states.shape[0]):
        unpack(layout, states[i], fields)
        index = abstract_index(layout, table, places, fields, automaton_states[i], row)
        if index in number_of:
            found[i] = bounds[number_of[index]]
    return found
