"""ShortestLearner: the rule of scored words with the shortest description."""

from collections.abc import Sequence
from dataclasses import dataclass

from wfairl.core.automata.words import BadWordsError, Word
from wfairl.core.demonstrations.learners import PLAIN_READING, LearnedTask, Reading, WordLearner
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import FailedRunError
from wfairl.events.declare import DeclareLearner
from wfairl.events.merging import MergingLearner

FEW_WORDS = 20
"""Fewer words are memorised if they have no rule."""


@dataclass(frozen=True)
class ShortestLearner(WordLearner):
    """Whichever of `declare` and `merging` has the shorter description.

    Where both judge all words alike, `declare` is taken, which states its rule in sentences. Only `declare` learns from
    words that all succeeded. If neither finds any rule, `spectral` memorises few words. Of many words without a rule,
    anything may happen: to memorise chance is worse than a constant answer.
    """

    def fit(self, words: Sequence[Word], scores: Sequence[float], reading: Reading = PLAIN_READING) -> LearnedTask:
        shortest = DeclareLearner().fit(words, scores, reading)
        if min(scores) < reading.threshold:
            other = MergingLearner().fit(words, scores, reading)
            assert shortest.bits is not None
            assert other.bits is not None
            if other.bits < shortest.bits and other.model.values(words) != shortest.model.values(words):
                shortest = other
        if not shortest.trivial or len(words) >= FEW_WORDS:
            return shortest
        try:
            return SpectralTaskLearner().fit(words, scores, reading)
        except (FailedRunError, BadWordsError):  # too many words to memorise, or none clearly a success
            return shortest
