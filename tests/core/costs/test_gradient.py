import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_learning import loss_of_steps, path_by_walking
from strategies_learning import TwoPaths, scenes
from strategies_planning import Graph, graphs

from wfairl.core.costs.gradient import OptimalPaths, step_losses, trace_paths
from wfairl.core.planning.shortest_path import cost_to_go, reverse_graph

seeds = st.integers(0, 2**32 - 1)


def paths_of(graph: Graph, costs: np.ndarray, nodes: np.ndarray) -> OptimalPaths:
    return trace_paths(graph.successors, cost_to_go(reverse_graph(graph.successors), costs), nodes)


def loss_gradient(successors, costs, nodes, controls, temperature) -> np.ndarray:
    """dL/dc of every transition by Proposition 1, shape [nodes, controls]."""
    paths = trace_paths(successors, cost_to_go(reverse_graph(successors), costs), nodes)
    _, by_Q = step_losses(paths.control_cost_to_go, controls, temperature)
    return on_transitions(paths, by_Q / len(controls), costs.shape)


def on_transitions(paths: OptimalPaths, by_Q: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    gradient = np.zeros(shape)
    np.add.at(gradient.reshape(-1), paths.transitions, paths.weights(by_Q))
    return gradient


@settings(max_examples=60)
@given(graphs(), seeds)
def test_the_derivative_of_q_counts_the_visits_of_the_optimal_path(graph, seed):
    rng = np.random.default_rng(seed)
    solution = cost_to_go(reverse_graph(graph.successors), graph.costs)
    nodes = rng.integers(len(graph.successors), size=3)
    paths = trace_paths(graph.successors, solution, nodes)
    for i, node in enumerate(nodes):
        for control in range(graph.successors.shape[1]):
            q = solution.control_cost_to_go[node, control]
            if q == np.inf:
                continue
            visits = np.zeros(graph.successors.shape)
            for transition in path_by_walking(graph.successors, solution.best_control, int(node), control):
                visits[transition] += 1
            one = np.zeros(paths.control_cost_to_go.shape)
            one[i, control] = 1.0
            assert np.array_equal(on_transitions(paths, one, graph.costs.shape), visits)
            assert (visits * graph.costs).sum() == pytest.approx(q)  # Q is homogeneous in the costs


@settings(max_examples=60)
@given(scenes(), seeds, st.sampled_from([0.1, 0.5, 2.0]))
def test_the_gradient_equals_finite_differences_where_the_optimum_is_unique(scene, seed, temperature):
    rng = np.random.default_rng(seed)
    successors = scene.product.successors
    costs = rng.uniform(0.5, 1.5, successors.shape)  # so that the optimum is unique, almost surely
    gradient = loss_gradient(successors, costs, scene.nodes, scene.controls, temperature)
    step = 1e-6
    for _ in range(5):
        direction = rng.normal(size=costs.shape)
        ahead, behind = (
            loss_of_steps(successors, costs + sign * step * direction, scene.nodes, scene.controls, temperature)
            for sign in (1, -1)
        )
        assert (gradient * direction).sum() == pytest.approx((ahead - behind) / (2 * step), abs=1e-6)


@settings(max_examples=60)
@given(seeds, st.floats(0.05, 5))
def test_the_log_likelihood_has_the_derivative_of_equation_6_with_the_sign_put_right(seed, temperature):
    rng = np.random.default_rng(seed)
    Q = rng.uniform(1, 5, (1, 4))
    control = rng.integers(4, size=1)
    (loss,), derivative = step_losses(Q, control, temperature)
    weights = np.exp(-Q[0] / temperature)
    assert loss == pytest.approx(-np.log(weights[control[0]] / weights.sum()))
    expected = ((np.arange(4) == control) - weights / weights.sum()) / temperature
    assert derivative[0] == pytest.approx(expected, abs=1e-12)
    for u in range(4):
        ahead, behind = (step_losses(Q + move * np.eye(4)[u], control, temperature)[0][0] for move in (1e-6, -1e-6))
        assert derivative[0, u] == pytest.approx((ahead - behind) / 2e-6, abs=1e-6)


@settings(max_examples=60)
@given(st.integers(0, 3))
def test_a_control_that_leads_nowhere_has_probability_0_and_no_gradient(dead):
    Q = np.array([[1.0, 2.0, 3.0, 4.0]])
    Q[0, dead] = np.inf
    loss, derivative = step_losses(Q, np.array([(dead + 1) % 4]), 0.5)
    assert np.isfinite(loss).all()
    assert np.isfinite(derivative).all()
    assert derivative[0, dead] == 0


def two_path_loss(costs, temperature=0.5):
    """Closed form of the loss of choosing the short way; costs of short, long, and the two controls of the middle."""
    a, b = costs[0], costs[1] + min(costs[2], costs[3])
    return a / temperature + np.log(np.exp(-a / temperature) + np.exp(-b / temperature))


@settings(max_examples=60)
@given(st.lists(st.floats(0.1, 3), min_size=4, max_size=4))
def test_the_loss_of_two_paths_has_its_closed_form(costs):
    product = TwoPaths().product()
    table = np.array(costs).reshape(2, 2)
    solution = cost_to_go(product.graph, table)
    (loss,), _ = step_losses(solution.control_cost_to_go[[0]], np.array([0]), 0.5)
    assert loss == pytest.approx(two_path_loss(costs))


@settings(max_examples=60)
@given(st.floats(0.1, 3), st.floats(0.1, 3), st.floats(0.1, 3), st.integers(0, 3))
def test_where_the_optimum_is_not_unique_the_gradient_is_a_subgradient(short, long, either, which):
    """Both controls in the middle cost the same: along each cost the derivative lies between the one-sided ones."""
    product = TwoPaths().product()
    costs = np.array([[short, long], [either, either]])
    gradient = loss_gradient(product.successors, costs, np.array([0]), np.array([0]), 0.5).reshape(-1)
    step = 1e-6
    slopes = []
    for sign in (1, -1):
        moved = costs.reshape(-1).copy()
        moved[which] += sign * step
        slopes.append(sign * (two_path_loss(moved) - two_path_loss(costs.reshape(-1))) / step)
    assert min(slopes) - 1e-5 <= gradient[which] <= max(slopes) + 1e-5
    # and it moves the loss the right way for the pair, which is the derivative that exists
    pair = (two_path_loss([short, long, either + step, either + step]) - two_path_loss(costs.reshape(-1))) / step
    assert gradient[2:].sum() == pytest.approx(pair, abs=1e-5)


@settings(max_examples=60)
@given(graphs(), seeds)
def test_what_follows_in_the_tree_has_a_lower_number(graph, seed):
    rng = np.random.default_rng(seed)
    paths = paths_of(graph, graph.costs, rng.integers(len(graph.successors), size=4))
    assert (paths.following < np.arange(len(paths.following))).all()
