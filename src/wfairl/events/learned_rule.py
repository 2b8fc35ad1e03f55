"""LearnedRule: what a learner of words knows beyond the automaton, as a record of the task model.

The sentences are the meaning of the model: a case is right if it keeps the rule that they state. The automaton holds
those that fit into it, for planners, drawings and alignments.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from annotated_types import MinLen
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.task_model import LearnerRecord, TaskModel
from wfairl.core.automata.words import Word
from wfairl.core.support.bounds import Count, NotNegative
from wfairl.core.support.documents import parse_fields, plain_fields
from wfairl.core.support.errors import did_you_mean
from wfairl.events.constraints import EventConstraint, kept_by
from wfairl.events.relations import Relations


@dataclass(frozen=True)
class SupportedConstraint:
    """A constraint of a rule, and the cases that speak for and against it."""

    template: str
    propositions: tuple[str, ...]
    support: Count  # cases that it speaks of
    broken: Count  # how many of these break it
    evidence: float  # nats by which it is likelier than chance
    kept: bool = True  # whether a case must keep it; else a case must break it
    constraint: EventConstraint = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraint", EventConstraint.of(self.template, *self.propositions))

    @classmethod
    def of(
        cls, constraint: EventConstraint, support: int, broken: int, evidence: float, kept: bool = True
    ) -> "SupportedConstraint":
        return cls(constraint.template.name, constraint.propositions, support, broken, evidence, kept)

    @property
    def sentence(self) -> str:
        """What must be so, for people."""
        return self.constraint.sentence if self.kept else self.constraint.denial

    @property
    def denial(self) -> str:
        """What is so if it is broken, for people."""
        return self.constraint.denial if self.kept else self.constraint.sentence


class Violation(NamedTuple):
    """What a case breaks, what is so instead, and the evidence for the rule in nats."""

    sentence: str
    denial: str
    evidence: float


@dataclass(frozen=True, eq=False)
class LearnedRule:
    """A rule in sentences: a case must satisfy one of the terms, or none of them if the rule is `of_failures`."""

    kind: ClassVar[str] = "sentences"

    terms: Annotated[tuple[tuple[SupportedConstraint, ...], ...], MinLen(1)]  # conjunctions
    in_automaton: Count  # how many constraints the automaton holds
    outliers: NotNegative  # share of the cases it was learned from that break it
    false_alarms: NotNegative | None = None  # share of unseen good cases that break it, as folds measured, if they did
    relations: Relations | None = None  # of these cases, if all of them were good
    of_failures: bool = False

    @property
    def constraints(self) -> tuple[SupportedConstraint, ...]:
        return tuple(one for term in self.terms for one in term)

    @property
    def is_conjunction(self) -> bool:
        """Whether a case must satisfy all constraints."""
        return len(self.terms) == 1 and not self.of_failures

    @property
    def sentences(self) -> tuple[str, ...]:
        if self.is_conjunction:
            return tuple(one.sentence for one in self.terms[0])
        first, then = ("it fails if ", "or if ") if self.of_failures else ("either ", "or ")
        return tuple((then if i else first) + _joined(term) for i, term in enumerate(self.terms))

    @property
    def labels(self) -> Collection[Label]:
        """One label for each event that the relations count."""
        return () if self.relations is None else [frozenset({name}) for name in self.relations.propositions]

    def keeps_all(self, words: Sequence[Word]) -> NDArray[np.bool_]:
        """Whether each word keeps the rule, shape [words]."""
        covered = np.logical_or.reduce([held.all(axis=0) for held in self._satisfied(words)])
        return np.asarray(covered != self.of_failures)

    def violations(self, words: Sequence[Word]) -> list[list[Violation]]:
        """What each word breaks; of a rule with several terms, of the term that the word is nearest to."""
        satisfied = self._satisfied(words)
        lacking = np.array([(~held).sum(axis=0) for held in satisfied])
        if self.of_failures:
            told = [(_joined(term), max((one.evidence for one in term), default=0.0)) for term in self.terms]
            whole = [Violation(f"not: {so}", so, evidence) for so, evidence in told]
            return [[whole[i] for i in np.flatnonzero(missing == 0)] for missing in lacking.T]
        alone = [[Violation(one.sentence, one.denial, one.evidence) for one in term] for term in self.terms]
        nearest = lacking.argmin(axis=0)
        return [[alone[i][k] for k in np.flatnonzero(~satisfied[i][:, word])] for word, i in enumerate(nearest)]

    def broken_sentences(self, words: Sequence[Word]) -> list[tuple[str, ...]]:
        """The sentences that each word breaks, those with most evidence first."""
        return [tuple(one.sentence for one in broken) for broken in self.violations(words)]

    def _satisfied(self, words: Sequence[Word]) -> list[NDArray[np.bool_]]:
        """For each term, which of its constraints each word satisfies, shape [constraints, words]."""
        kept = np.array([one.kept for one in self.constraints], bool)
        held = kept_by([one.constraint for one in self.constraints], words) == kept[:, None]
        return np.split(held, np.cumsum([*map(len, self.terms)])[:-1])

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind, **plain_fields(self)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any], automaton: Automaton | None) -> "LearnerRecord":  # noqa: ARG003
        return parse_fields(cls, document)


def _joined(term: Sequence[SupportedConstraint]) -> str:
    stated = [one.sentence for one in term]
    return ", and ".join(f"whenever {one[3:]}" if one.startswith("if ") else one for one in stated)


def learned_rule_of(model: TaskModel) -> LearnedRule | None:
    """The rule of a model, None if its learner states none in constraints."""
    return model.record if isinstance(model.record, LearnedRule) else None


MOST_NAMED = 20
"""Propositions that a sentence names; the rest is counted."""


class UnknownPropositions(NamedTuple):
    """The names of propositions that a model does not know, and sentences about them: one, or none."""

    names: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()


def unknown_propositions(model: TaskModel, words: Collection[Word]) -> UnknownPropositions:
    """The propositions of words that neither the automaton reads, nor any word or scene it was learned from has."""
    has: frozenset[str] = frozenset().union(*(label for word in set(words) for label in word))
    knows: frozenset[str] = frozenset().union(*model.alphabet, *model.labels_seen)
    names = tuple(sorted(has - knows))
    if not names:
        return UnknownPropositions()
    they = "it" if len(names) == 1 else "them"
    effect = f"rejects a word with {they}"
    if isinstance(model.automaton, GuardedAutomaton):
        effect = f"ignores {they}"
    elif learned_rule_of(model) is not None:
        effect = f"judges a word with {they} by its sentences alone"
    unknown, known = list_names(names, MOST_NAMED), list_names(sorted(knows), MOST_NAMED)
    near = did_you_mean(names[0], sorted(knows))
    sentence = f"The task model does not know {unknown}{near} (it knows {known}), and {effect}."
    return UnknownPropositions(names, (sentence,))


def list_names(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """The first of some names in quotes, and how many more there are."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return separator.join([*(f"'{name}'" for name in names[:most]), *more])
