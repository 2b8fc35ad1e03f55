"""ShortestLearner: the rule of scored words with the shortest description."""

from collections.abc import Sequence
from dataclasses import dataclass

from wfairl.core.automata.words import BadWordsError, Word
from wfairl.core.demonstrations.learners import PLAIN_READING, LearnedTask, Reading, WordLearner
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import FailedRunError
from wfairl.events.declare import DeclareLearner
from wfairl.events.merging import MergingLearner


@dataclass(frozen=True)
class ShortestLearner(WordLearner):
    """Whichever of `declare` and `merging` has the shorter description; `spectral` where neither finds any rule.

    Where both judge all words alike, `declare` is taken, which states its rule in sentences. Only `declare` learns from
    words that all succeeded.
    """

    def fit(self, words: Sequence[Word], scores: Sequence[float], reading: Reading = PLAIN_READING) -> LearnedTask:
        shortest = DeclareLearner().fit(words, scores, reading)
        if min(scores) < reading.threshold:
            other = MergingLearner().fit(words, scores, reading)
            assert shortest.bits is not None
            assert other.bits is not None
            if other.bits < shortest.bits and other.model.values(words) != shortest.model.values(words):
                shortest = other
        if not shortest.trivial:
            return shortest
        try:
            return SpectralTaskLearner().fit(words, scores, reading)
        except (FailedRunError, BadWordsError):  # too many words to memorise, or none clearly a success
            return shortest
