"""Learners of tasks from scored words, all behind one contract, and by name.

    task = find_word_learner("declare").fit(words, scores)        task.model is a `TaskModel`

`declare` and `merging` generalise to unseen words; `spectral` reproduces the scores of the given words, and gives 0 to
all others. `shortest` takes whichever of `declare` and `merging` has the shorter description, and
`spectral` where neither finds any rule.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.corpus import Corpus, encode_all
from wfairl.core.automata.finite import DEFAULT_MAX_STATES, DEFAULT_TOLERANCE
from wfairl.core.automata.minimise import reads_repeats_once, to_finite
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.task_model_file import SPECTRAL
from wfairl.core.automata.words import Word, as_read
from wfairl.core.spectral.spectral import BadWordsError
from wfairl.core.spectral.task_learner import fit_task_model
from wfairl.core.support.errors import FailedRunError
from wfairl.core.support.registry import Registry
from wfairl.events.declare import DeclareSettings, LearnedConstraints, learn_constraints
from wfairl.events.merging import MergingSettings, learn_merged

DECLARE, MERGING, SHORTEST = "declare", "merging", "shortest"

MEMORISED = "this automaton only knows what it was shown"
"""The note on a model that gives 0 to every word that it was not learned from."""

HELD_OUT = 0.2
FEWEST_TO_HOLD_OUT = 20
"""With fewer words none is held out."""


@dataclass(frozen=True)
class Reading:
    """How words and scores are read.

    Attributes:
        threshold: words of this score or more are successes.
        keep_repeats: whether repeated labels mean something.
    """

    threshold: float = 0.5
    keep_repeats: bool = False


@dataclass(frozen=True, eq=False)
class LearnedTask:
    """A task learned from scored words.

    Attributes:
        model: the task.
        bits: bits of its description and of the flags that it leaves unexplained; None where it has no description.
        memorised: whether it rejects every word that it was not learned from.
        trivial: whether it accepts every word.
        notes: what was not tried, or found and not used, in sentences.
    """

    model: TaskModel
    bits: float | None
    memorised: bool = False
    trivial: bool = False
    notes: tuple[str, ...] = ()


class WordLearner(Protocol):
    """Learns a task from scored words."""

    def fit(self, words: Sequence[Word], scores: Sequence[float]) -> LearnedTask:
        """The task of the words.

        Raises:
            BadWordsError: there are no words, or no successes, or scores that do not fit.
        """
        ...


@dataclass(frozen=True)
class DeclareLearner:
    """Conjunctions of small constraints; see `declare`."""

    reading: Reading = field(default_factory=Reading)
    settings: DeclareSettings = field(default_factory=DeclareSettings)

    def fit(self, words: Sequence[Word], scores: Sequence[float]) -> LearnedTask:
        """The task of the words."""
        data = _Flagged.of(words, scores, self.reading)
        learned = learn_constraints(
            data.corpus, data.succeeded, data.alphabet, self.reading.keep_repeats, self.settings
        )
        # Without counting constraints a repeated label changes nothing: the table is right for any word.
        model = TaskModel.of_automaton(
            learned.finite, DECLARE, data.words, data.flags, keep_repeats=True, sentences=learned.sentences
        )
        return LearnedTask(
            model,
            learned.rule_bits + learned.data_bits,
            trivial=not learned.constraints,
            notes=tuple(_notes(learned, len(words))),
        )


@dataclass(frozen=True)
class MergingLearner:
    """A small automaton by state merging; see `merging`."""

    reading: Reading = field(default_factory=Reading)
    settings: MergingSettings = field(default_factory=MergingSettings)

    def fit(self, words: Sequence[Word], scores: Sequence[float]) -> LearnedTask:
        """The task of the words."""
        data = _Flagged.of(words, scores, self.reading)
        learned = learn_merged(data.corpus, data.succeeded, len(data.alphabet), self.settings)
        as_it_is = self.reading.keep_repeats or reads_repeats_once(learned.table)
        finite = to_finite(learned.table, data.alphabet)
        model = TaskModel.of_automaton(finite, MERGING, data.words, data.flags, keep_repeats=as_it_is)
        return LearnedTask(model, learned.bits, trivial=bool(learned.table.accepting.all()))


@dataclass(frozen=True)
class SpectralSettings:
    """Settings of `fit_task_model`; see there."""

    rank: int | None = None
    rows: int | None = None
    cols: int | None = None
    tolerance: float = DEFAULT_TOLERANCE
    max_states: int = DEFAULT_MAX_STATES
    optional_start: bool = False


@dataclass(frozen=True)
class SpectralWordLearner:
    """The paper's weighted automaton, with the values of unseen words at zero; see `fit_task_model`."""

    reading: Reading = field(default_factory=Reading)
    settings: SpectralSettings = field(default_factory=SpectralSettings)

    def fit(self, words: Sequence[Word], scores: Sequence[float]) -> LearnedTask:
        """The task of the words."""
        model = fit_task_model(words, scores, **asdict(self.reading), **asdict(self.settings))
        whole = self.settings.rows is None and self.settings.cols is None and self.settings.rank is None
        return LearnedTask(model, None, memorised=whole)


