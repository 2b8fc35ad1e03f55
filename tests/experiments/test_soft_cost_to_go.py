import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies_planning import Graph, graphs

from experiments.route_choice.soft_cost_to_go import NoSoftCostToGoError, soft_cost_to_go
from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.policy import probabilities
from wfairl.core.planning.product import build_product
from wfairl.core.planning.shortest_path import cost_to_go, reverse_graph
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.graph import GraphWorld


def solve(graph: Graph, temperature: float):
    try:
        return soft_cost_to_go(reverse_graph(graph.successors), graph.costs, temperature)
    except NoSoftCostToGoError:
        assume(False)


@given(graphs(), st.sampled_from([0.05, 0.2, 0.5]))
def test_soft_cost_to_go_satisfies_its_equation(graph, temperature):
    solution = solve(graph, temperature)
    ahead = np.append(solution.cost_to_go, [np.inf, 0.0, np.inf])[graph.successors]  # DEAD -1, ACCEPTED -2, ... -3
    np.testing.assert_allclose(solution.control_cost_to_go, graph.costs + ahead, rtol=1e-9)
    with np.errstate(divide="ignore"):
        soft = -temperature * np.log(np.exp(-solution.control_cost_to_go / temperature).sum(axis=1))
    reached = np.isfinite(solution.cost_to_go) & (solution.cost_to_go < 300 * temperature)  # where exp has digits
    np.testing.assert_allclose(solution.cost_to_go[reached], soft[reached], rtol=1e-7, atol=1e-9)


@given(graphs())
def test_soft_cost_to_go_tends_to_the_exact_one_as_the_temperature_falls(graph):
    exact = cost_to_go(reverse_graph(graph.successors), graph.costs).cost_to_go
    reached = np.isfinite(exact)
    before = np.full(reached.sum(), np.inf)
    for temperature in (0.05, 0.01, 1e-3, 1e-5):
        gap = exact[reached] - solve(graph, temperature).cost_to_go[reached]
        assert (gap >= -1e-9).all()  # the soft minimum is below the hard one
        assert (gap <= before + 1e-9).all()
        before = gap
    assert (before < 1e-2).all()
    np.testing.assert_array_equal(np.isfinite(solve(graph, 0.05).cost_to_go), reached)


def test_long_ways_do_not_underflow():
    nodes = 5000
    successors = np.arange(1, nodes + 1, dtype=np.int32)[:, None]
    successors[-1] = ACCEPTED
    solution = soft_cost_to_go(reverse_graph(successors), np.ones((nodes, 1)), 0.5)
    assert solution.cost_to_go[0] == pytest.approx(nodes)  # exp(-10,000) is no number


def test_walks_in_circles_that_weigh_more_than_arriving_are_refused_with_advice():
    successors = np.array([[1, 0, ACCEPTED], [0, 1, 1]], np.int32)
    with pytest.raises(NoSoftCostToGoError, match="lower the temperature"):
        soft_cost_to_go(reverse_graph(successors), np.full((2, 3), 0.1), 1.0)
    with pytest.raises(BadInputError, match="above zero"):
        soft_cost_to_go(reverse_graph(successors), np.ones((2, 3)), 0.0)


def test_the_soft_policy_draws_paths_in_proportion_to_the_exponential_of_their_cost():
    """Two ways of cost 2 and one of cost 3 from a to d: MaxEnt takes each in proportion to exp(-cost / eta)."""
    edges = [("a", "b"), ("a", "c"), ("a", "e"), ("b", "d"), ("c", "d"), ("e", "f"), ("f", "d"), ("d", "d")]
    product = build_product(GraphWorld.from_edges(edges, start="a", marks={"d": "done"}), visit_in_order("done"))
    soft = soft_cost_to_go(product.graph, unit_cost(product), 0.5)
    odds = np.exp(-np.array([2.0, 2.0, 3.0]) / 0.5)
    np.testing.assert_allclose(probabilities(soft.control_cost_to_go[0], 0.5), odds / odds.sum())
