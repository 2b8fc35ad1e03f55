"""Your own planner, with another cost-to-go. Here the minimum over controls is soft (maximum entropy):

    V(s) = -eta log sum_u exp(-Q(s, u) / eta),    Q(s, u) = E[c(s, u) + V(s')]

A policy over this Q prefers states with many good continuations. `exact` plans with the hard minimum, as in the paper.
Where the world slips, s' may be a failure, which costs as much as 1,000 mean steps.
"""

import numpy as np
from own_world import TASK
from scipy.special import logsumexp

from wfairl import PlannedPolicy, build_product, evaluate, unit_cost
from wfairl.core.automata import ACCEPTED
from wfairl.core.planning import PLANNERS, find_plan


class SoftPlanner:
    """A `Planner` has one method, `solve`."""

    def __init__(self, temperature):
        self.temperature = temperature

    def solve(self, world, automaton, cost, start=None):
        product = build_product(world, automaton, start=start)
        costs, after = cost(product), product.successors
        failure = 1000 * costs.mean()
        values, change = np.full(len(product), failure), np.inf
        while change > 1e-9:
            ahead = np.where(after >= 0, values[after], np.where(after == ACCEPTED, 0.0, failure))
            Q = product.expected(costs + ahead)
            soft = np.minimum(-self.temperature * logsumexp(-Q / self.temperature, axis=1), failure)
            change, values = np.max(values - soft), soft
        return SoftSolution(product, costs, np.where(failure > Q, Q, np.inf))


class SoftSolution:
    """The result of a planner: Q in every product state, and a plan, that of least cost."""

    def __init__(self, product, costs, control_values):
        self.product, self.costs, self.control_values = product, costs, control_values

    def control_cost_to_go(self, state, automaton_state):
        node = self.product.find(state, automaton_state)
        return None if node is None else self.control_values[node]

    def plan(self):
        return find_plan(self.product, self.costs)


# `wfairl --tasks examples/own_planner.py plan corridor --planner soft` finds it; it takes a limit on states.
PLANNERS.register("soft", lambda max_states: SoftPlanner(0.7))

if __name__ == "__main__":
    exact = PlannedPolicy("exact", TASK.rule, unit_cost, temperature=0.7)
    soft = PlannedPolicy("soft", TASK.rule, unit_cost, temperature=0.7, planner=SoftPlanner(0.7))
    for policy in (exact, soft):
        print(f"{policy.name}: {evaluate(TASK, policy, range(32)).mean_cost:.1f} steps")
