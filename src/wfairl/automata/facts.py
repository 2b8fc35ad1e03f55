"""What a learner says beside the automaton in a task model, as far as others read it: the schema of such facts.

A learner may add further facts for people to read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from annotated_types import MinLen

from wfairl.automata.automaton import Automaton, Label
from wfairl.automata.guarded import GuardedAutomaton
from wfairl.documents import Count, NotNegative, Part, parse
from wfairl.errors import BadInputError


@dataclass(frozen=True)
class _Alternative:
    automaton: Mapping[str, Any]
    text: str
    weight: Part

    def __post_init__(self) -> None:
        GuardedAutomaton.from_document(self.automaton)


@dataclass(frozen=True)
class _Support:
    """See `wfairl.logic.support.Support`; a margin that is not finite is null."""

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
    """The facts that are read, each if it is there.

    Attributes:
        temperature: of the demonstrators, most likely.
        log_posterior, log_prior: of the automaton.
        candidates: how many automata were met, and planned with.
        alternatives: the most probable automata, the model's own first.
        support: what the demonstrations say about each state and label.
        outlier_probabilities: that a demonstration follows no task.
        look_wrong: the demonstrations for which that is large.
        demonstrated: words of the others.
        answers: how many answers to questions it was learned from.
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


READ = tuple(one.name for one in fields(TaskModelFacts))


def check_facts(facts: Mapping[str, Any], automaton: Automaton | None) -> None:
    """Refuse facts that are not what their names say.

    Args:
        facts: as plain JSON.
        automaton: what they are about.

    Raises:
        BadInputError: says what is wrong with them.
    """
    told = {name: facts[name] for name in READ if name in facts}
    if any(value is None for value in told.values()):
        raise BadInputError("facts: one that says nothing")
    try:
        read: TaskModelFacts = parse(TaskModelFacts, told)
    except BadInputError as error:
        raise BadInputError(f"facts: {error}") from None
    if read.alternatives or read.support or read.demonstrated:
        states = automaton.states if isinstance(automaton, GuardedAutomaton) else 0
        if not states or len(read.support.visits if read.support else ()) > states:
            raise BadInputError("facts: of another automaton")
