"""Laws of corpora and prefix trees."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies_automata import words

from wfairl.core.automata.word_corpus import (
    NO_PARENT,
    TOO_DEEP,
    UNKNOWN_SYMBOL,
    build_prefix_tree,
    encode,
    encode_all,
    merge_equal_words,
)

samples = st.lists(words, min_size=1, max_size=12)


def decode(corpus, alphabet):
    return [
        tuple(alphabet[symbol] for symbol in corpus.symbols[start:end])
        for start, end in zip(corpus.offsets, corpus.offsets[1:], strict=False)
    ]


@given(samples)
def test_encoding_loses_nothing(sample):
    corpus, alphabet = encode_all(sample)
    assert decode(corpus, alphabet) == sample
    assert decode(encode(sample, alphabet), alphabet) == sample
    assert set(alphabet) == {label for word in sample for label in word}


@given(samples)
def test_reversal_reads_words_from_their_ends(sample):
    corpus, alphabet = encode_all(sample)
    assert decode(corpus.reversed(), alphabet) == [word[::-1] for word in sample]


def test_alphabets_beyond_a_byte_are_encoded():
    alphabet = [frozenset({str(i)}) for i in range(700)]
    corpus, found = encode_all([tuple(alphabet)])
    assert decode(corpus, found) == [tuple(alphabet)]


def test_a_label_outside_the_alphabet_is_unknown():
    corpus = encode([(frozenset("a"), frozenset("b"))], [frozenset("a")])
    assert corpus.symbols.tolist() == [0, UNKNOWN_SYMBOL]


@given(samples, st.one_of(st.none(), st.integers(0, 5)))
def test_nodes_of_the_tree_are_the_distinct_prefixes(sample, max_depth):
    corpus, alphabet = encode_all(sample)
    tree = build_prefix_tree(corpus, max_depth)

    def spell(node):
        parent = tree.parents[node]
        return () if parent == NO_PARENT else (*spell(parent), alphabet[tree.symbols[node]])

    limit = 99 if max_depth is None else max_depth
    prefixes = {word[:i] for word in sample for i in range(min(len(word), limit) + 1)}
    assert Counter(map(spell, range(len(tree)))) == Counter(prefixes)
    for i, word in enumerate(sample):
        for length in range(len(word) + 1):
            node = tree.visits[corpus.offsets[i] + i + length]
            assert node == TOO_DEEP if length > limit else spell(node) == word[:length]


@given(samples, st.booleans())
def test_merging_sums_the_weights_of_equal_words(sample, with_long_words):
    if with_long_words:  # too long to be packed into one number
        sample = [word + (frozenset("a"),) * 80 for word in sample]
    corpus, alphabet = encode_all(sample, np.arange(1.0, len(sample) + 1))
    merged, counts = merge_equal_words(corpus)
    found = {
        word: (weight, count)
        for word, weight, count in zip(decode(merged, alphabet), merged.weights, counts, strict=True)
    }
    assert len(found) == len(merged)
    for word in sample:
        places = [i + 1 for i, other in enumerate(sample) if other == word]
        assert found[word] == (sum(places), len(places))
