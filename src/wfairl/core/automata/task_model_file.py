"""The file of a task model (`task.json`): its fields, and what is checked when it is read."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.support.bounds import Count, NotNegative
from wfairl.core.support.documents import Form
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.registry import Registry

AUTOMATON_KINDS: dict[str, type[FiniteAutomaton] | type[GuardedAutomaton]] = {
    one.kind: one for one in (FiniteAutomaton, GuardedAutomaton)
}


class BrokenTaskModelError(BadInputError):
    """A file is not a task model, or one that was cut or changed."""


@dataclass(frozen=True)
class FitSummary:
    """How the automaton was learned.

    Attributes:
        words: number of words it was learned from.
        successes: how many of them have a score that reaches the threshold.
        loss: mean squared error on the words it was learned from, eq. (2).
        states: number of states of the automaton.
        closed: whether that automaton holds all of them, within `max_states`.
        rank: number of states of the weighted automaton; None, as all that follow, where there is none.
        rows: length of the longest prefix of the basis.
        cols: length of the longest suffix of the basis.
        condition: largest over smallest singular value used.
        deviation: largest difference measured between the finite automaton and the weighted one.
    """

    words: Count
    successes: Count
    loss: NotNegative
    states: Count
    closed: bool = True
    rank: Count | None = None
    rows: Count | None = None
    cols: Count | None = None
    condition: float | None = None
    deviation: NotNegative | None = None


class LearnerRecord(ABC):
    """What a learner knows of a task beyond the automaton: a frozen dataclass that the learner defines."""

    kind: ClassVar[str]
    """In files, and in `RECORDS`."""

    @property
    @abstractmethod
    def labels(self) -> Collection[Label]:
        """The labels of the scenes that the task was learned in."""

    @abstractmethod
    def to_document(self) -> dict[str, Any]:
        """The record as a JSON object with its `kind`."""

    @classmethod
    @abstractmethod
    def from_document(cls, document: Mapping[str, Any], automaton: Automaton | None) -> "LearnerRecord":
        """Read what `to_document` gave.

        Args:
            document: the JSON object.
            automaton: of the same task model.

        Raises:
            BadInputError: the document is no such record, or the record of another automaton.
        """


RECORDS: Registry[type[LearnerRecord]] = Registry(
    "record of a learner", {"rational": "wfairl.core.rational.task_posterior:TaskPosterior"}
)
"""The kinds of records that a file may hold."""


@dataclass(frozen=True)
class StoredTaskModel:
    """A task model on disk: the fields of `TaskModel`, with edge counts as a list of [state, label, count]."""

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

    def parts(self) -> tuple[Automaton | None, WeightedAutomaton | None, LearnerRecord | None]:
        """The automaton for a planner, the weighted one, and the record; one automaton at least is not None.

        Raises:
            KeyError, ValueError: there is no automaton, or a part is not what it should be.
        """
        if self.weighted is None and self.automaton is None:
            raise ValueError("no automaton")
        kind = None if self.automaton is None else AUTOMATON_KINDS[str(self.automaton.get("kind"))]
        automaton = None if kind is None else kind.from_document(self.automaton)
        weighted = None if self.weighted is None else WeightedAutomaton.from_document(self.weighted)
        if self.record is None:
            return automaton, weighted, None
        if not self.sentences:
            raise ValueError("the record of a learner without the rule itself in sentences")
        record = RECORDS.find(str(self.record.get("kind")))
        return automaton, weighted, record.from_document(self.record, automaton)


TASK_MODEL_FORM = Form(
    "wfairl-task-model",
    "a task model",
    4,
    StoredTaskModel,
    BrokenTaskModelError,
    "`wfairl learn-task` writes one",
)
