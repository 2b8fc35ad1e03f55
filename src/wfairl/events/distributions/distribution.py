"""DistributionLearner: the distribution of a sample of words, without settings to choose.

Where `SpectralLearner` takes its rank and basis from the user, this learner chooses the number of
states on held-out words and gives every word a positive probability. It turns the spectral automaton
into a probabilistic one (`spectral_start`), refines that by maximum likelihood (`baum_welch`), once for
each fold that is held out for early stopping, and averages: the mean of automata is an automaton again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.automata.word_corpus import Corpus, encode, encode_all
from wfairl.core.automata.words import BadWordsError, Word, as_word
from wfairl.core.support.errors import BadInputError
from wfairl.events.distributions.baum_welch import Refinement, build_sample_tree, refine, word_log_probabilities
from wfairl.events.distributions.spectral_start import spectral_start


@dataclass(eq=False, repr=False)
class DistributionLearner(BaseEstimator):
    """Learns a distribution over words from a sample, a scikit-learn estimator.

    Attributes:
        sizes: numbers of states to try, rising; the search ends when the next one is no better.
        folds: parts of the sample; each is held out by one of the automata that are averaged.
        iterations: of the refinement, at most.
        pseudocount: keeps every word possible.
        gain: a smaller gain in mean log-probability of a held-out word is no reason for more states.
        seed: of folds and starts; the same seed gives the same automaton.
        states_: the chosen number of states.
        held_out_: mean natural log-probability of a held-out word, by number of states tried.
        members_: the automata that are averaged.
        automaton_: their mean as one `WeightedAutomaton`.
    """

    sizes: Sequence[int] = (8, 16, 32, 64)
    folds: int = 5
    iterations: int = 200
    pseudocount: float = 0.1
    gain: float = 1e-3
    seed: int = 0

    def fit(self, words: Sequence[Word], scores: None = None) -> "DistributionLearner":
        """Learn from a sample; scores are not used.

        Raises:
            BadWordsError: fewer words than folds.
        """
        del scores
        if self.folds < 2 or len(words) < self.folds:
            raise BadWordsError(f"{len(words)} words cannot be split into {self.folds} folds, of which two are needed")
        if not self.sizes or min(self.sizes) < 1:
            raise BadInputError(f"sizes are {self.sizes!r}; give at least one number of states, each 1 or more")
        rng = np.random.default_rng(self.seed)
        corpus, self.alphabet_ = encode_all([*map(as_word, words)])
        fold_of = rng.permutation(np.arange(len(words)) % self.folds)

        self.held_out_: dict[int, float] = {}
        best: Refinement | None = None
        for size in self.sizes:
            tried = self._refine(corpus, fold_of == 0, size, rng)
            self.held_out_[size] = tried.held_out
            if best is not None and tried.held_out < best.held_out + self.gain:
                break
            best = tried
        assert best is not None
        self.states_ = best.automaton.rank
        others = (self._refine(corpus, fold_of == fold, self.states_, rng) for fold in range(1, self.folds))
        self.members_ = (best.automaton, *(one.automaton for one in others))
        return self

    @property
    def automaton_(self) -> WeightedAutomaton:
        """The mean of the members: their direct sum, each started with its share."""
        check_is_fitted(self, "members_")
        return mean_of(self.members_)

    def log_probability(self, words: Sequence[Word]) -> NDArray[np.float64]:
        """Natural log-probability of each word, shape [words]."""
        check_is_fitted(self, "members_")
        corpus = encode([*map(as_word, words)], self.alphabet_)
        logarithms = [word_log_probabilities(member, corpus) for member in self.members_]
        return np.asarray(logsumexp(logarithms, axis=0) - np.log(len(self.members_)))

    def predict(self, words: Sequence[Word]) -> NDArray[np.float64]:
        """Probability of each word, shape [words]."""
        return np.exp(self.log_probability(words))

    def score(self, words: Sequence[Word], scores: None = None) -> float:
        """Mean log-probability of these words; higher is better."""
        del scores
        return float(self.log_probability(words).mean())

    def _refine(self, corpus: Corpus, held_out: NDArray[np.bool_], size: int, rng: np.random.Generator) -> Refinement:
        learned, judged = (corpus.take(part, np.ones(len(part))) for part in map(np.flatnonzero, (~held_out, held_out)))
        labels = len(self.alphabet_)
        start = spectral_start(learned, self.alphabet_, size, rng)
        trees = build_sample_tree(learned, labels), build_sample_tree(judged, labels)
        return refine(start, *trees, self.iterations, self.pseudocount)


def mean_of(members: Sequence[WeightedAutomaton]) -> WeightedAutomaton:
    """The automaton whose value is the mean of those of its members, all over one alphabet."""
    ends = np.cumsum([member.rank for member in members])
    transitions = np.zeros((len(members[0].alphabet), ends[-1], ends[-1]))
    for member, end in zip(members, ends, strict=True):
        part = slice(end - member.rank, end)
        transitions[:, part, part] = member.transitions
    initial = np.concatenate([member.initial for member in members]) / len(members)
    return WeightedAutomaton(
        members[0].alphabet, initial, np.concatenate([member.final for member in members]), transitions
    )
