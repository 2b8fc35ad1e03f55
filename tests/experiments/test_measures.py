"""The measures of a suite, against what is true by definition and against enumeration."""

from itertools import product

import numpy as np
import pytest
from comparison_results import line_of, results_of, row
from hypothesis import given
from hypothesis import strategies as st

from experiments.method_comparison.measures import MEASURES, agreement, least_states, probe_labels, recovery_of
from experiments.method_comparison.tables import trials_of
from experiments.method_comparison.training import _rows
from wfairl.core.automata.guarded import Edge, Guard, GuardedAutomaton
from wfairl.core.automata.rules import all_of, avoid, then, visit_all, visit_in_order
from wfairl.core.planning import PlannedPolicy, RandomPolicy, expert_policy
from wfairl.core.planning.cost import true_cost, unit_cost
from wfairl.runs import evaluate
from wfairl.runs.planning_methods import goal_alone
from wfairl.runs.task_registry import find_task

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


def measured(policy, task):
    """The line of a policy beside the optimal one, as a comparison makes it."""
    optimal = evaluate(task, expert_policy(task, 0.0), SCENES, n_jobs=1)
    ours = evaluate(task, policy, SCENES, n_jobs=1)
    cells = {
        ("office-coffee", "", "optimal"): _rows("optimal", optimal, chosen=True),
        ("office-coffee", "D1", "wfa-irl"): _rows("greedy", ours, chosen=True),
    }
    return line_of(results_of(cells), "wfa-irl")


@pytest.mark.parametrize("name", ["office-coffee", "terrain"])
def test_an_optimal_plan_has_no_regret_and_keeps_every_rule(name):
    task = find_task(name)
    line = measured(expert_policy(task, 0.0), task)
    assert line.regret == pytest.approx(0, abs=1e-12)
    assert line.success_rate == 1


def test_regret_is_never_negative_and_a_random_walk_has_more():
    task = find_task("terrain")
    unit = measured(PlannedPolicy("unit", task.rule, unit_cost, 0.0), task)
    random = measured(RandomPolicy(), task)
    assert unit.regret > 0
    assert np.isnan(random.regret) or random.regret > unit.regret


def test_who_wants_the_goal_alone_breaks_the_rule_and_has_no_regret():
    task = find_task("office-coffee")
    policy = PlannedPolicy("goal", visit_in_order("g"), unit_cost, 0.0)
    line = measured(policy, task)
    assert line.success_rate < 0.5
    assert np.isnan(line.regret) or line.regret >= 0


def test_a_rule_that_no_scene_allows_counts_as_without_a_plan():
    task = find_task("office-coffee")
    never = GuardedAutomaton(((Edge(Guard(frozenset({"f", "g"})), 1),), ()), np.array([False, True]))
    policy = PlannedPolicy("never", never, unit_cost, 0.0)
    line = measured(policy, task)
    assert all(row["no_plan"] for row in _rows("greedy", evaluate(task, policy, SCENES, n_jobs=1), chosen=True))
    assert line.success_rate == 0
    assert np.isnan(line.regret)


@given(st.lists(st.tuples(st.floats(1, 100), st.booleans(), st.floats(1, 100)), min_size=1, max_size=10))
def test_regrets_are_those_of_the_episodes_that_keep_the_rule(episodes):
    cells = {
        ("doorkey", "", "optimal"): [row(i, cost=best) for i, (_, _, best) in enumerate(episodes)],
        ("doorkey", "D1", "bc"): [row(i, cost=cost, success=kept) for i, (cost, kept, _) in enumerate(episodes)],
    }
    trials = trials_of(results_of(cells))
    found = trials[trials.method == "bc"].regret.dropna()
    assert list(found) == pytest.approx([(cost - best) / best for cost, kept, best in episodes if kept])


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
    assert whole == {"agreement": 1.0, "states": 3, "least_states": 3}
    goal = recovery_of(task, goal_alone(task.rule, task.propositions))
    assert goal["agreement"] < 0.9
    assert goal["states"] == 2


def test_probes_hold_successes_and_failures_of_the_rule_alike():
    task = find_task("office-coffee")
    kept = np.mean([task.rule.fulfilled_at(labels) is not None for labels in probe_labels("office-coffee")])
    assert 0.3 < kept < 0.9


def test_every_measure_says_something_of_every_line():
    task = find_task("office-coffee")
    line = measured(PlannedPolicy("true", task.rule, true_cost(task), 0.0), task)
    assert MEASURES["kept"].text(line) == "100 %"
    assert MEASURES["regret"].text(line) == "0.0 %"
    assert MEASURES["return"].text(line) == f"{line.mean_return:.3f} ± {line.standard_error:.3f}"
    assert MEASURES["agreement"].text(line) == MEASURES["states"].text(line) == ""
