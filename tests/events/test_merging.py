"""Small automata are found from flagged words, and their bits are those of the definition."""

import re
from itertools import product as words_over

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_constraints import accepts, same_language

from wfairl.core.automata.automaton import DEAD
from wfairl.core.automata.finite import end_states
from wfairl.core.automata.word_corpus import Corpus
from wfairl.core.support.errors import BadInputError
from wfairl.events import merging
from wfairl.events.description_length import flag_bits, table_bits
from wfairl.events.dfa import Dfa, minimal, to_finite
from wfairl.events.merging import MergingLearner, merge_states, stage_sentences

EVEN_ONES = Dfa(np.array([[0, 1], [1, 0]], np.int32), np.array([True, False]))
"""Words with an even number of the label 1."""

FIRST_THEN_SECOND = Dfa(np.array([[1, 0, 0, 0], [1, 2, 1, 1], [2, 2, 2, 2]], np.int32), np.array([False, False, True]))
"""Label 0 and later label 1; labels 2 and 3 are incidental."""


def draw(rng, labels, count, length):
    words = [tuple(rng.integers(labels, size=rng.integers(length + 1)).tolist()) for _ in range(count)]
    return words, corpus_of(words)


def corpus_of(words):
    offsets = np.concatenate([[0], np.cumsum([len(word) for word in words])]).astype(np.int64)
    return Corpus(np.array([i for word in words for i in word], np.int32), offsets, np.ones(len(words)))


@pytest.mark.parametrize(("target", "length"), [(EVEN_ONES, 8), (FIRST_THEN_SECOND, 10)], ids=["parity", "order"])
def test_the_automaton_of_noisy_flags_is_found(target, length):
    rng = np.random.default_rng(0)
    words, corpus = draw(rng, target.transitions.shape[1], 800, length)
    truth = np.array([accepts(target, word) for word in words])
    flags = truth ^ (rng.random(len(words)) < 0.03)
    assert same_language(MergingLearner().find_automaton(corpus, flags, target.transitions.shape[1])[1], target)


def test_merging_alone_finds_what_short_words_show_whole():
    words = [word for length in range(7) for word in words_over(range(2), repeat=length)]
    flags = np.array([accepts(EVEN_ONES, word) for word in words])
    transitions = merge_states(corpus_of(words), flags, 2, 24, np.random.default_rng(0))
    assert np.array_equal(transitions, EVEN_ONES.transitions)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
@settings(max_examples=25, deadline=None)
def test_the_bits_are_those_of_the_automaton_and_of_the_flags_on_either_side(seed, count):
    rng = np.random.default_rng(seed)
    _, corpus = draw(rng, 3, count, 5)
    flags = rng.random(count) < 0.6
    bits, table = MergingLearner().find_automaton(corpus, flags, 3)
    accepted = table.accepting[end_states(table.transitions, corpus)]
    sides = [flag_bits((accepted == side).sum(), flags[accepted == side].sum()) for side in (True, False)]
    assert bits == pytest.approx(table_bits(table) + float(sum(sides)))
    assert minimal(table).states == table.states
    assert table.accepting.any()


def test_flags_by_chance_have_one_state():
    rng = np.random.default_rng(1)
    _, corpus = draw(rng, 5, 300, 10)
    assert MergingLearner().find_automaton(corpus, rng.random(300) < 0.8, 5)[1].states == 1


def test_of_a_tree_that_is_too_large_a_part_is_merged(monkeypatch):
    monkeypatch.setattr(merging, "TREE_CELLS", 2_000)
    words = [word for length in range(8) for word in words_over(range(2), repeat=length)]
    flags = np.array([accepts(EVEN_ONES, word) for word in words])
    assert same_language(MergingLearner().find_automaton(corpus_of(words), flags, 2)[1], EVEN_ONES)


def test_bad_settings_are_named():
    with pytest.raises(BadInputError, match="at least 1"):
        MergingLearner(max_states=0)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_the_sentences_say_the_whole_automaton(seed, states, labels):
    rng = np.random.default_rng(seed)
    table = minimal(Dfa(rng.integers(states, size=(states, labels)).astype(np.int32), rng.random(states) < 0.5))
    if not table.accepting.any():
        return
    automaton = to_finite(table, tuple(frozenset({name}) for name in "abcd"[:labels]))
    transitions, accepting = read_sentences(stage_sentences(automaton), "abcd"[:labels])
    assert transitions == automaton.transitions.tolist()
    assert accepting == automaton.accepting.tolist()


def read_sentences(sentences, names):
    """The transitions and accepting states that a reader takes from sentences about stages."""
    *stages, rest = sentences
    assert rest == "nothing else leads to another stage"
    transitions, accepting = [], []
    for state, sentence in enumerate(stages):
        here, *ways = sentence.split("; ")
        assert f"stage {state + 1}" in here
        accepting.append(here.endswith("succeeds"))
        row = [state] * len(names)
        for way in ways:
            labels, where = re.fullmatch(r"(.+) (leads to stage \d+|makes it fail whatever follows)", way).groups()
            chosen = {*names} if labels.startswith("anything") else {*labels.split(" or ")}
            if labels.startswith("anything but "):
                chosen -= {*labels.removeprefix("anything but ").split(" or ")}
            for name in chosen:
                row[names.index(name)] = DEAD if "fail" in where else int(where.split()[-1]) - 1
        transitions.append(row)
    return transitions, accepting
