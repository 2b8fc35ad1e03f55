"""The gradient where the world slips: expected uses."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from strategies_planning import slipping_problems

from wfairl.core.costs.expected_paths import expect_paths
from wfairl.core.planning import build_product
from wfairl.core.planning.expected_cost import expected_cost_to_go
from wfairl.core.worlds import explore_world


def solve(product, costs):
    return expected_cost_to_go(product.graph, product.chances, costs, tolerance=1e-13)


@settings(max_examples=100)
@given(slipping_problems())
def test_expected_uses_are_the_derivative_of_the_expected_cost_to_go(problem):
    product = build_product(explore_world(problem.world), problem.automaton)
    assume(product.chances is not None)
    rng = problem.rng
    costs = rng.uniform(0.5, 1.5, product.successors.shape)
    solution = solve(product, costs)
    nodes = np.flatnonzero(np.isfinite(solution.cost_to_go))
    assume(len(nodes))
    nodes = rng.choice(nodes, 3)
    paths = expect_paths(product.successors, product.chances, solution, nodes)
    Q = solution.control_cost_to_go[nodes]
    live = np.isfinite(Q)

    # Expected uses times costs, and the price of failures, are the cost-to-go itself.
    counted = product.graph.transition
    failures = paths.failures * costs.reshape(-1)[counted].mean()
    sums = paths.sums(costs.reshape(-1, 1)[paths.transitions])[:, :, 0] + failures
    assert np.allclose(sums[live], Q[live], rtol=1e-7)

    weights = np.where(live, rng.normal(size=Q.shape), 0.0)
    gradient = np.zeros(costs.size)
    np.add.at(gradient, paths.transitions, paths.weights(weights))
    np.add.at(gradient, counted, (weights * paths.failures).sum() / len(counted))
    direction, step = rng.normal(size=costs.shape), 1e-6
    ahead, behind = (solve(product, costs + sign * step * direction).control_cost_to_go[nodes] for sign in (1, -1))
    change = (weights[live] * (ahead[live] - behind[live])).sum() / (2 * step)
    assert (gradient * direction.reshape(-1)).sum() == pytest.approx(change, abs=2e-4, rel=1e-4)
