"""Laws of automata over all labels: nothing is lost in between, the smallest is small, the shortest is short."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles_automata import accept_the_same, all_labels
from strategies_automata import guarded_automata, guards

from wfairl.core.automata.automaton import DEAD, Guard
from wfairl.core.automata.finite import NoAcceptedWordError
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.rules import avoid, visit_all, visit_in_order
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import BadInputError
from wfairl.events.dfa import Dfa, minimal
from wfairl.specifications.diagrams import MOST_CASES, Diagrams, shortest_choices
from wfairl.specifications.symbolic import (
    as_guarded,
    as_symbolic,
    differing_words,
    reads_repeats_once,
    same_words,
    shortest_completion,
    until_fulfilled,
)

LABELS = all_labels("abc")
choices = st.lists(st.tuples(guards(), st.integers(0, 3)), max_size=6)


def first_value(listed, label, otherwise):
    return next((value for guard, value in listed if guard.holds(label)), otherwise)


@given(choices)
def test_a_diagram_has_the_value_of_the_first_guard_that_holds(listed):
    diagrams = Diagrams("abc")
    node = diagrams.of_guards(listed, 9)
    assert [diagrams.value(node, label) for label in LABELS] == [first_value(listed, label, 9) for label in LABELS]


@given(choices, choices)
def test_equal_functions_are_one_node(one, other):
    diagrams = Diagrams("abc")
    same = all(first_value(one, label, 9) == first_value(other, label, 9) for label in LABELS)
    assert (diagrams.of_guards(one, 9) == diagrams.of_guards(other, 9)) == same


@given(choices)
def test_cases_exclude_each_other_and_leave_nothing_out(listed):
    diagrams = Diagrams("abc")
    cases = list(diagrams.cases(diagrams.of_guards(listed, 9)))
    for label in LABELS:
        assert [value for guard, value in cases if guard.holds(label)] == [first_value(listed, label, 9)]


@given(choices, st.integers(0, 3), st.integers(0, 3))
def test_shortened_choices_say_the_same_in_no_more_words(listed, otherwise, last):
    diagrams = Diagrams("abc")
    cases = list(diagrams.cases(diagrams.of_guards(listed, 9)))
    short = shortest_choices(cases, otherwise, last)
    for label in LABELS:
        assert first_value(short, label, otherwise) == first_value(listed, label, 9)
    assert sum(len(guard.literals) for guard, _ in short) <= sum(len(guard.literals) for guard, _ in cases)


def test_choices_too_many_to_shorten_say_the_same():
    names = [f"p{i}" for i in range(8)]
    diagrams = Diagrams(names)
    count = diagrams.leaf(0)
    for name in names:
        count = diagrams.combine(lambda one, other: one + other, count, diagrams.literal(name))
    cases = list(diagrams.cases(count))
    assert len(cases) > MOST_CASES
    short = shortest_choices(cases, 3, 0)
    assert all(first_value(short, label, 3) == len(label) for label in all_labels(names))


@given(choices)
def test_the_smallest_labels_are_smallest(listed):
    diagrams = Diagrams("abc")
    node = diagrams.of_guards(listed, 9)
    found = diagrams.smallest_labels(node)
    values = {label: diagrams.value(node, label) for label in LABELS}
    assert set(found) == set(values.values())
    for value, label in found.items():
        assert values[label] == value
        assert len(label) == min(len(one) for one, other in values.items() if other == value)


@given(guarded_automata())
def test_the_minimal_automaton_accepts_the_same_words_with_fewest_states(automaton):
    smallest = as_symbolic(automaton).minimal()
    transitions = np.array([[automaton.read(q, label) for label in LABELS] for q in range(automaton.states)], np.int32)
    transitions = np.vstack([np.where(transitions == DEAD, automaton.states, transitions), [[automaton.states] * 8]])
    table = minimal(Dfa(transitions.astype(np.int32), np.append(automaton.accepting, False)))
    live = table.accepting.copy()
    for _ in range(table.states):
        live |= live[table.transitions].any(axis=1)
    assert len(smallest.rows) == max(live.sum(), 1)
    if not live[0]:
        with pytest.raises(NoAcceptedWordError):
            as_symbolic(automaton).to_guarded()
    else:
        assert accept_the_same(automaton, as_symbolic(automaton).to_guarded(), "abc", 4)


@given(guarded_automata(max_states=3, propositions="ab"), guarded_automata(max_states=3, propositions="ab"))
@settings(max_examples=60)
def test_the_first_differing_word_is_a_shortest_one(one, other):
    labels = all_labels("ab")
    words = [word for length in range(5) for word in product(labels, repeat=length)]
    shortest = next((word for word in words if one.accepts(word) != other.accepts(word)), None)
    found = next(differing_words(one, other), None)
    if shortest is None:
        assert found is None or len(found) > 4
    else:
        assert len(found) == len(shortest)
        assert one.accepts(found) != other.accepts(found)
    assert same_words(one, other) == (found is None)


@given(guarded_automata(propositions="ab"))
def test_words_that_differ_are_made_of_the_labels_that_are_asked_for(automaton):
    labels = [frozenset(), frozenset("a")]
    for word in differing_words(automaton, avoid("a"), labels):
        assert set(word) <= set(labels)
        assert automaton.accepts(word) != avoid("a").accepts(word)


def test_a_table_becomes_guards_state_for_state():
    model = (
        SpectralTaskLearner().fit([(frozenset(), frozenset("a"), frozenset("ab")), (frozenset("b"),)], [1.0, 1.0]).model
    )
    guarded = as_guarded(model.finite)
    for label in all_labels("ab"):
        assert guarded.column(label).tolist() == model.finite.column(label).tolist()


@given(guarded_automata(propositions="ab"))
@settings(max_examples=50)
def test_until_fulfilled_accepts_what_has_an_accepted_beginning(automaton):
    ending = until_fulfilled(automaton)
    for word in product(all_labels("ab"), repeat=3):
        assert ending.accepts(word) == any(automaton.accepts(word[:length]) for length in range(4))


@given(guarded_automata(max_states=3, propositions="ab"))
@settings(max_examples=40)
def test_reading_repeats_once_is_found_out(automaton):
    """Two labels lead to any of three states, and two more tell any two of them apart."""
    words = [word for length in range(1, 6) for word in product(all_labels("ab"), repeat=length)]
    same = all(
        automaton.accepts(word) == automaton.accepts((*word[: i + 1], *word[i:]))
        for word in words
        for i in range(min(len(word), 3))
    )
    assert reads_repeats_once(automaton) == same


@given(guarded_automata(propositions="ab"))
@settings(max_examples=60)
def test_a_completion_is_a_shortest_one(automaton):
    words = [word for length in range(4) for word in product(all_labels("ab"), repeat=length)]
    shortest = next((word for word in words if automaton.accepts(word)), None)
    assume(shortest is not None)
    found = shortest_completion(automaton, 0)
    assert automaton.accepts(found)
    assert len(found) == len(shortest)


def test_forty_propositions_are_compared_without_a_list_of_their_labels():
    names = [f"p{i}" for i in range(40)]
    one, other = visit_in_order(*names[:20]), visit_in_order(*names[:19])
    assert next(differing_words(one, other)) == (frozenset(names[:19]),)
    assert same_words(avoid(*names), avoid(*reversed(names)))
    assert not same_words(avoid(*names), avoid(*names[:-1]))


def test_too_many_propositions_are_refused_by_name_of_the_limit():
    many = GuardedAutomaton((tuple(Edge(Guard(frozenset({f"p{i}"})), DEAD) for i in range(201)),), np.array([True]))
    with pytest.raises(BadInputError, match="202 propositions are too many"):
        same_words(many, visit_all("a"))
