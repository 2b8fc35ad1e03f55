"""Your own planner, with another cost-to-go. Here the minimum over controls is soft (maximum entropy):

    V(s) = -eta log sum_u exp(-Q(s, u) / eta),    Q(s, u) = c(s, u) + V(s')

A policy over this Q prefers states with many good continuations. `exact` plans with the hard minimum, as in the paper.
"""

import numpy as np
from own_world import TASK
from scipy.special import logsumexp

from wfairl import PlannedPolicy, build_product, evaluate, unit_cost
from wfairl.core.automata import ACCEPTED
from wfairl.core.planning import Plan, UnsatisfiableTaskError, follow


class SoftPlanner:
    """A `Planner` has one method, `solve`."""

    def __init__(self, temperature):
        self.temperature = temperature

    def solve(self, world, automaton, cost, start=None):
        product = build_product(world, automaton, start=start)
        costs, after = np.where(product.available, cost(product), np.inf), product.successors
        values, change = np.full(len(product), np.inf), np.inf
        while change > 1e-9:
            ahead = np.where(after >= 0, values[after], np.where(after == ACCEPTED, 0.0, np.inf))
            soft = -self.temperature * logsumexp(-(costs + ahead) / self.temperature, axis=1)
            change, values = np.max(np.exp(-soft) - np.exp(-values)), soft
        return SoftSolution(product, costs + ahead)


class SoftSolution:
    """The result of a planner: Q in every product state."""

    def __init__(self, product, control_values):
        self.product, self.control_values = product, control_values

    def control_cost_to_go(self, state, automaton_state):
        node = self.product.find(state, automaton_state)
        return None if node is None else self.control_values[node]

    def plan(self):
        node, controls = 0, []
        while node >= 0 and np.isfinite(self.control_values[node]).any():
            controls.append(int(self.control_values[node].argmin()))
            node = int(self.product.successors[node, controls[-1]])
        if node != ACCEPTED:
            raise UnsatisfiableTaskError("the task cannot be satisfied in this world")
        cost = float(self.control_values[0].min())
        path = follow(self.product.world, controls, self.product.automaton, self.product.start)
        return Plan(path, cost, lower_bound=cost)


if __name__ == "__main__":
    exact = PlannedPolicy("exact", TASK.rule, unit_cost, temperature=0.7)
    soft = PlannedPolicy("soft", TASK.rule, unit_cost, temperature=0.7, planner=SoftPlanner(0.7))
    for policy in (exact, soft):
        print(f"{policy.name}: {evaluate(TASK, policy, range(32)).mean_cost:.1f} steps")
