"""A weighted automaton made into a distribution in which every word is possible.

An automaton learned from a sample gives some words values at or below zero. Here it only has a say
in the next label: with z = (I - W)^{-1} beta the weight of all continuations,

    q(sigma | u) = max(0, alpha_u^T W_sigma z) / Z        q(end | u) = max(0, alpha_u^T beta) / Z

and the probability of a word is the product of (1 - weight) q + weight p over its labels and its
end, with p an n-gram model. That is a distribution: all words together have probability one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.corpus import Corpus, PrefixTree, build_prefix_tree
from wfairl.automata.ngram import NgramModel
from wfairl.automata.weighted import WeightedAutomaton

WEIGHTS = np.array([0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0])
"""Weights of the n-gram model that are tried."""


@dataclass(frozen=True)
class SmoothedDistribution:
    """An automaton and an n-gram model that speak about the next label together.

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
        spectral = next_probabilities(self.automaton, corpus)
        return _total(corpus, (1 - self.weight) * spectral + self.weight * self.ngrams.next_probabilities(corpus))


def choose_weight(automaton: WeightedAutomaton, ngrams: NgramModel, held_out: Corpus) -> float:
    """The weight of the n-gram model under which held-out words are most probable."""
    spectral, backup = next_probabilities(automaton, held_out), ngrams.next_probabilities(held_out)
    with np.errstate(divide="ignore"):
        likelihoods = [float(np.log((1 - w) * spectral + w * backup).sum()) for w in WEIGHTS]
    return float(WEIGHTS[int(np.argmax(likelihoods))])


def next_probabilities(automaton: WeightedAutomaton, corpus: Corpus) -> NDArray[np.float64]:
    """q of each label of each word and then of its end, shape [total length + words].

    Where the automaton gives no continuation a positive weight, q is zero.
    """
    tree = build_prefix_tree(corpus)
    table = _next_table(automaton, tree)
    symbols = np.full(len(tree.visits), len(automaton.alphabet), np.int64)
    inner = np.ones(len(symbols), bool)
    inner[corpus.offsets[1:] + np.arange(len(corpus))] = False  # the end of each word
    symbols[inner] = corpus.symbols
    return table[tree.visits, symbols]


def _next_table(automaton: WeightedAutomaton, tree: PrefixTree) -> NDArray[np.float64]:
    """q at each node of the tree, the end last, shape [nodes, labels + 1]."""
    W = automaton.transitions.sum(axis=0)
    z = np.linalg.lstsq(np.eye(automaton.rank) - W, automaton.final, rcond=None)[0]
    continuations = np.column_stack([(automaton.transitions @ z).T, automaton.final])  # [m, labels + 1]
    table = np.zeros((len(tree), len(automaton.alphabet) + 1))
    alphas = automaton.initial[None, :]
    for depth in range(len(tree.levels) - 1):
        here = slice(tree.levels[depth], tree.levels[depth + 1])
        if depth:
            above = alphas[tree.parents[here] - tree.levels[depth - 1]]
            alphas = automaton.step(above, tree.symbols[here])
            norms = np.linalg.norm(alphas, axis=1, keepdims=True)
            alphas = alphas / np.where(norms > 0, norms, 1.0)  # only ratios count: long words do not underflow
        positive = np.maximum(alphas @ continuations, 0.0)
        totals = positive.sum(axis=1, keepdims=True)
        table[here] = positive / np.where(totals > 0, totals, 1.0)
    return table


def _total(corpus: Corpus, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        logarithms = np.log(probabilities)
    return np.add.reduceat(logarithms, corpus.offsets[:-1] + np.arange(len(corpus)))
