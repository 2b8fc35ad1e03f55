"""The accuracy of a learner of words on words that it was not learned from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.word_corpus import encode_all
from wfairl.core.automata.words import BadWordsError, Word
from wfairl.core.demonstrations.learners import PLAIN_READING, Reading, WordLearner
from wfairl.core.support.errors import FailedRunError
from wfairl.events.process_rule import KINDS, with_mistakes


@dataclass(frozen=True)
class HeldOut:
    """The accuracy of a learner on held-out words.

    If no word failed, the precision is the share of held-out successes that are rejected once two of their labels are
    lost, doubled or moved.
    """

    accuracy: float  # the share of the words that it classifies as their flags do
    base_rate: float  # the accuracy of always predicting the more frequent flag of the learned words
    words: int
    precision: float | None = None

    @property
    def beats_constant(self) -> bool:
        return self.accuracy > self.base_rate


def hold_out(
    learner: WordLearner,
    words: Sequence[Word],
    scores: Sequence[float],
    rng: np.random.Generator,
    reading: Reading = PLAIN_READING,
) -> HeldOut | None:
    """Learn from most of the words and judge the others; None if there are too few, or learning from them fails."""
    if len(words) < 20:
        return None
    order = rng.permutation(len(words))
    count = round(0.2 * len(words))
    flags = np.asarray(scores, np.float64) >= reading.threshold
    try:
        task = learner.fit([words[i] for i in order[count:]], [scores[i] for i in order[count:]], reading)
    except (FailedRunError, BadWordsError):
        return None
    accepted = np.array(task.model.predict([words[i] for i in order[:count]]))
    truth, most_frequent = flags[order[:count]], 2 * flags[order[count:]].sum() >= len(words) - count
    precision = None
    if flags.all():
        precision = float(1 - np.mean(task.model.predict(_with_two_mistakes([words[i] for i in order[:count]], rng))))
    return HeldOut(float((accepted == truth).mean()), float((truth == most_frequent).mean()), count, precision)


def _with_two_mistakes(words: Sequence[Word], rng: np.random.Generator) -> list[Word]:
    corpus, alphabet = encode_all([*words])
    for _ in range(2):
        corpus = with_mistakes(corpus, rng.integers(len(KINDS), size=len(corpus)), rng)
    return [tuple(alphabet[i] for i in symbols) for symbols in np.split(corpus.symbols, corpus.offsets[1:-1])]


def is_better(right: NDArray[np.bool_], other: NDArray[np.bool_], errors: float) -> bool:
    """Whether one is right more often than the other, by more than so many standard errors of the difference."""
    better, worse = int((right & ~other).sum()), int((other & ~right).sum())
    return better - worse > errors * math.sqrt(better + worse)
