"""Corrections: what a person says of a learned automaton, "never this", "this before that", "not this edge".

A correction is taken in one of two ways:

    law         the automaton, and all that are kept beside it, are changed so that they obey: `obey`
    evidence    it counts for answers about plans, which later demonstrations may outweigh: `counterexamples`
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from wfairl.automata.automaton import ACCEPTED, DEAD, Guard, Label
from wfairl.automata.guarded import Edge, GuardedAutomaton, conjunction, restrict
from wfairl.automata.rules import before
from wfairl.automata.task_model import TaskModel
from wfairl.automata.words import format_word
from wfairl.demonstrations.demonstration import Dataset
from wfairl.errors import BadInputError
from wfairl.logic.sketch import Sketch, SketchEdge, tidy, to_automaton
from wfairl.logic.support import Support, support_of

LAWS = "laws"
"""The fact of a task model that holds the laws that it obeys."""

MOST_TABULATED = 8
"""Propositions whose sets are all looked at, to see which edges are ever taken."""


class BadCorrectionError(BadInputError):
    """A correction that cannot be followed."""


class Correction(Protocol):
    """What a person says of an automaton."""

    @property
    def sentence(self) -> str:
        """The correction for people."""
        ...

    def apply(self, automaton: GuardedAutomaton) -> GuardedAutomaton:
        """The automaton that obeys; its accepting states are no longer the last one alone."""
        ...

    def to_document(self) -> dict[str, Any]:
        """The correction as a JSON object."""
        ...


@dataclass(frozen=True)
class NeverHolds:
    """A proposition must never hold."""

    proposition: str

    @property
    def sentence(self) -> str:
        """See `Correction`."""
        return f"never {self.proposition}"

    def apply(self, automaton: GuardedAutomaton) -> GuardedAutomaton:
        """See `Correction`."""
        lost = Edge(Guard(frozenset({self.proposition})), DEAD)
        rows = [
            row if automaton.accepting[state] else (lost, *(e for e in row if self.proposition not in e.guard.true))
            for state, row in enumerate(automaton.edges)
        ]
        return GuardedAutomaton(tuple(rows), automaton.accepting)

    def to_document(self) -> dict[str, Any]:
        """See `Correction`."""
        return {"kind": "never", "proposition": self.proposition}


@dataclass(frozen=True)
class Before:
    """A proposition must not hold until another has."""

    first: str
    second: str

    @property
    def sentence(self) -> str:
        """See `Correction`."""
        return f"{self.first} before {self.second}"

    def apply(self, automaton: GuardedAutomaton) -> GuardedAutomaton:
        """See `Correction`."""
        return conjunction(automaton, before(self.first, self.second))

    def to_document(self) -> dict[str, Any]:
        """See `Correction`."""
        return {"kind": "before", "first": self.first, "second": self.second}


@dataclass(frozen=True)
class NoEdge:
    """An edge is not part of the task: where it would be taken, nothing changes.

    Where the task could not be done without it, the step is left out instead: what the edge leads to holds already.

    Attributes:
        word: labels that lead to the state that it leaves; numbers of states change with what is learned.
        guard: what it waits for.
    """

    word: tuple[Label, ...]
    guard: Guard

    @property
    def sentence(self) -> str:
        """See `Correction`."""
        return f"{self.guard} changes nothing " + (f"after {format_word(self.word)}" if self.word else "at the start")

    def apply(self, automaton: GuardedAutomaton) -> GuardedAutomaton:
        """See `Correction`."""
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
        """See `Correction`."""
        guard = {"true": sorted(self.guard.true), "false": sorted(self.guard.false)}
        return {"kind": "no edge", "word": [sorted(label) for label in self.word], **guard}


def correction_of_document(document: Any) -> Correction:
    """Read what `to_document` gave.

    Raises:
        BadCorrectionError: the document is not a correction.
    """
    try:
        kind = document["kind"]
        if kind == "never":
            return NeverHolds(_name(document["proposition"]))
        if kind == "before":
            made = Before(_name(document["first"]), _name(document["second"]))
            if made.first == made.second:
                raise BadCorrectionError(f"{made.first} cannot come before itself")
            return made
        if kind == "no edge":
            word = tuple(frozenset(_name(one) for one in label) for label in document["word"])
            true, false = (frozenset(_name(one) for one in document[part]) for part in ("true", "false"))
            return NoEdge(word, Guard(true, false))
    except (KeyError, TypeError, AttributeError) as error:
        raise BadCorrectionError(f"not a correction ({error})") from None
    raise BadCorrectionError(f"unknown kind of correction {kind!r}")


def without_edge(model: TaskModel, source: int, text: str) -> NoEdge:
    """The correction that takes an edge out of a model's automaton.

    Args:
        model: the model, with guards.
        source: the state that the edge leaves.
        text: its guard as people read it.

    Raises:
        BadCorrectionError: there is no such edge.
    """
    automaton, support = model.automaton, support_of(model)
    if not isinstance(automaton, GuardedAutomaton) or support is None or not 0 <= source < automaton.states:
        raise BadCorrectionError("there is no such edge")
    words: dict[int, tuple[Label, ...]] = {0: ()}
    queue = [0]
    for state in queue:  # grows while we walk it: the shortest word to each state
        for label in support.labels:
            after = automaton.read(state, label)
            if after not in (DEAD, *words):
                words[after] = (*words[state], label)
                queue.append(after)
    guards = [edge.guard for edge in automaton.edges[source] if str(edge.guard) == text]
    if not guards or source not in words:
        raise BadCorrectionError("there is no such edge")
    return NoEdge(words[source], guards[0])


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise BadCorrectionError(f"{value!r} is not the name of a proposition")
    return value


def obey(model: TaskModel, laws: Sequence[Correction], dataset: Dataset) -> TaskModel:
    """The model under laws, which it keeps as a fact; alternatives that cannot obey are left out.

    Args:
        model: what a rational learner learned.
        laws: the corrections.
        dataset: what it was learned from.

    Raises:
        BadCorrectionError: nothing could fulfil the task any more.
    """
    if not laws or "alternatives" not in model.facts:
        return model
    kept: dict[str, tuple[Sketch, float]] = {}
    for one in model.facts["alternatives"]:
        sketch = _under(GuardedAutomaton.from_document(one["automaton"]), laws)
        if sketch.edges:
            text = str(sketch)
            kept[text] = sketch, kept.get(text, (sketch, 0.0))[1] + float(one["weight"])
    chosen = _under(GuardedAutomaton.from_document(model.facts["alternatives"][0]["automaton"]), laws)
    if not chosen.edges:
        raise BadCorrectionError(
            f"with {', '.join(law.sentence for law in laws)}, nothing could fulfil the task as it is understood"
        )
    total = sum(weight for _, weight in kept.values())
    ranked = sorted(kept, key=lambda text: (text != str(chosen), -kept[text][1]))
    automaton, support = to_automaton(chosen), support_of(model)
    facts = {
        **model.facts,
        LAWS: [law.to_document() for law in laws],
        "alternatives": [
            {"automaton": to_automaton(kept[text][0]).to_document(), "text": text, "weight": kept[text][1] / total}
            for text in ranked
        ],
    }
    if support is not None:
        facts["support"] = _carry_over(support, model.finite, automaton).to_document()
    return TaskModel.of_automaton(
        automaton, model.learner, dataset.words, dataset.scores, sentences=(str(chosen),), facts=facts
    )


def obeying(automaton: GuardedAutomaton, laws: Sequence[Correction]) -> GuardedAutomaton:
    """An automaton under laws; it may be that nothing fulfils it any more."""
    return to_automaton(_under(automaton, laws))


def _under(automaton: GuardedAutomaton, laws: Sequence[Correction]) -> Sketch:
    """The automaton under laws, in the form in which its last state is the only accepting one."""
    for law in laws:
        automaton = law.apply(automaton)
    names = sorted(automaton.propositions)
    if len(names) <= MOST_TABULATED:  # leave out edges that others, which are tried before, always take
        sets = [frozenset(some) for size in range(len(names) + 1) for some in combinations(names, size)]
        automaton = restrict(automaton, sets)
    number = {DEAD: DEAD}
    for state in range(automaton.states):
        number[state] = ACCEPTED if automaton.accepting[state] else state
    edges = [
        SketchEdge(state, edge.guard, number[edge.target])
        for state, row in enumerate(automaton.edges)
        for edge in row
        if not automaton.accepting[state]
    ]
    sketch = tidy(automaton.states, edges)
    return sketch if any(edge.target == ACCEPTED for edge in sketch.edges) else Sketch(1, ())


def _carry_over(support: Support, before_laws: Any, after: GuardedAutomaton) -> Support:
    """The evidence behind the states of an automaton, for those of one that obeys laws; what they forbid is certain."""
    like = {0: 0}
    queue = [0]
    for state in queue:  # grows while we walk it
        for label in support.labels:
            target, old = after.read(state, label), before_laws.read(like[state], label)
            if target != DEAD and not after.accepting[target] and target not in like and 0 <= old < len(support.visits):
                like[target] = old
                queue.append(target)
    rows = [like.get(state, 0) for state in range(after.states - 1)]
    dead = np.array([[after.read(state, label) == DEAD for label in support.labels] for state in range(len(rows))])
    return replace(
        support,
        visits=support.visits[rows],
        margin=np.where(dead, np.inf, support.margin[rows]),
        risk=np.where(dead, 1.0, support.risk[rows]),
    )
