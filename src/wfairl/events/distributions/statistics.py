"""Statistics of a distribution over words, and the spectral automaton of one.

A Hankel block may hold another statistic h of a distribution p than the probability of a word:

    word    h(x) = p(x)                   prefix  h(x) = sum_v p(xv)
    suffix  h(x) = sum_u p(ux)            factor  h(x) = sum_{u, v} p(uxv), the expected occurrences
"""

from enum import StrEnum

import numpy as np

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.automata.word_corpus import TOO_DEEP, Corpus, build_prefix_tree, merge_equal_words
from wfairl.core.spectral.hankel import BasisChoice, HankelBlocks, blocks_from_corpus


class Statistic(StrEnum):
    """The statistic that the Hankel blocks hold."""

    WORD = "word"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    FACTOR = "factor"


def blocks_of_sample(
    corpus: Corpus, alphabet: tuple[Label, ...], statistic: Statistic, choice: BasisChoice
) -> HankelBlocks:
    """The Hankel blocks of the statistic, relative to the number of words in the sample."""
    counted = apply_statistic(corpus, statistic, choice.longest_word)
    frequencies = counted.weights / corpus.weights.sum()
    relative = Corpus(counted.symbols, counted.offsets, frequencies)
    return blocks_from_corpus(relative, frequencies, len(alphabet), choice)


def apply_statistic(corpus: Corpus, statistic: Statistic, longest: int | None) -> Corpus:
    """The distinct words with a non-zero statistic, weighted by it; words beyond `longest` left out."""
    limit = int(corpus.lengths.max(initial=0)) if longest is None else longest
    match statistic:
        case Statistic.WORD:
            short = np.flatnonzero(corpus.lengths <= limit)
            return merge_equal_words(corpus.take(short))[0]
        case Statistic.PREFIX:
            return _distinct_prefixes(corpus, limit)
        case Statistic.SUFFIX:
            return _distinct_prefixes(corpus.reversed(), limit).reversed()
        case Statistic.FACTOR:  # a factor is a prefix of a suffix
            return _distinct_prefixes(_cut_suffixes(corpus, limit), limit)


def words_from_statistic(automaton: WeightedAutomaton, statistic: Statistic) -> WeightedAutomaton:
    """The automaton of word probabilities, from one of another statistic.

    With W = sum_sigma W_sigma, summing over all continuations multiplies beta by (I - W)^{-1}, and
    over all beginnings alpha_0; so the factor (I - W) takes it back.
    """
    total = np.eye(automaton.rank) - automaton.transitions.sum(axis=0)
    before = statistic in (Statistic.SUFFIX, Statistic.FACTOR)
    after = statistic in (Statistic.PREFIX, Statistic.FACTOR)
    return WeightedAutomaton(
        automaton.alphabet,
        automaton.initial @ total if before else automaton.initial,
        total @ automaton.final if after else automaton.final,
        automaton.transitions,
    )


def _distinct_prefixes(corpus: Corpus, longest: int) -> Corpus:
    tree = build_prefix_tree(corpus, longest)
    reached = tree.visits != TOO_DEEP
    visits, word_of = tree.visits[reached], corpus.prefix_words[reached]
    totals = np.bincount(visits, corpus.weights[word_of], len(tree)).astype(np.float64)
    example = np.zeros(len(tree), np.int64)
    example[visits] = word_of  # any word through the node will do
    return corpus.factors(example, np.zeros(len(tree), np.int64), tree.depths, totals)


def _cut_suffixes(corpus: Corpus, longest: int) -> Corpus:
    """Every suffix of every word, the empty one too, cut to its first `longest` symbols."""
    word_of, starts = corpus.prefix_words, corpus.prefix_lengths
    lengths = np.minimum(corpus.lengths[word_of] - starts, longest)
    return corpus.factors(word_of, starts, lengths, corpus.weights[word_of])
