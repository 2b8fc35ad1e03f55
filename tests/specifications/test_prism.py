"""The model for PRISM, checked by Storm: its optimum is the planner's, whatever the world, the task and the cost."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from strategies_planning import draw_costs, problems, slipping_problems

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning import UnsatisfiableTaskError, build_product, find_plan
from wfairl.core.planning.cost import true_cost, unit_cost
from wfairl.core.planning.plan import ProductSolution
from wfairl.core.worlds import explore_world
from wfairl.runs.task_registry import find_task
from wfairl.specifications.prism import to_prism

stormpy = pytest.importorskip("stormpy")


def check(text, properties, tmp_path):
    """The values of properties in the initial state, according to Storm."""
    path = tmp_path / "model.prism"
    path.write_text(text)
    program = stormpy.parse_prism_program(str(path))
    formulas = stormpy.parse_properties(properties, program)
    model = stormpy.build_model(program, formulas)
    return [stormpy.model_checking(model, one).get_value(model.initial_states[0]) for one in formulas]


OPTIMUM = 'R{"cost"}min=? [F "accepted"]'


@given(problem=problems(), kind=st.sampled_from(["ones", "ties", "uniform"]))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much])
def test_storm_finds_the_planners_optimum_in_random_worlds(problem, kind, tmp_path):
    assume(not problem.automaton.accepting[0])
    product = build_product(problem.world, problem.automaton)
    costs = draw_costs(kind, product.successors.shape, problem.rng)
    try:
        optimum = find_plan(product, costs).cost
    except UnsatisfiableTaskError:
        optimum = np.inf
    found, reached = check(to_prism(product, costs, "random"), f'{OPTIMUM}; Pmax=? [F "accepted"]', tmp_path)
    assert found == pytest.approx(optimum, rel=1e-6)
    assert reached == np.isfinite(optimum)


@pytest.mark.parametrize(
    "name", ["random-office-coffee", "random-office-coffee-mail", "terrain", "crowded-office-coffee"]
)
def test_storm_finds_the_planners_optimum_in_tasks(name, tmp_path):
    task = find_task(name)
    product = build_product(task.make_world(3), task.rule)
    for cost in (unit_cost, true_cost(task)):
        costs = cost(product)
        plan = find_plan(product, costs)
        last = plan.path.automaton_states[-1]
        text = to_prism(product, costs, name)
        found, ends = check(text, f'{OPTIMUM}; Pmax=? [F ("accepted" & q={last})]', tmp_path)
        assert found == pytest.approx(plan.cost, rel=1e-6)
        assert ends == 1


@given(problem=slipping_problems(), kind=st.sampled_from(["ones", "uniform"]))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much])
def test_storm_finds_the_best_policy_where_worlds_slip(problem, kind, tmp_path):
    assume(not problem.automaton.accepting[0])
    product = build_product(explore_world(problem.world), problem.automaton)
    costs = draw_costs(kind, product.successors.shape, problem.rng)
    found = ProductSolution(product, product.cost_to_go(costs))
    assume(product.chances is not None)
    text = to_prism(product, costs, "random")
    cost, success = check(text, 'R{"cost"}min=? [F "ended"]; Pmax=? [F "accepted"]', tmp_path)
    expected = found.solution.cost_to_go[0]
    assert cost == pytest.approx(expected if np.isfinite(expected) else found.solution.failure, rel=1e-5)
    assert found.success[0] <= success + 1e-6


class Corridor:
    """Three cells with names that PRISM would take for something else."""

    controls = ("module", "go on!", "control_1", "q", 'x"\n;endmodule')
    propositions = ("end",)
    initial_state = 0

    def step(self, state, control):
        return min(state + 1, 2) if control == 1 else state

    def label(self, state, control, after):
        return frozenset({"end"}) if after == 2 else frozenset()

    def features(self, state, control, after):
        return np.ones(1)


def test_names_that_prism_knows_or_cannot_read_are_replaced(tmp_path):
    product = build_product(Corridor(), visit_in_order("end"))
    text = to_prism(product, unit_cost(product), 'two\nlines "of title"')
    assert check(text, OPTIMUM, tmp_path) == [2.0]
    actions = {line.split("]")[0] for line in text.splitlines() if "->" in line and "[]" not in line}
    assert len(actions) == len(Corridor.controls)
