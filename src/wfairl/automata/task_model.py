"""TaskModel: what was learned of a task, in one file (`task.json`) that other commands read."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from wfairl.automata.corpus import encode
from wfairl.automata.finite import (
    DEFAULT_MAX_STATES,
    DEFAULT_TOLERANCE,
    ROUNDING,
    FiniteAutomaton,
    NoAcceptedWordError,
    TooManyStatesError,
    quotient,
    states_along,
)
from wfairl.automata.spectral import SpectralLearner, mean_squared_error
from wfairl.automata.weighted import WeightedAutomaton
from wfairl.automata.words import Word, compress, with_optional_start
from wfairl.errors import BadInputError
from wfairl.files import read_json, write_json
from wfairl.worlds.world import DEAD, Label

FORMAT = "wfairl-task-model"
VERSION = 2
READ_VERSIONS = (1, 2)
"""Version 1 has neither `learner` nor `sentences`, and its automata are whole matrices."""

SPECTRAL, RULE = "spectral", "rule"
"""What a task model may have been learned by; a rule is given, not learned. Other learners have names of their own."""

EdgeCounts = dict[tuple[int, Label], int]
"""How many words took an edge, by the state it leaves and the label it reads."""


class BrokenTaskModelError(BadInputError):
    """A file is not a task model, or one that was cut or changed."""


@dataclass(frozen=True)
class FitSummary:
    """How the automaton was learned.

    Attributes:
        rank: number of states of the weighted automaton.
        rows: length of the longest prefix of the basis.
        cols: length of the longest suffix of the basis.
        loss: mean squared error on the words it was learned from, eq. (2).
        words: number of words it was learned from.
        successes: how many of them have a score that reaches the threshold.
        condition: largest over smallest singular value that was kept.
        states: number of live states of the finite automaton.
        closed: whether that automaton holds all of them, within `max_states`.
        deviation: its largest difference from the weighted automaton that was seen.
    """

    rank: int
    rows: int
    cols: int
    loss: float
    words: int
    successes: int
    condition: float
    states: int
    closed: bool
    deviation: float


@dataclass(frozen=True)
class Verdict:
    """What a task model says of a word.

    Attributes:
        value: h of the word.
        accepted: whether it reaches the threshold.
        lost_at: position of the label after which acceptance was out of reach; the length of the
            word if it only ended too early; None if it is accepted or there is no finite automaton.
        expected: the labels that would have kept it live there.
    """

    value: float
    accepted: bool
    lost_at: int | None
    expected: tuple[Label, ...]


@dataclass(frozen=True, eq=False)
class TaskModel:
    """A weighted automaton with what turns it into yes or no.

    Attributes:
        automaton: h.
        threshold: words of this value or more are accepted.
        keep_repeats: whether repeated labels are read again.
        tolerance: see `quotient`.
        max_states: see `quotient`.
        summary: how the automaton was learned.
        edge_counts: successful words that took each edge of the finite automaton.
        learner: the name of what learned it.
        sentences: what it says, for people, where its learner can say it.
    """

    automaton: WeightedAutomaton
    threshold: float
    keep_repeats: bool
    tolerance: float
    max_states: int
    summary: FitSummary
    edge_counts: EdgeCounts
    learner: str = SPECTRAL
    sentences: tuple[str, ...] = ()

    @cached_property
    def finite(self) -> FiniteAutomaton:
        """The automaton for the planner.

        Raises:
            TooManyStatesError, NoAcceptedWordError: see `quotient`.
        """
        return quotient(self.automaton, self.threshold, self.tolerance, self.max_states, self.keep_repeats)

    def values(self, words: Sequence[Word]) -> list[float]:
        """h of each word."""
        read = [self.as_read(word) for word in words]
        return [float(value) for value in self.automaton.values(read)]

    def as_read(self, word: Word) -> Word:
        """The word as the automaton reads it: compressed, unless repeats mean something."""
        return tuple(word) if self.keep_repeats else compress(word)

    def judge(self, word: Word) -> Verdict:
        """The value of a word, and for a rejected one where it was lost and what was expected there."""
        return self.judge_all([word])[0]

    def judge_all(self, words: Sequence[Word]) -> list[Verdict]:
        """The verdict on each word; without an explanation if the finite automaton does not close."""
        values = self.values(words)
        return [self._explain(word, value) for word, value in zip(words, values, strict=True)]

    def _explain(self, word: Word, value: float) -> Verdict:
        if value >= self.threshold - ROUNDING:
            return Verdict(value, True, None, ())
        try:
            path = self.finite.run(word)
        except (TooManyStatesError, NoAcceptedWordError):
            return Verdict(value, False, None, ())
        lost_at = path.index(DEAD) - 1 if DEAD in path else len(word)
        return Verdict(value, False, lost_at, self.finite.expected(path[lost_at]))

    def save(self, path: Path) -> None:
        """Write the model as JSON."""
        counts = sorted([state, sorted(label), count] for (state, label), count in self.edge_counts.items())
        write_json(
            path,
            {
                "format": FORMAT,
                "version": VERSION,
                "threshold": self.threshold,
                "keep_repeats": self.keep_repeats,
                "learner": self.learner,
                "sentences": list(self.sentences),
                "tolerance": self.tolerance,
                "max_states": self.max_states,
                "summary": asdict(self.summary),
                "edge_counts": counts,
                "automaton": self.automaton.to_document(),
            },
        )

    @classmethod
    def from_finite(
        cls,
        finite: FiniteAutomaton,
        words: Sequence[Word] = (),
        scores: Sequence[float] = (),
        *,
        keep_repeats: bool = True,
        max_states: int = DEFAULT_MAX_STATES,
        learner: str = RULE,
        sentences: Sequence[str] = (),
    ) -> "TaskModel":
        """The task of a finite automaton, whose value is 1 for the words it accepts and 0 for all others.

        Args:
            finite: what to accept. How it was found does not matter: by a rule, or from another model.
            words: words to measure the loss on and to count edges with.
            scores: of each of these words.
            keep_repeats: read repeats as the automaton's table has them, which is right for any. Without, they
                are taken once: right where a label read twice leads where it leads once, and drawings then leave
                these loops out.
            max_states: see `quotient`.
            learner: the name of what learned it.
            sentences: what it says, for people.
        """
        learned = _Learned(finite.to_weighted(), max(map(len, words), default=0), max(map(len, words), default=0), 1.0)
        read = [tuple(word) if keep_repeats else compress(word) for word in words]
        model = _complete(learned, read, scores, 0.5, keep_repeats, DEFAULT_TOLERANCE, max_states)
        return replace(model, learner=learner, sentences=tuple(sentences))

    @classmethod
    def from_weighted(
        cls,
        automaton: WeightedAutomaton,
        words: Sequence[Word],
        scores: Sequence[float],
        *,
        rows: int,
        cols: int,
        threshold: float = 0.5,
        keep_repeats: bool = False,
        tolerance: float = DEFAULT_TOLERANCE,
        max_states: int = DEFAULT_MAX_STATES,
        learner: str = SPECTRAL,
    ) -> "TaskModel":
        """The task of a weighted automaton that was learned in another way than by `fit_task_model`; see there."""
        read = [tuple(word) if keep_repeats else compress(word) for word in words]
        learned = _Learned(automaton, rows, cols, 1.0)
        return replace(
            _complete(learned, read, scores, threshold, keep_repeats, tolerance, max_states), learner=learner
        )

    @classmethod
    def load(cls, path: Path) -> "TaskModel":
        """Read a model.

        Raises:
            BrokenTaskModelError: names the file and what is wrong with it.
        """
        try:
            document = read_json(path)
        except BadInputError as error:
            raise BrokenTaskModelError(f"{error}; a task model is what `wfairl learn-task` writes") from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise BrokenTaskModelError(f"{path}: not a task model; `wfairl learn-task` writes one")
        if document.get("version") not in READ_VERSIONS:
            raise BrokenTaskModelError(
                f"{path}: version {document.get('version')!r} of the format where {VERSION} is read; learn it again"
            )
        try:
            return _parse(document)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise BrokenTaskModelError(f"{path}: a broken task model ({reason}); learn it again") from None


def fit_task_model(
    words: Sequence[Word],
    scores: Sequence[float],
    *,
    rank: int | None = None,
    rows: int | None = None,
    cols: int | None = None,
    threshold: float = 0.5,
    keep_repeats: bool = False,
    tolerance: float = DEFAULT_TOLERANCE,
    max_states: int = DEFAULT_MAX_STATES,
    optional_start: bool = False,
) -> TaskModel:
    """Learn the task of scored words; see `SpectralLearner` and `quotient` for the settings.

    With `optional_start`, right for demonstrations, an empty label at the beginning of a word says nothing about the
    task; see `with_optional_start`. The summary is of the words as they were given.

    The model may be one whose finite automaton does not close: `TaskModel.finite` then says so.
    """
    read = [tuple(word) if keep_repeats else compress(word) for word in words]
    shown = with_optional_start(read, scores) if optional_start else (read, scores)
    learner = SpectralLearner(rank=rank, rows=rows, cols=cols).fit(*shown)
    learned = _Learned(learner.automaton_, learner.rows_, learner.cols_, learner.condition_)
    return _complete(learned, read, scores, threshold, keep_repeats, tolerance, max_states)


@dataclass(frozen=True, eq=False)
class _Learned:
    """A weighted automaton and where it came from; see `FitSummary`."""

    automaton: WeightedAutomaton
    rows: int
    cols: int
    condition: float


def _complete(
    learned: _Learned,
    read: Sequence[Word],
    scores: Sequence[float],
    threshold: float,
    keep_repeats: bool,
    tolerance: float,
    max_states: int,
) -> TaskModel:
    """The task model of a weighted automaton, with what the words, as it reads them, say of it."""
    automaton = learned.automaton
    successes = [word for word, score in zip(read, scores, strict=True) if score >= threshold]
    finite = quotient(automaton, threshold, tolerance, max_states, keep_repeats, words=read, allow_open=True)
    summary = FitSummary(
        rank=automaton.rank,
        rows=learned.rows,
        cols=learned.cols,
        loss=mean_squared_error(automaton, read, scores) if read else 0.0,
        words=len(read),
        successes=len(successes),
        condition=learned.condition,
        states=finite.states,
        closed=finite.closed,
        deviation=finite.deviation,
    )
    edge_counts = count_edges(finite, successes) if finite.closed else {}
    return TaskModel(automaton, threshold, keep_repeats, tolerance, max_states, summary, edge_counts)


def count_edges(finite: FiniteAutomaton, words: Sequence[Word]) -> EdgeCounts:
    """How many of the words take each edge between two different states."""
    corpus = encode(words, finite.alphabet)
    states = states_along(finite.transitions, corpus)
    of_word = np.repeat(np.arange(len(corpus)), corpus.lengths)
    places = np.arange(len(corpus.symbols)) + of_word  # where each label is read
    before, after = states[places], states[places + 1]
    taken = (before != after) & (after != DEAD)  # after DEAD comes nothing else
    labels = len(finite.alphabet)
    edges = before[taken].astype(np.int64) * labels + corpus.symbols[taken]
    once = np.unique(of_word[taken] * (finite.states * labels) + edges) % (finite.states * labels or 1)
    numbers, counts = np.unique(once, return_counts=True)
    return {
        (int(edge // labels), finite.alphabet[edge % labels]): int(count)
        for edge, count in zip(numbers, counts, strict=True)
    }


def _parse(document: dict[str, Any]) -> TaskModel:
    summary = document["summary"]
    counts = {(int(state), frozenset(map(str, label))): int(count) for state, label, count in document["edge_counts"]}
    threshold, tolerance = float(document["threshold"]), float(document["tolerance"])
    if not (np.isfinite(threshold) and np.isfinite(tolerance) and tolerance >= 0):
        raise ValueError("threshold and tolerance must be finite numbers")
    if not isinstance(document["keep_repeats"], bool):
        raise ValueError("keep_repeats must be true or false")
    return TaskModel(
        automaton=WeightedAutomaton.from_document(document["automaton"]),
        threshold=threshold,
        keep_repeats=document["keep_repeats"],
        tolerance=tolerance,
        max_states=int(document["max_states"]),
        summary=FitSummary(
            rank=int(summary["rank"]),
            rows=int(summary["rows"]),
            cols=int(summary["cols"]),
            loss=float(summary["loss"]),
            words=int(summary["words"]),
            successes=int(summary["successes"]),
            condition=float(summary["condition"]),
            states=int(summary["states"]),
            closed=bool(summary["closed"]),
            deviation=float(summary["deviation"]),
        ),
        edge_counts=counts,
        learner=str(document.get("learner", SPECTRAL)),
        sentences=tuple(map(str, document.get("sentences", ()))),
    )
