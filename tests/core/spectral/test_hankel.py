"""Laws of Hankel blocks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies_automata import spell, words

from wfairl.core.automata.word_corpus import Corpus, encode_all, merge_equal_words
from wfairl.core.spectral.hankel import BasisChoice, blocks_from_corpus
from wfairl.core.support.errors import BadInputError

samples = st.lists(words, min_size=1, max_size=8)
limits = st.one_of(st.none(), st.integers(0, 3))


@given(samples, limits, limits)
@settings(max_examples=60)
def test_blocks_hold_the_frequencies_of_their_words(sample, rows, cols):
    corpus, alphabet = encode_all(sample)
    counted, _ = merge_equal_words(corpus)
    blocks = blocks_from_corpus(counted, counted.weights, len(alphabet), BasisChoice(rows, cols))
    longest = {"rows": 99 if rows is None else rows, "cols": 99 if cols is None else cols}
    kept = [w for w in spell(counted, alphabet) if rows is None or cols is None or len(w) <= rows + 1 + cols]
    prefixes = {w[:i] for w in [*kept, ()] for i in range(len(w) + 1) if i <= longest["rows"]}
    suffixes = {w[i:] for w in [*kept, ()] for i in range(len(w) + 1) if len(w) - i <= longest["cols"]}
    assert blocks.block.shape == (len(prefixes), len(suffixes))

    def values(make):
        return sorted(v for u in prefixes for v in (sample.count(make(u, s)) for s in suffixes) if v)

    assert sorted(blocks.block.toarray()[blocks.block.toarray() != 0]) == values(lambda u, v: u + v)
    for label, block in zip(alphabet, blocks.label_blocks, strict=True):
        dense = block.toarray()
        assert sorted(dense[dense != 0]) == values(lambda u, v, label=label: (*u, label, *v))
    assert blocks.block.toarray()[0, 0] == sample.count(())


@given(samples, st.integers(1, 4))
@settings(max_examples=40)
def test_the_most_frequent_prefixes_are_kept(sample, count):
    corpus, alphabet = encode_all(sample)
    counted, _ = merge_equal_words(corpus)
    blocks = blocks_from_corpus(counted, counted.weights, len(alphabet), BasisChoice(max_prefixes=count))
    prefixes = {word[:i] for word in sample for i in range(len(word) + 1)}
    passing = sorted((sum(w[: len(u)] == u for w in sample) for u in prefixes), reverse=True)
    assert blocks.block.shape[0] == min(count, len(prefixes))
    if count <= len(prefixes):  # what is left out is no more frequent than the least of what is kept
        sums = np.asarray(blocks.block.sum(axis=1)).ravel()
        assert sorted(sums, reverse=True) == passing[:count]


@pytest.mark.parametrize("limits", [{"rows": -1}, {"cols": -2}, {"max_prefixes": 0}, {"max_suffixes": -3}])
def test_an_impossible_limit_is_an_error_that_names_it(limits):
    with pytest.raises(BadInputError, match=next(iter(limits))):
        BasisChoice(**limits)


def test_words_too_long_for_the_basis_leave_empty_blocks():
    corpus, alphabet = encode_all([(frozenset("a"),) * 9])
    blocks = blocks_from_corpus(
        Corpus(corpus.symbols, corpus.offsets, corpus.weights), corpus.weights, len(alphabet), BasisChoice(2, 2)
    )
    assert blocks.block.shape == (1, 1)
    assert blocks.block.nnz == 0
