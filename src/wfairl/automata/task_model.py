"""TaskModel: what was learned of a task, in one file (`task.json`) that other commands read.

Whatever learned it, a model holds the automaton that a planner searches. One that was learned as a weighted automaton
holds that too, and its words have its values; words of any other have the value 1 or 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from wfairl.automata.automaton import DEAD, Automaton, EdgeCounts, Label
from wfairl.automata.finite import (
    DEFAULT_MAX_STATES,
    DEFAULT_TOLERANCE,
    ROUNDING,
    FiniteAutomaton,
    does_not_close,
    quotient,
)
from wfairl.automata.fit_summary import FitSummary, accepted_values, count_edges
from wfairl.automata.task_model_file import FORM, SPECTRAL, BrokenTaskModelError
from wfairl.automata.weighted import WeightedAutomaton
from wfairl.automata.words import Word, as_read, with_optional_start


@dataclass(frozen=True)
class Verdict:
    """What a task model says of a word.

    Attributes:
        value: h of the word.
        accepted: whether it reaches the threshold.
        lost_at: position of the label after which acceptance was out of reach; the length of the
            word if it only ended too early; None if it is accepted or there is no finite automaton.
        expected: what would have kept it live there, each as people say it.
    """

    value: float
    accepted: bool
    lost_at: int | None
    expected: tuple[str, ...]


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
        sentences: what it says, for people, where its learner can say it.
        facts: what else the learner has to say, as plain JSON.
    """

    learner: str
    threshold: float
    keep_repeats: bool
    summary: FitSummary
    edge_counts: EdgeCounts
    automaton: Automaton | None
    weighted: WeightedAutomaton | None = None
    tolerance: float = DEFAULT_TOLERANCE
    max_states: int = DEFAULT_MAX_STATES
    sentences: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def finite(self) -> Automaton:
        """The automaton for the planner.

        Raises:
            TooManyStatesError, NoAcceptedWordError: see `quotient`.
        """
        if self.automaton is not None:
            return self.automaton
        assert self.weighted is not None  # `StoredTaskModel` and the learners see to it
        if not self.summary.closed:  # it was tried when the model was learned
            raise does_not_close(self.weighted, self.tolerance, self.max_states)
        return quotient(self.weighted, self.threshold, self.tolerance, self.max_states, self.keep_repeats)

    @property
    def alphabet(self) -> tuple[Label, ...]:
        """The labels that it reads; for an automaton with guards, one for each proposition that it speaks of."""
        if self.weighted is not None:
            return self.weighted.alphabet
        if isinstance(self.automaton, FiniteAutomaton):
            return self.automaton.alphabet
        return tuple(frozenset({name}) for name in sorted(self.finite.propositions))

    def values(self, words: Sequence[Word]) -> list[float]:
        """h of each word."""
        read = as_read(words, self.keep_repeats)
        if self.weighted is None:
            return accepted_values(self.finite, read)
        return [float(value) for value in self.weighted.values(read)]

    def as_read(self, word: Word) -> Word:
        """The word as the automaton reads it."""
        return as_read([word], self.keep_repeats)[0]

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
        if self.automaton is None:  # computing one may take minutes
            return Verdict(value, False, None, ())
        path = self.automaton.run(word)
        lost_at = path.index(DEAD) - 1 if DEAD in path else len(word)
        return Verdict(value, False, lost_at, self.automaton.lacking(path[lost_at], ()))

    def save(self, path: Path) -> None:
        """Write the model as JSON."""
        counts = sorted([state, sorted(label), count] for (state, label), count in self.edge_counts.items())
        FORM.write(
            path,
            {
                "learner": self.learner,
                "threshold": self.threshold,
                "keep_repeats": self.keep_repeats,
                "tolerance": self.tolerance,
                "max_states": self.max_states,
                "summary": asdict(self.summary),
                "sentences": list(self.sentences),
                "facts": dict(self.facts),
                "edge_counts": counts,
                "automaton": None if self.automaton is None else self.automaton.to_document(),
                "weighted": None if self.weighted is None else self.weighted.to_document(),
            },
        )

    @classmethod
    def of_automaton(
        cls,
        automaton: Automaton,
        learner: str,
        words: Sequence[Word] = (),
        scores: Sequence[float] = (),
        *,
        threshold: float = 0.5,
        keep_repeats: bool | None = None,
        sentences: Sequence[str] = (),
        facts: Mapping[str, Any] | None = None,
    ) -> "TaskModel":
        """The task of an automaton, whose value is 1 for the words it accepts and 0 for all others.

        Args:
            automaton: what to accept. How it was found does not matter: by a rule, or by any learner.
            learner: what found it.
            words: words to measure the loss on and to count edges with.
            scores: of each of these words.
            threshold: the score from which on a word counts as success.
            keep_repeats: read repeats as the automaton's table has them, or take them once; its own way if None.
            sentences: what it says, for people.
            facts: what else there is to say, as plain JSON.
        """
        if isinstance(automaton, FiniteAutomaton) and keep_repeats is not None:
            automaton = replace(automaton, keep_repeats=True) if keep_repeats else _reading_repeats_once(automaton)
        read = as_read(words, automaton.keep_repeats)
        flags = np.asarray(scores, np.float64)
        successes = [word for word, flag in zip(read, flags, strict=True) if flag >= threshold]
        summary = FitSummary(
            words=len(read),
            successes=len(successes),
            loss=float(np.mean(np.square(np.array(accepted_values(automaton, read)) - flags))) if read else 0.0,
            states=automaton.states,
        )
        return cls(
            learner, threshold, automaton.keep_repeats, summary, count_edges(automaton, successes), automaton,
            sentences=tuple(sentences), facts=facts or {},
        )  # fmt: skip

    @classmethod
    def of_weighted(
        cls,
        weighted: WeightedAutomaton,
        learner: str,
        words: Sequence[Word],
        scores: Sequence[float],
        *,
        rows: int,
        cols: int,
        condition: float = 1.0,
        threshold: float = 0.5,
        keep_repeats: bool = False,
        tolerance: float = DEFAULT_TOLERANCE,
        max_states: int = DEFAULT_MAX_STATES,
    ) -> "TaskModel":
        """The task of a weighted automaton, with what words say of it; see `FitSummary` and `quotient`.

        The model may be one whose finite automaton does not close: `finite` then says so.
        """
        from wfairl.automata.spectral import mean_squared_error  # with SciPy and scikit-learn: for those who learn

        read = as_read(words, keep_repeats)
        finite = quotient(weighted, threshold, tolerance, max_states, keep_repeats, words=read, allow_open=True)
        successes = [word for word, score in zip(read, scores, strict=True) if score >= threshold]
        summary = FitSummary(
            words=len(read),
            successes=len(successes),
            loss=mean_squared_error(weighted, read, scores) if read else 0.0,
            states=finite.states,
            closed=finite.closed,
            rank=weighted.rank,
            rows=rows,
            cols=cols,
            condition=condition,
            deviation=finite.deviation,
        )
        counts = count_edges(finite, successes) if finite.closed else {}
        automaton = finite if finite.closed else None
        return cls(learner, threshold, keep_repeats, summary, counts, automaton, weighted, tolerance, max_states)

    @classmethod
    def load(cls, path: Path) -> "TaskModel":
        """Read a model.

        Raises:
            BrokenTaskModelError: names the file and what is wrong with it.
        """
        stored = FORM.read(path)
        try:
            automaton, weighted = stored.automata()
        except (KeyError, ValueError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise BrokenTaskModelError(f"{path}: a broken task model ({reason}); {FORM.advice}") from None
        return cls(
            learner=stored.learner,
            threshold=stored.threshold,
            keep_repeats=stored.keep_repeats,
            summary=stored.summary,
            edge_counts={(state, label): count for state, label, count in stored.edge_counts},
            automaton=automaton,
            weighted=weighted,
            tolerance=stored.tolerance,
            max_states=stored.max_states,
            sentences=stored.sentences,
            facts=stored.facts,
        )


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
    from wfairl.automata.spectral import SpectralLearner

    read = as_read(words, keep_repeats)
    shown = with_optional_start(read, scores) if optional_start else (read, scores)
    learner = SpectralLearner(rank=rank, rows=rows, cols=cols).fit(*shown)
    return TaskModel.of_weighted(
        learner.automaton_,
        SPECTRAL,
        read,
        scores,
        rows=learner.rows_,
        cols=learner.cols_,
        condition=learner.condition_,
        threshold=threshold,
        keep_repeats=keep_repeats,
        tolerance=tolerance,
        max_states=max_states,
    )


def _reading_repeats_once(automaton: FiniteAutomaton) -> FiniteAutomaton:
    """The automaton in which a label that repeats the one before leaves the state as it is."""
    return quotient(automaton.to_weighted(), keep_repeats=False)
