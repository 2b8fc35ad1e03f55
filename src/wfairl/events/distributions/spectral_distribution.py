"""SpectralDistributionLearner: the plain spectral method for the distribution of a sample of words.

`DistributionLearner` starts from this method, fits better and needs no settings.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from wfairl.core.automata.word_corpus import encode
from wfairl.core.automata.words import Word
from wfairl.core.spectral.spectral_learner import SpectralEstimator, assemble, check_words, factorise
from wfairl.core.support.errors import BadInputError
from wfairl.events.distributions.smoothing import SmoothedDistribution, choose_weight, fit_ngrams
from wfairl.events.distributions.statistics import Statistic, blocks_of_sample, words_from_statistic

HELD_OUT_EVERY = 10
"""One word in this many is held out to choose how much smoothing a distribution needs."""


@dataclass(eq=False, repr=False)
class SpectralDistributionLearner(SpectralEstimator):
    """Learns a `WeightedAutomaton` of word probabilities from a sample, a scikit-learn estimator.

    Attributes:
        statistic: what the blocks hold: `word`, `prefix`, `suffix` or `factor`. Whichever it is, the automaton gives
            the values of whole words.
        smoothing: order of the n-gram model that keeps every word possible, such as 3 for trigrams; 0 leaves the values
            of the automaton as they are. See `smoothing`.
        automaton_: the `WeightedAutomaton`.
        smoothed_: the `SmoothedDistribution`, if there is smoothing.
    """

    statistic: str = "word"
    smoothing: int = 0

    def fit(self, words: Sequence[Word], scores: None = None) -> "SpectralDistributionLearner":
        """Learn from a sample; scores are not used.

        Raises:
            BadWordsError, BadBasisError, LostRankError: see `SpectralLearner`.
        """
        del scores
        if self.statistic not in list(Statistic):
            raise BadInputError(f"statistic is {self.statistic!r}; it must be one of {', '.join(Statistic)}")
        statistic = Statistic(self.statistic)
        basis = self.basis
        corpus, alphabet = check_words(words, None)
        blocks = blocks_of_sample(corpus, alphabet, statistic, basis)
        factors = factorise(blocks.block, self.rank, self.rank_tolerance)
        self.automaton_ = words_from_statistic(assemble(blocks, factors, alphabet), statistic)
        if self.smoothing:
            self.smoothed_ = self._smooth(words)
        return self

    def predict(self, words: Sequence[Word]) -> NDArray[np.float64]:
        """Probability of each word, shape [words]; without smoothing, the automaton's value, perhaps below zero."""
        check_is_fitted(self, "automaton_")
        return np.exp(self.log_probability(words)) if self.smoothing else self.automaton_.values(words)

    def log_probability(self, words: Sequence[Word]) -> NDArray[np.float64]:
        """Natural log-probability of each word under the smoothed distribution, shape [words]."""
        check_is_fitted(self, "smoothed_")
        alphabet, known = self.automaton_.alphabet, set(self.automaton_.alphabet)
        possible = [known.issuperset(word) for word in words]
        corpus = encode([word if ok else () for word, ok in zip(words, possible, strict=True)], alphabet)
        return np.where(possible, self.smoothed_.log_probabilities(corpus), -np.inf)

    def score(self, words: Sequence[Word], scores: None = None) -> float:
        """Mean smoothed log-probability of these words; higher is better."""
        del scores
        return float(self.log_probability(words).mean())

    def _smooth(self, words: Sequence[Word]) -> SmoothedDistribution:
        """Choose the weight of the n-grams on every tenth word, for a second model learned without these."""
        held_out = [word for i, word in enumerate(words) if i % HELD_OUT_EVERY == 0]
        learned = [word for i, word in enumerate(words) if i % HELD_OUT_EVERY]
        alphabet, labels = self.automaton_.alphabet, len(self.automaton_.alphabet)
        ngrams = fit_ngrams(encode(words, alphabet), labels, self.smoothing)
        if not learned:  # a single word
            return SmoothedDistribution(self.automaton_, ngrams, 1.0)
        second = clone(self).set_params(smoothing=0).fit(learned).automaton_
        known = set(second.alphabet)
        judged = encode([word for word in held_out if known.issuperset(word)], second.alphabet)
        second_ngrams = fit_ngrams(encode(learned, second.alphabet), len(second.alphabet), self.smoothing)
        return SmoothedDistribution(self.automaton_, ngrams, choose_weight(second, second_ngrams, judged))
