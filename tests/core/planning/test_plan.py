import numpy as np
import pytest
from hypothesis import given, settings
from oracles_planning import cheapest_costs_by_enumeration
from strategies_planning import Problem, TableWorld, draw_costs, problems, rule

from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.path import nodes_along
from wfairl.core.planning.plan import UnsatisfiableTaskError, find_plan
from wfairl.core.planning.product import build_product


@given(problems())
def test_plan_is_accepted_and_costs_what_it_says(problem: Problem):
    product = build_product(problem.world, problem.automaton)
    costs = draw_costs("uniform", product.successors.shape, problem.rng)
    try:
        plan = find_plan(product, costs)
    except UnsatisfiableTaskError:
        return
    assert plan.path.is_accepted
    assert problem.automaton.accepts(plan.path.word)
    nodes = nodes_along(product, plan.path.controls)
    paid = costs[list(nodes[:-1]), list(plan.path.controls)].sum()
    assert plan.cost == pytest.approx(paid)


@settings(max_examples=50)
@given(problems(max_states=4))
def test_no_sequence_of_controls_is_shorter_than_the_plan(problem: Problem):
    product = build_product(problem.world, problem.automaton)
    horizon = 7
    best = cheapest_costs_by_enumeration(problem.world, problem.automaton, lambda _state, _control: 1.0, horizon)
    try:
        length = find_plan(product, unit_cost(product)).cost
    except UnsatisfiableTaskError:
        length = np.inf
    assert length == best or (best == np.inf and length > horizon)


def test_what_only_the_rule_forbids_is_not_said_to_be_impossible():
    world = TableWorld(np.array([[1], [2], [2]]), np.array([[1], [2], [0]]))  # a, then b
    with pytest.raises(UnsatisfiableTaskError, match=r"\(b can never hold unless the rule is broken, as by 'a'\)"):
        find_plan(product := build_product(world, all_of(visit_in_order("b"), avoid("a"))), unit_cost(product))


def test_unsatisfiable_task_names_the_labels_that_never_come():
    world = TableWorld(np.array([[0, 0]]), np.array([[0, 1]]))
    automaton = rule("ab")
    product = build_product(world, automaton)
    message = r"after a it waits for 'b', .*\(b can never hold"
    with pytest.raises(UnsatisfiableTaskError, match=message):
        find_plan(product, unit_cost(product))
