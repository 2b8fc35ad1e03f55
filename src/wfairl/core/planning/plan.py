"""The cheapest path through a product to acceptance, or why there is none."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, UNAVAILABLE, Automaton, Label
from wfairl.core.automata.sentences import describe_state
from wfairl.core.automata.words import format_label
from wfairl.core.planning.expected_cost import success_probability
from wfairl.core.planning.path import Path, follow
from wfairl.core.planning.product import Product
from wfairl.core.planning.shortest_path import NO_CONTROL, CostToGo, cost_to_go, reverse_graph
from wfairl.core.support.errors import FailedRunError
from wfairl.core.worlds.plain import state_after

LEAST_LENGTH = 1e-6
"""Added to -log p of every step of a path, so that shorter ones of two equally probable paths are preferred."""


class UnsatisfiableTaskError(FailedRunError):
    """No controls fulfil the task in this world."""


@dataclass(frozen=True)
class Detour:
    """Where a policy goes if something else happens than along its most probable path."""

    step: int  # of the path after which it leaves the path
    probability: float  # of leaving it so, given that the path was followed so far
    state: Any  # of the world then
    control: int | None  # what the policy does there; None if the task is done, or can no longer be
    success: float  # the probability that it still succeeds


@dataclass(frozen=True)
class Plan:
    """A path that fulfils the task; where the world slips, the most probable one under the best policy."""

    path: Path
    cost: float  # of the path; where the world slips, the expected cost of the policy until it succeeds or fails
    lower_bound: float  # on the cost of every path; equal to `cost` where the path is proven optimal
    statistics: Mapping[str, int] = field(default_factory=dict)  # the size of the search, by name
    success: float = 1.0  # the probability that the policy fulfils the task; 1 where nothing slips
    detours: tuple[Detour, ...] = ()  # where the policy goes otherwise, in the order of the steps

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
    return ProductSolution(product, product.cost_to_go(costs)).plan()


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
        product = self.product
        if self.solution.cost_to_go[0] == np.inf:
            raise unsatisfiable(product.automaton, product.labels_by_automaton_state())
        cost, success = float(self.solution.cost_to_go[0]), 1.0
        if product.chances is None:
            steps = self._best_steps(self.solution.best_control)
        else:
            success = float(self.success[0])
            cost -= (1.0 - success) * self.solution.failure
            steps = self._best_steps(self._likeliest_effects())
        controls = [int(self.solution.best_control[node]) for node, _ in steps]
        effects = () if product.chances is None else [effect for _, effect in steps]
        path = follow(product.world, controls, product.automaton, product.start, effects)
        return Plan(path, cost, cost, {"product_states": len(product)}, success, tuple(self._detours(steps)))

    def _detours(self, steps: Sequence[tuple[int, int]]) -> Iterator[Detour]:
        """What else may happen along the nodes and effects of a path; effects that lead to one node count together."""
        product, chances = self.product, self.product.chances
        for step, (node, taken) in enumerate(steps if chances is not None else ()):
            assert chances is not None
            found: dict[tuple[int, Any], float] = {}
            for effect, probability in chances.lottery(node, int(self.solution.best_control[node])):
                after = int(product.successors[node, effect])
                if after != product.successors[node, taken]:
                    key = after, state_after(product.world, product.state(node), effect)
                    found[key] = found.get(key, 0.0) + probability
            for (after, state), probability in found.items():
                control = int(self.solution.best_control[after]) if after >= 0 else NO_CONTROL
                success = float(self.success[after]) if after >= 0 else float(after == ACCEPTED)
                yield Detour(step, probability, state, None if control == NO_CONTROL else control, success)

    @cached_property
    def success(self) -> NDArray[np.float64]:
        """The probability that the best policy fulfils the task from every node; shape [nodes]."""
        chances = self.product.chances
        if chances is None:
            return np.isfinite(self.solution.cost_to_go).astype(np.float64)
        return success_probability(self.product.successors, chances, self.solution)

    def _best_steps(self, best_effect: NDArray[np.int32]) -> list[tuple[int, int]]:
        """The nodes from the start to acceptance along an effect of each node, with these effects."""
        node, steps = 0, []
        while node >= 0:
            steps.append((node, int(best_effect[node])))
            node = int(self.product.successors[node, steps[-1][1]])
        return steps

    def _likeliest_effects(self) -> NDArray[np.int32]:
        """The effect of each node along the path to acceptance that is most probable under the best policy."""
        chances, best = self.product.chances, self.solution.best_control
        assert chances is not None
        nodes = np.flatnonzero(best >= 0)
        p = np.zeros(self.product.successors.shape)
        p[nodes] = chances.dense(self.product.successors.shape[1])[chances.kind[nodes], best[nodes]]
        possible = np.where(p > 0, self.product.successors, UNAVAILABLE)
        # -log p adds up along a path; of paths that are as probable, the shortest.
        costs = -np.log(np.where(p > 0, p, 1.0)) + LEAST_LENGTH
        return cost_to_go(reverse_graph(possible), costs).best_control

    def _find(self, state: Any, automaton_state: int) -> int | None:
        """The node of a pair of states: nearly always the last one asked for or a successor of it."""
        for node in (self._last, *self.product.successors[self._last]):
            is_candidate = node >= 0 and self.product.automaton_states[node] == automaton_state
            if is_candidate and self.product.state(int(node)) == state:
                return int(node)
        return self.product.find(state, automaton_state)


def unsatisfiable(automaton: Automaton, labels: Mapping[int, Collection[Label]]) -> UnsatisfiableTaskError:
    """The error that says which labels could never be produced, given all labels by the automaton state they leave."""
    lacking = {state: automaton.lacking(state, there) for state, there in sorted(labels.items())}
    waiting = "; ".join(
        f"{describe_state(automaton, state)} it waits for {_some(texts)}" for state, texts in lacking.items() if texts
    )
    ever = frozenset().union(*(label for there in labels.values() for label in there))
    never = ", ".join(sorted(automaton.propositions - ever))
    breaking = [
        format_label(label)
        for state, there in labels.items()
        for label in there
        if automaton.read(state, label) == DEAD
    ]
    unless = f" unless the rule is broken, as by {_some(sorted(set(breaking)))}" if breaking else ""
    return UnsatisfiableTaskError(
        "the task cannot be satisfied in this world: "
        + (f"{waiting}, and no controls produce that there" if waiting else "every way to complete it is blocked")
        + f"{f' ({never} can never hold{unless})' if never else ''}."
        " Plan in another world (another seed), or learn the automaton from words that cover worlds like this one."
    )


def _some(texts: Sequence[str]) -> str:
    """The first four, for people."""
    more = len(texts) - 4
    return " or ".join(f"'{text}'" for text in texts[:4]) + (f" or {more} more" if more > 0 else "")
