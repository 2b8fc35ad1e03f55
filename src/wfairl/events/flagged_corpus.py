"""FlaggedCorpus: the words of a log, and which of them succeeded."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.word_corpus import Corpus, encode_all
from wfairl.core.automata.words import BadWordsError, Word, as_read
from wfairl.core.demonstrations.learners import Reading


@dataclass(frozen=True, eq=False)
class FlaggedCorpus:
    """Words and their flags."""

    words: list[Word]  # as the learner reads them
    corpus: Corpus  # the same as symbols
    alphabet: tuple[Label, ...]  # the labels that the symbols stand for
    succeeded: NDArray[np.bool_]  # whether each word is a success, shape [words]; at least one is

    @classmethod
    def of(cls, words: Sequence[Word], scores: Sequence[float], reading: Reading) -> "FlaggedCorpus":
        read = as_read(words, reading.keep_repeats)
        if not read:
            raise BadWordsError("there are no words to learn from")
        given = np.asarray(scores, np.float64)
        if given.shape != (len(read),) or not np.isfinite(given).all():
            raise BadWordsError(f"{len(read)} words need as many scores, all of them finite numbers")
        succeeded = given >= reading.threshold
        if not succeeded.any():
            raise BadWordsError(
                f"no score reaches the threshold {reading.threshold:g}, and learning needs at least one success; name"
                " another outcome, or leave out the outcomes to learn what the words have in common"
            )
        return cls(read, *encode_all(read), succeeded)

    @property
    def flags(self) -> list[float]:
        """1 for a success and 0 for a failure."""
        return self.succeeded.astype(np.float64).tolist()


def random_part(count: int, limit: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The indices 0 .. count - 1, or a random `limit` of them if there are more, rising."""
    return np.arange(count) if count <= limit else np.sort(rng.choice(count, limit, replace=False))
