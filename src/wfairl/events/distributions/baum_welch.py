"""Maximum likelihood for a probabilistic automaton: expectation and maximisation (Baum and Welch).

A probabilistic automaton is a `WeightedAutomaton` with weights that are probabilities: alpha_0 sums
to one, and for each state i, beta_i + sum_{sigma, j} W_sigma[i, j] = 1. So its values are probabilities.

Words share their beginnings: both passes go over the tree of prefixes. With a(u) = alpha_0^T W_u
and n(u) words equal to u in the sample, the backward pass gathers what continues each prefix,

    b(u) = n(u) beta / h(u) + sum_sigma W_sigma b(u sigma)

and the expected uses are  alpha_0 * b(empty),  W_sigma * sum_u a(u) b(u sigma)^T,  beta * sum_u a(u) n(u) / h(u).
Each a(u) is kept with sum one, and b(u) by the inverse of that scale, so long words do not underflow.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.automata.word_corpus import Corpus, build_prefix_tree, indices_by_symbol

TINY = 1e-300
"""Keeps the logarithm of an impossible word finite."""

CHECK_EVERY = 5
"""Iterations between two evaluations on the held-out words."""

PATIENCE = 3
"""Evaluations without a gain after which refinement stops."""


@dataclass(frozen=True)
class SampleTree:
    """A sample as the tree of its prefixes.

    Attributes:
        nodes: number of prefixes; node 0 is the empty word.
        counts: n(u), shape [nodes].
        ends: node of each word, shape [words].
        groups: for each depth and symbol: (symbol, nodes with that last symbol, their parents).
    """

    nodes: int
    counts: NDArray[np.float64]
    ends: NDArray[np.int64]
    groups: tuple[tuple[tuple[int, NDArray[np.int64], NDArray[np.int64]], ...], ...]


@dataclass(frozen=True)
class ExpectedUses:
    """How often each weight is used, in expectation over the sample.

    Attributes:
        initial: shape [m].
        final: shape [m].
        transitions: shape [labels, m, m].
    """

    initial: NDArray[np.float64]
    final: NDArray[np.float64]
    transitions: NDArray[np.float64]


@dataclass(frozen=True)
class Refinement:
    """The outcome of `refine`.

    Attributes:
        automaton: the one with the highest likelihood of the held-out words.
        held_out: mean log-probability (natural) of a held-out word under it.
        iterations: after which it was reached.
    """

    automaton: WeightedAutomaton
    held_out: float
    iterations: int


def refine(
    automaton: WeightedAutomaton,
    learned: SampleTree,
    held_out: SampleTree,
    iterations: int = 200,
    pseudocount: float = 0.1,
    gain: float = 1e-4,
) -> Refinement:
    """Raise the likelihood of one sample for as long as that of another rises too.

    Args:
        automaton: where to start; only the pseudocount makes a weight of zero positive.
        learned: the sample to fit.
        held_out: the sample for early stopping.
        iterations: at most this many.
        pseudocount: added to the uses of each label from each state, and of its end.
        gain: a smaller gain in mean log-probability counts as none.
    """
    best = Refinement(automaton, mean_log_probability(automaton, held_out), 0)
    waited = 0
    for iteration in range(1, iterations + 1):
        automaton = maximise(expect(automaton, learned), automaton.alphabet, pseudocount)
        if iteration % CHECK_EVERY:
            continue
        likelihood = mean_log_probability(automaton, held_out)
        waited = 0 if likelihood > best.held_out + gain else waited + 1
        if likelihood > best.held_out:
            best = Refinement(automaton, likelihood, iteration)
        if waited == PATIENCE:
            break
    return best


def build_sample_tree(corpus: Corpus, labels: int) -> SampleTree:
    """The tree of a sample, its nodes grouped so that each group takes one matrix product."""
    tree = build_prefix_tree(corpus)
    groups = []
    for first, last in zip(tree.levels[1:-1], tree.levels[2:], strict=True):
        members = [first + indices for indices in indices_by_symbol(tree.symbols[first:last], labels)]
        level = [(symbol, nodes, tree.parents[nodes]) for symbol, nodes in enumerate(members) if len(nodes)]
        groups.append(tuple(level))
    counts = np.bincount(tree.ends, corpus.weights, len(tree)).astype(np.float64)
    return SampleTree(len(tree), counts, tree.ends, tuple(groups))


def expect(automaton: WeightedAutomaton, sample: SampleTree) -> ExpectedUses:
    """The E step: the expected uses of each weight."""
    forward, scales, values = _forward(automaton, sample)
    per_word = np.where(sample.counts > 0, sample.counts / np.maximum(values, TINY), 0.0)  # n(u) / h(u)
    backward = per_word[:, None] * automaton.final
    uses = np.zeros_like(automaton.transitions)
    for level in reversed(sample.groups):
        for symbol, nodes, parents in level:
            below = backward[nodes] / scales[nodes, None]
            uses[symbol] += forward[parents].T @ below
            backward[parents] += below @ automaton.transitions[symbol].T  # a parent occurs once in a group
    return ExpectedUses(
        automaton.initial * backward[0], automaton.final * (forward.T @ per_word), automaton.transitions * uses
    )


def maximise(uses: ExpectedUses, alphabet: tuple[Label, ...], pseudocount: float) -> WeightedAutomaton:
    """The M step: uses over their sum, with a pseudocount spread over the targets of each label."""
    states = len(uses.initial)
    initial = uses.initial + pseudocount / states
    final = uses.final + pseudocount
    transitions = uses.transitions + pseudocount / states
    totals = final + transitions.sum(axis=(0, 2))
    return WeightedAutomaton(alphabet, initial / initial.sum(), final / totals, transitions / totals[None, :, None])


def mean_log_probability(automaton: WeightedAutomaton, sample: SampleTree) -> float:
    """Mean natural log-probability of a word of the sample."""
    words = np.flatnonzero(sample.counts)
    return float(np.average(_log_values(automaton, sample)[words], weights=sample.counts[words]))


def word_log_probabilities(automaton: WeightedAutomaton, corpus: Corpus) -> NDArray[np.float64]:
    """Natural log-probability of each word, shape [words]; for probabilistic automata only."""
    sample = build_sample_tree(corpus, len(automaton.alphabet))
    return _log_values(automaton, sample)[sample.ends]


def _log_values(automaton: WeightedAutomaton, sample: SampleTree) -> NDArray[np.float64]:
    _, scales, values = _forward(automaton, sample)
    logarithms = np.log(scales)
    for level in sample.groups:
        for _, nodes, parents in level:
            logarithms[nodes] += logarithms[parents]
    return logarithms + np.log(np.maximum(values, TINY))


def _forward(
    automaton: WeightedAutomaton, sample: SampleTree
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """a(u) with sum one [nodes, m]; its sum before that, given the parent's [nodes]; a(u) beta [nodes]."""
    forward = np.zeros((sample.nodes, automaton.rank))
    scales = np.full(sample.nodes, TINY)  # stays so below a label outside the alphabet
    forward[0], scales[0] = automaton.initial, 1.0
    for level in sample.groups:
        for symbol, nodes, parents in level:
            after = forward[parents] @ automaton.transitions[symbol]
            sums = np.maximum(after.sum(axis=1), TINY)
            forward[nodes] = after / sums[:, None]
            scales[nodes] = sums
    return forward, scales, forward @ automaton.final
