"""Many words as arrays: flat symbols with offsets, and the tree of their prefixes.

A corpus is a weighted list of words over one alphabet. Computations on many words go over it level by level (all words
at position 0, then 1, ...), so that they take the time of sorting the symbols: linear in the words up to a logarithm,
and without a Python loop over words.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.words import Word, sort_labels

UNKNOWN_SYMBOL = -1
"""The symbol of a label that the alphabet lacks."""

NO_PARENT = -1
"""The parent of the root of a prefix tree, which is the empty word."""

TOO_DEEP = -1
"""The node of a prefix that is longer than the tree is deep."""


@dataclass(frozen=True)
class Corpus:
    """Weighted words over an alphabet of symbols 0 .. symbols - 1."""

    symbols: NDArray[np.int32]  # all words, one after another, shape [total length]
    offsets: NDArray[np.int64]  # word i is `symbols[offsets[i]:offsets[i + 1]]`, shape [words + 1]
    weights: NDArray[np.float64]  # weight of each word (its score, count or probability), shape [words]

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Length of each word, shape [words]."""
        return np.diff(self.offsets)

    @cached_property
    def prefix_starts(self) -> NDArray[np.int64]:
        """Where the prefixes of each word begin in an array over all prefixes of all words, shape [words].

        Word i has `lengths[i] + 1` of them there, from the empty one to the word itself.
        """
        return self.offsets[:-1] + np.arange(len(self))

    def __len__(self) -> int:
        return len(self.weights)

    def reversed(self) -> "Corpus":
        """The same words read from their ends."""
        ends = np.repeat(self.offsets[1:], self.lengths)
        starts = np.repeat(self.offsets[:-1], self.lengths)
        return Corpus(self.symbols[ends - 1 - (np.arange(len(self.symbols)) - starts)], self.offsets, self.weights)

    def take(self, indices: NDArray[np.int64], weights: NDArray[np.float64] | None = None) -> "Corpus":
        """The words at `indices`, with new weights if given."""
        lengths = self.lengths[indices]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[indices] - offsets[:-1], lengths)
        return Corpus(self.symbols[places], offsets, self.weights[indices] if weights is None else weights)


@dataclass(frozen=True)
class PrefixTree:
    """The distinct prefixes of a corpus; node 0 is the empty word, nodes stand in order of depth."""

    parents: NDArray[np.int64]  # node without its last symbol, shape [nodes]
    symbols: NDArray[np.int64]  # last symbol of each node (`UNKNOWN_SYMBOL` at the root), shape [nodes]
    levels: NDArray[np.int64]  # nodes of depth d are `levels[d] .. levels[d + 1] - 1`, shape [depths + 1]
    # node of each prefix of each word (see `Corpus.prefix_starts`), `TOO_DEEP` below the depth that the tree was cut
    # at; shape [total length + words]
    visits: NDArray[np.int64]
    ends: NDArray[np.int64]  # likewise of each whole word, shape [words]

    def __len__(self) -> int:
        return len(self.parents)


def encode(words: Sequence[Word], alphabet: Sequence[Label], weights: NDArray[np.float64] | None = None) -> Corpus:
    """The corpus of `words`, of weight 1 unless given; a label outside the alphabet becomes `UNKNOWN_SYMBOL`."""
    index = defaultdict(lambda: UNKNOWN_SYMBOL, {label: i for i, label in enumerate(alphabet)})
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    symbols = np.fromiter(map(index.__getitem__, chain.from_iterable(words)), np.int32, int(offsets[-1]))
    return Corpus(symbols, offsets, np.ones(len(words)) if weights is None else np.asarray(weights, np.float64))


def encode_all(words: Sequence[Word], weights: NDArray[np.float64] | None = None) -> tuple[Corpus, tuple[Label, ...]]:
    """The corpus of `words` over the labels that occur in them, and these labels in their one order."""
    alphabet = sort_labels(chain.from_iterable(words))
    return encode(words, alphabet, weights), alphabet


def build_prefix_tree(corpus: Corpus, max_depth: int | None = None) -> PrefixTree:
    """The prefix tree of a corpus, built one depth at a time, down to `max_depth`."""
    base = int(corpus.symbols.max(initial=0)) + 2  # symbols from UNKNOWN_SYMBOL = -1 become digits from 0
    visits = np.full(len(corpus.symbols) + len(corpus), TOO_DEEP)
    parents, symbols, levels = [np.array([NO_PARENT])], [np.array([UNKNOWN_SYMBOL])], [0, 1]
    alive = np.flatnonzero(corpus.lengths > 0)
    nodes = np.zeros(len(alive), np.int64)
    visits[corpus.prefix_starts] = 0
    depth = 0
    while len(alive) and depth != max_depth:
        keys = nodes * base + (corpus.symbols[corpus.offsets[alive] + depth] + 1)
        distinct, inverse = np.unique(keys, return_inverse=True)
        parents.append(distinct // base)
        symbols.append(distinct % base - 1)
        nodes = levels[-1] + inverse
        levels.append(levels[-1] + len(distinct))
        depth += 1
        visits[corpus.prefix_starts[alive] + depth] = nodes
        longer = corpus.lengths[alive] > depth
        alive, nodes = alive[longer], nodes[longer]
    return PrefixTree(
        parents=np.concatenate(parents),
        symbols=np.concatenate(symbols),
        levels=np.array(levels),
        visits=visits,
        ends=visits[corpus.prefix_starts + corpus.lengths],
    )


def indices_by_symbol(symbols: NDArray[Any], labels: int) -> list[NDArray[np.int64]]:
    """For each symbol 0 .. labels - 1, where it occurs, rising."""
    order = np.argsort(symbols, kind="stable")
    return np.split(order, np.searchsorted(symbols[order], np.arange(labels + 1)))[1:-1]


def merge_equal_words(corpus: Corpus) -> tuple[Corpus, NDArray[np.int64]]:
    """The distinct words with their total weights, and how often each occurs, shape [distinct]."""
    _, first, inverse, counts = np.unique(
        build_prefix_tree(corpus).ends, return_index=True, return_inverse=True, return_counts=True
    )
    totals = np.bincount(inverse, corpus.weights, len(first)).astype(np.float64)
    return corpus.take(first.astype(np.int64), totals), counts.astype(np.int64)
