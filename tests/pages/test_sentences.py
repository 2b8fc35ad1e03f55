"""Sentences say what automata do: readers who see only the sentences judge words alike and write the same as LTLf."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles_formulas import formula_of
from oracles_sentences import Reader
from strategies_logic import random_automaton

from experiments.rule_families.families import FAMILIES, make_problem
from experiments.rule_families.scenes import labels_of
from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.minimisation import canonical_table, to_table
from wfairl.core.automata.rules import all_of, avoid, before, then, visit_all, visit_in_order
from wfairl.core.automata.sentences import describe, describe_state, join_clauses
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.rational.compact_automaton import CompactAutomaton, CompactEdge
from wfairl.core.rational.constraints import Constraint
from wfairl.core.rational.errands import Errand, automaton_of
from wfairl.runs.task_registry import all_tasks
from wfairl.specifications.formats.ltlf import from_ltlf

TASKS = [task for task in all_tasks() if not task.name.startswith("babyai")]
A, B, C, P = "abcp"
KEY, VAULT = Guard(frozenset({"key"})), Guard(frozenset({"vault"}))
BASE_WITHOUT_LOW = GuardedAutomaton(
    ((Edge(Guard(frozenset({"dam"})), 1),), (Edge(Guard(frozenset({"base"}), frozenset({"low"})), 2),), ()),
    np.array([False, False, True]),
)
TWO_KEYS = GuardedAutomaton(
    (*((Edge(VAULT, DEAD), Edge(KEY, n)) for n in (1, 2)), (Edge(VAULT, 3),), ()), np.array([False, False, False, True])
)
HOME = Guard(frozenset({"home"}), frozenset({"open"}))
HOME_WITHOUT_OPEN = GuardedAutomaton(((Edge(HOME, 1),), (Edge(KEY, 2),), ()), np.array([False, False, True]))


def words_of(automaton, labels, seed, count=300, longest=14):
    """Random words, most of which live long: where a label would lose the task, another one is often drawn."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        word, state, care = [], 0, rng.random()
        for _ in range(int(rng.integers(1, longest))):
            label = labels[rng.integers(len(labels))]
            while automaton.read(state, label) == DEAD and rng.random() < care:
                label = labels[rng.integers(len(labels))]
            word.append(label)
            state = automaton.read(state, label)
        yield tuple(word)


def check(automaton, labels, seed=0, count=300):
    """The sentences of an automaton are read as the automaton reads."""
    clauses = describe(automaton, labels)
    reader = Reader(clauses)
    short = [word for n in range(1, 4) for word in product(labels, repeat=n)] if len(labels) <= 8 else []
    for word in (*short, *words_of(automaton, labels, seed, count)):
        assert reader.fulfilled_at(word) == automaton.fulfilled_at(word), (clauses, word)
    return clauses


def check_formula(automaton, labels, clauses):
    """What a reader writes as LTLf is the language of the automaton, up to what comes after acceptance."""
    tables = (to_table(one, labels) for one in (automaton, from_ltlf(formula_of(join_clauses(clauses)))))
    one, other = map(canonical_table, tables)
    assert np.array_equal(one, other), clauses


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_rule_of_every_task_is_said(task):
    names = sorted(task.rule.propositions)
    labels = [frozenset(one) for one in ((), *((name,) for name in names), *product(names, repeat=2))]
    clauses = check(task.rule, list(dict.fromkeys(labels)))
    check_formula(task.rule, list(dict.fromkeys(labels)), clauses)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("number", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in range(1, 14))])
def test_random_rules_are_said(family, number):
    problem = make_problem(family, number)
    labels = list(labels_of(problem.rule, problem.propositions))
    check_formula(problem.task.rule, labels, check(problem.task.rule, labels, number))


@given(st.integers(0, 10**6))
def test_any_automaton_is_said(seed):
    automaton = random_automaton(np.random.default_rng(seed)).to_guarded()
    names = sorted(automaton.propositions)
    labels = [frozenset(some) for size in range(len(names) + 1) for some in combinations(names, size)]
    clauses = describe(automaton, labels)
    if clauses == ("nothing fulfils it",):
        assert all(automaton.fulfilled_at(word) is None for word in words_of(automaton, labels, seed))
    else:
        check(automaton, labels, seed, 60)


