import numpy as np
import pytest
from hypothesis import given, settings
from oracles_planning import dijkstra_of_networkx, dijkstra_of_scipy, dijkstra_with_heap
from strategies_planning import Graph, draw_costs, graphs

from wfairl.core.automata.automaton import ACCEPTED, DEAD, UNAVAILABLE
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning import build_product
from wfairl.core.planning.cost import feature_cost
from wfairl.core.planning.shortest_path import NO_CONTROL, BadCostError, CostToGo, cost_to_go, reverse_graph
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import GraphWorld


def solve(graph: Graph) -> CostToGo:
    return cost_to_go(reverse_graph(graph.successors), graph.costs)


@settings(max_examples=300)
@given(graphs())
def test_cost_to_go_equals_that_of_networkx_scipy_and_a_heap(graph: Graph):
    found = solve(graph).cost_to_go
    np.testing.assert_allclose(found, dijkstra_of_networkx(graph.successors, graph.costs), rtol=1e-12)
    np.testing.assert_allclose(found, dijkstra_of_scipy(graph.successors, graph.costs), rtol=1e-12)
    np.testing.assert_allclose(found, dijkstra_with_heap(graph.successors, graph.costs), rtol=1e-12)


@pytest.mark.parametrize("kind", ["ones", "ties", "uniform", "heavy"])
@pytest.mark.parametrize("shape", ["random", "corridor", "star"])
def test_cost_to_go_equals_that_of_a_heap_on_graphs_that_outgrow_the_piles(kind: str, shape: str):
    rng = np.random.default_rng(7)
    nodes = 20_000
    successors = rng.integers(0, nodes, (nodes, 3)).astype(np.int32)
    if shape == "corridor":
        successors[:, :2] = np.clip(np.arange(nodes)[:, None] + [1, -2], 0, nodes - 1)
        successors[:, 2] = DEAD
    if shape == "star":
        successors[:, 0] = 0
    successors[nodes // 2, 0] = ACCEPTED
    successors[0, 2] = ACCEPTED
    graph = Graph(successors, draw_costs(kind, successors.shape, rng))
    np.testing.assert_allclose(solve(graph).cost_to_go, dijkstra_with_heap(graph.successors, graph.costs), rtol=1e-12)


@given(graphs())
def test_bellman_equality_holds_exactly_everywhere(graph: Graph):
    solution = solve(graph)
    V = solution.cost_to_go
    # Counted from the end, DEAD is -1, ACCEPTED -2 and UNAVAILABLE -3.
    ahead = np.append(V, [np.inf, 0.0, np.inf])[graph.successors]
    np.testing.assert_array_equal(solution.control_cost_to_go, graph.costs + ahead)
    np.testing.assert_array_equal(V, solution.control_cost_to_go.min(axis=1))


@given(graphs())
def test_best_control_is_the_first_minimiser_and_leads_to_acceptance_at_the_promised_cost(graph: Graph):
    solution = solve(graph)
    for start, promised in enumerate(solution.cost_to_go):
        if promised == np.inf:
            assert solution.best_control[start] == NO_CONTROL
            continue
        assert solution.best_control[start] == np.argmin(solution.control_cost_to_go[start])
        node, paid, steps = start, 0.0, 0
        while node != ACCEPTED:
            control = solution.best_control[node]
            paid += graph.costs[node, control]
            node = graph.successors[node, control]
            steps += 1
            assert steps <= len(graph.successors)
        assert paid == pytest.approx(promised, rel=1e-12)


@given(graphs())
def test_raising_a_cost_never_lowers_a_cost_to_go(graph: Graph):
    rng = np.random.default_rng(0)
    raised = graph.costs * np.where(rng.random(graph.costs.shape) < 0.3, 2.0, 1.0)
    assert (solve(Graph(graph.successors, raised)).cost_to_go >= solve(graph).cost_to_go).all()


@given(graphs())
def test_the_graph_can_be_used_again_with_other_costs(graph: Graph):
    reversed_graph = reverse_graph(graph.successors)
    cost_to_go(reversed_graph, np.ones_like(graph.costs))
    again = cost_to_go(reversed_graph, graph.costs)
    np.testing.assert_array_equal(again.cost_to_go, solve(graph).cost_to_go)


def test_single_node_accepted_at_once_costs_the_transition_and_no_path_costs_inf():
    assert solve(Graph(np.array([[ACCEPTED, 0]]), np.array([[3.0, 1.0]]))).cost_to_go.tolist() == [3.0]
    assert solve(Graph(np.array([[DEAD, 0]]), np.array([[3.0, 1.0]]))).cost_to_go.tolist() == [np.inf]


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_costs_that_are_not_finite_and_positive_are_refused_with_their_place(bad: float):
    with pytest.raises(BadCostError, match="node 1, control 0"):
        solve(Graph(np.array([[1, 1], [0, ACCEPTED]]), np.array([[1.0, 1.0], [bad, 1.0]])))


def test_costs_that_vanish_in_the_sum_are_refused():
    with pytest.raises(BadCostError, match="vanishes"):
        solve(Graph(np.array([[1], [ACCEPTED]]), np.array([[1e-20], [1.0]])))


def test_costs_and_successors_of_the_wrong_shape_are_refused():
    with pytest.raises(BadCostError, match="shape"):
        solve(Graph(np.array([[ACCEPTED]]), np.ones((1, 2))))
    with pytest.raises(BadInputError, match="shape"):
        reverse_graph(np.array([ACCEPTED]))
    with pytest.raises(BadInputError, match="below 1"):
        reverse_graph(np.array([[1]]))
    with pytest.raises(BadInputError, match="below 1"):
        reverse_graph(np.array([[UNAVAILABLE - 1]]))


def test_a_bad_cost_of_features_is_named_with_the_features():
    world = GraphWorld.from_edges([(0, 1), (1, 0)], start=0, features=np.array([[1.0], [5.0]]), propositions=["a"])
    product = build_product(world, visit_in_order("a"))
    with pytest.raises(
        BadCostError, match=r"the toll must be finite and above zero; it is -1.0 for the features \[5.0\]"
    ):
        feature_cost(lambda features: 4 - features[:, 0], "the toll")(product)
