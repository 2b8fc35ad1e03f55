"""The cheapest path through a product to acceptance, or why there is none."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.planning.path import Path, follow
from wfairl.core.planning.product import Product
from wfairl.core.planning.shortest_path import CostToGo, cost_to_go
from wfairl.core.support.errors import FailedRunError


class UnsatisfiableTaskError(FailedRunError):
    """No controls fulfil the task in this world."""


@dataclass(frozen=True)
class Plan:
    """A path that fulfils the task.

    Attributes:
        path: the path.
        cost: of the path.
        lower_bound: on the cost of every path; equal to `cost` where the path is proven optimal.
        statistics: the size of the search, by name.
    """

    path: Path
    cost: float
    lower_bound: float
    statistics: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_optimal(self) -> bool:
        """Whether the path is proven optimal."""
        return self.lower_bound >= self.cost


def find_plan(product: Product, costs: NDArray[np.float64]) -> Plan:
    """A cheapest path from the start to acceptance; among equal controls, the first.

    Args:
        product: world and automaton.
        costs: c(s, u), finite and above zero; shape [nodes, controls].

    Raises:
        UnsatisfiableTaskError: there is no path; says which labels could never be produced.
    """
    return ProductSolution(product, cost_to_go(product.graph, costs)).plan()


@dataclass(eq=False)
class ProductSolution:
    """A product and its cost-to-go."""

    product: Product
    solution: CostToGo
    _last: int = field(default=0, repr=False)

    def control_cost_to_go(self, state: Any, automaton_state: int) -> NDArray[np.float64] | None:
        """Q of every control; None for a pair of states that is no node of the product."""
        node = self._find(state, automaton_state)
        if node is None:
            return None
        self._last = node
        return self.solution.control_cost_to_go[node]

    def plan(self) -> Plan:
        """A cheapest path from the start to acceptance; see `find_plan`."""
        cost, product = float(self.solution.cost_to_go[0]), self.product
        path = follow(product.world, self.best_controls(), product.automaton, product.start)
        return Plan(path, cost, cost, {"product_states": len(product)})

    def best_controls(self) -> list[int]:
        """The controls of a cheapest path from the start to acceptance; see `find_plan`."""
        if self.solution.cost_to_go[0] == np.inf:
            raise unsatisfiable(self.product.automaton, self.product.labels_by_automaton_state())
        node, controls = 0, []
        while node >= 0:
            controls.append(int(self.solution.best_control[node]))
            node = int(self.product.successors[node, controls[-1]])
        return controls

    def _find(self, state: Any, automaton_state: int) -> int | None:
        """The node of a pair of states: nearly always the last one asked for or a successor of it."""
        for node in (self._last, *self.product.successors[self._last]):
            is_candidate = node >= 0 and self.product.automaton_states[node] == automaton_state
            if is_candidate and self.product.state(int(node)) == state:
                return int(node)
        return self.product.find(state, automaton_state)


def unsatisfiable(automaton: Automaton, labels: Mapping[int, Collection[Label]]) -> UnsatisfiableTaskError:
    """The error that says which labels could never be produced.

    Args:
        automaton: the task.
        labels: of all transitions, by the automaton state that they leave.
    """
    lacking = {state: automaton.lacking(state, there) for state, there in sorted(labels.items())}
    waiting = "; ".join(
        f"in automaton state {state} it waits for {_some(texts)}" for state, texts in lacking.items() if texts
    )
    ever = frozenset().union(*(label for there in labels.values() for label in there))
    never = ", ".join(sorted(automaton.propositions - ever))
    return UnsatisfiableTaskError(
        f"the task cannot be satisfied in this world: {waiting or 'every path is blocked'}, and no controls produce"
        f" that there{f' ({never} can never hold)' if never else ''}."
        " Plan in another world (another seed), or learn the automaton from words that cover worlds like this one."
    )


def _some(texts: Sequence[str], most: int = 4) -> str:
    """The first few, for people."""
    more = len(texts) - most
    return " or ".join(f"'{text}'" for text in texts[:most]) + (f" or {more} more" if more > 0 else "")
