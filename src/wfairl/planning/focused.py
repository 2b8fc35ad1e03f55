"""The focused planner: the cost-to-go only where it is asked, for worlds too large to enumerate.

    Q(s, u) = c(s, u) + V(T(s, u)),     V(s) by A* from s                                     `search_kernel`

The product is built where searches look (`LazyProduct`) and kept, and so is what one search learns for the next. The
lower bounds that direct them come from the world, where it offers any: the exact cost-to-go of an abstraction of it
under the least cost that each of its transitions can have.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Automaton
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

REFINE_FIRST, REFINE_FACTOR = 1_000, 30
"""Nodes at which the abstraction is refined for the first time, and how many times more for the next."""

LOOK_AT_ONCE = 4096
"""Nodes expanded together, at most."""


class TooManyNodesMetError(FailedRunError):
    """The searches of a scene met more nodes than they may."""


@dataclass(frozen=True)
class FocusedPlanner:
    """Computes the cost-to-go only where it is asked, by A*.

    Attributes:
        max_nodes: give up on a scene whose searches meet more nodes than this.
    """

    max_nodes: int = DEFAULT_MAX_NODES

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
        search = FocusedSearch(world, automaton, begin, sight_of(cost), self.max_nodes)
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
        """A cheapest plan from where the solution begins.

        Raises:
            UnsatisfiableTaskError: there is none.
        """
        self.check_satisfiable()
        lazy = self.search.lazy
        start, first = lazy.state(0), int(lazy.automaton_states[0])
        path = walk_path(lazy.world, lazy.automaton, self.search.best_controls(0), start, first)
        return Plan(path, self.search.cost_to_go(0))

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
        searches, expansions: how many there were under the present cost.
    """

    def __init__(
        self,
        world: World[Any],
        automaton: Automaton,
        start: tuple[Any, int],
        sight: Sight,
        max_nodes: int = DEFAULT_MAX_NODES,
    ) -> None:
        self.lazy: LazyProduct = (
            world.lazy_product(automaton, start, sight)
            if isinstance(world, LazyWorld)
            else PlainLazyProduct(world, automaton, start)
        )
        self.max_nodes = max_nodes
        self.searches, self.expansions = 0, 0
        self._room = _Room(0)
        self._heap = _Heap(1024)
        self._look = np.empty(LOOK_AT_ONCE, np.int64)
        self._number = 0
        self._refine_at = REFINE_FIRST
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
        self._cost: Cost | None = cost
        self.set_costs(cost(self.situations))

    def set_costs(self, costs: NDArray[np.float64]) -> None:
        """Begin anew with the costs of the situations, shape [situations, controls].

        Raises:
            BadCostError: they are not all finite and above zero.
        """
        _check(costs)
        self._costs = np.ascontiguousarray(costs, np.float64)
        self._abstract_cost_to_go, self._removal = self._bound_costs()
        self._room = _Room(max(1024, len(self.lazy)))
        self.searches = self.expansions = self._known = 0
        self._take_in()

    def control_cost_to_go(self, node: int) -> NDArray[np.float64]:
        """Q of every control at a node, inf for one that leads nowhere; shape [controls]."""
        self._expand(np.array([node]))
        successors = self.lazy.successors[node].copy()
        costs = self._costs[self.lazy.situations[node]]
        ahead = [self.cost_to_go(int(after)) if after >= 0 else np.inf for after in successors]
        Q = costs + np.where(successors == kernel.ACCEPTED, 0.0, ahead)
        if self._room.best[node] == NO_CONTROL and Q.min() < np.inf:
            self._room.best[node], self._room.bounds[node] = Q.argmin(), Q.min()
        return Q

    def cost_to_go(self, node: int) -> float:
        """V of a node, inf if acceptance cannot be reached."""
        self._take_in()
        room = self._room
        if room.best[node] == NO_CONTROL and room.bounds[node] < np.inf:
            self._search(node)
        return float(self._room.bounds[node])

    @property
    def bounds(self) -> NDArray[np.float64]:
        """What is known of the cost-to-go of each node: that it is at least this; shape [nodes]."""
        self._take_in()
        return self._room.bounds[: len(self.lazy)]

    @property
    def best_control(self) -> NDArray[np.int32]:
        """The best control of each node whose cost-to-go is known, else `NO_CONTROL`; shape [nodes]."""
        self._take_in()
        return self._room.best[: len(self.lazy)]

    def best_controls(self, node: int) -> list[int]:
        """The controls of a cheapest path from a node, which must have one."""
        self.cost_to_go(node)
        controls = []
        while node >= 0:
            controls.append(int(self._room.best[node]))
            node = int(self.lazy.successors[node, controls[-1]])
        return controls

    def shown_labels(self) -> dict[int, set[frozenset[str]]]:
        """The labels that transitions of expanded nodes show, by the automaton state in which they do."""
        lazy = self.lazy
        shown: dict[int, set[frozenset[str]]] = {int(state): set() for state in np.unique(lazy.automaton_states)}
        for node in np.flatnonzero(lazy.successors[:, 0] != UNEXPANDED):
            shown[int(lazy.automaton_states[node])] |= {lazy.labels[i] for i in np.unique(lazy.label_index[node])}
        return shown

    def _search(self, start: int) -> None:
        self.searches += 1
        while not self._search_once(start):
            self._refine_at *= REFINE_FACTOR
            if self.lazy.refine():
                self._abstract_cost_to_go, self._removal = self._bound_costs()
                self._bound(0, len(self.lazy))

    def _search_once(self, start: int) -> bool:
        """Search with the present abstraction; False if that has become too hard, and a finer one is called for."""
        self._number += 1
        room, heap, number = self._room, self._heap, self._number
        room.paid[start], room.seen_by[start] = 0.0, number
        heap.keys[0], heap.paid[0], heap.nodes[0] = room.bounds[start], 0.0, start
        size, done, why = 1, 0, kernel.LOOK
        while why in (kernel.LOOK, kernel.NO_ROOM):
            room, heap = self._room, self._heap
            why, end, total, size, done, found = kernel.run(
                self.lazy.successors, self.lazy.situations, self._costs, room.bounds, room.best, room.paid,
                room.seen_by, room.parents, number, heap.keys, heap.paid, heap.nodes, size, heap.closed, done,
                self._look,
            )  # fmt: skip
            if why == kernel.LOOK:
                self._expand(self._look[:found])
                if len(self.lazy) > self._refine_at:
                    return False
            elif why == kernel.NO_ROOM:
                self._heap = heap.twice()
        self.expansions += done
        room = self._room
        kernel.learn(
            self.lazy.situations, self._costs, room.bounds, room.best, room.paid, room.parents, start, end, total,
            self._heap.closed[:done],
        )  # fmt: skip
        if total == np.inf:
            room.bounds[start] = np.inf
        return True

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
        nodes, known = len(self.lazy), self._known
        if known == nodes:
            return
        if nodes > len(self._room.bounds):
            self._room = self._room.grown(nodes)
        if self.lazy.situations[known:nodes].max() >= len(self._costs):
            assert self._cost is not None
            new = states_alone(self.lazy.world, self.lazy.situation_states[len(self._costs) :])
            more = self._cost(new)
            _check(more)
            self._costs = np.vstack([self._costs, more])
        self._room.bounds[known:nodes] = 0.0
        self._bound(known, nodes)
        self._known = nodes

    def _bound(self, first: int, end: int) -> None:
        numbers, in_the_way, sharper = self.lazy.abstract(first)
        _raise_bounds(
            self._abstract_cost_to_go, self._removal, numbers, in_the_way, sharper, self._room.best[first:end],
            self._room.bounds[first:end],
        )  # fmt: skip

    def _bound_costs(self) -> tuple[NDArray[np.float64], float]:
        """The cost-to-go of abstract states under the least costs, and the least cost to remove an obstacle."""
        found = self.lazy.least_costs(self._costs)
        if found is None:
            return np.zeros(1), 0.0
        transitions, removal = found
        abstraction = self.lazy.abstraction
        width = WIDTH * float(transitions.mean()) if len(transitions) else 1.0
        cost_to_go = find_cost_to_go(abstraction.first, abstraction.source, transitions, width)
        self.lazy.deepen(cost_to_go)
        return cost_to_go, removal


class _Room:
    """What searches know of nodes; see `search_kernel.run`."""

    def __init__(self, nodes: int) -> None:
        self.bounds, self.paid = np.empty(nodes), np.empty(nodes)
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
    best: NDArray[np.int32],
    bounds: NDArray[np.float64],
) -> None:
    """Lower bounds of nodes, by their abstract states (negative ones are not known) and what is in their way."""
    for i in range(numbers.size):
        if numbers[i] == LOST:
            bounds[i] = np.inf
        if best[i] != NO_CONTROL or numbers[i] < 0:
            continue
        bound, obstacles = cost_to_go[numbers[i]], in_the_way[i]
        while obstacles:
            obstacles &= obstacles - np.uint64(1)
            bound += removal
        bounds[i] = max(bounds[i], bound, sharper[i])


def _check(costs: NDArray[np.float64]) -> None:
    if not (costs.min(initial=np.inf) > 0 and costs.max(initial=0.0) < np.inf):
        raise BadCostError("costs must be finite and above zero; bound the cost model from below")
