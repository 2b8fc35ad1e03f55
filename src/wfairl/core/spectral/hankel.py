"""Hankel blocks of a function on words: H(u, v) = h(uv) and H_sigma(u, v) = h(u sigma v).

u runs over a basis of prefixes and v over one of suffixes; the empty word is row 0 and column 0.
Blocks come from a sample of words (sparse, unseen entries zero) or from a function (dense).
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from wfairl.core.automata.word_corpus import Corpus, PrefixTree, build_prefix_tree, indices_by_symbol
from wfairl.core.support.bounds import AtLeastOne, AtLeastZero, check_bounds

Matrix: TypeAlias = NDArray[np.float64] | csr_array

OUTSIDE = -1
"""The row or column of a prefix or suffix that is not in the basis."""


@dataclass(frozen=True)
class BasisChoice:
    """Which prefixes and suffixes of the words go into the basis; None sets no limit.

    Attributes:
        rows: length of the longest prefix.
        cols: length of the longest suffix.
        max_prefixes: keep this many, the most frequent ones.
        max_suffixes: keep this many, the most frequent ones.
    """

    rows: AtLeastZero | None = None
    cols: AtLeastZero | None = None
    max_prefixes: AtLeastOne | None = None
    max_suffixes: AtLeastOne | None = None

    def __post_init__(self) -> None:
        check_bounds(self)

    @property
    def longest_word(self) -> int | None:
        """The longest word u sigma v that the blocks can hold."""
        return None if self.rows is None or self.cols is None else self.rows + 1 + self.cols


@dataclass(frozen=True)
class HankelBlocks:
    """The blocks over one basis, dense or sparse.

    Attributes:
        block: H, shape [prefixes, suffixes].
        label_blocks: H_sigma in the order of the alphabet, each of shape [prefixes, suffixes].
        rows: length of the longest prefix of the basis.
        cols: length of the longest suffix of the basis.
    """

    block: Matrix
    label_blocks: tuple[Matrix, ...]
    rows: int
    cols: int


def blocks_from_corpus(
    corpus: Corpus, frequencies: NDArray[np.float64], labels: int, choice: BasisChoice
) -> HankelBlocks:
    """The sparse blocks of the function that is `corpus.weights` on its words and zero elsewhere.

    Args:
        corpus: distinct words.
        frequencies: how much each word counts in the choice of frequent prefixes, shape [words].
        labels: size of the alphabet.
        choice: the basis; a limit beyond the longest word is no limit.
    """
    if choice.longest_word is not None and corpus.lengths.max() > choice.longest_word:  # no place for longer words
        short = np.flatnonzero(corpus.lengths <= choice.longest_word)
        corpus, frequencies = corpus.take(short), frequencies[short]
    from_left = build_prefix_tree(corpus, choice.rows)
    from_right = build_prefix_tree(corpus.reversed(), choice.cols)
    row_of = _number_basis(from_left, frequencies, corpus, choice.max_prefixes)
    col_of = _number_basis(from_right, frequencies, corpus, choice.max_suffixes)

    # Word i is split before each of its positions 0 .. length: entry (prefix, suffix) is its value.
    word_of = corpus.prefix_words
    first, from_end = corpus.prefix_starts[word_of], corpus.lengths[word_of] - corpus.prefix_lengths
    row = row_of[from_left.visits]
    shape = (int(row_of.max()) + 1, int(col_of.max()) + 1)
    values = corpus.weights[word_of]

    col = col_of[from_right.visits[first + from_end]]
    inside = (row != OUTSIDE) & (col != OUTSIDE)
    block = csr_array((values[inside], (row[inside], col[inside])), shape=shape)

    # The same with the symbol at the position taken out: entry (prefix, rest) of that symbol's block.
    inner = from_end > 0
    row, values = row[inner], values[inner]
    col = col_of[from_right.visits[(first + from_end - 1)[inner]]]
    inside = (row != OUTSIDE) & (col != OUTSIDE)
    row, col, values = row[inside], col[inside], values[inside]
    symbol = corpus.symbols[inside].astype(np.min_scalar_type(labels))  # small integers sort in linear time
    label_blocks = tuple(
        csr_array((values[part], (row[part], col[part])), shape=shape) for part in indices_by_symbol(symbol, labels)
    )
    rows, cols = _longest(from_left, row_of), _longest(from_right, col_of)
    return HankelBlocks(block, label_blocks, rows, cols)


def _number_basis(
    tree: PrefixTree, frequencies: NDArray[np.float64], corpus: Corpus, count: int | None
) -> NDArray[np.int64]:
    """Row of each node of the tree, or `OUTSIDE`; the empty word is row 0. Shape [nodes + 1].

    The entry past the end is that of `TOO_DEEP`.
    """
    candidates = np.arange(len(tree))
    if count is not None and count < len(candidates):
        passing = np.bincount(tree.visits + 1, frequencies[corpus.prefix_words], len(tree) + 1)[1:]
        candidates = np.sort(np.argsort(-passing, kind="stable")[:count])  # ties: the shorter; the empty word is first
    numbers = np.full(len(tree) + 1, OUTSIDE)
    numbers[candidates] = np.arange(len(candidates))
    return numbers


def _longest(tree: PrefixTree, numbers: NDArray[np.int64]) -> int:
    return int(tree.depths[numbers[:-1] != OUTSIDE].max())
