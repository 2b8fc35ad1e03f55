"""A* searches of one scene. Each search sharpens the bounds for the next.

The product is built while it is searched (`SceneProduct`) and kept. The lower bounds that direct the searches come from
the guide of the product, where it has one.

Beyond its expansion limit a search finds some path, and better paths while that is easy: weighted A* with lower and
lower weights, directed by estimates. Where this gets stuck, a path is joined from segments. A
segment ends with the next change of the automaton state.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.path import follow
from wfairl.core.planning.product import Product, states_alone
from wfairl.core.planning.shortest_path import BadCostError
from wfairl.core.support.errors import FailedRunError
from wfairl.minigrid.focused import search_kernel as kernel
from wfairl.minigrid.focused.scene_product import SceneProduct
from wfairl.minigrid.focused.search_kernel import NodeTable, OpenList
from wfairl.minigrid.product_nodes import NOT_EXPANDED

DEFAULT_MAX_NODES = 2_000_000
"""Nodes that the searches of one scene may reach, 150 to 300 bytes each."""

DEFAULT_EXPANSION_LIMIT = 50_000
"""Nodes that the searches of one scene may expand under one cost to prove their paths optimal."""

REFINE_AT = 1_000
"""New nodes after which a search asks the guide for sharper bounds."""

LEAST_EXPANSIONS = 1_000
"""Nodes that any search may expand, however many other searches have, unless the expansion limit is less."""

SEARCH_WEIGHTS = (3.0, 2.0, 1.5, 1.2, 1.1)
"""Weights of the estimates beyond the expansion limit, one search after the other."""

FIRST_NODES = 30_000
"""New nodes that the first weighted search may reach before a path is joined from segments."""

MAX_SEGMENTS = 20

SEGMENT_NODES = 300_000
"""Nodes that the searches for one segment of a path may reach."""

NO_LIMIT = 2**63 - 1

EXPAND_AT_ONCE = 4096
"""Nodes expanded together, at most."""


class TooManyNodesMetError(FailedRunError):
    """The searches of a scene reached more nodes than they may."""


class FocusedSearch:
    """The searches of one scene for one automaton, under one cost after the other.

    Attributes:
        product: the product as far as it is built.
        costs: of the situations, shape [situations, controls].
        expansions: the number of nodes expanded under the present cost.
        unproven: the number of searches under the present cost that ended without proof that their path is optimal.
    """

    def __init__(
        self,
        product: SceneProduct,
        max_nodes: int = DEFAULT_MAX_NODES,
        expansion_limit: int = DEFAULT_EXPANSION_LIMIT,
    ) -> None:
        self.product, self.max_nodes, self.expansion_limit = product, max_nodes, expansion_limit
        self._cost: Cost | None = None
        self._is_segment = False
        self.expansions = self.unproven = 0
        self._nodes, self._open_list = NodeTable.with_room(0), OpenList.with_room(1024)
        self._search_number = 0
        self._situations: Product | None = None

    @property
    def situations(self) -> Product:
        """The distinct situations so far as nodes without successors, for costs of what happens in them."""
        states = self.product.situation_states
        if self._situations is None or len(self._situations) != len(states):
            self._situations = states_alone(self.product.world, states)
        return self._situations

    def price(self, cost: Cost) -> None:
        """Start over with a cost."""
        self._cost = cost
        self.set_costs(cost(self.situations))

    def set_costs(self, costs: NDArray[np.float64]) -> None:
        """Start over with the costs of the situations, shape [situations, controls].

        Raises:
            BadCostError: they are not all finite and above zero.
        """
        _check(costs)
        self.costs: NDArray[np.float64] = np.ascontiguousarray(costs, np.float64)
        if self.product.guide is not None:
            self.product.guide.price(self.costs)
        self._nodes = NodeTable.with_room(max(1024, len(self.product)))
        self.expansions = self.unproven = self._initialised = 0
        self._searched: set[int] = set()
        self._has_estimates = False
        self._add_new_nodes()

    def control_cost_to_go(self, node: int) -> NDArray[np.float64]:
        """Q of every control at a node, inf for one that leads nowhere; shape [controls]."""
        self._expand(np.array([node]))
        self.cost_to_go(node)  # first, since it sharpens the bounds for the others
        successors = self.product.successors[node].copy()
        costs = self.costs[self.product.situations[node]]
        ahead = [self.cost_to_go(int(after)) if after >= 0 else np.inf for after in successors]
        Q = costs + np.where(successors == ACCEPTED, 0.0, ahead)
        nodes = self._nodes
        if Q.min() < nodes.upper_bounds[node]:
            nodes.best_control[node], nodes.upper_bounds[node] = Q.argmin(), Q.min()
        least = costs + np.where(successors >= 0, nodes.lower_bounds[successors], Q - costs)
        nodes.lower_bounds[node] = min(nodes.upper_bounds[node], max(nodes.lower_bounds[node], least.min()))
        return Q

    def cost_to_go(self, node: int) -> float:
        """The cost of the best path found from a node, inf without one; it is V if it equals the lower bound."""
        self._add_new_nodes()
        if not self._is_proven(node) and node not in self._searched:
            self._search(node)
            self._searched.add(node)
        return float(self._nodes.upper_bounds[node])

    @property
    def lower_bounds(self) -> NDArray[np.float64]:
        """A lower bound on the cost-to-go of each node, shape [nodes]."""
        self._add_new_nodes()
        return self._nodes.lower_bounds[: len(self.product)]

    @property
    def best_control(self) -> NDArray[np.int32]:
        """The first control of the best known path from each node, else `NO_CONTROL`; shape [nodes]."""
        self._add_new_nodes()
        return self._nodes.best_control[: len(self.product)]

    def best_path(self, node: int) -> tuple[list[int], float]:
        """The controls of the best path found from a node, which must have one, and their cost."""
        cost, controls, total = self.cost_to_go(node), [], 0.0
        while node >= 0:
            controls.append(int(self._nodes.best_control[node]))
            total += float(self.costs[self.product.situations[node], controls[-1]])
            node = int(self.product.successors[node, controls[-1]])
        return controls, min(cost, total)

    def labels_by_automaton_state(self) -> dict[int, set[frozenset[str]]]:
        """The labels of transitions out of expanded nodes, by the automaton state that they leave."""
        product = self.product
        labels: dict[int, set[frozenset[str]]] = {int(state): set() for state in np.unique(product.automaton_states)}
        for node in np.flatnonzero(product.successors[:, 0] != NOT_EXPANDED):
            found = {product.labels[i] for i in np.unique(product.label_index[node])}
            labels[int(product.automaton_states[node])] |= found
        return labels

    def add_path(self, start: int, controls: Sequence[int]) -> None:
        """Use a path from a node to acceptance as an upper bound."""
        node, path = start, []
        for control in controls:
            path.append(node)
            self._expand(np.array([node]))
            node = int(self.product.successors[node, control])
        self._add_new_nodes()
        nodes, ahead = self._nodes, 0.0
        for node, control in zip(reversed(path), reversed(controls), strict=True):
            ahead += float(self.costs[self.product.situations[node], control])
            if ahead < nodes.upper_bounds[node]:
                nodes.upper_bounds[node], nodes.best_control[node] = ahead, control
            ahead = float(nodes.upper_bounds[node])

    def _search(self, start: int) -> None:
        guide, max_nodes = self.product.guide, len(self.product) + REFINE_AT
        if self._run_search(1.0, start, max_nodes, self._expansions_left(self.expansion_limit)):
            return
        if guide is not None and self.expansions < self.expansion_limit:
            guide.refine(start)
            self._raise_lower_bounds(0)
        if not self._run_search(1.0, start, self.max_nodes, self._expansions_left(self.expansion_limit)):
            self._has_estimates = True
            self._estimate(0)
            self._find_paths(start)
            self.unproven += not self._is_proven(start)

    def _find_paths(self, start: int) -> None:
        """Find a path from a node, and better ones until the expansion limit is reached a second time."""
        max_nodes = len(self.product) + FIRST_NODES
        is_done = self._run_search(SEARCH_WEIGHTS[0], start, max_nodes, NO_LIMIT)
        if not is_done and self._nodes.upper_bounds[start] == np.inf:
            self._join_segments(start)
        if self._nodes.upper_bounds[start] == np.inf:
            self._run_search(SEARCH_WEIGHTS[0], start, self.max_nodes, NO_LIMIT)
        for weight in SEARCH_WEIGHTS[1:]:
            left = self._expansions_left(2 * self.expansion_limit)
            if self._is_proven(start) or not self._run_search(weight, start, self.max_nodes, left):
                return

    def _join_segments(self, start: int) -> None:
        """Join a path from segments, each found by searches of its own, and use it as an upper bound.

        Nothing is done if a segment does not exist or is too hard, for a segment itself, and without a cost to price
        another product.
        """
        product, automaton = self.product, self.product.automaton
        at, controls = (product.state(start), int(product.automaton_states[start])), list[int]()
        if self._cost is None or self._is_segment:
            return
        for _ in range(MAX_SEGMENTS):
            until_change = replace(automaton, accepting=np.arange(automaton.states) != at[1])  # type: ignore[type-var]
            to_change = SceneProduct(product.world, until_change, at, product.scope)
            search = FocusedSearch(to_change, SEGMENT_NODES, self.expansion_limit // 4)
            search._is_segment = True
            search.price(self._cost)
            try:
                if search.cost_to_go(0) == np.inf:
                    return
                segment, _ = search.best_path(0)
            except TooManyNodesMetError:
                return
            path = follow(product.world, segment, automaton, at)
            at, controls = (path.states[-1], path.automaton_states[-1]), controls + segment
            if automaton.accepting[at[1]]:
                self.add_path(start, controls)
                return

    def _run_search(self, weight: float, start: int, max_nodes: int, expansion_limit: int) -> bool:
        """One search with the present bounds; False if it was stopped by a limit."""
        self._search_number += 1
        nodes, open_list, least = self._nodes, self._open_list, weight * self._nodes.lower_bounds[start]
        nodes.cost_so_far[start], nodes.search_number[start] = 0.0, self._search_number
        open_list.priorities[0], open_list.cost_so_far[0], open_list.entries[0] = least, 0.0, start
        search = kernel.SearchSettings(self._search_number, weight, nodes.upper_bounds[start], expansion_limit)
        progress = kernel.SearchProgress(kernel.NEEDS_SUCCESSORS, least, 1, 0, 0)
        outcome = progress.outcome
        while outcome in (kernel.NEEDS_SUCCESSORS, kernel.NO_ROOM):
            progress = kernel.continue_search(self._graph, self._nodes, self._open_list, search, progress)
            outcome = progress.outcome
            if outcome == kernel.NEEDS_SUCCESSORS:
                ahead = self._open_list.entries[: min(progress.size, EXPAND_AT_ONCE, 1 + progress.expansions // 8)]
                self._expand(ahead[ahead >= 0])
                if len(self.product) > max_nodes:
                    outcome = kernel.STOPPED
            elif outcome == kernel.NO_ROOM:
                self._open_list = kernel.grow(self._open_list, 2 * len(self._open_list.entries))
        self.expansions += progress.expansions
        nodes = self._nodes
        if outcome == kernel.PATH_FOUND:
            kernel.lower_upper_bounds(self._graph, nodes, start, progress.transition)
        if weight == 1.0 or outcome == kernel.NO_PATH:
            reached = np.flatnonzero(nodes.search_number[: len(self.product)] == self._search_number)
            bounds = np.maximum(nodes.lower_bounds[reached], progress.least_priority - nodes.cost_so_far[reached])
            nodes.lower_bounds[reached] = np.minimum(nodes.upper_bounds[reached], bounds)
            if outcome != kernel.STOPPED and nodes.upper_bounds[start] < np.inf:
                kernel.prove_best_path(self.product.successors, nodes, start)
            elif outcome == kernel.NO_PATH:
                nodes.lower_bounds[start] = np.inf
        return outcome != kernel.STOPPED

    def _expansions_left(self, limit: int) -> int:
        """The number of expansions up to a limit that are left, and at least a few."""
        return max(min(LEAST_EXPANSIONS, self.expansion_limit), limit - self.expansions)

    def _is_proven(self, node: int) -> bool:
        """Whether the best known path from a node is optimal, or known not to exist."""
        return bool(self._nodes.upper_bounds[node] <= self._nodes.lower_bounds[node])

    @property
    def _graph(self) -> kernel.Graph:
        return kernel.Graph(self.product.successors, self.product.situations, self.costs)

    def _expand(self, nodes: NDArray[np.int64]) -> None:
        unexpanded = nodes[self.product.successors[nodes, 0] == NOT_EXPANDED]
        if not len(unexpanded):
            return
        self.product.expand(unexpanded)
        if len(self.product) > self.max_nodes:
            raise TooManyNodesMetError(
                f"the searches of this scene met more than {self.max_nodes:,} nodes. Raise max_nodes (--max-states), or"
                " plan for a shorter task"
            )
        self._add_new_nodes()

    def _add_new_nodes(self) -> None:
        """Make room for the nodes that the product has added, price their situations, and bound them."""
        first, end = self._initialised, len(self.product)
        if first == end:
            return
        if end > len(self._nodes.lower_bounds):
            self._nodes = kernel.grow(self._nodes, max(end, 2 * len(self._nodes.lower_bounds)))
        if self.product.situations[first:end].max() >= len(self.costs):
            assert self._cost is not None
            new = states_alone(self.product.world, self.product.situation_states[len(self.costs) :])
            costs = self._cost(new)
            _check(costs)
            self.costs = np.vstack([self.costs, costs])
        self._nodes.initialise(first, end)
        self._raise_lower_bounds(first)
        if self._has_estimates:
            self._estimate(first)
        self._initialised = end

    def _raise_lower_bounds(self, first: int) -> None:
        """Raise the lower bounds of the nodes from `first` on to the bounds of the guide."""
        if self.product.guide is None:
            return
        bounds, end = self.product.guide.lower_bounds(first), len(self.product)
        lower, upper = self._nodes.lower_bounds[first:end], self._nodes.upper_bounds[first:end]
        lower[:] = np.where(bounds > 0, np.minimum(upper, np.maximum(lower, bounds)), lower)

    def _estimate(self, first: int) -> None:
        """Estimate the cost-to-go of the nodes from `first` on, for searches that need not be optimal."""
        guide, end = self.product.guide, len(self.product)
        estimates = guide.estimates(first) if guide is not None else 0.0
        self._nodes.estimates[first:end] = np.maximum(estimates, self._nodes.lower_bounds[first:end])


def _check(costs: NDArray[np.float64]) -> None:
    if not (costs.min(initial=np.inf) > 0 and costs.max(initial=0.0) < np.inf):
        raise BadCostError("costs must be finite and above zero; bound the cost model from below")
