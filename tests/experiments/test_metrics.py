"""The measures of a suite, against what is true by definition and against enumeration."""

from dataclasses import asdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.suites.metrics import METRICS, agreement, least_states, probe_labels, recovery_of, regrets
from experiments.suites.paper import PAPER
from experiments.suites.results import CellResult, Trial, rows_of
from experiments.suites.suite import Cell
from wfairl.core.automata.guarded import Edge, Guard, GuardedAutomaton
from wfairl.core.automata.rules import all_of, avoid, goal_alone, then, visit_all, visit_in_order
from wfairl.core.planning import PlannedPolicy, RandomPolicy, expert_policy
from wfairl.core.planning.cost import true_cost, unit_cost
from wfairl.core.runs import evaluate
from wfairl.core.worlds.task_registry import find_task

SCENES = range(4000, 4006)

LABELS = tuple(frozenset(one) for one in ((), ("a",), ("b",), ("a", "b"), ("n",)))

labels = st.sampled_from(LABELS)
probes = st.lists(st.lists(labels, max_size=8).map(tuple), min_size=1, max_size=10)

RULES = {
    "a then b": visit_in_order("a", "b"),
    "a and b": visit_all("a", "b"),
    "a then b without n": all_of(visit_in_order("a", "b"), avoid("n")),
    "b": visit_in_order("b"),
}


def cell_result(method, *evaluations):
    cell = Cell("office-coffee", "" if method == "optimal" else "D1", method, 0, 32)
    trials = tuple(Trial.of(one.policy, one, chosen=True) for one in evaluations)
    return CellResult(asdict(cell), trials, None, {}, None)


def row_of(policy, task):
    """The row of a policy beside the optimal one, as a suite makes it."""
    optimal = cell_result("optimal", evaluate(task, expert_policy(task, 0.0), SCENES, n_jobs=1))
    ours = cell_result("wfa-irl", evaluate(task, policy, SCENES, n_jobs=1))
    rows = rows_of(PAPER, [optimal, ours], 32)
    return next(row for row in rows if row.method == "wfa-irl")


@pytest.mark.parametrize("name", ["office-coffee", "terrain"])
def test_an_optimal_plan_has_no_regret_and_keeps_every_rule(name):
    task = find_task(name)
    row = row_of(expert_policy(task, 0.0), task)
    assert row.regret == pytest.approx(0, abs=1e-12)
    assert row.success_rate == 1
    assert row.no_plan_rate == 0


def test_regret_is_never_negative_and_a_random_walk_has_more():
    task = find_task("terrain")
    unit = row_of(PlannedPolicy("unit", task.rule, unit_cost, 0.0), task)
    random = row_of(RandomPolicy(), task)
    assert unit.regret > 0
    assert random.regret is None or random.regret > unit.regret


def test_who_wants_the_goal_alone_breaks_the_rule_and_has_no_regret():
    task = find_task("office-coffee")
    policy = PlannedPolicy("goal", visit_in_order("g"), unit_cost, 0.0)
    row = row_of(policy, task)
    assert row.success_rate < 0.5
    assert row.regret is None or row.regret >= 0


def test_a_rule_that_no_scene_allows_counts_as_without_a_plan():
    task = find_task("office-coffee")
    never = GuardedAutomaton(((Edge(Guard(frozenset({"f", "g"})), 1),), ()), np.array([False, True]))
    row = row_of(PlannedPolicy("never", never, unit_cost, 0.0), task)
    assert row.no_plan_rate == 1
    assert row.success_rate == 0
    assert row.regret is None


@given(st.lists(st.tuples(st.floats(1, 100), st.booleans(), st.floats(1, 100)), max_size=10))
def test_regrets_are_those_of_the_episodes_that_keep_the_rule(episodes):
    costs, kept, least = zip(*episodes, strict=True) if episodes else ((), (), ())
    expected = [(cost - best) / best for cost, is_kept, best in episodes if is_kept]
    assert regrets(costs, kept, least) == pytest.approx(expected)


@given(probes, st.sampled_from(list(RULES.values())), st.sampled_from(list(RULES.values())))
def test_agreement_is_whole_with_oneself_and_the_same_both_ways(found, one, other):
    assert agreement(one, one, found) == 1
    assert agreement(one, other, found) == agreement(other, one, found)
    assert 0 <= agreement(one, other, found) <= 1


def test_agreement_is_the_fraction_of_probes_that_end_alike():
    a, b = frozenset({"a"}), frozenset({"b"})
    found = [(a, b), (b,), (b, a), (a, a)]
    # In order: both at 2; only the goal alone at 1; only the goal alone at 1; neither.
    assert agreement(visit_in_order("a", "b"), visit_in_order("b"), found) == 0.5


def fewest_by_residuals(rule, depth=4):
    """The live states by Myhill and Nerode: prefixes not yet accepted, told apart by which suffixes accept first."""
    words = [word for length in range(depth + 1) for word in product(LABELS, repeat=length)]
    short = [word for word in words if len(word) <= 2]
    residuals = set()
    for prefix in words:
        if len(prefix) > depth - 1 or rule.fulfilled_at(prefix) is not None:
            continue
        signature = tuple(rule.fulfilled_at((*prefix, *suffix)) is not None for suffix in short)
        if any(signature):
            residuals.add(signature)
    return len(residuals) + 1  # and the one after acceptance


@pytest.mark.parametrize("name", RULES)
def test_the_fewest_states_are_as_many_as_there_are_residuals(name):
    assert least_states(RULES[name], LABELS) == fewest_by_residuals(RULES[name])


def test_the_fewest_states_do_not_depend_on_how_a_rule_is_written():
    doubled = all_of(visit_in_order("a", "b"), visit_in_order("a", "b"))
    assert least_states(doubled, LABELS) == least_states(visit_in_order("a", "b"), LABELS) == 3
    any_order = then(visit_all("a", "b"), visit_in_order("n"))
    assert least_states(any_order, LABELS) == 5


def test_the_true_rule_is_recovered_whole_and_the_goal_alone_is_not():
    task = find_task("office-coffee")
    whole = recovery_of(task, task.rule)
    assert (whole.agreement, whole.states, whole.least_states) == (1.0, 3, 3)
    goal = recovery_of(task, goal_alone(task.rule, task.propositions))
    assert goal.agreement < 0.9
    assert goal.states == 2


def test_probes_hold_successes_and_failures_of_the_rule_alike():
    task = find_task("office-coffee")
    kept = np.mean([task.rule.fulfilled_at(labels) is not None for labels in probe_labels("office-coffee")])
    assert 0.3 < kept < 0.9


def test_every_metric_says_something_of_every_row():
    task = find_task("office-coffee")
    row = row_of(PlannedPolicy("true", task.rule, true_cost(task), 0.0), task)
    assert METRICS["kept"].text(row) == "100 %"
    assert METRICS["regret"].text(row) == "0.0 %"
    assert METRICS["no_plan"].text(row) == "0 %"
    assert METRICS["agreement"].text(row) == METRICS["states"].text(row) == ""