@dataclass(frozen=True)
class ShortestLearner:
    """Whichever of `declare` and `merging` has the shorter description; `spectral` where neither finds any rule.

    Where both judge all words alike, `declare` is taken, which states its rule in sentences. Only `declare` learns from
    words that all succeeded.
    """

    reading: Reading = field(default_factory=Reading)
    declare: DeclareSettings = field(default_factory=DeclareSettings)
    merging: MergingSettings = field(default_factory=MergingSettings)
    spectral: SpectralSettings = field(default_factory=SpectralSettings)

    def fit(self, words: Sequence[Word], scores: Sequence[float]) -> LearnedTask:
        """The task of the words."""
        shortest = DeclareLearner(self.reading, self.declare).fit(words, scores)
        if min(scores) < self.reading.threshold:
            other = MergingLearner(self.reading, self.merging).fit(words, scores)
            assert shortest.bits is not None
            assert other.bits is not None
            if other.bits < shortest.bits and other.model.values(words) != shortest.model.values(words):
                shortest = other
        if not shortest.trivial:
            return shortest
        try:
            return SpectralWordLearner(self.reading, self.spectral).fit(words, scores)
        except (FailedRunError, BadWordsError):  # too many words to memorise, or none clearly a success
            return shortest


LEARNERS: Registry[Callable[[Reading], WordLearner]] = Registry(
    "learner",
    {
        SHORTEST: ShortestLearner,
        DECLARE: DeclareLearner,
        MERGING: MergingLearner,
        SPECTRAL: SpectralWordLearner,
    },
)
"""Each takes its `Reading`, and settings of its own as a second argument."""


def find_word_learner(name: str, reading: Reading | None = None) -> WordLearner:
    """The learner of that name, with its own defaults; an unknown name is a `BadInputError`."""
    return LEARNERS.find(name)(reading or Reading())


@dataclass(frozen=True)
class HeldOut:
    """The accuracy of a learner on held-out words.

    Attributes:
        accuracy: share of them that it classifies as their flags do.
        base_rate: the accuracy of always predicting the more frequent flag of the learned words.
        words: how many there are.
    """

    accuracy: float
    base_rate: float
    words: int


def hold_out(
    learner: WordLearner,
    words: Sequence[Word],
    scores: Sequence[float],
    rng: np.random.Generator,
    threshold: float = 0.5,
) -> HeldOut | None:
    """Learn from most of the words and judge the others; None if there are too few, or learning from them fails."""
    if len(words) < FEWEST_TO_HOLD_OUT:
        return None
    order = rng.permutation(len(words))
    count = round(HELD_OUT * len(words))
    flags = np.asarray(scores, np.float64) >= threshold
    try:
        task = learner.fit([words[i] for i in order[count:]], [scores[i] for i in order[count:]])
    except (FailedRunError, BadWordsError):
        return None
    accepted = np.array(task.model.values([words[i] for i in order[:count]])) >= task.model.threshold
    truth, most_frequent = flags[order[:count]], 2 * flags[order[count:]].sum() >= len(words) - count
    return HeldOut(float((accepted == truth).mean()), float((truth == most_frequent).mean()), count)


@dataclass(frozen=True, eq=False)
class _Flagged:
    """Words as they are read, also as symbols of the labels in `alphabet`, and which succeeded, shape [words]."""

    words: list[Word]
    corpus: Corpus
    alphabet: tuple[Label, ...]
    succeeded: NDArray[np.bool_]

    @classmethod
    def of(cls, words: Sequence[Word], scores: Sequence[float], reading: Reading) -> "_Flagged":
        read = as_read(words, reading.keep_repeats)
        if not read:
            raise BadWordsError("there are no words to learn from")
        flags = np.asarray(scores, np.float64)
        if flags.shape != (len(read),) or not np.isfinite(flags).all():
            raise BadWordsError(f"{len(read)} words need as many scores, all of them finite numbers")
        succeeded = flags >= reading.threshold
        if not succeeded.any():
            raise BadWordsError(
                f"no score reaches the threshold {reading.threshold:g}; learning needs at least one success"
            )
        return cls(read, *encode_all(read), succeeded)

    @property
    def flags(self) -> list[float]:
        """1 for a success and 0 for a failure."""
        return [float(flag) for flag in self.succeeded]


def _notes(learned: LearnedConstraints, words: int) -> Iterator[str]:
    if learned.unpaired:
        yield (
            f"there are too many propositions to try all pairs: the {len(learned.unpaired)} rarest, such as"
            f" '{learned.unpaired[0]}', were left out, and a rule about one of them and another would not be found"
        )
    if learned.words_used < words:
        yield f"of {words:,} words {learned.words_used:,} were used, drawn at random"
    for constraint in learned.left_out:
        yield f"left out, as the automaton would be too large or accept nothing: {constraint.sentence}"