@given(st.integers(0, 10**6), st.data())
def test_any_automaton_is_said_on_the_labels_that_occur(seed, data):
    automaton = random_automaton(np.random.default_rng(seed)).to_guarded()
    names = sorted(automaton.propositions)
    every = [frozenset(some) for size in range(len(names) + 1) for some in combinations(names, size)]
    labels = data.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    if describe(automaton, labels) != ("nothing fulfils it",):
        clauses = check(automaton, labels, seed, 60)
        assert max(map(len, labels)) > 1 or not any(" with " in clause for clause in clauses)


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (visit_in_order("coffee", "office"), "coffee, then office"),
        (all_of(then(visit_all(A, B), visit_in_order(C)), avoid(P)), "a and b in any order, and later c; never p"),
        (all_of(visit_in_order(C), before(A, B)), "c; never b before a"),
        (visit_in_order("salt and pepper", "a, b"), '"salt and pepper", then "a, b"'),
        (avoid(P), "nothing has to be done"),
        (all_of(visit_in_order(A), before(A, B)), "a; never b before a"),
        (HOME_WITHOUT_OPEN, "home without open, and later key"),
        (TWO_KEYS, "key, and later key, and later vault; never vault before its turn"),
        (BASE_WITHOUT_LOW, "dam, and later base without low"),
    ],
)
def test_sentences_are_plain(rule, sentence):
    assert join_clauses(describe(rule)) == sentence
    assert TaskModel.of_automaton(rule, "by hand").sentence == sentence


@pytest.mark.parametrize(
    ("constraint", "sentence"),
    [
        (Constraint("never with", "a", beside="p"), "never a with p"),
        (Constraint("never without", "p", beside="a"), "never p without a"),
        (Constraint("never", "p", after="p"), "never p again"),
        (Constraint("never", "p", after="p", until="a"), "never p again until a"),
        (Constraint("never", "p", after="p", until="a", for_good=True), "never p again before a"),
        (Constraint("never", "p", after="p", times=2), "never p more than twice"),
        (Constraint("never", "p", after="p", times=3), "never p more than three times"),
    ],
)
def test_what_must_not_hold_together_or_again_is_said(constraint, sentence):
    edges = CompactEdge(0, Guard(frozenset("b")), 1), CompactEdge(1, Guard(frozenset("c")), ACCEPTED)
    rule = CompactAutomaton(2, edges, (constraint,)).to_guarded()
    labels = [frozenset(names) for names in ("", "a", "b", "c", "p", "ap")]
    assert check(rule, labels, 0) == ("b, then c", sentence)


@pytest.mark.parametrize(
    ("deadly", "clause"), [(False, "the next counts only once d has held"), (True, "never the next before d")]
)
@pytest.mark.parametrize("letters", ["ab", "abc"])
def test_what_comes_between_the_events_of_a_stage_is_said(letters, deadly, clause):
    *_, d, z = guards = [Guard(frozenset({p})) for p in (*letters, "d", "z")]
    stages = [Errand((d,), 1), Errand(tuple(guards[:-2]), len(letters), d, deadly), Errand((z,), 1)]
    labels = [frozenset(), *(frozenset({p}) for p in (*letters, "d", "z"))]
    goal, between = check(automaton_of(stages).to_guarded(), labels, count=3000)
    assert goal.startswith("d, then a")
    assert between.endswith(clause)


@pytest.mark.parametrize("deadly", [False, True])
@pytest.mark.parametrize("ways", [("ab", "pq"), ("abc", "pqr")])
def test_ways_that_have_their_own_ends_are_said(ways, deadly):
    first, own = ([Guard(frozenset({p})) for p in letters] for letters in ways)
    stages = [Errand(tuple(first), 1, None, deadly, tuple(own)), Errand((Guard(frozenset("z")),), 1)]
    labels = [frozenset(), *(frozenset({p}) for p in (*ways[0], *ways[1], "z"))]
    automaton = automaton_of(stages).to_guarded()
    clauses = check(automaton, labels, count=3000)
    assert clauses[0].startswith("either a and later p, or b and later q")
    assert clauses[1:] == (("never the end of another way",) if deadly else ())
    check_formula(automaton, labels, clauses)


def test_only_labels_that_occur_matter():
    rule = then(visit_in_order(A), visit_in_order(B))
    assert describe(rule) == ("a, and later b",)
    assert describe(rule, [frozenset(), frozenset(A), frozenset(B)]) == ("a, then b",)


@given(st.integers(0, 10**6))
def test_a_state_is_described_by_what_leads_there(seed):
    automaton = random_automaton(np.random.default_rng(seed)).to_guarded()
    for state in range(automaton.states):
        text = describe_state(automaton, state)
        if not text.startswith("in state"):
            names = [] if text == "at the beginning" else text.removeprefix("after ").split(", then ")
            assert automaton.run(tuple(frozenset({name}) for name in names))[-1] == state
    assert describe_state(visit_in_order("coffee", "mail", "office"), 2) == "after coffee, then mail"
