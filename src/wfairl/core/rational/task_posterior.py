"""TaskPosterior: what a rational learner knows of a task beyond the most probable automaton.

The record names the other probable automata with their weights, what else the task may ask (`doubts`), and the pairs
of a state and a label that no demonstration tests. A task model holds it as its `record`: `posterior_of` gives it back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import MinLen
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Automaton, Label
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.sentences import describe, join_clauses
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import Word
from wfairl.core.rational.constraints import Doubt
from wfairl.core.support.bounds import Count, NotNegative, Part
from wfairl.core.support.documents import Listed, parse_fields, plain_fields
from wfairl.core.support.errors import BadInputError

LEAST_WEIGHT = 0.01
"""The posterior below which an alternative is not worth telling."""

LEAST_OUTLIER_PROBABILITY = 0.5
"""Probability of following no task from which on a demonstration is reported as an outlier."""


@dataclass(frozen=True, eq=False)
class Alternative:
    """An automaton that may be the task."""

    automaton: GuardedAutomaton  # its last state is its only accepting one
    text: str  # the edges of the automaton in one line; for a sentence, see `TaskPosterior.sentence`
    weight: Part  # its share of the posterior among the alternatives

    def __post_init__(self) -> None:
        last = self.automaton.states - 1
        if last < 1 or np.flatnonzero(self.automaton.accepting).tolist() != [last]:
            raise BadInputError("an alternative whose last state is not its only accepting one")


@dataclass(frozen=True, eq=False)
class Support:
    """Which pairs of a state and a label of an automaton no demonstration tells about."""

    labels: tuple[Label, ...]  # those that occur in the scenes
    # pairs that no demonstration reads or is evidence about, [states, labels]
    is_untested: Annotated[NDArray[np.bool_], Listed(tuple[tuple[bool, ...], ...], bool)]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.labels) for row in self.is_untested):
            raise BadInputError("a table that has not one entry for each state and label")

    @cached_property
    def number(self) -> dict[Label, int]:
        """The index of each label."""
        return {label: i for i, label in enumerate(self.labels)}

    def is_untested_in(self, state: int, label: Label) -> bool:
        """Whether the demonstrations are no evidence of where a label leads in a state; true if no scene has it."""
        return label not in self.number or bool(self.is_untested[state, self.number[label]])


@dataclass(frozen=True)
class Rival:
    """A rule, in one line, learned under another cost, and by how many nats its log posterior is lower."""

    rule: str
    nats: float


@dataclass(frozen=True, eq=False)
class TaskPosterior:
    """The probable automata of a task and their evidence."""

    kind: ClassVar[str] = "rational"

    # the most probable automata with their weights, the chosen one first
    alternatives: Annotated[tuple[Alternative, ...], MinLen(1)]
    support: Support  # what no demonstration tells about the chosen one
    temperature: NotNegative  # the demonstrators' most likely temperature
    log_posterior: float  # of the chosen automaton, up to a constant
    log_prior: float  # minus the description length of the chosen automaton, in nats
    automata_generated: Count  # how many automata the search generated
    automata_evaluated: Count  # how many of them were planned with
    # that a demonstration follows no task, [demonstrations]; failures have 0
    outlier_probabilities: Annotated[NDArray[np.float64], Listed(tuple[Part, ...], float)]
    demonstrated_words: tuple[Word, ...] = ()  # the distinct words of the successes that are no outliers
    answers: Count = 0  # how many answers to questions were evidence
    # the corrections that all automata obey, each as a JSON object of `wfairl.questions.corrections`
    laws: tuple[Mapping[str, Any], ...] = ()
    rounds: Count = 0  # how often automaton and cost were learned in turn; 0 if the cost was given
    not_told_apart: tuple[Rival, ...] = ()  # rules under other costs that are about as likely
    doubts: tuple[Doubt, ...] = ()  # constraints that the task may have though the chosen automaton does not keep them
    unforeseen: Part = 0.0  # probability that, in a new scene, the task asks what none of all these says
    # nats of log evidence by which an automaton, searched or not, can at most be ahead of the chosen one
    unexplained: NotNegative = 0.0

    @property
    def chosen(self) -> Alternative:
        """The most probable automaton."""
        return self.alternatives[0]

    def sentence(self, alternative: Alternative) -> str:
        """What an alternative asks for, in words."""
        return join_clauses(describe(alternative.automaton, self.labels))

    def other_rules(self, most: int) -> list[tuple[str, float]]:
        """What the task may ask for instead of the chosen rule, in words, with weights of `LEAST_WEIGHT` or more."""
        others = [one for one in self.alternatives[1 : most + 1] if one.weight >= LEAST_WEIGHT]
        return [(self.sentence(one), one.weight) for one in others]

    @property
    def open_doubts(self) -> list[Doubt]:
        """The doubts about what the chosen rule allows at times: what it always forbids need not be doubted."""
        rule = self.chosen.automaton
        working = ~rule.accepting
        forbidden = {p for p in rule.propositions if (rule.column(frozenset({p}))[working] == DEAD).all()}
        return [one for one in self.doubts if one.constraint.proposition not in forbidden]

    @property
    def outliers(self) -> list[int]:
        """The demonstrations that probably follow no task."""
        return np.flatnonzero(self.outlier_probabilities >= LEAST_OUTLIER_PROBABILITY).tolist()

    @property
    def labels(self) -> tuple[Label, ...]:
        return self.support.labels

    def untested_labels(self) -> dict[int, list[Label]]:
        """The untested labels that the chosen automaton allows, by state; states without any are left out."""
        untested: dict[int, list[Label]] = {}
        for state, i in np.argwhere(self.support.is_untested).tolist():
            if self.chosen.automaton.read(state, self.labels[i]) != DEAD:
                untested.setdefault(state, []).append(self.labels[i])
        return untested

    def untested_steps(self, labels: Sequence[Label]) -> list[int]:
        """The steps, from 1, at which a plan with these labels reads one that is untested in its state."""
        states = self.chosen.automaton.run(labels)
        return [
            step
            for step, (state, label) in enumerate(zip(states, labels, strict=False), start=1)
            if 0 <= state < len(self.support.is_untested) and self.support.is_untested_in(state, label)
        ]

    def to_document(self) -> dict[str, Any]:
        return {**plain_fields(self), "kind": self.kind}

    @classmethod
    def from_document(cls, document: Mapping[str, Any], automaton: Automaton | None) -> "TaskPosterior":
        # Files of earlier versions have no numbers for what is unforeseen and unexplained.
        read = parse_fields(cls, {"unforeseen": 0.0, "unexplained": 0.0, **document})
        if automaton is None or read.chosen.automaton.to_document() != automaton.to_document():
            raise BadInputError("the posterior of another automaton")
        states = read.chosen.automaton.states - 1
        if len(read.support.is_untested) != states:
            raise BadInputError("the support of another automaton")
        named = (state for one in read.doubts for state in one.constraint.named_states)
        if not {*named, ACCEPTED} <= {*range(states), ACCEPTED}:
            raise BadInputError("a doubt about a state of another automaton")
        return read


def posterior_of(model: TaskModel) -> TaskPosterior | None:
    """The posterior of a model that a rational learner found; None for other learners."""
    return model.record if isinstance(model.record, TaskPosterior) else None
