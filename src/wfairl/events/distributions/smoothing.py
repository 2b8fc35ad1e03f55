"""Smoothing: from a weighted automaton to a distribution in which every word is possible.

An automaton learned from a sample gives some words values at or below zero. With an n-gram model g,

    p(x) = (1 - weight) max(0, h(x)) + weight g(x)

is positive for every word over the labels. The sum of p is one if h is a distribution; if h has negative values, the
sum is larger by what max cuts off. Whole words are mixed: mixing label by label would need h on long prefixes, which
cannot be estimated.

The n-gram model predicts the next label from the last few by Witten-Bell smoothing: with n(c, s) occurrences of label s
after context c, n(c) of them in total, d(c) different ones, and c' the context without its oldest label,

    p(s | c) = (n(c, s) + d(c) p(s | c')) / (n(c) + d(c))        p(s | no context) starts from uniform

The end of a word is a label too, and so is its beginning in a context.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.automata.word_corpus import Corpus
from wfairl.core.support.errors import BadInputError

NGRAM_WEIGHTS = np.array([0.001, 0.003, 0.01, 0.03, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0])
"""Weights of the n-gram model that are tried."""


@dataclass(frozen=True)
class _Order:
    """Counts for contexts of one length, each array sorted by its keys.

    Attributes:
        contexts: keys of the contexts seen, shape [contexts].
        totals: n(c), shape [contexts].
        kinds: d(c), shape [contexts].
        events: keys of the pairs (context, label) seen, shape [events].
        counts: n(c, s), shape [events].
    """

    contexts: NDArray[np.int64]
    totals: NDArray[np.float64]
    kinds: NDArray[np.float64]
    events: NDArray[np.int64]
    counts: NDArray[np.float64]


@dataclass(frozen=True)
class NgramModel:
    """A smoothed model of order `len(orders)`.

    Attributes:
        labels: size of the alphabet; the end of a word has this number.
        orders: counts for contexts of length 0, 1, ...
    """

    labels: int
    orders: tuple[_Order, ...]

    def next_probabilities(self, corpus: Corpus) -> NDArray[np.float64]:
        """p of what follows each prefix of each word, a label or the end; shape [total length + words]."""
        contexts, events = _keys(corpus, self.labels, len(self.orders))
        probabilities = np.full(len(events[0]), 1 / (self.labels + 1))
        for order, context, event in zip(self.orders, contexts, events, strict=True):
            totals, kinds = (_look_up(order.contexts, values, context) for values in (order.totals, order.kinds))
            counts = _look_up(order.events, order.counts, event)
            observed = totals > 0
            smoothed = (counts + kinds * probabilities) / np.where(observed, totals + kinds, 1.0)
            probabilities = np.where(observed, smoothed, probabilities)
        return probabilities


def fit_ngrams(corpus: Corpus, labels: int, order: int) -> NgramModel:
    """Count the contexts of length 0 .. order - 1 in a weighted corpus.

    Raises:
        BadInputError: the order is below 1, or too high for the size of the alphabet.
    """
    if order < 1 or (labels + 2) ** (order + 1) >= 2**63:
        raise BadInputError(f"an n-gram model of order {order} over {labels} labels cannot be built; use 1 to 4")
    weights = corpus.weights[corpus.prefix_words]
    orders = []
    for context, event in zip(*_keys(corpus, labels, order), strict=True):
        contexts, context_of = np.unique(context, return_inverse=True)
        events, first, event_of = np.unique(event, return_index=True, return_inverse=True)
        orders.append(
            _Order(
                contexts=contexts,
                totals=np.bincount(context_of, weights, len(contexts)).astype(np.float64),
                kinds=np.bincount(context_of[first], minlength=len(contexts)).astype(np.float64),
                events=events,
                counts=np.bincount(event_of, weights, len(events)).astype(np.float64),
            )
        )
    return NgramModel(labels, tuple(orders))


def _keys(corpus: Corpus, labels: int, order: int) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """For each context length, the key of the context at each position and of (context, label)."""
    end, start, base = labels, labels + 1, labels + 2
    position = corpus.prefix_lengths
    symbols = np.full(len(position), end, np.int64)
    symbols[position < corpus.lengths[corpus.prefix_words]] = corpus.symbols
    contexts, events = [], []
    context = np.zeros(len(position), np.int64)
    for length in range(order):
        if length:
            earlier = symbols[np.maximum(np.arange(len(symbols)) - length, 0)]
            context = context * base + np.where(position >= length, earlier, start)
        contexts.append(context)
        events.append(context * base + symbols)
    return contexts, events


def _look_up(keys: NDArray[np.int64], values: NDArray[np.float64], wanted: NDArray[np.int64]) -> NDArray[np.float64]:
    """The value of each wanted key, zero for a key that is not there."""
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], 0.0)


@dataclass(frozen=True)
class SmoothedDistribution:
    """A mixture of an automaton and an n-gram model.

    Attributes:
        automaton: of word probabilities.
        ngrams: over the same symbols.
        weight: of the n-gram model, above 0 and at most 1.
    """

    automaton: WeightedAutomaton
    ngrams: NgramModel
    weight: float

    def log_probabilities(self, corpus: Corpus) -> NDArray[np.float64]:
        """Natural logarithm of the probability of each word, shape [words]."""
        return _mix(*_log_parts(self.automaton, self.ngrams, corpus), self.weight)


def choose_weight(automaton: WeightedAutomaton, ngrams: NgramModel, held_out: Corpus) -> float:
    """The weight of the n-gram model under which held-out words are most probable."""
    parts = _log_parts(automaton, ngrams, held_out)
    return float(max(NGRAM_WEIGHTS, key=lambda weight: float(_mix(*parts, weight).sum())))


def _log_parts(
    automaton: WeightedAutomaton, ngrams: NgramModel, corpus: Corpus
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """log max(0, h) and log g of each word, each of shape [words]."""
    with np.errstate(divide="ignore"):
        spectral = np.log(np.maximum(automaton.values_of_corpus(corpus), 0.0))
    return spectral, np.add.reduceat(np.log(ngrams.next_probabilities(corpus)), corpus.prefix_starts)


def _mix(spectral: NDArray[np.float64], backup: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.logaddexp(np.log1p(-weight) + spectral, np.log(weight) + backup)
