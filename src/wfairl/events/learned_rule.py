"""LearnedRule: what a learner of words knows beyond the automaton, as a record of the task model.

The constraints are the meaning of the model: a case is right if it keeps all of them. The automaton holds those that
fit into it, for planners, drawings and alignments.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.automata.task_model import LearnerRecord, TaskModel
from wfairl.core.automata.word_corpus import encode
from wfairl.core.automata.words import Word, as_word, sort_labels
from wfairl.core.support.bounds import Count, NotNegative
from wfairl.core.support.documents import parse
from wfairl.events.constraints import Constraint, Occurrences
from wfairl.events.process_rule import SupportedConstraint
from wfairl.events.relations import Relations


@dataclass(frozen=True, eq=False)
class LearnedRule:
    """A rule in sentences, and the relations of the cases that it was learned from.

    Attributes:
        constraints: a case must keep all of them; those with most evidence first.
        in_automaton: how many of them the automaton holds.
        outliers: share of the cases it was learned from that break it.
        false_alarms: share of unseen good cases that break it, as folds measured; None if that was not measured.
        relations: of these cases; None if it was learned from successes and failures.
    """

    kind: ClassVar[str] = "sentences"

    constraints: tuple[SupportedConstraint, ...]
    in_automaton: int
    outliers: float
    false_alarms: float | None = None
    relations: Relations | None = None

    @property
    def labels(self) -> Collection[Label]:
        """One label for each event that the relations count."""
        return () if self.relations is None else [frozenset({name}) for name in self.relations.propositions]

    def broken(self, words: Sequence[Word]) -> NDArray[np.bool_]:
        """Which constraints each word breaks, shape [constraints, words]; unknown events are events like others."""
        read = [as_word(word) for word in words]
        alphabet = sort_labels({label for word in read for label in word})
        names = sorted({name for one in self.constraints for name in one.constraint.propositions})
        occurrences = Occurrences.of(encode(read, alphabet), alphabet, names)
        held = [one.constraint.holds(occurrences) for one in self.constraints]
        return ~np.array(held, bool).reshape(len(held), len(words))

    def keeps_all(self, words: Sequence[Word]) -> NDArray[np.bool_]:
        """Whether each word keeps every constraint, shape [words]."""
        return np.asarray(~self.broken(words).any(axis=0))

    def broken_sentences(self, words: Sequence[Word]) -> list[tuple[str, ...]]:
        """The sentences that each word breaks, those with most evidence first."""
        sentences = [one.sentence for one in self.constraints]
        return [tuple(sentences[i] for i in np.flatnonzero(column)) for column in self.broken(words).T]

    def to_document(self) -> dict[str, Any]:
        """The record as a JSON object."""
        return {
            "kind": self.kind,
            "constraints": [
                {
                    "template": one.constraint.template.name,
                    "propositions": list(one.constraint.propositions),
                    "support": one.support,
                    "broken": one.broken,
                    "evidence": one.evidence,
                }
                for one in self.constraints
            ],
            "in_automaton": self.in_automaton,
            "outliers": self.outliers,
            "false_alarms": self.false_alarms,
            "relations": None if self.relations is None else self.relations.to_document(),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], automaton: Automaton | None) -> "LearnerRecord":  # noqa: ARG003
        """Read what `to_document` gave."""
        read = parse(_RuleDocument, document)
        constraints = tuple(
            SupportedConstraint(Constraint.of(one.template, *one.propositions), one.support, one.broken, one.evidence)
            for one in read.constraints
        )
        relations = None if read.relations is None else Relations.from_document(read.relations)
        return cls(constraints, read.in_automaton, read.outliers, read.false_alarms, relations)


def rule_of(model: TaskModel) -> LearnedRule | None:
    """The rule of a model, None if its learner states none in constraints."""
    return model.record if isinstance(model.record, LearnedRule) else None


@dataclass(frozen=True)
class _ConstraintDocument:
    template: str
    propositions: tuple[str, ...]
    support: Count
    broken: Count
    evidence: float


@dataclass(frozen=True)
class _RuleDocument:
    """A `LearnedRule` on disk."""

    kind: Literal["sentences"]
    constraints: tuple[_ConstraintDocument, ...]
    in_automaton: Count
    outliers: Annotated[float, Ge(0)]
    false_alarms: NotNegative | None
    relations: Mapping[str, Any] | None
