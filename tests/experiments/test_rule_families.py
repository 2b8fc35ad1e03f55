"""The families of random rules: the judge by hand, and the package's automata against the judge."""

from math import inf

import numpy as np
import pytest

from experiments.harness import Options
from experiments.rule_families.automata import automaton_of
from experiments.rule_families.families import (
    BATTERY,
    BETWEEN,
    FAMILIES,
    RULES,
    STATION,
    TRAY,
    WASH,
    Problem,
    make_problem,
    order_of,
)
from experiments.rule_families.learning import TEMPERATURE, cells, compare_with_truth, explain, learn
from experiments.rule_families.rules import (
    BROKEN,
    DONE,
    Rule,
    Stage,
    at_most_of,
    carry_at_most,
    cheapest,
    forbid,
    judge,
    never_twice_in_a_row,
    oblige,
    one_or_both,
)
from experiments.rule_families.scenes import breaks_blindly, labels_of
from wfairl.core.planning import ExactPlanner
from wfairl.core.planning.cost import true_cost, unit_cost
from wfairl.core.planning.path import follow
from wfairl.core.rational import posterior_of
from wfairl.core.rational.tables import read_word
from wfairl.core.support.errors import BadInputError
from wfairl.runs.collection import collect
from wfairl.runs.task_laws import check_task

X = frozenset({"x", "y"})
DISTINCT = [
    pytest.param(family, number, marks=pytest.mark.slow if number else ()) for family in FAMILIES for number in (0, 1)
]


def state_after(rule: Rule, text: str):
    """The state of a rule's machine after labels as text; `-` is the empty label."""
    state = rule.start
    for name in text.split():
        state = rule.step(state, frozenset() if name == "-" else frozenset(name.split("+")))
    return state


@pytest.mark.parametrize(
    ("rule", "kept", "broken", "neither"),
    [
        (TRAY, "tray - water table", "tray water tray", "tray table"),
        (WASH, "wash meat - wash vegetables", "wash meat vegetables", "wash meat meat - meat"),
        (WASH, "wash vegetables meat", "vegetables", "wash wash"),
        (BATTERY, "low - dock end", None, "low end end"),
        (BATTERY, "- end", None, "low - - dock"),
        (STATION, "station - station home", None, "station station station home"),
        (BETWEEN, "c a b c d", "a - c", "a b"),
        (Rule((Stage(("x", "y"), 1), *order_of("z"))), "y z", None, "z x y"),
        (Rule(order_of("x", "y"), resets=("r",)), "r x r x y", None, "x r y"),
        (Rule(order_of("x", "x"), events=frozenset({"x"})), "x x", None, "x - -"),
        (Rule(order_of("x"), (forbid("n"),)), "- x", "n", "- -"),
        (Rule(order_of("x", "z"), (forbid("n", until="x"),)), "x n z", "- n", "x n"),
        (Rule(order_of("z"), (oblige("c", "t", "z"),)), "c t z", "c - z", "c t c"),
        (Rule(order_of("x", "y", "z"), (carry_at_most(2, ("x", "y", "z"), "d"),)), "x y d z", "x y - z", "x d y"),
        (Rule(order_of("x", "y", "x"), (never_twice_in_a_row(("x", "y")),), (), X), "x y x", "x - x", "x y"),
        (Rule(order_of("x+y")), "x - x+y", None, "x y"),
        (Rule(order_of("v"), (forbid("v+a"),)), "a - v", "a+v", "- a"),
        (Rule(order_of("z"), (at_most_of(2, ("p", "q", "r")),)), "p q p - q z", "p q - r", "p r"),
        (Rule(order_of("z"), (one_or_both("a", ("b", "c")),)), "c - b z", None, "b z b z"),
        (Rule(order_of("z"), (one_or_both("a", ("b", "c")),)), "z b a z", None, "c z c"),
    ],
)
def test_machines_judge_words_as_their_definitions_say(rule, kept, broken, neither):
    assert state_after(rule, kept) == DONE
    assert state_after(rule, neither) not in (DONE, BROKEN)
    assert broken is None or state_after(rule, broken) == BROKEN


@pytest.mark.parametrize(("family", "number"), DISTINCT)
def test_automaton_reads_random_words_as_the_machine_does(family, number):
    problem = make_problem(family, number)
    rule, labels = problem.rule, labels_of(problem.rule, problem.propositions)
    later = [label for label in labels if rule.first not in label]
    automaton, rng = automaton_of(rule, labels).to_guarded(), np.random.default_rng(0)
    ends = set()
    for words in range(50_000):
        if words >= 300 and ends == {True, False}:  # few words keep a strict rule
            break
        first = labels[rng.integers(len(labels))]
        word = [first, *(later[i] for i in rng.integers(len(later), size=rng.integers(40)))]
        state = rule.start
        for label in word:
            state = rule.step(state, label)
        assert (automaton.fulfilled_at(word) is not None) == (state == DONE)
        ends.add(state == DONE)
    assert ends == {True, False}


