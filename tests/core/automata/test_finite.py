"""Laws of finite automata: the quotient of a weighted automaton."""

from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_automata import product_of_matrices, without_repeats
from strategies_automata import PROPOSITIONS, random_automaton, words

from wfairl.core.automata.automaton import ACCEPTED, DEAD
from wfairl.core.automata.finite import (
    FiniteAutomaton,
    NoAcceptedWordError,
    TooManyStatesError,
    end_states,
    quotient,
)
from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.automata.word_corpus import encode
from wfairl.core.spectral.spectral_learner import SpectralLearner
from wfairl.core.support.errors import BadInputError

scored_words = st.dictionaries(words, st.sampled_from([0.0, 1.0]), min_size=1, max_size=6).filter(
    lambda scored: any(scored.values())
)


def learn(scored):
    compressed = {without_repeats(word): score for word, score in scored.items()}
    if not any(compressed.values()):  # a failure took the place of the same word, compressed
        compressed[()] = 1.0
    return SpectralLearner().fit(list(compressed), list(compressed.values())).automaton_, compressed


@given(scored_words, st.lists(words, max_size=20))
@settings(max_examples=60)
def test_a_word_is_accepted_if_its_compressed_value_reaches_the_threshold(scored, others):
    automaton, compressed = learn(scored)
    finite = quotient(automaton, words=list(compressed))
    for word in [*scored, *others]:
        assert finite.accepts(word) == (product_of_matrices(automaton, without_repeats(word)) >= 0.5)
    assert finite.closed
    assert finite.deviation < 1e-6


@given(scored_words)
@settings(max_examples=40)
def test_repeating_labels_changes_nothing(scored):
    automaton, compressed = learn(scored)
    finite = quotient(automaton)
    for word in compressed:
        stuttered = tuple(label for label in word for _ in range(3))
        assert finite.run(stuttered)[-1] == finite.run(word)[-1]


@given(scored_words, st.lists(words, max_size=20))
@settings(max_examples=40)
def test_kept_repeats_are_read(scored, others):
    automaton = SpectralLearner().fit(list(scored), list(scored.values())).automaton_
    finite = quotient(automaton, keep_repeats=True)
    for word in [*scored, *others]:
        assert finite.accepts(word) == (product_of_matrices(automaton, word) >= 0.5)


@given(scored_words)
@settings(max_examples=40)
def test_every_state_is_live(scored):
    finite = quotient(learn(scored)[0])
    live = set(np.flatnonzero(finite.accepting))
    while True:
        grown = live | {q for q in range(finite.states) if set(finite.transitions[q]) & live}
        if grown == live:
            break
        live = grown
    assert live == set(range(finite.states))


@given(scored_words)
@settings(max_examples=30)
def test_columns_and_rows_follow_the_transitions(scored):
    finite = quotient(learn(scored)[0])
    subsets = chain.from_iterable(combinations(PROPOSITIONS, size) for size in range(len(PROPOSITIONS) + 1))
    for state, label in product(range(finite.states), map(frozenset, subsets)):
        known = label in finite.alphabet
        after = finite.transitions[state, finite.alphabet.index(label)] if known else DEAD
        assert finite.column(label)[state] == finite.read(state, label) == after
        assert finite.column_with_acceptance(label)[state] == (
            ACCEPTED if after != DEAD and finite.accepting[after] else after
        )


@given(scored_words, st.lists(words, max_size=10))
@settings(max_examples=30)
def test_guarded_edges_are_what_changes_the_state(scored, tried):
    """Guards that hold for one label of the alphabet each: where one holds the state changes, and only there."""
    finite = quotient(learn(scored)[0])
    edges = finite.guarded_edges(PROPOSITIONS)
    for word in tried:
        for before, label, after in zip(finite.run(word), word, finite.run(word)[1:], strict=False):
            if before != DEAD:
                found = [target for source, guard, target in edges if source == before and guard.holds(label)]
                assert found == ([after] if after not in (DEAD, before) else [])


def test_a_world_without_a_proposition_of_the_automaton_is_an_error_with_advice():
    with pytest.raises(BadInputError, match="mend the rule, or learn the automaton from words of this task"):
        quotient(learn({(frozenset({"door"}),): 1.0})[0]).check_propositions(["key"])


def test_a_truncated_basis_ends_in_a_named_error_or_an_open_automaton():
    automaton = random_automaton(np.random.default_rng(1), 6, 5)  # infinitely many states
    with pytest.raises(TooManyStatesError, match="full basis"):
        quotient(automaton, threshold=0.01, max_states=500)
    finite = quotient(automaton, threshold=0.01, max_states=500, allow_open=True)
    assert not finite.closed
    assert finite.states <= 500


def test_thousands_of_states_of_a_small_automaton_are_explored():
    label, angle = frozenset("a"), 2 * np.pi / 3_000  # a clock of 3,000 ticks, in two dimensions
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    clock = WeightedAutomaton((label,), np.array([1.0, 0.0]), np.array([1.0, 0.0]), turn[None])
    finite = quotient(clock, threshold=0.5, keep_repeats=True)
    assert finite.closed
    assert finite.states == 3_000
    assert finite.accepts((label,) * 6_000)
    assert not finite.accepts((label,) * 7_500)


def test_a_coarse_tolerance_merges_more_and_reports_its_deviation():
    label = frozenset("a")
    decay = WeightedAutomaton((label,), np.ones(1), np.ones(1), np.full((1, 1, 1), 0.99))
    fine = quotient(decay, threshold=0.5, tolerance=1e-9, keep_repeats=True)
    coarse = quotient(decay, threshold=0.5, tolerance=0.05, keep_repeats=True)
    assert coarse.states < fine.states
    assert fine.deviation < 1e-6 < coarse.deviation


def test_a_threshold_out_of_reach_is_a_named_error():
    automaton, _ = learn({(frozenset("a"),): 1.0})
    with pytest.raises(NoAcceptedWordError, match="lower the threshold"):
        quotient(automaton, threshold=2.0)


def test_a_state_waits_for_labels_that_lead_to_other_live_states():
    a, b = frozenset("a"), frozenset("b")
    finite = quotient(learn({(a, b): 1.0, (b,): 0.0})[0])
    assert finite.lacking(0, ()) == ("a",)
    assert finite.lacking(finite.read(0, a), ()) == ("b",)
    assert finite.read(0, b) == DEAD
    assert finite.read(DEAD, a) == DEAD


def test_parts_that_do_not_fit_are_an_error():
    with pytest.raises(BadInputError, match="shape"):
        FiniteAutomaton((frozenset("a"),), np.zeros((2, 1), np.int32), np.array([True]), np.ones(1), (None,))


@given(st.lists(words, max_size=6))
def test_many_words_run_as_each_of_them_does(some_words):
    labels = tuple(frozenset(name) for name in "abc")
    table = np.array([[1, 0, DEAD], [1, 2, DEAD], [2, 2, 2]], np.int32)
    automaton = FiniteAutomaton(labels, table, np.array([False, False, True]), np.zeros(3), (None,) * 3)
    assert automaton.accepts_all(some_words).tolist() == [automaton.accepts(word) for word in some_words]
    corpus = encode(some_words, automaton.alphabet)
    assert end_states(automaton.transitions, corpus).tolist() == [automaton.run(word)[-1] for word in some_words]
