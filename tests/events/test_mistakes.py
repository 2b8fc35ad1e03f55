"""Mistakes: each word has the one that was asked for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.automata.word_corpus import encode_all
from wfairl.core.automata.words import as_word
from wfairl.events.process_rule import DOUBLED, KINDS, LOST, with_mistakes


def without_one(word):
    return [word[:i] + word[i + 1 :] for i in range(len(word))]


@given(st.lists(st.text("abc", max_size=6), min_size=1, max_size=8), st.sampled_from(KINDS), st.integers(0, 9))
def test_a_mistake_loses_doubles_or_moves_one_event(texts, kind, seed):
    corpus, alphabet = encode_all([as_word(list(text)) for text in texts])
    changed = with_mistakes(corpus, np.full(len(texts), kind), np.random.default_rng(seed))
    for i, text in enumerate(texts):
        symbols = changed.symbols[changed.offsets[i] : changed.offsets[i + 1]]
        now = "".join(min(alphabet[symbol]) for symbol in symbols)
        if not text:
            assert not now
        elif kind == LOST:
            assert now in without_one(text)
        elif kind == DOUBLED:
            assert text in without_one(now)
            assert set(now) == set(text)
        else:
            assert sorted(now) == sorted(text)
            assert set(without_one(now)) & set(without_one(text))
