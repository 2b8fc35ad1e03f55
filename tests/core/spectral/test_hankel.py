"""Laws of Hankel blocks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies_automata import spell, words

from wfairl.core.automata.word_corpus import encode_all, merge_equal_words
from wfairl.core.spectral.hankel import blocks_from_corpus
from wfairl.core.support.errors import BadInputError

samples = st.lists(words, min_size=1, max_size=8)
limits = st.one_of(st.none(), st.integers(0, 3))


@given(samples, limits, limits)
@settings(max_examples=60)
def test_blocks_hold_the_frequencies_of_their_words(sample, rows, cols):
    corpus, alphabet = encode_all(sample)
    counted, _ = merge_equal_words(corpus)
    blocks = blocks_from_corpus(counted, len(alphabet), rows, cols)
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


@pytest.mark.parametrize("limits", [{"rows": -1}, {"cols": -2}])
def test_an_impossible_limit_is_an_error_that_names_it(limits):
    corpus, alphabet = encode_all([(frozenset("a"),)])
    with pytest.raises(BadInputError, match=next(iter(limits))):
        blocks_from_corpus(corpus, len(alphabet), **limits)


def test_words_too_long_for_the_basis_leave_empty_blocks():
    corpus, alphabet = encode_all([(frozenset("a"),) * 9])
    blocks = blocks_from_corpus(corpus, len(alphabet), 2, 2)
    assert blocks.block.shape == (1, 1)
    assert blocks.block.nnz == 0
