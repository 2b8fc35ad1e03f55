"""Searches of one scene by A*, which learn from each other.

The product is built where they look (`LazyProduct`) and kept, and so is what one search learns for the next. The lower
bounds that direct them come from the world, where it offers any: the exact cost-to-go of an abstraction of it under the
least cost that each of its transitions can have.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Automaton
from wfairl.compiling import njit
from wfairl.errors import FailedRunError
from wfairl.planning import search_kernel as kernel
from wfairl.planning.anytime import find_ways
from wfairl.planning.cost import Cost
from wfairl.planning.lazy import PlainLazyProduct
from wfairl.planning.product import Product, states_alone
from wfairl.planning.search_memory import Heap, NodeRecords
from wfairl.planning.shortest_path import WIDTH, BadCostError, find_cost_to_go
from wfairl.worlds.lazy_world import LOST, UNEXPANDED, LazyProduct, LazyWorld, Sight
from wfairl.worlds.world import World

DEFAULT_MAX_NODES = 2_000_000
"""Nodes that the searches of one scene may meet, 150 to 300 bytes each."""

DEFAULT_PATIENCE = 50_000
"""Nodes that the searches of one scene may expand under one cost to prove that what they find is optimal."""

HARD = (1_000, 30_000)
"""Nodes that one search meets at which the abstraction is refined for it, and refined once more."""

SHORT = 1_000
"""Nodes that any search may expand, however many others have, unless the patience is less."""

PART_NODES = 300_000
"""Nodes that the searches of one part of a way may meet."""

LOOK_AT_ONCE = 4096
"""Nodes expanded together, at most."""


class TooManyNodesMetError(FailedRunError):
    """The searches of a scene met more nodes than they may."""


class FocusedSearch:
    """The searches of one scene for one automaton, under one cost after the other.

    Attributes:
        lazy: the product, as far as it was met.
        costs: of the situations, shape [situations, controls].
        searches, expansions: how many there were under the present cost.
        unproven: after how many of the searches the cost-to-go may be less than what was found.
    """

    def __init__(
        self,
        world: World[Any],
        automaton: Automaton,
        start: tuple[Any, int],
        sight: Sight,
        max_nodes: int = DEFAULT_MAX_NODES,
        patience: int = DEFAULT_PATIENCE,
    ) -> None:
        self.lazy: LazyProduct = (
            world.lazy_product(automaton, start, sight)
            if isinstance(world, LazyWorld)
            else PlainLazyProduct(world, automaton, start)
        )
        self.max_nodes, self.patience, self.sight = max_nodes, patience, sight
        self._cost: Cost | None = None
        self._is_part = False
        self.searches = self.expansions = self.unproven = 0
        self._records = NodeRecords(0)
        self._heap = Heap(1024)
        self._look = np.empty(LOOK_AT_ONCE, np.int64)
        self._number = 0
        self._situations: Product | None = None

    @property
    def situations(self) -> Product:
        """The distinct situations met so far as nodes that lead nowhere, for costs of what happens in them."""
        states = self.lazy.situation_states
        if self._situations is None or len(self._situations) != len(states):
            self._situations = states_alone(self.lazy.world, states)
        return self._situations

    def price(self, cost: Cost) -> None:
        """Begin anew with a cost."""
        self._cost = cost
        self.set_costs(cost(self.situations))

    def set_costs(self, costs: NDArray[np.float64]) -> None:
        """Begin anew with the costs of the situations, shape [situations, controls].

        Raises:
            BadCostError: they are not all finite and above zero.
        """
        _check(costs)
        self.costs: NDArray[np.float64] = np.ascontiguousarray(costs, np.float64)
        self._abstract_cost_to_go, self._removal = self._bound_costs()
        self._records = NodeRecords(max(1024, len(self.lazy)))
        self.searches = self.expansions = self.unproven = self._taken_in = 0
        self._settled: set[int] = set()
        self._is_guided = False
        self._take_in()

    def control_cost_to_go(self, node: int) -> NDArray[np.float64]:
        """Q of every control at a node, inf for one that leads nowhere; shape [controls]."""
        self._expand(np.array([node]))
        self.cost_to_go(node)  # first, for what it learns serves the others
        successors = self.lazy.successors[node].copy()
        costs = self.costs[self.lazy.situations[node]]
        ahead = [self.cost_to_go(int(after)) if after >= 0 else np.inf for after in successors]
        Q = costs + np.where(successors == kernel.ACCEPTED, 0.0, ahead)
        records = self._records
        if Q.min() < records.known[node]:
            records.best[node], records.known[node] = Q.argmin(), Q.min()
        least = costs + np.where(successors >= 0, records.bounds[successors], Q - costs)
        records.bounds[node] = min(records.known[node], max(records.bounds[node], least.min()))
        return Q

    def cost_to_go(self, node: int) -> float:
        """The cost of the best way found from a node, inf if there is none; V if it is not below `bounds`."""
        self._take_in()
        if not self.is_proven(node) and node not in self._settled:
            self._search(node)
            self._settled.add(node)
        return float(self._records.known[node])

    @property
    def bounds(self) -> NDArray[np.float64]:
        """What the cost-to-go of each node is at least; shape [nodes]."""
        self._take_in()
        return self._records.bounds[: len(self.lazy)]

    @property
    def best_control(self) -> NDArray[np.int32]:
        """The control with which the best way known from each node begins, else `NO_CONTROL`; shape [nodes]."""
        self._take_in()
        return self._records.best[: len(self.lazy)]

    def best_way(self, node: int) -> tuple[list[int], float]:
        """The controls of the best path found from a node, which must have one, and what they cost."""
        cost, controls, paid = self.cost_to_go(node), [], 0.0
        while node >= 0:
            controls.append(int(self._records.best[node]))
            paid += float(self.costs[self.lazy.situations[node], controls[-1]])
            node = int(self.lazy.successors[node, controls[-1]])
        return controls, min(cost, paid)

    def shown_labels(self) -> dict[int, set[frozenset[str]]]:
        """The labels that transitions of expanded nodes show, by the automaton state in which they do."""
        lazy = self.lazy
        shown: dict[int, set[frozenset[str]]] = {int(state): set() for state in np.unique(lazy.automaton_states)}
        for node in np.flatnonzero(lazy.successors[:, 0] != UNEXPANDED):
            shown[int(lazy.automaton_states[node])] |= {lazy.labels[i] for i in np.unique(lazy.label_index[node])}
        return shown

    def _search(self, start: int) -> None:
        self.searches += 1
        known = len(self.lazy)
        for stage, hard in enumerate(HARD, start=1):
            if self.search_with(1.0, start, known + hard, self.left(self.patience)):
                return
            if self.expansions < self.patience and self.lazy.refine(stage):
                self._abstract_cost_to_go, self._removal = self._bound_costs(start)
                self._bound(0, len(self.lazy))
        if not self.search_with(1.0, start, self.max_nodes, self.left(self.patience)):
            self._is_guided = True
            self._guide(0, len(self.lazy))
            find_ways(self, start)
            self.unproven += not self.is_proven(start)

    def left(self, patience: int) -> int:
        """What is left of it, and at least a little."""
        return max(min(SHORT, self.patience), patience - self.expansions)

    def find_part(self, world: World[Any], automaton: Automaton, start: tuple[Any, int]) -> list[int] | None:
        """The controls of a way that searches of its own find, None if it is too hard to find or there is none."""
        if self._cost is None or self._is_part:
            return None
        search = FocusedSearch(world, automaton, start, self.sight, PART_NODES, self.patience // 4)
        search._is_part = True
        search.price(self._cost)
        try:
            return search.best_way(0)[0] if search.cost_to_go(0) < np.inf else None
        except TooManyNodesMetError:
            return None

    def take_way(self, start: int, controls: Sequence[int]) -> None:
        """Take in a way from a node to acceptance."""
        node, nodes = start, []
        for control in controls:
            nodes.append(node)
            self._expand(np.array([node]))
            node = int(self.lazy.successors[node, control])
        self._take_in()
        records, ahead = self._records, 0.0
        for node, control in zip(reversed(nodes), reversed(controls), strict=True):
            ahead += float(self.costs[self.lazy.situations[node], control])
            if ahead < records.known[node]:
                records.known[node], records.best[node] = ahead, control
            ahead = float(records.known[node])

    def search_with(self, weight: float, start: int, met: int, expanded: int) -> bool:
        """One search with the present bounds; False if it would meet or expand more nodes."""
        self._number += 1
        records, heap, number = self._records, self._heap, self._number
        records.paid[start], records.seen_by[start] = 0.0, number
        heap.keys[0], heap.paid[0], heap.nodes[0] = weight * records.bounds[start], 0.0, start
        size, done, why, below = 1, 0, kernel.LOOK, records.known[start]
        while why in (kernel.LOOK, kernel.NO_ROOM):
            records, heap = self._records, self._heap
            why, last, least, size, done, found = kernel.run(
                self.lazy.successors, self.lazy.situations, self.costs, records.bounds, records.known,
                records.bounds if weight == 1.0 else records.guide, records.paid, records.seen_by, records.parents,
                number, weight, below, expanded, heap.keys, heap.paid, heap.nodes, size, heap.closed, done, self._look,
            )  # fmt: skip
            if why == kernel.LOOK:
                self._expand(self._look[:found])
                if len(self.lazy) > met:
                    why = kernel.STOPPED
            elif why == kernel.NO_ROOM:
                self._heap = heap.grown()
        self.expansions += done
        records = self._records
        if why == kernel.FOUND:
            kernel.learn_way(
                self.lazy.successors, self.lazy.situations, self.costs, records.known, records.best, records.parents,
                start, last,
            )  # fmt: skip
        if weight == 1.0 or why == kernel.NO_WAY:
            kernel.learn_bounds(records.bounds, records.known, records.paid, least, self._heap.closed[:done])
            if why != kernel.STOPPED and records.known[start] < np.inf:
                kernel.prove_way(self.lazy.successors, records.bounds, records.known, records.best, start)
            elif why == kernel.NO_WAY:
                records.bounds[start] = np.inf
        return why != kernel.STOPPED

    def has_way(self, node: int) -> bool:
        """Whether a way from a node to acceptance is known."""
        return bool(self._records.known[node] < np.inf)

    def is_proven(self, node: int) -> bool:
        """Whether the cost-to-go of a node is known."""
        return bool(self._records.known[node] <= self._records.bounds[node])

    def _expand(self, nodes: NDArray[np.int64]) -> None:
        wanted = nodes[self.lazy.successors[nodes, 0] == UNEXPANDED]
        if not len(wanted):
            return
        self.lazy.expand(wanted)
        if len(self.lazy) > self.max_nodes:
            raise TooManyNodesMetError(
                f"the searches of this scene met more than {self.max_nodes:,} nodes. Raise max_nodes (--max-states), or"
                " plan for a shorter task"
            )
        self._take_in()

    def _take_in(self) -> None:
        """Make room for new nodes, and bound them."""
        nodes, known = len(self.lazy), self._taken_in
        if known == nodes:
            return
        if nodes > len(self._records.bounds):
            self._records = self._records.grown(nodes)
        if self.lazy.situations[known:nodes].max() >= len(self.costs):
            assert self._cost is not None
            new = states_alone(self.lazy.world, self.lazy.situation_states[len(self.costs) :])
            more = self._cost(new)
            _check(more)
            self.costs = np.vstack([self.costs, more])
        self._records.bounds[known:nodes], self._records.known[known:nodes] = 0.0, np.inf
        self._bound(known, nodes)
        if self._is_guided:
            self._guide(known, nodes)
        self._taken_in = nodes

    def _bound(self, first: int, end: int) -> None:
        numbers, in_the_way, sharper = self.lazy.abstract(first)
        _raise_bounds(
            self._abstract_cost_to_go, self._removal, numbers, in_the_way, sharper, self._records.known[first:end],
            self._records.bounds[first:end],
        )  # fmt: skip

    def _guide(self, first: int, end: int) -> None:
        """Estimate nodes, as a search does that need not be optimal."""
        estimates = self.lazy.estimate(first, self._abstract_cost_to_go)
        self._records.guide[first:end] = np.maximum(estimates, self._records.bounds[first:end])

    def _bound_costs(self, start: int = 0) -> tuple[NDArray[np.float64], float]:
        """The cost-to-go of abstract states under the least costs, and the least cost to remove an obstacle.

        Where searches are hard, bounds become sharper around the ways from the node that a search begins with.
        """
        found = self.lazy.least_costs(self.costs)
        if found is None:
            return np.zeros(1), 0.0
        transitions, removal = found
        abstraction = self.lazy.abstraction
        width = WIDTH * float(transitions.mean()) if len(transitions) else 1.0
        cost_to_go = find_cost_to_go(abstraction.first, abstraction.source, transitions, width)
        self.lazy.deepen(cost_to_go, start)
        return cost_to_go, removal


@njit(cache=True, nogil=True)
def _raise_bounds(
    cost_to_go: NDArray[np.float64],
    removal: float,
    numbers: NDArray[np.int32],
    in_the_way: NDArray[np.uint64],
    sharper: NDArray[np.float64],
    known: NDArray[np.float64],
    bounds: NDArray[np.float64],
) -> None:
    """Lower bounds of nodes, by their abstract states (negative ones are not known) and what is in their way."""
    for i in range(numbers.size):
        if numbers[i] == LOST:
            bounds[i] = np.inf
        if numbers[i] < 0:
            continue
        bound, obstacles = cost_to_go[numbers[i]], in_the_way[i]
        while obstacles:
            obstacles &= obstacles - np.uint64(1)
            bound += removal
        bounds[i] = min(known[i], max(bounds[i], bound, sharper[i]))


def _check(costs: NDArray[np.float64]) -> None:
    if not (costs.min(initial=np.inf) > 0 and costs.max(initial=0.0) < np.inf):
        raise BadCostError("costs must be finite and above zero; bound the cost model from below")
