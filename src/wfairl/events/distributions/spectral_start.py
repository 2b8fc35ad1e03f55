"""The start of a refinement: a probabilistic automaton from the spectral one.

The spectral automaton of the factors, h(x) = sum_{u, v} p(uxv), knows how the continuations of each prefix u are
distributed over the suffixes of its basis. In the coordinates of the right singular vectors,

    x(u) = Lambda alpha_u / (alpha_u^T beta)

where alpha starts from (I - W^T) alpha_0, W = sum_sigma W_sigma: alpha_0 itself sums over all that may come before u.
Prefixes whose x are close behave alike. Clusters of them become the states, and the sample's own steps from cluster to
cluster become the weights, softened so that refinement can move them.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.automata.word_corpus import Corpus, PrefixTree, build_prefix_tree
from wfairl.core.spectral.hankel import BasisChoice, blocks_from_corpus
from wfairl.core.spectral.spectral_learner import LostRankError, assemble, factorise

BASIS_LENGTH = 4
BASIS = BasisChoice(BASIS_LENGTH, BASIS_LENGTH, max_prefixes=800, max_suffixes=800)
MOST_DIMENSIONS = 20
CLUSTERED_PREFIXES = 20_000
"""Clusters are found on this many prefixes, the most frequent; the rest join the nearest."""

SOFTNESS = 0.1
"""Share of each label's steps that goes to random clusters."""

FARTHEST = 1e3
"""Rare prefixes may get coordinates without bound; beyond this they are noise."""


def spectral_start(
    corpus: Corpus, alphabet: tuple[Label, ...], states: int, rng: np.random.Generator
) -> WeightedAutomaton:
    """A probabilistic automaton with at most `states` states whose states are clusters of prefixes."""
    automaton, singular_values = _learn(corpus, alphabet, states)
    tree = build_prefix_tree(corpus)
    visits = np.bincount(tree.visits, corpus.weights[corpus.prefix_words], len(tree)).astype(np.float64)
    cluster_of = _cluster(_coordinates(automaton, singular_values, tree), visits, states, rng)
    ends = np.bincount(tree.ends, corpus.weights, len(tree)).astype(np.float64)
    return _count_steps(tree, visits, ends, cluster_of, alphabet, rng)


def _learn(corpus: Corpus, alphabet: tuple[Label, ...], states: int) -> tuple[WeightedAutomaton, NDArray[np.float64]]:
    """The spectral automaton of the factors, relative to the number of words, and its singular values."""
    factors = count_factors(corpus, 2 * BASIS_LENGTH + 1)
    frequencies = factors.weights / corpus.weights.sum()
    blocks = blocks_from_corpus(
        Corpus(factors.symbols, factors.offsets, frequencies), frequencies, len(alphabet), BASIS
    )
    try:
        factorisation = factorise(blocks.block, min(states, MOST_DIMENSIONS), 1e-12)
    except LostRankError:  # a small sample: take its own rank
        factorisation = factorise(blocks.block, None, 1e-10)
    return assemble(blocks, factorisation, alphabet), factorisation.singular_values


def count_factors(corpus: Corpus, longest: int) -> Corpus:
    """The distinct factors of at most `longest` symbols, each weighted by its occurrences in the corpus."""
    word_of, starts = corpus.prefix_words, corpus.prefix_lengths
    lengths = np.minimum(corpus.lengths[word_of] - starts, longest)
    suffixes = corpus.factors(word_of, starts, lengths, corpus.weights[word_of])
    tree = build_prefix_tree(suffixes)  # a factor is a prefix of a suffix
    occurrences = np.bincount(tree.visits, suffixes.weights[suffixes.prefix_words], len(tree)).astype(np.float64)
    example = np.zeros(len(tree), np.int64)
    example[tree.visits] = suffixes.prefix_words  # any suffix that begins with the factor
    return suffixes.factors(example, np.zeros(len(tree), np.int64), tree.depths, occurrences)


def _coordinates(
    automaton: WeightedAutomaton, singular_values: NDArray[np.float64], tree: PrefixTree
) -> NDArray[np.float64]:
    """x(u) of each prefix, shape [nodes, m]; where alpha_u^T beta vanishes, that of its parent."""
    start = automaton.initial @ (np.eye(automaton.rank) - automaton.transitions.sum(axis=0))
    alphas = np.zeros((len(tree), automaton.rank))
    alphas[0] = start / (start @ automaton.final or 1.0)
    for first, last in zip(tree.levels[1:-1], tree.levels[2:], strict=True):
        above = alphas[tree.parents[first:last]]
        after = automaton.step(above, tree.symbols[first:last])
        mass = after @ automaton.final
        lost = ~(np.abs(after).max(axis=1) < FARTHEST * np.abs(mass))
        alphas[first:last] = np.where(lost[:, None], above, after / np.where(lost, 1.0, mass)[:, None])
    return alphas * singular_values


def _cluster(
    points: NDArray[np.float64], visits: NDArray[np.float64], states: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    frequent = np.argsort(-visits, kind="stable")[:CLUSTERED_PREFIXES]
    distinct = len(np.unique(points[frequent], axis=0))
    means = KMeans(min(states, distinct), n_init=1, max_iter=30, random_state=int(rng.integers(2**31)))
    means.fit(points[frequent], sample_weight=visits[frequent])
    return np.asarray(means.predict(points), np.int64)


def _count_steps(
    tree: PrefixTree,
    visits: NDArray[np.float64],
    ends: NDArray[np.float64],
    cluster_of: NDArray[np.int64],
    alphabet: tuple[Label, ...],
    rng: np.random.Generator,
) -> WeightedAutomaton:
    states = int(cluster_of.max()) + 1
    steps = np.zeros((len(alphabet), states, states))
    np.add.at(steps, (tree.symbols[1:], cluster_of[tree.parents[1:]], cluster_of[1:]), visits[1:])
    spread = rng.random(steps.shape) * 2 / states
    steps += SOFTNESS * steps.sum(axis=2, keepdims=True) * spread + 0.01
    stops = np.bincount(cluster_of, ends, states) + 0.5
    initial = np.full(states, SOFTNESS / states)
    initial[cluster_of[0]] += 1.0
    totals = stops + steps.sum(axis=(0, 2))
    return WeightedAutomaton(alphabet, initial / initial.sum(), stops / totals, steps / totals[None, :, None])
