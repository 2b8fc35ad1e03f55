"""A person's corrections of a learned automaton: "never this", "this before that", "not this edge".

A correction is used in one of two ways:

    law         `enforce_laws` changes the automaton and its alternatives so that they obey
    evidence    `counterexamples` turns it into answers about plans, which later demonstrations may outweigh
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from wfairl.core.automata.automaton import DEAD, Guard, Label
from wfairl.core.automata.guarded import Edge, GuardedAutomaton, intersect, is_taken
from wfairl.core.automata.rules import before
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import format_word
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.rational.compact_automaton import CompactAutomaton, compact
from wfairl.core.rational.task_posterior import Alternative, Support, posterior_of
from wfairl.core.support.documents import parse
from wfairl.core.support.errors import BadInputError

MOST_TABULATED = 8
"""Propositions up to which all labels are enumerated, to find the edges that are ever taken."""


class BadCorrectionError(BadInputError):
    """A correction that cannot be followed."""


class Correction(ABC):
    """A person's correction of an automaton: a frozen dataclass."""

    kind: ClassVar[str]
    """In documents."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The correction for people."""

    @property
    @abstractmethod
    def propositions(self) -> frozenset[str]:
        """Those that the correction is about."""

    @abstractmethod
    def apply(self, automaton: GuardedAutomaton) -> GuardedAutomaton:
        """The automaton that obeys; several of its states may be accepting."""

    def to_document(self) -> dict[str, Any]:
        """The correction as a JSON object."""
        return {"kind": self.kind, **vars(self)}


@dataclass(frozen=True)
class NeverHolds(Correction):
    """A proposition must never hold."""

    kind = "never"
    proposition: str

    @property
    def sentence(self) -> str:
        return f"never {self.proposition}"

    @property
    def propositions(self) -> frozenset[str]:
        return frozenset({self.proposition})

    def apply(self, automaton: GuardedAutomaton) -> GuardedAutomaton:
        lost = Edge(Guard(frozenset({self.proposition})), DEAD)
        rows = [
            row if automaton.accepting[state] else (lost, *(e for e in row if self.proposition not in e.guard.true))
            for state, row in enumerate(automaton.edges)
        ]
        return GuardedAutomaton(tuple(rows), automaton.accepting)


@dataclass(frozen=True)
class HoldsBefore(Correction):
    """The second proposition must not hold until the first has held."""

    kind = "before"
    first: str
    second: str

    @property
    def sentence(self) -> str:
        return f"{self.first} before {self.second}"

    @property
    def propositions(self) -> frozenset[str]:
        return frozenset({self.first, self.second})

    def apply(self, automaton: GuardedAutomaton) -> GuardedAutomaton:
        return intersect(automaton, before(self.first, self.second))


@dataclass(frozen=True)
class NoEdge(Correction):
    """An edge is not part of the task: where the edge would be taken, the state stays.

    If the task could not be fulfilled without the edge, its step is skipped: the state gets the edges of its target.

    Attributes:
        word: labels that lead to the state that the edge leaves; numbers of states change with every learning.
        guard: of the edge.
    """

    kind = "no edge"
    word: tuple[Label, ...]
    guard: Guard

    @property
    def sentence(self) -> str:
        return f"{self.guard} changes nothing " + (f"after {format_word(self.word)}" if self.word else "at the start")

    @property
    def propositions(self) -> frozenset[str]:
        return self.guard.true.union(self.guard.false, *self.word)

    def apply(self, automaton: GuardedAutomaton) -> GuardedAutomaton:
        state = automaton.run(self.word)[-1]
        if state == DEAD:
            return automaton
        rows = list(automaton.edges)
        rows[state] = tuple(edge for edge in rows[state] if edge.guard != self.guard)
        onward = [edge.target for edge in automaton.edges[state] if edge.guard == self.guard and edge.target != DEAD]
        if onward and all(edge.target == DEAD or self.guard.true <= edge.guard.true for edge in rows[state]):
            rows[state] = (*(edge for edge in rows[state] if edge.target == DEAD), *rows[onward[0]])
        return GuardedAutomaton(tuple(rows), automaton.accepting)

    def to_document(self) -> dict[str, Any]:
        guard = {"true": sorted(self.guard.true), "false": sorted(self.guard.false)}
        return {"kind": self.kind, "word": [sorted(label) for label in self.word], "guard": guard}


CORRECTIONS: dict[str, type[Correction]] = {one.kind: one for one in (NeverHolds, HoldsBefore, NoEdge)}


def correction_of_document(document: Any) -> Correction:
    """Read what `to_document` gave.

    Raises:
        BadCorrectionError: the document is not a correction.
    """
    kind = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(kind, str) or kind not in CORRECTIONS:
        raise BadCorrectionError(f"unknown kind of correction {kind!r}")
    try:
        fields = {name: value for name, value in document.items() if name != "kind"}
        correction: Correction = parse(CORRECTIONS[kind], fields)
    except BadInputError as error:
        raise BadCorrectionError(f"not a correction ({error})") from None
    if isinstance(correction, HoldsBefore) and correction.first == correction.second:
        raise BadCorrectionError(f"{correction.first} cannot come before itself")
    return correction


