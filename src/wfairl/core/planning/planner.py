"""The contract of a planner: the cost-to-go of every control, in any state that an agent may reach.

    solution = planner.solve(world, automaton, cost)
    solution.control_cost_to_go(state, automaton_state)      Q of every control, or None outside the solved part

A policy is the Boltzmann policy over Q (`policy`), so that a new planner changes nothing else. `ExactPlanner` solves
the whole product, `FocusedPlanner` (`focused`) only what is asked for, and `AutoPlanner` (`auto`) chooses by the size
of the world.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.plan import Plan, check_satisfiable, follow_best
from wfairl.core.planning.product import DEFAULT_MAX_STATES, Product, build_product
from wfairl.core.planning.shortest_path import CostToGo, cost_to_go
from wfairl.core.worlds.world import World

Start = tuple[Any, int]
"""A world state and an automaton state."""


class Solution(Protocol):
    """The result of a planner."""

    def control_cost_to_go(self, state: Any, automaton_state: int) -> NDArray[np.float64] | None:
        """Q of every control, inf for one that leads nowhere; shape [controls].

        None for a pair of states outside the solution: plan again from there.
        """
        ...

    def check_satisfiable(self) -> None:
        """Raise `UnsatisfiableTaskError` if acceptance cannot be reached from the start."""
        ...

    def plan(self) -> Plan:
        """A cheapest path from the start to acceptance, or an `UnsatisfiableTaskError`."""
        ...

    @property
    def statistics(self) -> dict[str, int]:
        """The size of the search so far, by name."""
        ...


class Planner(Protocol):
    """A planning algorithm."""

    def solve(self, world: World[Any], automaton: Automaton, cost: Cost, start: Start | None = None) -> Solution:
        """Plan from a world state and an automaton state, the initial ones unless given.

        Raises:
            AcceptsEmptyWordError, ProductTooLargeError, ForeignLabelError: see `build_product`.
        """
        ...


@dataclass(frozen=True)
class ExactPlanner:
    """Builds the whole product and solves it exactly.

    Attributes:
        max_states: the largest number of nodes to build.
    """

    max_states: int = DEFAULT_MAX_STATES

    def solve(
        self, world: World[Any], automaton: Automaton, cost: Cost, start: Start | None = None
    ) -> "ProductSolution":
        product = build_product(world, automaton, self.max_states, start)
        return ProductSolution(product, cost_to_go(product.graph, cost(product)))


@dataclass(eq=False)
class ProductSolution:
    """A product and its cost-to-go.

    Attributes:
        product: of world and automaton.
        solution: the cost-to-go of every node.
    """

    product: Product
    solution: CostToGo
    _last: int = field(default=0, repr=False)

    def control_cost_to_go(self, state: Any, automaton_state: int) -> NDArray[np.float64] | None:
        node = self._find(state, automaton_state)
        if node is None:
            return None
        self._last = node
        return self.solution.control_cost_to_go[node]

    def check_satisfiable(self) -> None:
        check_satisfiable(self.product, self.solution)

    def plan(self) -> Plan:
        return follow_best(self.product, self.solution)

    @property
    def statistics(self) -> dict[str, int]:
        return {"product_states": len(self.product)}

    def _find(self, state: Any, automaton_state: int) -> int | None:
        """The node of a pair of states: nearly always the last one asked for or a successor of it."""
        for node in (self._last, *self.product.successors[self._last]):
            is_candidate = node >= 0 and self.product.automaton_states[node] == automaton_state
            if is_candidate and self.product.state(int(node)) == state:
                return int(node)
        return self.product.find(state, automaton_state)
