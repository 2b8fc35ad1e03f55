"""Mistakes in the cases of a process: an event is lost, doubled or moved."""

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.word_corpus import Corpus

LOST, DOUBLED, MOVED = KINDS = range(3)


def with_mistakes(corpus: Corpus, kinds: NDArray[np.int64], rng: np.random.Generator) -> Corpus:
    """The corpus with one mistake in each word, of the kinds in `kinds`, shape [words]; empty words stay as they are.

    The event is drawn, and the place of its copy or where it goes.
    """
    lengths, count = corpus.lengths, len(corpus)
    chosen = corpus.offsets[:-1] + np.floor(rng.random(count) * lengths).astype(np.int64)  # the event of each word
    goal = np.floor(rng.random(count) * (lengths + 1)) - 0.5  # between two places
    word = np.repeat(np.arange(count), lengths)
    place = np.arange(len(word)) - np.repeat(corpus.offsets[:-1], lengths).astype(np.float64)
    stays = np.ones(len(word), bool)
    stays[chosen[(lengths > 0) & (kinds != DOUBLED)]] = False
    comes = np.flatnonzero((lengths > 0) & (kinds != LOST))
    words = np.concatenate([word[stays], comes])
    places = np.concatenate([place[stays], goal[comes]])
    symbols = np.concatenate([corpus.symbols[stays], corpus.symbols[chosen[comes]]])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(words, minlength=count))])
    return Corpus(symbols[np.lexsort((places, words))], offsets.astype(np.int64), corpus.weights)
