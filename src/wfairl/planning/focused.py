"""The focused planner: the cost-to-go only where it is asked, for worlds too large to enumerate.

    Q(s, u) = c(s, u) + V(T(s, u)),     V(s) by A* from s                                     `search_kernel`

The product is built where searches look (`LazyProduct`) and kept, and so is what one search learns for the next. The
lower bounds that direct them come from the world, where it offers any: the exact cost-to-go of an abstraction of it
under the least cost that each of its transitions can have.

Where A* has spent its patience, weighted A* goes on, with lower and lower weights, directed by estimates; and where it
gets stuck, a way is found in parts, from one change of the automaton to the next. Then V(s) is the cost of the best way
that was found, and it is known what the optimum is at least.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD, Automaton
from wfairl.compiling import njit
from wfairl.errors import FailedRunError
from wfairl.planning import search_kernel as kernel
from wfairl.planning.cost import Cost, sight_of
from wfairl.planning.lazy import PlainLazyProduct
from wfairl.planning.path import walk_path
from wfairl.planning.plan import Plan, unsatisfiable
from wfairl.planning.product import Product, check_initial_state, states_alone
from wfairl.planning.shortest_path import NO_CONTROL, WIDTH, BadCostError, find_cost_to_go
from wfairl.worlds.lazy_world import LOST, UNEXPANDED, LazyProduct, LazyWorld, Sight
from wfairl.worlds.world import World

DEFAULT_MAX_NODES = 2_000_000
"""Nodes that the searches of one scene may meet, 150 to 300 bytes each."""

DEFAULT_PATIENCE = 50_000
"""Nodes that the searches of one scene may expand under one cost to prove that what they find is optimal."""

HARD = (1_000, 30_000)
"""Nodes that one search meets at which the abstraction is refined for it, and refined once more."""

WEIGHTS = (3.0, 2.0, 1.5, 1.2, 1.1)
"""Of bounds, one after the other, where nothing is proven."""

SHORT = 1_000
"""Nodes that any search may expand, however many others have, unless the patience is less."""

MOST_PARTS, PART_NODES = 20, 300_000
"""Where a way is found in parts: how many there may be, and nodes that the searches of one may meet."""

NO_LIMIT = 2**63 - 1

LOOK_AT_ONCE = 4096
"""Nodes expanded together, at most."""


class TooManyNodesMetError(FailedRunError):
    """The searches of a scene met more nodes than they may."""


@dataclass(frozen=True)
class FocusedPlanner:
    """Computes the cost-to-go only where it is asked, by A*.

    Attributes:
        max_nodes: give up on a scene whose searches meet more nodes than this.
        patience: nodes to expand for a scene under one cost before plans need not be optimal; see `Plan.lower_bound`.
    """

    max_nodes: int = DEFAULT_MAX_NODES
    patience: int = DEFAULT_PATIENCE

    def solve(
        self, world: World[Any], automaton: Automaton, cost: Cost, start: tuple[Any, int] | None = None
    ) -> "FocusedSolution":
        """See `Planner`; a state is planned for when it is asked for.

        Raises:
            TooManyNodesMetError: by the solution, see `max_nodes`.
            AcceptsEmptyWordError, ForeignLabelError: see `build_product`.
        """
        check_initial_state(automaton)
        automaton.check_propositions(world.propositions)
        begin = (world.initial_state, 0) if start is None else start
        search = FocusedSearch(world, automaton, begin, sight_of(cost), self.max_nodes, self.patience)
        return FocusedSolution(search, cost)


@dataclass(eq=False)
class FocusedSolution:
    """What was asked for so far.

    Attributes:
        search: the product, as far as searches have met it.
        cost: of transitions.
    """

    search: "FocusedSearch"
    cost: Cost
    _is_priced: bool = field(default=False, repr=False)

    def control_cost_to_go(self, state: Any, automaton_state: int) -> NDArray[np.float64]:
        """See `Solution`; every state is known, once it is asked for."""
        self._price()
        node = self.search.lazy.add(state, automaton_state)
        return self.search.control_cost_to_go(node)

    def check_satisfiable(self) -> None:
        """See `Solution`."""
        self._price()
        if self.search.cost_to_go(0) == np.inf:
            raise unsatisfiable(self.search.lazy.automaton, self.search.shown_labels())

    def plan(self) -> Plan:
        """A plan from where the solution begins, a cheapest one unless it says that this is not proven.

        Raises:
            UnsatisfiableTaskError: there is none.
        """
        self.check_satisfiable()
        lazy = self.search.lazy
        start, first = lazy.state(0), int(lazy.automaton_states[0])
        controls, cost = self.search.best_way(0)
        path = walk_path(lazy.world, lazy.automaton, controls, start, first)
        return Plan(path, cost, min(cost, float(self.search.bounds[0])))

    @property
    def effort(self) -> dict[str, int]:
        """See `Solution`."""
        return {"product_states": len(self.search.lazy), "expansions": self.search.expansions}

    def _price(self) -> None:
        if not self._is_priced:
            self.search.price(self.cost)
            self._is_priced = True


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
        self._room = _Room(0)
        self._heap = _Heap(1024)
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
        self._room = _Room(max(1024, len(self.lazy)))
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
        room = self._room
        if Q.min() < room.known[node]:
            room.best[node], room.known[node] = Q.argmin(), Q.min()
        least = costs + np.where(successors >= 0, room.bounds[successors], Q - costs)
        room.bounds[node] = min(room.known[node], max(room.bounds[node], least.min()))
        return Q

    def cost_to_go(self, node: int) -> float:
        """The cost of the best way found from a node, inf if there is none; V if it is not below `bounds`."""
        self._take_in()
        if not self._is_proven(node) and node not in self._settled:
            self._search(node)
            self._settled.add(node)
        return float(self._room.known[node])

    @property
    def bounds(self) -> NDArray[np.float64]:
        """What the cost-to-go of each node is at least; shape [nodes]."""
        self._take_in()
        return self._room.bounds[: len(self.lazy)]

    @property
    def best_control(self) -> NDArray[np.int32]:
        """The control with which the best way known from each node begins, else `NO_CONTROL`; shape [nodes]."""
        self._take_in()
        return self._room.best[: len(self.lazy)]

    def best_way(self, node: int) -> tuple[list[int], float]:
        """The controls of the best path found from a node, which must have one, and what they cost."""
        cost, controls, paid = self.cost_to_go(node), [], 0.0
        while node >= 0:
            controls.append(int(self._room.best[node]))
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
            if self._search_with(1.0, start, known + hard, self._left(self.patience)):
                return
            if self.expansions < self.patience and self.lazy.refine(stage):
                self._abstract_cost_to_go, self._removal = self._bound_costs(start)
                self._bound(0, len(self.lazy))
        if not self._search_with(1.0, start, self.max_nodes, self._left(self.patience)):
            self._approach(start)

    def _left(self, patience: int) -> int:
        """What is left of it, and at least a little."""
        return max(min(SHORT, self.patience), patience - self.expansions)

    def _approach(self, start: int) -> None:
        """Find a way, and better ones while it is not too hard."""
        self._is_guided = True
        self._guide(0, len(self.lazy))
        quick = len(self.lazy) + HARD[-1]
        if not self._search_with(WEIGHTS[0], start, quick, NO_LIMIT) and self._room.known[start] == np.inf:
            self._go_in_parts(start)
        if self._room.known[start] == np.inf:
            self._search_with(WEIGHTS[0], start, self.max_nodes, NO_LIMIT)
        for weight in WEIGHTS[1:]:  # once more as much for better ways
            if self._is_proven(start):
                return
            if not self._search_with(weight, start, self.max_nodes, self._left(2 * self.patience)):
                break
        self.unproven += not self._is_proven(start)

    def _go_in_parts(self, start: int) -> None:
        """Find a way from one change of the automaton to the next, each by searches of its own."""
        lazy = self.lazy
        state, read = lazy.state(start), int(lazy.automaton_states[start])
        controls: list[int] = []
        for _ in range(MOST_PARTS):
            until_change = replace(lazy.automaton, accepting=np.arange(lazy.automaton.states) != read)  # type: ignore[type-var]
            part = self._part(lazy.world, until_change, (state, read))
            if part is None:
                parts = (self._part(world, rule, (state, 0)) for world, rule in lazy.preparations(state))
                part = next((one for one in parts if one), None)
            if part is None:
                return
            for control in part:
                before, state = state, lazy.world.step(state, control)
                read = lazy.automaton.read(read, lazy.world.label(before, control, state))
                controls.append(control)
                if read == DEAD:
                    return
                if lazy.automaton.accepting[read]:
                    self.take_way(start, controls)
                    return

    def _part(self, world: World[Any], automaton: Automaton, start: tuple[Any, int]) -> list[int] | None:
        """The controls of a way, None if it is too hard to find or there is none."""
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
        room, ahead = self._room, 0.0
        for node, control in zip(reversed(nodes), reversed(controls), strict=True):
            ahead += float(self.costs[self.lazy.situations[node], control])
            if ahead < room.known[node]:
                room.known[node], room.best[node] = ahead, control
            ahead = float(room.known[node])

    def _search_with(self, weight: float, start: int, met: int, expanded: int) -> bool:
        """One search with the present bounds; False if it would meet or expand more nodes."""
        self._number += 1
        room, heap, number = self._room, self._heap, self._number
        room.paid[start], room.seen_by[start] = 0.0, number
        heap.keys[0], heap.paid[0], heap.nodes[0] = weight * room.bounds[start], 0.0, start
        size, done, why, below = 1, 0, kernel.LOOK, room.known[start]
        while why in (kernel.LOOK, kernel.NO_ROOM):
            room, heap = self._room, self._heap
            why, last, least, size, done, found = kernel.run(
                self.lazy.successors, self.lazy.situations, self.costs, room.bounds, room.known,
                room.bounds if weight == 1.0 else room.guide, room.paid, room.seen_by, room.parents, number, weight,
                below, expanded, heap.keys, heap.paid, heap.nodes, size, heap.closed, done, self._look,
            )  # fmt: skip
            if why == kernel.LOOK:
                self._expand(self._look[:found])
                if len(self.lazy) > met:
                    why = kernel.STOPPED
            elif why == kernel.NO_ROOM:
                self._heap = heap.twice()
        self.expansions += done
        room = self._room
        if why == kernel.FOUND:
            kernel.learn_way(
                self.lazy.successors, self.lazy.situations, self.costs, room.known, room.best, room.parents, start,
                last,
            )  # fmt: skip
        if weight == 1.0 or why == kernel.NO_WAY:
            kernel.learn_bounds(room.bounds, room.known, room.paid, least, self._heap.closed[:done])
            if why != kernel.STOPPED and room.known[start] < np.inf:
                kernel.prove_way(self.lazy.successors, room.bounds, room.known, room.best, start)
            elif why == kernel.NO_WAY:
                room.bounds[start] = np.inf
        return why != kernel.STOPPED

    def _is_proven(self, node: int) -> bool:
        """Whether the cost-to-go of a node is known."""
        return bool(self._room.known[node] <= self._room.bounds[node])

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
        if nodes > len(self._room.bounds):
            self._room = self._room.grown(nodes)
        if self.lazy.situations[known:nodes].max() >= len(self.costs):
            assert self._cost is not None
            new = states_alone(self.lazy.world, self.lazy.situation_states[len(self.costs) :])
            more = self._cost(new)
            _check(more)
            self.costs = np.vstack([self.costs, more])
        self._room.bounds[known:nodes], self._room.known[known:nodes] = 0.0, np.inf
        self._bound(known, nodes)
        if self._is_guided:
            self._guide(known, nodes)
        self._taken_in = nodes

    def _bound(self, first: int, end: int) -> None:
        numbers, in_the_way, sharper = self.lazy.abstract(first)
        _raise_bounds(
            self._abstract_cost_to_go, self._removal, numbers, in_the_way, sharper, self._room.known[first:end],
            self._room.bounds[first:end],
        )  # fmt: skip

    def _guide(self, first: int, end: int) -> None:
        """Estimate nodes, as a search does that need not be optimal."""
        estimates = self.lazy.estimate(first, self._abstract_cost_to_go)
        self._room.guide[first:end] = np.maximum(estimates, self._room.bounds[first:end])

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


class _Room:
    """What searches know of nodes; see `search_kernel.run`."""

    def __init__(self, nodes: int) -> None:
        self.bounds, self.known, self.guide = np.empty(nodes), np.empty(nodes), np.empty(nodes)
        self.paid = np.empty(nodes)
        self.best = np.full(nodes, NO_CONTROL, np.int32)
        self.seen_by, self.parents = np.zeros(nodes, np.int64), np.empty(nodes, np.int64)

    def grown(self, nodes: int) -> "_Room":
        larger = _Room(max(nodes, 2 * len(self.bounds)))
        for name, array in vars(self).items():
            getattr(larger, name)[: len(array)] = array
        return larger


class _Heap:
    """The heap of a search, and the nodes that it has expanded."""

    def __init__(self, entries: int) -> None:
        self.keys, self.paid = np.empty(entries), np.empty(entries)
        self.nodes, self.closed = np.empty(entries, np.int64), np.empty(entries, np.int64)

    def twice(self) -> "_Heap":
        larger = _Heap(2 * len(self.keys))
        for name, array in vars(self).items():
            getattr(larger, name)[: len(array)] = array
        return larger


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
