"""The paper's expert (section II-B): it knows the true rule and the true cost, and is more or less rational.

    Q*(x, u)  by equation (1): the least cost of a path from x that starts with u and fulfils the rule
    pi*(u | x)  proportional to  exp(-Q*(x, u) / eta)

Both come from the planner, run on the product of the world and the automaton of the true rule.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from wfairl.automata.automaton import ACCEPTED, Automaton
from wfairl.planning.cost import Cost, unit_cost
from wfairl.planning.plan import check_satisfiable
from wfairl.planning.policy import sample_control
from wfairl.planning.product import Product, build_product
from wfairl.planning.shortest_path import CostToGo, cost_to_go
from wfairl.worlds.world import World


@dataclass(frozen=True, eq=False)
class Expert:
    """The solution of one scene under the true rule and the true cost."""

    product: Product
    solution: CostToGo

    @property
    def optimal_cost(self) -> float:
        """The least cost to success from the initial state; with unit cost, the fewest steps."""
        return float(self.solution.cost_to_go[0])

    def act(self, temperature: float, horizon: int, rng: np.random.Generator) -> tuple[list[int], bool]:
        """Roll the Boltzmann policy out from the initial state.

        Args:
            temperature: eta, from 0 (optimal, ties broken at random) to inf (random).
            horizon: the most steps to take.
            rng: for the draws.

        Returns:
            The controls, and whether they fulfilled the rule within the horizon.
        """
        node = 0
        controls: list[int] = []
        while node >= 0 and len(controls) < horizon:
            Q, available = self.solution.control_cost_to_go[node], self.product.available[node]
            control = sample_control(Q, temperature, rng, available)
            controls.append(control)
            node = int(self.product.successors[node, control])
        return controls, node == ACCEPTED


def solve(world: World[Any], rule: Automaton, cost: Cost = unit_cost) -> Expert:
    """The expert of one scene.

    Args:
        world: the scene.
        rule: when a word counts as success.
        cost: the true cost; 1 for every control unless given.

    Raises:
        UnsatisfiableTaskError: the rule cannot be fulfilled in this scene.
    """
    product = build_product(world, rule)
    solution = cost_to_go(product.graph, cost(product))
    check_satisfiable(product, solution)
    return Expert(product, solution)
