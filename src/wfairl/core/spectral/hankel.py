"""Hankel blocks of a function on words: H(u, v) = h(uv) and H_sigma(u, v) = h(u sigma v).

u runs over a basis of prefixes and v over one of suffixes; the empty word is row 0 and column 0.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from wfairl.core.automata.word_corpus import TOO_DEEP, Corpus, build_prefix_tree, indices_by_symbol
from wfairl.core.support.errors import BadInputError


@dataclass(frozen=True)
class HankelBlocks:
    """The blocks over one basis."""

    block: csr_array  # H, shape [prefixes, suffixes]
    label_blocks: tuple[csr_array, ...]  # H_sigma in the order of the alphabet, each of shape [prefixes, suffixes]
    rows: int  # length of the longest prefix of the basis
    cols: int  # length of the longest suffix of the basis


def blocks_from_corpus(corpus: Corpus, labels: int, rows: int | None = None, cols: int | None = None) -> HankelBlocks:
    """The blocks of the function that is `corpus.weights` on its distinct words and zero elsewhere.

    `rows` and `cols` limit the basis; None sets no limit. `labels` is the size of the alphabet.
    """
    for name, limit in (("rows", rows), ("cols", cols)):
        if limit is not None and limit < 0:
            raise BadInputError(f"{name} is {limit}; give at least 0, or leave it out for no limit")
    if rows is not None and cols is not None:  # there is no place for longer words
        corpus = corpus.take(np.flatnonzero(corpus.lengths <= rows + 1 + cols))
    from_left, from_right = build_prefix_tree(corpus, rows), build_prefix_tree(corpus.reversed(), cols)
    shape = len(from_left), len(from_right)

    # Word i is split before each of its positions 0 .. length: entry (prefix, suffix) is its value.
    word_of = np.repeat(np.arange(len(corpus)), corpus.lengths + 1)
    first = corpus.prefix_starts[word_of]
    from_end = corpus.lengths[word_of] - (np.arange(len(word_of)) - first)
    row, col, values = from_left.visits, from_right.visits[first + from_end], corpus.weights[word_of]
    inside = (row != TOO_DEEP) & (col != TOO_DEEP)
    block = csr_array((values[inside], (row[inside], col[inside])), shape=shape)

    # The same with the symbol at the position taken out: entry (prefix, rest) of that symbol's block.
    inner = from_end > 0
    row, col, values = row[inner], from_right.visits[(first + from_end - 1)[inner]], values[inner]
    inside = (row != TOO_DEEP) & (col != TOO_DEEP)
    row, col, values = row[inside], col[inside], values[inside]
    symbol = corpus.symbols[inside].astype(np.min_scalar_type(labels))  # small integers sort in linear time
    label_blocks = tuple(
        csr_array((values[part], (row[part], col[part])), shape=shape) for part in indices_by_symbol(symbol, labels)
    )
    return HankelBlocks(block, label_blocks, len(from_left.levels) - 2, len(from_right.levels) - 2)
