"""Each template says the same as a sentence, as a test on places, and as an automaton."""

from itertools import product as words_over

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_automata import without_repeats
from oracles_constraints import accepts, keeps, same_language
from strategies_automata import PROPOSITIONS, words

from wfairl.core.automata.automaton import DEAD
from wfairl.core.automata.finite import NoAcceptedWordError, TooManyStatesError
from wfairl.core.automata.word_corpus import encode, encode_all
from wfairl.core.automata.words import sort_labels
from wfairl.core.support.errors import BadInputError
from wfairl.events.constraints import TEMPLATES, EventConstraint, Occurrences
from wfairl.events.dfa import (
    Dfa,
    ignores_repeats,
    intersect_dfas,
    minimal,
    product,
    to_finite,
)

LABELS = sort_labels(frozenset(p for p, held in zip("abc", bits, strict=True) if held) for bits in [
    (0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1),
])  # fmt: skip

templates = st.sampled_from(TEMPLATES)


@st.composite
def constraints(draw, propositions=PROPOSITIONS):
    template = draw(templates)
    return EventConstraint(template, tuple(draw(st.permutations(propositions))[: template.arguments]))


@given(constraints(), st.lists(words, min_size=1, max_size=8))
@settings(max_examples=200)
def test_places_automaton_and_definition_say_the_same(constraint, some_words):
    corpus, alphabet = encode_all(some_words)
    expected = [keeps(constraint.template.name, constraint.propositions, word) for word in some_words]
    assert constraint.holds(Occurrences.of(corpus, alphabet, PROPOSITIONS)).tolist() == expected
    if not constraint.template.transitions:
        with pytest.raises(BadInputError, match="no finite automaton"):
            constraint.table(alphabet)
        return
    table = constraint.table(alphabet)
    symbols = [tuple(encode([word], alphabet).symbols.tolist()) for word in some_words]
    assert [accepts(table, word) for word in symbols] == expected


def finite(chosen):
    return [constraint for constraint in chosen if constraint.template.transitions]


@given(st.lists(constraints("abc"), max_size=4).map(finite))
@settings(max_examples=25, deadline=None)
def test_the_minimal_automaton_accepts_what_keeps_all_constraints(chosen):
    def kept(word):
        return all(keeps(constraint.template.name, constraint.propositions, word) for constraint in chosen)

    tables = [constraint.table(LABELS) for constraint in chosen]
    whole = intersect_dfas(tables, len(LABELS), 10_000)
    plain = Dfa(np.zeros((1, len(LABELS)), np.int32), np.array([True]))
    for table in tables:
        plain = product(plain, table)
    assert whole.states <= plain.states
    for length in range(5):
        for symbols in words_over(range(len(LABELS)), repeat=length):
            expected = kept(tuple(LABELS[i] for i in symbols))
            assert accepts(whole, symbols) == accepts(plain, symbols) == expected


@given(st.lists(constraints("abc"), min_size=1, max_size=3).map(finite), st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_minimised_and_product_agree_on_all_words_up_to_length_six(chosen, seed):
    labels = LABELS[:3]
    plain = Dfa(np.zeros((1, 3), np.int32), np.array([True]))
    for constraint in chosen:
        plain = product(plain, constraint.table(labels))
    renamed = np.concatenate([[0], 1 + np.random.default_rng(seed).permutation(plain.states - 1)])
    shuffled = Dfa(np.zeros_like(plain.transitions), np.zeros_like(plain.accepting))
    shuffled.transitions[renamed] = renamed[plain.transitions]
    shuffled.accepting[renamed] = plain.accepting
    small = minimal(shuffled)
    assert same_language(small, plain)
    assert all(
        accepts(small, word) == accepts(plain, word)
        for length in range(7)
        for word in words_over(range(3), repeat=length)
    )
    # No two states of a minimal automaton accept the same continuations.
    endings = [word for length in range(small.states) for word in words_over(range(3), repeat=min(length, 6))]
    if small.states <= 6:
        rows = {tuple(_from(small, state, word) for word in endings) for state in range(small.states)}
        assert len(rows) == small.states


def _from(table, state, word):
    for symbol in word:
        state = table.transitions[state, symbol]
    return bool(table.accepting[state])


@given(constraints(), words)
def test_only_templates_that_count_tell_a_repeat_from_a_single_label(constraint, word):
    name = constraint.template.name
    if not constraint.template.counting:
        assert keeps(name, constraint.propositions, word) == keeps(name, constraint.propositions, without_repeats(word))
        assert ignores_repeats(constraint.table(LABELS))


def test_every_template_has_its_sentence():
    said = {t.name: EventConstraint(t, ("pay", "ship")[: t.arguments]).sentence for t in TEMPLATES}
    assert len(set(said.values())) == len(TEMPLATES)
    assert said["precedence"] == "ship only after pay"
    assert said["responded existence"] == "if pay happens, ship happens too"


def test_the_automaton_lives_on_states_from_which_the_rule_can_be_kept():
    pay, ship, other = (frozenset({name}) for name in ("pay", "ship", "other"))
    rule = [EventConstraint.of("precedence", "pay", "ship"), EventConstraint.of("existence", "ship")]
    alphabet = (pay, ship, other)
    finite = to_finite(intersect_dfas([one.table(alphabet) for one in rule], 3, 10), alphabet)
    assert finite.states == 3
    assert finite.read(0, ship) == DEAD
    assert finite.accepts((other, pay, other, ship))
    assert not finite.accepts((pay,))
    for word in (word for length in range(5) for word in words_over((pay, ship, other), repeat=length)):
        assert finite.accepts(word) == all(keeps(c.template.name, c.propositions, word) for c in rule)


def test_rules_that_cannot_be_an_automaton_are_named():
    a, b = frozenset("a"), frozenset("b")
    happens, never = (EventConstraint.of(name, "a").table((a, b)) for name in ("existence", "absence"))
    with pytest.raises(NoAcceptedWordError):
        to_finite(intersect_dfas([happens, never], 2, 10), (a, b))
    with pytest.raises(TooManyStatesError, match="more than 1 states"):
        intersect_dfas([happens], 2, 1)
    with pytest.raises(BadInputError, match="takes 2 different"):
        EventConstraint.of("precedence", "a", "a")
    with pytest.raises(BadInputError, match="no template 'never'"):
        EventConstraint.of("never", "a")
