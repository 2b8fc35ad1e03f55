"""Planning where the world slips: bounds, Storm, and the policies that come of it."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies_planning import SlippingWorld, TableWorld, problems, slipping_problems

from wfairl.core.planning import build_product, feature_cost, unit_cost
from wfairl.core.planning.expected_cost import DEFAULT_PRICE, expected_cost_to_go
from wfairl.core.planning.plan import ProductSolution, UnsatisfiableTaskError
from wfairl.core.planning.planner import ExactPlanner
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import explore_world
from wfairl.runs.task_registry import find_task

pytest.importorskip("stormpy")
from oracles_slipping import StormModel, by_place, unit

COSTS = {unit: unit_cost, by_place: feature_cost(lambda features: 1 + features @ np.array([0.1, 0.7, 0.3]))}


@pytest.mark.parametrize("cost", COSTS)
@settings(max_examples=40)
@given(slipping_problems(), st.sampled_from([1.0, 30.0, 1000.0]))
def test_the_expected_cost_to_go_is_that_of_storm(cost, problem, price):
    compare_with_storm(cost, problem, price)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(slipping_problems(24), st.sampled_from([1.0, 30.0, 1000.0]))
def test_it_is_that_of_storm_in_200_worlds(problem, price):
    compare_with_storm(by_place, problem, price)


OFFICES = [
    f"{kind}-{name}" for kind in ("office", "random-office") for name in ("coffee", "mail", "coffee-mail", "patrol")
]
SMALL_TASKS = (*OFFICES, "crowded-office-coffee", "coffee-and-mail", "multiroom", "terrain", "terrain-16", "errand")


@pytest.mark.slow
@pytest.mark.parametrize("slip", ["0.03125", "0.1", "0.2"])
@pytest.mark.parametrize("name", SMALL_TASKS)
def test_it_is_that_of_storm_in_our_tasks(name, slip):
    task = find_task(f"{name}-slip-{slip}")
    world = task.make_world(5000)
    storm = StormModel(world, task.rule, unit)
    product = build_product(world, task.rule)
    solution = ProductSolution(product, product.cost_to_go(unit_cost(product)))
    expected, greatest = storm.expected_cost(solution.solution.failure), storm.greatest_probability()
    for node, V in enumerate(solution.solution.cost_to_go):
        pair = product.state(node), int(product.automaton_states[node])
        assert (pair in storm.hopeful) == (np.inf > V)
        if pair in storm.hopeful:
            assert pytest.approx(expected[pair], rel=1e-6) == V
            assert solution.success[node] <= greatest[pair] + 1e-6


def compare_with_storm(cost, problem, price):
    storm = StormModel(problem.world, problem.automaton, cost)
    for world in (problem.world, explore_world(problem.world)):
        product = build_product(world, problem.automaton)
        solution = product.cost_to_go(COSTS[cost](product), price)
        names = getattr(world, "name", lambda state: state)
        pairs = [(names(product.state(i)), int(product.automaton_states[i])) for i in range(len(product))]
        assert {pair for pair, V in zip(pairs, solution.cost_to_go, strict=True) if np.inf > V} == (
            storm.hopeful & set(pairs)
        )
        if storm.start in storm.hopeful:
            expected = storm.expected_cost(solution.failure) if product.chances else None
            for pair, V in zip(pairs, solution.cost_to_go, strict=True):
                if pair in storm.hopeful and expected is not None:
                    assert pytest.approx(expected[pair], rel=1e-6) == V


@settings(max_examples=40)
@given(slipping_problems())
def test_a_high_price_gives_the_greatest_probability(problem):
    storm = StormModel(problem.world, problem.automaton, unit)
    product = build_product(explore_world(problem.world), problem.automaton)
    solution = ProductSolution(product, product.cost_to_go(unit_cost(product), price=1e7))
    if storm.start in storm.hopeful:
        assert solution.success[0] == pytest.approx(storm.greatest_probability()[storm.start], abs=1e-4)


@settings(max_examples=40)
@given(slipping_problems())
def test_the_cost_to_go_satisfies_bellman_and_its_bounds_hold_it(problem):
    product = build_product(explore_world(problem.world), problem.automaton)
    if product.chances is None:
        return
    coarse, fine = (
        expected_cost_to_go(product.graph, product.chances, unit_cost(product), tolerance=tolerance)
        for tolerance in (0.1, 1e-12)
    )
    live = np.isfinite(fine.cost_to_go)
    one, other = coarse.cost_to_go[live], fine.cost_to_go[live]
    assert (np.abs(one - other) <= 0.1 * one + 1e-9).all()
    least = np.min(fine.control_cost_to_go, axis=1, where=product.chances.available, initial=np.inf)
    assert np.allclose(least[live], fine.cost_to_go[live], rtol=1e-9)
    assert (fine.control_cost_to_go[~live] == np.inf).all()


@settings(max_examples=40)
@given(problems())
def test_a_world_of_single_outcomes_is_planned_in_as_one_that_steps(problem):
    world = problem.world
    chances = np.zeros((*world.masks.shape, len(world.masks)))
    for state, control in np.argwhere(world.next_states >= 0):
        chances[state, control, world.next_states[state, control]] = 1.0
    # Its labels are those of the transition, as in the plain world.
    sure = type("Sure", (SlippingWorld,), {"label": TableWorld.label})(world.next_states, world.masks, chances=chances)
    one, other = (build_product(explore_world(w), problem.automaton) for w in (world, sure))
    assert other.chances is None
    for name in ("states", "automaton_states", "successors", "label_index"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


def test_an_agent_keeps_away_from_what_it_may_slip_into():
    """Along the edge of a cliff the short way is two steps from the start, the safe way four."""

    class Edge:
        controls, propositions, initial_state = ("short", "long"), ("cliff", "goal"), 0

        def outcomes(self, state, control):
            if state == 0:
                return [(0.9, 9), (0.1, 6)] if control == 0 else [(1.0, 1)]
            return [(1.0, min(state + 1, 4) if state < 4 else 9 if state == 4 else state)]

        def label(self, state, control, next_state):
            return frozenset({"cliff"} if next_state == 6 else {"goal"} if next_state == 9 else ())

        def features(self, state, control, next_state):
            return np.ones(1)

    from wfairl.core.automata.rules import all_of, avoid, visit_in_order

    rule = all_of(visit_in_order("goal"), avoid("cliff"))
    careful, bold = (ExactPlanner(price=price).solve(Edge(), rule, unit_cost).plan() for price in (DEFAULT_PRICE, 1.0))
    assert (careful.path.controls[0], careful.success, careful.cost) == (1, 1.0, 5.0)
    assert (bold.path.controls, bold.path.states) == ((0,), (0, 9))
    assert bold.success == pytest.approx(0.9)
    assert bold.cost == pytest.approx(1.0)
    for price in (-1.0, np.nan, np.inf):
        with pytest.raises(BadInputError, match="must be finite and not below zero"):
            ExactPlanner(price=price).solve(Edge(), rule, unit_cost)
    with pytest.raises(UnsatisfiableTaskError):
        ExactPlanner().solve(Edge(), all_of(visit_in_order("goal"), avoid("goal")), unit_cost).plan()


@pytest.mark.parametrize("leaves", [0.5, 1e-5, 1e-8])
def test_a_control_that_hardly_ever_works_is_planned_with(leaves):
    """The number of attempts is geometric, and in the end one succeeds, or breaks the rule."""

    class Stuck:
        controls, propositions, initial_state = ("push", "wait"), ("open", "broken"), "shut"

        def outcomes(self, state, control):
            if state != "shut" or control:
                return [(1.0, state)]
            return [(leaves * 0.75, "open"), (leaves * 0.25, "broken"), (1 - leaves, "shut")]

        def label(self, state, control, next_state):
            return frozenset({next_state} & set(self.propositions))

        def features(self, state, control, next_state):
            return np.ones(1)

    from wfairl.core.automata.rules import all_of, avoid, visit_in_order

    plan = ExactPlanner().solve(Stuck(), all_of(visit_in_order("open"), avoid("broken")), unit_cost).plan()
    assert plan.success == pytest.approx(0.75)
    assert plan.cost == pytest.approx(1 / leaves, rel=1e-6)


@given(slipping_problems())
def test_a_plan_says_where_it_goes_otherwise(problem):
    """The probability of success is that along the path and along all detours, step by step."""
    solution = ExactPlanner().solve(explore_world(problem.world), problem.automaton, unit_cost)
    assume(np.isfinite(solution.solution.cost_to_go[0]))
    plan = solution.plan()
    success = 1.0
    for step in reversed(range(len(plan.path))):
        left = [one for one in plan.detours if one.step == step]
        success *= 1 - sum(one.probability for one in left)
        success += sum(one.probability * one.success for one in left)
    assert success == pytest.approx(plan.success, abs=1e-6)