@pytest.mark.parametrize(("family", "number"), DISTINCT)
def test_planner_and_judge_agree_on_the_least_cost(family, number):
    problem = make_problem(family, number)
    check_task(problem.task)
    for seed in range(4):
        scene = problem.scene(seed)
        least = judge(scene, problem.rule, cheapest(scene, problem.rule))
        plan = ExactPlanner().solve(problem.task.make_world(seed), problem.task.rule, true_cost(problem.task)).plan()
        assert least < inf
        assert plan.cost == pytest.approx(least)
        assert judge(scene, problem.rule, plan.path.controls) == pytest.approx(least)


@pytest.mark.parametrize(("family", "number"), DISTINCT)
def test_bumps_and_waits_mean_the_same_to_words_automata_planner_and_judge(family, number):
    """Steps that stay where one is, put into good plans, may complete, break or change nothing, but for all alike."""
    problem, rng = make_problem(family, number), np.random.default_rng(number)
    labels = labels_of(problem.rule, problem.propositions)
    table, automaton = automaton_of(problem.rule, labels).to_table(labels), problem.task.rule
    for seed in range(6):
        scene, world = problem.scene(seed), problem.task.make_world(seed)
        place, controls = scene.initial_state, []
        for control in cheapest(scene, problem.rule):
            while (idle := [u for u, step in scene.steps[place].items() if step.after == place]) and rng.random() < 0.4:
                controls.append(int(rng.choice(idle)))
            controls.append(control)
            place = scene.steps[place][control].after
        path = follow(world, controls, automaton)
        readers = {
            "the judge": judge(scene, problem.rule, controls) < inf,
            "the planner's automaton": automaton.fulfilled_at(path.labels) is not None,
            "the evidence": read_word(table, np.array([labels.index(one) for one in path.labels], np.int32)) > 0,
            "the product": any(automaton.accepting[state] for state in path.automaton_states if state >= 0),
        }
        assert len(set(readers.values())) == 1, readers


def test_scenes_of_every_family_matter_and_differ():
    assert len(FAMILIES) >= 12
    assert len(FAMILIES) * RULES >= 200
    assert sum(family.held_out for family in FAMILIES.values()) == 12
    for family in FAMILIES:
        scenes = [(make_problem(family, number), seed) for number in (0, 1) for seed in range(12)]
        broken = [breaks_blindly(problem.scene(seed), problem.rule) for problem, seed in scenes]
        assert np.mean(broken) > 0.3, family
        sizes = [len(problem.scene(seed).steps) for problem, seed in scenes]
        assert 20 < min(sizes) <= max(sizes) < 300


def test_same_seed_gives_the_same_rule_and_scene():
    one = make_problem("two", 3)
    again = Problem(one.name, one.rule, one.kind, one.propositions, one.seed)
    make_problem.cache_clear()
    assert make_problem("two", 3).rule == one.rule
    assert again.scene(7).steps == one.scene(7).steps
    assert again.scene(8).steps != one.scene(7).steps


def test_truth_and_chosen_automaton_have_the_same_posterior_where_they_are_the_same():
    problem = make_problem("building", 0)
    dataset = collect(problem.task, 8, 0, TEMPERATURE, 0, n_jobs=1)
    explained = explain(problem, dataset)
    cost = unit_cost if explained.cost is None else explained.cost
    compared = compare_with_truth(problem, dataset, explained, cost)
    assert posterior_of(explained.model) is not None
    assert compared["is exact"]
    assert compared["gap"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
def test_the_search_goes_on_from_what_explains_the_demonstrations_that_it_left_out():
    problem = make_problem("again-after", 15)
    dataset = collect(problem.task, 32, 0, TEMPERATURE, 13, n_jobs=1)
    explained = explain(problem, dataset)
    cost = unit_cost if explained.cost is None else explained.cost
    assert compare_with_truth(problem, dataset, explained, cost)["gap"] < 1  # it was 47


def test_cell_tells_what_became_of_every_plan():
    outcome = learn("never", 2, demonstrations="8", scenes=8)
    row = outcome.rows[0]
    assert len(outcome.facts["plans"]) == 8
    assert row["kept"] + row["refused"] + row["broken"] == pytest.approx(1.0)
    assert all(plan["regret"] >= -1e-9 for plan in outcome.facts["plans"] if plan["is kept"])


def test_a_task_names_one_rule_and_a_data_set_one_collection():
    named = cells(Options(tasks=("never:2", "until"), data_sets=("4", "8@3"), seeds=1))
    assert [cell.name for cell in named] == ["never 2 4", "never 2 8@3", "until 0 4", "until 0 8@3"]
    first, other = (learn("never", 2, demonstrations=data, scenes=4).facts for data in ("2", "2@3"))
    assert first != other


@pytest.mark.parametrize("task", ["nowhere", "never:two", "all:-1"])
def test_a_task_that_is_no_family_is_refused(task):
    with pytest.raises(BadInputError, match="neither a family nor a group"):
        cells(Options(tasks=(task,)))
