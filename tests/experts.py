"""The expert of one scene, solved once and run many times: the package's own planner, agent and rollout."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from wfairl.core.automata.automaton import Automaton
from wfairl.core.planning.agent import Agent
from wfairl.core.planning.cost import Cost, unit_cost
from wfairl.core.planning.planner import AutoPlanner, Planner, Solution
from wfairl.core.planning.rollout import act
from wfairl.core.worlds.simulator import ModelSimulator
from wfairl.core.worlds.world import World


@dataclass(frozen=True, eq=False)
class Expert:
    """It knows the rule and the cost."""

    world: World[Any]
    rule: Automaton
    cost: Cost
    solution: Solution

    @property
    def optimal_cost(self) -> float:
        """The least cost to success; with unit cost, the fewest steps."""
        return float(self.solution.control_cost_to_go(self.world.initial_state, 0).min())

    def act(self, temperature: float, horizon: int, rng: np.random.Generator) -> tuple[list[int], bool]:
        """The controls of an episode, and whether they fulfil the rule."""
        agent = Agent(self.rule, self.cost, temperature, rng, _Solved(self.solution))
        agent.start(self.world)
        episode = act(agent, ModelSimulator(self.world), self.rule, horizon, seed=0)
        return list(episode.controls), episode.is_success


@dataclass(frozen=True)
class _Solved:
    """A planner that has planned already."""

    solution: Solution

    def solve(self, *_: Any) -> Solution:
        return self.solution


def solve(world: World[Any], rule: Automaton, cost: Cost = unit_cost, planner: Planner | None = None) -> Expert:
    """The expert of a scene; raises `UnsatisfiableTaskError` where there is no plan."""
    expert = Expert(world, rule, cost, (planner or AutoPlanner()).solve(world, rule, cost))
    if expert.optimal_cost == np.inf:
        expert.solution.plan()
    return expert
