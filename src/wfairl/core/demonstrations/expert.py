"""The paper's expert (section II-B): it knows the true rule and the true cost, and is more or less rational.

    Q*(x, u)  by equation (1): the least cost of a path from x that starts with u and fulfils the rule
    pi*(u | x)  proportional to  exp(-Q*(x, u) / eta)

Both come from the planner, run on the product of the world and the automaton of the true rule.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from wfairl.core.automata.automaton import DEAD, Automaton
from wfairl.core.planning.cost import Cost, unit_cost
from wfairl.core.planning.planner import AutoPlanner, Planner, Solution
from wfairl.core.planning.policy import sample_control
from wfairl.core.worlds.world import World, available_controls


@dataclass(frozen=True, eq=False)
class Expert:
    """The solution of one scene under the true rule and the true cost."""

    world: World[Any]
    rule: Automaton
    solution: Solution

    @property
    def optimal_cost(self) -> float:
        """The least cost to success from the initial state; with unit cost, the fewest steps."""
        Q = self.solution.control_cost_to_go(self.world.initial_state, 0)
        assert Q is not None  # the planner starts there
        return float(Q.min())

    def act(self, temperature: float, horizon: int, rng: np.random.Generator) -> tuple[list[int], bool]:
        """Roll the Boltzmann policy out from the initial state.

        Args:
            temperature: eta, from 0 (optimal, ties broken at random) to inf (random).
            horizon: the most steps to take.
            rng: for the draws.

        Returns:
            The controls, and whether they fulfilled the rule within the horizon.
        """
        state, rule_state = self.world.initial_state, 0
        controls: list[int] = []
        while len(controls) < horizon:
            Q = self.solution.control_cost_to_go(state, rule_state)
            assert Q is not None  # every reachable state has one
            controls.append(sample_control(Q, temperature, rng, available_controls(self.world, state)))
            before, state = state, self.world.step(state, controls[-1])
            rule_state = self.rule.read(rule_state, self.world.label(before, controls[-1], state))
            if rule_state == DEAD:
                return controls, False
            if self.rule.accepting[rule_state]:
                return controls, True
        return controls, False


def solve(world: World[Any], rule: Automaton, cost: Cost = unit_cost, planner: Planner | None = None) -> Expert:
    """The expert of one scene.

    Args:
        world: the scene.
        rule: when a word counts as success.
        cost: the true cost; 1 for every control unless given.
        planner: computes the cost-to-go; chosen by the size of the world unless given.

    Raises:
        UnsatisfiableTaskError: the rule cannot be fulfilled in this scene.
    """
    solution = (AutoPlanner() if planner is None else planner).solve(world, rule, cost)
    expert = Expert(world, rule, solution)
    if expert.optimal_cost == np.inf:
        solution.plan()  # which says why there is none
    return expert
