"""The file of a task model (`task.json`): its fields, its versions, and what is checked when it is read."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from annotated_types import MinLen

from wfairl.core.automata import finite, guarded
from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.support.documents import Count, Form, NotNegative, Part, parse
from wfairl.core.support.errors import BadInputError

SPECTRAL = "spectral"
"""The learner of all models of the first version."""

KINDS: dict[str, type[finite.FiniteAutomaton] | type[GuardedAutomaton]] = {
    finite.KIND: finite.FiniteAutomaton,
    guarded.KIND: GuardedAutomaton,
}
"""The kinds of automata that a file may hold."""


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


@dataclass(frozen=True)
class _Alternative:
    automaton: Mapping[str, Any]
    text: str
    weight: Part

    def __post_init__(self) -> None:
        GuardedAutomaton.from_document(self.automaton)


@dataclass(frozen=True)
class _Support:
    """See `wfairl.core.rational.support.Support`; a margin that is not finite is null."""

    labels: tuple[Label, ...]
    visits: tuple[tuple[Count, ...], ...]
    margin: tuple[tuple[float | None, ...], ...]
    risk: tuple[tuple[Part, ...], ...]
    unknown_risk: Part
    need: tuple[Part, ...] | None = None  # older models have none

    def __post_init__(self) -> None:
        shapes = [[len(row) for row in table] for table in (self.visits, self.margin, self.risk)]
        if shapes != [[len(self.labels)] * len(self.visits)] * 3:
            raise ValueError("tables that are not of one number for each state and label")
        if self.need is not None and len(self.need) != len(self.labels):
            raise ValueError("needs that are not of one number for each label")


@dataclass(frozen=True)
class _Rival:
    rule: str
    nats: float


@dataclass(frozen=True)
class TaskModelFacts:
    """Schema of the facts about a model that are read, each optional; a learner may add others for people.

    Attributes:
        temperature: of the demonstrators, most likely.
        log_posterior, log_prior: of the automaton.
        candidates: number of automata visited, and planned with.
        alternatives: the most probable automata, the model's own first.
        support: evidence of the demonstrations about each state and label.
        outlier_probabilities: that a demonstration follows no task.
        look_wrong: the demonstrations for which that is large.
        demonstrated: words of the others.
        answers: number of answers to questions it was learned from.
        laws: what a person has corrected.
        rounds: of learning logic and cost in turn.
        not_told_apart: rules that are about as likely.
    """

    temperature: NotNegative | None = None
    log_posterior: float | None = None
    log_prior: float | None = None
    candidates: Mapping[str, Count] | None = None
    alternatives: Annotated[tuple[_Alternative, ...], MinLen(1)] | None = None
    support: _Support | None = None
    outlier_probabilities: tuple[Part, ...] | None = None
    look_wrong: tuple[Count, ...] | None = None
    demonstrated: tuple[tuple[Label, ...], ...] | None = None
    answers: Count | None = None
    laws: tuple[Mapping[str, Any], ...] | None = None
    rounds: Count | None = None
    not_told_apart: tuple[_Rival, ...] | None = None

    def __post_init__(self) -> None:
        if self.alternatives is not None and None in (self.temperature, self.outlier_probabilities, self.look_wrong):
            raise ValueError("alternatives without what comes with them")
        if any(number >= len(self.outlier_probabilities or ()) for number in self.look_wrong or ()):
            raise ValueError("a demonstration that looks wrong and is not there")


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
    facts: Mapping[str, Any]
    edge_counts: tuple[tuple[Count, Label, Count], ...]
    automaton: Mapping[str, Any] | None
    weighted: Mapping[str, Any] | None

    def automata(self) -> tuple[Automaton | None, WeightedAutomaton | None]:
        """The automaton for a planner and the weighted one, of which there is at least one.

        Raises:
            KeyError, ValueError: there is none, or the facts are not about them.
        """
        if self.weighted is None and self.automaton is None:
            raise ValueError("no automaton")
        kind = None if self.automaton is None else KINDS[str(self.automaton.get("kind"))]
        automaton = None if kind is None else kind.from_document(self.automaton)
        _check_facts(self.facts, automaton)
        if "alternatives" in self.facts and not self.sentences:
            raise ValueError("alternatives without the rule itself in sentences")
        return automaton, None if self.weighted is None else WeightedAutomaton.from_document(self.weighted)


def _check_facts(facts: Mapping[str, Any], automaton: Automaton | None) -> None:
    """Refuse facts that do not fit their schema, or the automaton that they are about."""
    present = {field.name: facts[field.name] for field in fields(TaskModelFacts) if field.name in facts}
    if any(value is None for value in present.values()):
        raise BadInputError("facts: one that is null")
    try:
        read: TaskModelFacts = parse(TaskModelFacts, present)
    except BadInputError as error:
        raise BadInputError(f"facts: {error}") from None
    if read.alternatives or read.support or read.demonstrated:
        states = automaton.states if isinstance(automaton, GuardedAutomaton) else 0
        if not states or len(read.support.visits if read.support else ()) > states:
            raise BadInputError("facts: of another automaton")


FORM = Form(
    "wfairl-task-model",
    "a task model",
    3,
    StoredTaskModel,
    BrokenTaskModelError,
    "`wfairl learn-task` writes one",
)
