"""ShortestLearner: the rule of scored words with the shortest description."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wfairl.core.automata.words import BadWordsError, Word
from wfairl.core.demonstrations.learners import PLAIN_READING, LearnedTask, Reading, WordLearner
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import FailedRunError
from wfairl.events.declare import DeclareLearner
from wfairl.events.held_out import is_better
from wfairl.events.merging import MergingLearner


@dataclass(frozen=True)
class ShortestLearner(WordLearner):
    """Whichever of `declare` and `merging` has the shorter description.

    `declare` states its rule in sentences. So it is taken where both judge all words alike, and where `merging`
    predicts unseen words no better. Only `declare` learns from words that all succeeded. If neither finds any rule,
    `spectral` memorises fewer than 20 words. Of more words without a rule, anything may happen: to memorise chance is
    worse than a constant answer.
    """

    def fit(self, words: Sequence[Word], scores: Sequence[float], reading: Reading = PLAIN_READING) -> LearnedTask:
        shortest = DeclareLearner().fit(words, scores, reading)
        if min(scores) < reading.threshold:
            other = MergingLearner().fit(words, scores, reading)
            assert shortest.bits is not None
            assert other.bits is not None
            differ = other.model.values(words) != shortest.model.values(words)
            if other.bits < shortest.bits and differ and _merging_predicts_better(words, scores, reading):
                shortest = other
        if not shortest.trivial or len(words) >= 20:
            return shortest
        try:
            return SpectralTaskLearner().fit(words, scores, reading)
        except (FailedRunError, BadWordsError):  # too many words to memorise, or none clearly a success
            return shortest


FOLDS = 3


def _merging_predicts_better(words: Sequence[Word], scores: Sequence[float], reading: Reading) -> bool:
    """Whether `merging` is right on unseen words more often than `declare`, and clearly more than a constant answer."""
    flags = np.asarray(scores, np.float64) >= reading.threshold
    fold_of, right = np.random.default_rng(0).permutation(len(words)) % FOLDS, np.zeros((3, len(words)), bool)
    for fold in range(FOLDS):
        unseen = fold_of == fold
        if not flags[~unseen].any():
            return False
        shown, others = ([words[int(i)] for i in np.flatnonzero(some)] for some in (~unseen, unseen))
        for i, learner in enumerate((MergingLearner(), DeclareLearner())):
            model = learner.fit(shown, flags[~unseen].tolist(), reading).model
            right[i, unseen] = np.array(model.predict(others)) == flags[unseen]
        right[2, unseen] = flags[unseen] == (2 * flags[~unseen].sum() > (~unseen).sum())
    return is_better(right[0], right[1], 1.0) and is_better(right[0], right[2], 2.0)