def without_edge(model: TaskModel, source: int, text: str) -> NoEdge:
    """The correction that takes an edge out of a model's automaton.

    Args:
        model: the model, with guards.
        source: the state that the edge leaves.
        text: the guard of the edge, as people read it.

    Raises:
        BadCorrectionError: there is no such edge.
    """
    posterior = posterior_of(model)
    if posterior is None or not 0 <= source < posterior.chosen.automaton.states:
        raise BadCorrectionError("there is no such edge")
    automaton, words = posterior.chosen.automaton, dict[int, tuple[Label, ...]]({0: ()})
    queue = [0]
    for state in queue:  # grows meanwhile: the shortest word to each state
        for label in posterior.labels:
            after = automaton.read(state, label)
            if after not in (DEAD, *words):
                words[after] = (*words[state], label)
                queue.append(after)
    guards = [edge.guard for edge in automaton.edges[source] if str(edge.guard) == text]
    if not guards or source not in words:
        raise BadCorrectionError("there is no such edge")
    return NoEdge(words[source], guards[0])


def enforce_laws(model: TaskModel, laws: Sequence[Correction], dataset: Dataset) -> TaskModel:
    """The model under laws, which its posterior records; alternatives that cannot obey are left out.

    Args:
        model: a task model of a rational learner.
        laws: the corrections.
        dataset: what it was learned from.

    Raises:
        BadCorrectionError: nothing could fulfil the task any more.
    """
    posterior = posterior_of(model)
    if not laws or posterior is None:
        return model
    corrected = [_under(one.automaton, laws) for one in posterior.alternatives]
    chosen = corrected[0]
    if not chosen.edges:
        raise BadCorrectionError(
            f"with {', '.join(law.sentence for law in laws)}, nothing could fulfil the task as it was learned"
        )
    weights: dict[CompactAutomaton, float] = {}
    for automaton, one in zip(corrected, posterior.alternatives, strict=True):
        if automaton.edges:
            weights[automaton] = weights.get(automaton, 0.0) + one.weight
    total = sum(weights.values())
    guarded = chosen.to_guarded()
    record = replace(
        posterior,
        alternatives=tuple(
            Alternative(one.to_guarded(), str(one), weights[one] / total)
            for one in sorted(weights, key=lambda one: (one != chosen, -weights[one]))
        ),
        support=_carry_over(posterior.support, posterior.chosen.automaton, guarded),
        laws=tuple(law.to_document() for law in laws),
    )
    return TaskModel.of_automaton(guarded, model.learner, dataset.words, dataset.scores, record=record)


def automaton_under_laws(automaton: GuardedAutomaton, laws: Sequence[Correction]) -> GuardedAutomaton:
    """An automaton under laws; it may accept nothing any more."""
    return _under(automaton, laws).to_guarded()


def _under(automaton: GuardedAutomaton, laws: Sequence[Correction]) -> CompactAutomaton:
    """The automaton under laws; without edges if it accepts nothing any more."""
    for law in laws:
        automaton = law.apply(automaton)
    names = sorted(automaton.propositions)
    if len(names) <= MOST_TABULATED:  # leave out edges that are never taken, because others are tried before
        sets = [frozenset(some) for size in range(len(names) + 1) for some in combinations(names, size)]
        automaton = restrict(automaton, sets)
    return compact(automaton)


def restrict(automaton: GuardedAutomaton, labels: Collection[Label]) -> GuardedAutomaton:
    """The part of an automaton that words of these labels reach until they are accepted.

    States are numbered anew in the order in which edges lead to them, accepting ones last.
    """
    relevant = [
        ()
        if automaton.accepting[state]
        else tuple(edge for edge in row if any(is_taken(row, edge, one) for one in labels))
        for state, row in enumerate(automaton.edges)
    ]
    reached = [0]
    for state in reached:  # which grows meanwhile
        targets = dict.fromkeys(edge.target for edge in relevant[state])
        reached += [target for target in targets if target != DEAD and target not in reached]
    order = sorted(reached, key=lambda state: bool(automaton.accepting[state]))
    number = {state: i for i, state in enumerate(order)} | {DEAD: DEAD}
    rows = [tuple(Edge(edge.guard, number[edge.target]) for edge in relevant[state]) for state in order]
    return GuardedAutomaton(tuple(rows), automaton.accepting[order])


def _carry_over(support: Support, before_laws: GuardedAutomaton, after: GuardedAutomaton) -> Support:
    """The support of an automaton carried over to one that obeys laws; what these forbid is certain."""
    counterpart = {0: 0}
    queue = [0]
    for state in queue:  # grows meanwhile
        for label in support.labels:
            target, old = after.read(state, label), before_laws.read(counterpart[state], label)
            is_new = target != DEAD and not after.accepting[target] and target not in counterpart
            if is_new and 0 <= old < len(support.is_untested):
                counterpart[target] = old
                queue.append(target)
    rows = [counterpart.get(state, 0) for state in range(after.states - 1)]
    dead = [[after.read(state, label) == DEAD for label in support.labels] for state in range(len(rows))]
    return replace(support, is_untested=support.is_untested[rows] & ~np.array(dead, bool))
