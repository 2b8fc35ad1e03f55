"""Smoothing: from a weighted automaton to a distribution in which every word is possible.

An automaton learned from a sample gives some words values at or below zero. With an n-gram model g,

    p(x) = (1 - weight) max(0, h(x)) + weight g(x)

is positive for every word over the labels. It sums to one where h is a distribution; where h has negative values, to
more by as much as max cuts off. Whole words are mixed, since mixing label by label would need values of h on prefixes
that are too long to be estimated.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.corpus import Corpus
from wfairl.automata.distributions.ngram import NgramModel
from wfairl.automata.weighted import WeightedAutomaton

WEIGHTS = np.array([0.001, 0.003, 0.01, 0.03, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0])
"""Weights of the n-gram model that are tried."""


@dataclass(frozen=True)
class SmoothedDistribution:
    """An automaton and an n-gram model that share each word.

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
    return float(max(WEIGHTS, key=lambda weight: float(_mix(*parts, weight).sum())))


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
