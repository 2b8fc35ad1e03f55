"""TaskModel: a learned task, in one file (`task.json`) that other commands read.

Every model holds the automaton that a planner searches. A model that was learned as a weighted automaton also holds
that, which gives words their values; without one, words have the value 1 or 0.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Automaton, EdgeCounts, Label
from wfairl.core.automata.finite import (
    DEFAULT_TOLERANCE,
    MOST_QUOTIENT_STATES,
    SCORE_ROUNDING,
    FiniteAutomaton,
    does_not_close,
)
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.sentences import describe, join_clauses
from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.automata.words import Word, as_read, as_word
from wfairl.core.support.bounds import Count, NotNegative
from wfairl.core.support.documents import Form, plain_fields
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.registry import Registry

SUCCESS_THRESHOLD = 0.5
"""The score from which on a word is a success, where a learner is told nothing else."""


class BrokenTaskModelError(BadInputError):
    """A file is not a task model, or one that was cut or changed."""


@dataclass(frozen=True)
class Verdict:
    """The verdict of a task model on a word."""

    value: float  # h of the word
    accepted: bool  # whether it reaches the threshold
    # position of the label after which acceptance was out of reach; the length of the word if it only ended too early;
    # None if it is accepted or there is no finite automaton
    lost_at: int | None
    expected: tuple[str, ...]  # labels or guards that lead on from there, as text
    broken: tuple[str, ...] = ()  # sentences of the rule that it breaks, where its learner states the rule in sentences


@dataclass(frozen=True)
class FitSummary:
    """How the automaton was learned."""

    words: Count  # number of words it was learned from
    successes: Count  # how many of them have a score that reaches the threshold
    loss: NotNegative  # mean squared error on the words it was learned from, eq. (2)
    states: Count  # of the automaton
    accepted: Count | None = None  # how many of the words the automaton accepts; None if all words were successes
    accepted_successes: Count | None = None  # how many of the accepted words are successes; None if all words were
    closed: bool = True  # whether the automaton holds all states of the weighted one, within `max_states`
    rank: Count | None = None  # number of states of the weighted automaton; None, like the fields below, without one
    rows: Count | None = None  # length of the longest prefix of the basis
    cols: Count | None = None  # length of the longest suffix of the basis
    condition: float | None = None  # largest over smallest singular value used
    deviation: NotNegative | None = None  # largest difference measured between finite and weighted automaton


class LearnerRecord(Protocol):
    """What a learner knows of a task beyond the automaton."""

    kind: ClassVar[str]
    """In files, and in `RECORDS`."""

    @property
    def labels(self) -> Collection[Label]:
        """The labels of the scenes that the task was learned in."""

    def to_document(self) -> dict[str, Any]:
        """The record as a JSON object with its `kind`."""

    @classmethod
    def from_document(cls, document: Mapping[str, Any], automaton: Automaton | None) -> "LearnerRecord":
        """Read what `to_document` gave, in a task model with an automaton.

        Raises:
            BadInputError: the document is no such record, or the record of another automaton.
        """


@runtime_checkable
class RuleInSentences(Protocol):
    """A record of constraints in sentences (`events`), which decide on words where they say more than the automaton."""

    def keeps_all(self, words: Sequence[Word]) -> NDArray[np.bool_]:
        """Whether each word keeps the rule, shape [words]."""

    def broken_sentences(self, words: Sequence[Word]) -> list[tuple[str, ...]]:
        """The sentences that each word breaks."""


RECORDS: Registry[type[LearnerRecord]] = Registry(
    "record of a learner", {"rational": "wfairl.core.rational.task_posterior:TaskPosterior"}
)
"""The kinds of records that a file may hold."""


@dataclass(frozen=True, eq=False)
class TaskModel:
    """The automaton of a task, and how it was learned.

    Attributes:
        learner: what learned it.
        threshold: words of this value or more are accepted.
        keep_repeats: whether repeated labels are read again.
        summary: how it was learned.
        edge_counts: successful words that took each edge of the automaton.
        automaton: what a planner searches; None where the weighted automaton does not close.
        weighted: h; None for a model whose words have the value 1 or 0.
        tolerance, max_states: see `quotient`.
        stated: its meaning, for people, where its learner states it; see `sentences`.
        record: what else its learner knows; None if nothing.
    """

    learner: str
    threshold: float
    keep_repeats: bool
    summary: FitSummary
    edge_counts: EdgeCounts
    automaton: Automaton | None
    weighted: WeightedAutomaton | None = None
    tolerance: float = DEFAULT_TOLERANCE
    max_states: int = MOST_QUOTIENT_STATES
    stated: tuple[str, ...] = ()
    record: LearnerRecord | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the task is, for people: clauses that say what the automaton does; see `sentences.describe`."""
        if self.stated:
            return self.stated
        if self.automaton is None:
            return (f"a weighted automaton of rank {self.summary.rank}, which has no finite number of stages",)
        return describe(self.automaton, None if self.record is None else self.record.labels)

    @property
    def sentence(self) -> str:
        """The same as one sentence."""
        return join_clauses(self.sentences)

    @property
    def finite(self) -> Automaton:
        """The automaton for the planner.

        Raises:
            TooManyStatesError: the weighted automaton does not close.
        """
        if self.automaton is None:
            assert self.weighted is not None  # `_StoredTaskModel` and the learners see to it
            raise does_not_close(self.weighted, self.tolerance, self.max_states)
        return self.automaton

    @property
    def alphabet(self) -> tuple[Label, ...]:
        """The labels that it reads; for an automaton with guards, one per proposition."""
        if self.weighted is not None:
            return self.weighted.alphabet
        if isinstance(self.automaton, FiniteAutomaton):
            return self.automaton.alphabet
        return tuple(frozenset({name}) for name in sorted(self.finite.propositions))

    @property
    def labels_seen(self) -> frozenset[Label]:
        """The labels of the words and scenes that it was learned from, as far as it records them."""
        in_scenes = () if self.record is None else self.record.labels
        of_table = () if isinstance(self.automaton, GuardedAutomaton) else self.alphabet
        return frozenset((*(label for _, label in self.edge_counts), *in_scenes, *of_table))

    def values(self, words: Sequence[Word]) -> list[float]:
        """h of each word."""
        read = as_read(words, self.keep_repeats)
        if isinstance(self.record, RuleInSentences):
            return [float(keeps) for keeps in self.record.keeps_all(read)]
        values = self.finite.accepts_all(read) if self.weighted is None else self.weighted.values(read)
        return [float(value) for value in values]

    def predict(self, words: Sequence[Word]) -> list[bool]:
        """Whether each word succeeds: as most of the accepted words did in learning, or most of the rejected ones."""
        accepted = [value >= self.threshold - SCORE_ROUNDING for value in self.values(words)]
        if self.summary.accepted is None or self.summary.accepted_successes is None:
            return accepted
        rejected = self.summary.words - self.summary.accepted
        of_accepted = 2 * self.summary.accepted_successes >= self.summary.accepted
        of_rejected = 2 * (self.summary.successes - self.summary.accepted_successes) > rejected
        return [of_accepted if one else of_rejected for one in accepted]

    def judge(self, word: Word) -> Verdict:
        """The value of a word, and for a rejected one where it was lost and what was expected there."""
        return self.judge_all([word])[0]

    def judge_all(self, words: Sequence[Word]) -> list[Verdict]:
        """The verdict on each word; without an explanation if the finite automaton does not close."""
        read, values = [as_word(word) for word in words], self.values(words)
        broken: Sequence[tuple[str, ...]] = [()] * len(read)
        if isinstance(self.record, RuleInSentences):
            broken = self.record.broken_sentences(as_read(words, self.keep_repeats))
        return [self._explain(*one) for one in zip(read, values, broken, strict=True)]

    def _explain(self, word: Word, value: float, broken: tuple[str, ...]) -> Verdict:
        if value >= self.threshold - SCORE_ROUNDING:
            return Verdict(value, True, None, ())
        if self.automaton is None:  # its quotient may take minutes
            return Verdict(value, False, None, ())
        path = self.automaton.run(word)
        if broken and (self.automaton.accepts(word) or any(label not in self.labels_seen for label in word)):
            return Verdict(value, False, None, (), broken)  # the sentences say why, the automaton does not say where
        lost_at = path.index(DEAD) - 1 if DEAD in path else len(word)
        return Verdict(value, False, lost_at, self.automaton.lacking(path[lost_at], ()), broken)

    def save(self, path: Path) -> None:
        """Write the model as JSON."""
        counts = sorted([state, sorted(label), count] for (state, label), count in self.edge_counts.items())
        content = {**plain_fields(self), "sentences": list(self.stated), "edge_counts": counts}
        TASK_MODEL_FORM.write(path, {one.name: content[one.name] for one in fields(_StoredTaskModel)})

    @classmethod
    def of_automaton(
        cls,
        automaton: Automaton,
        learner: str,
        words: Sequence[Word] = (),
        scores: Sequence[float] = (),
        *,
        stated: Sequence[str] = (),
        record: LearnerRecord | None = None,
    ) -> "TaskModel":
        """The task of an automaton, whose value is 1 for the words it accepts and 0 for all others.

        Args:
            automaton: what to accept, stated as a rule or found by any learner.
            learner: what found it.
            words: words to measure the loss on and to count edges with.
            scores: of each of these words.
            stated: its meaning, for people, if it is not to be read off the automaton.
            record: what else the learner knows.
        """
        read = as_read(words, automaton.keep_repeats)
        flags = np.asarray(scores, np.float64)
        successes = [word for word, flag in zip(read, flags, strict=True) if flag >= SUCCESS_THRESHOLD]
        accepted = record.keeps_all(read) if isinstance(record, RuleInSentences) else automaton.accepts_all(read)
        told_apart = len(successes) < len(read)
        summary = FitSummary(
            words=len(read),
            successes=len(successes),
            loss=float(np.mean(np.square(accepted - flags))) if read else 0.0,
            states=automaton.states,
            accepted=int(accepted.sum()) if told_apart else None,
            accepted_successes=int((accepted & (flags >= SUCCESS_THRESHOLD)).sum()) if told_apart else None,
        )
        return cls(
            learner, SUCCESS_THRESHOLD, automaton.keep_repeats, summary, count_edges(automaton, successes), automaton,
            stated=tuple(stated), record=record,
        )  # fmt: skip

    @classmethod
    def load(cls, path: Path) -> "TaskModel":
        """Read a model.

        Raises:
            BrokenTaskModelError: names the file and what is wrong with it.
        """
        stored = TASK_MODEL_FORM.read(path)
        automaton, weighted, record = None, None, None
        try:
            if stored.automaton is not None:
                automaton = AUTOMATON_KINDS[str(stored.automaton.get("kind"))].from_document(stored.automaton)
            if stored.weighted is not None:
                weighted = WeightedAutomaton.from_document(stored.weighted)
            if stored.record is not None:
                record = RECORDS.find(str(stored.record.get("kind"))).from_document(stored.record, automaton)
            if automaton is None and weighted is None:
                raise ValueError("no automaton")
        except (KeyError, ValueError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise BrokenTaskModelError(f"{path}: a broken task model ({reason}); {TASK_MODEL_FORM.advice}") from None
        counts = {(state, label): count for state, label, count in stored.edge_counts}
        values = {**vars(stored), "edge_counts": counts, "automaton": automaton, "weighted": weighted, "record": record}
        return cls(stated=values.pop("sentences"), **values)


def count_edges(automaton: Automaton, words: Sequence[Word]) -> dict[tuple[int, Label], int]:
    """How many of the words take each edge between two different states."""
    counts: Counter[tuple[int, Label]] = Counter()
    for word, times in Counter(words).items():
        path = automaton.run(word)
        taken = {(a, label) for a, b, label in zip(path, path[1:], word, strict=False) if DEAD not in (a, b) and a != b}
        counts.update(dict.fromkeys(taken, times))
    return dict(counts)


@dataclass(frozen=True)
class _StoredTaskModel:
    """A task model on disk: the fields of `TaskModel`, with `stated` as `sentences`, and [state, label, count]."""

    learner: str
    threshold: float
    keep_repeats: bool
    tolerance: NotNegative
    max_states: Count
    summary: FitSummary
    sentences: tuple[str, ...]
    record: Mapping[str, Any] | None
    edge_counts: tuple[tuple[Count, Label, Count], ...]
    automaton: Mapping[str, Any] | None
    weighted: Mapping[str, Any] | None


AUTOMATON_KINDS: dict[str, type[FiniteAutomaton] | type[GuardedAutomaton]] = {
    one.kind: one for one in (FiniteAutomaton, GuardedAutomaton)
}

TASK_MODEL_FORM = Form(
    "wfairl-task-model", "a task model", 5, _StoredTaskModel, BrokenTaskModelError, "`wfairl learn-task` writes one"
)
