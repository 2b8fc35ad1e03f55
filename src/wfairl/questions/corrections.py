"""A person's corrections of a learned automaton: "never this", "this before that", "not this edge".

A correction is used in one of two ways:

    law         `enforce_laws` changes the automaton and its alternatives so that they obey
    evidence    `weigh_correction` turns it into answers about plans, which later demonstrations may outweigh

As evidence, it changes an automaton A to A'. In a scene the two disagree on plans

    that A accepts and A' does not         "this would have been wrong"
    that A' accepts and A does not         "this would have been right"

which are answers like any other, except for their weight. The person who corrects has seen the automaton and its
evidence, so the demonstrations so far must not outweigh the correction; later ones may. It counts for as many
demonstrations as there are, and one more: with n successes and the best automaton A* that obeys, k answers that A
contradicts have the weight w for which

    w k log((1 - e) / e)  =  (n + 1) / n * (log posterior(A) - log posterior(A*))

and at least 1, where e is the probability that an answer is wrong. A* is learned under answers that outweigh all other
evidence; if the result still disobeys, more plans are added and the automaton is learned again.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from math import log, log1p
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard, Label
from wfairl.core.automata.guarded import Edge, GuardedAutomaton, intersect
from wfairl.core.automata.minimisation import canonical_table, to_table
from wfairl.core.automata.rules import before
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import format_word
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.rational.compact_automaton import CompactAutomaton, compact
from wfairl.core.rational.constraints import Doubt
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.rational.table_plans import plan_table
from wfairl.core.rational.task_posterior import Alternative, Support, posterior_of
from wfairl.core.support.documents import parse_fields, plain_fields
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task
from wfairl.questions.hypotheses import ExploredScenes, difference, explore_scenes, required_posterior

MOST_TABULATED = 8
"""Propositions up to which all labels are enumerated, to find the edges that are needed."""

COUNTEREXAMPLES = 3
"""Most plans of a kind that a correction counts for, each in another scene."""

MOST_LEARNINGS = 4
"""How often the automaton is learned again until it obeys."""

CERTAIN_WEIGHT = 1e4
"""The weight of an answer that outweighs all demonstrations."""


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
    def propositions(self) -> frozenset[str]:
        """Those that the correction is about."""
        return frozenset(vars(self).values())

    @abstractmethod
    def apply(self, automaton: GuardedAutomaton) -> GuardedAutomaton:
        """The automaton that obeys; several of its states may be accepting."""

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind, **plain_fields(self)}


@dataclass(frozen=True)
class NeverHolds(Correction):
    """A proposition must never hold."""

    kind = "never"
    proposition: str

    @property
    def sentence(self) -> str:
        return f"never {self.proposition}"

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

    def apply(self, automaton: GuardedAutomaton) -> GuardedAutomaton:
        return intersect(automaton, before(self.first, self.second))


@dataclass(frozen=True)
class NoEdge(Correction):
    """An edge is not part of the task: where the edge would be taken, the state stays.

    If the task could not be fulfilled without the edge, its step is skipped: the state gets the edges of its target.
    """

    kind = "no edge"
    # labels that lead to the state that the edge leaves; numbers of states change with every learning
    word: tuple[Label, ...]
    guard: Guard  # of the edge

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


CORRECTIONS: dict[str, type[Correction]] = {one.kind: one for one in (NeverHolds, HoldsBefore, NoEdge)}


def correction_of_document(document: Any) -> Correction:
    """Read what `to_document` gave. Raises `BadCorrectionError` if it is not a correction."""
    kind = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(kind, str) or kind not in CORRECTIONS:
        raise BadCorrectionError(f"unknown kind of correction {kind!r}")
    try:
        correction = parse_fields(CORRECTIONS[kind], document)
    except BadInputError as error:
        raise BadCorrectionError(f"not a correction ({error})") from None
    if isinstance(correction, HoldsBefore) and correction.first == correction.second:
        raise BadCorrectionError(f"{correction.first} cannot come before itself")
    return correction


def without_edge(model: TaskModel, source: int, text: str) -> NoEdge:
    """The correction that takes the edge that leaves a state, with a guard as people read it, out of a model.

    Raises `BadCorrectionError` if there is no such edge.
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
    """The model that was learned from a data set, under laws; alternatives that cannot obey are left out.

    Raises `BadCorrectionError` if nothing could fulfil the task any more.
    """
    posterior = posterior_of(model)
    if not laws or posterior is None:
        return model
    corrected = [under_laws(one.automaton, laws) for one in posterior.alternatives]
    chosen = corrected[0]
    if not chosen.edges:
        sentences = ", ".join(law.sentence for law in laws)
        raise BadCorrectionError(f"with {sentences}, nothing could fulfil the task as it was learned")
    weights = dict.fromkeys((one for one in corrected if one.edges), 0.0)
    for automaton, one in zip(corrected, posterior.alternatives, strict=True):
        if automaton.edges:
            weights[automaton] += one.weight
    total = sum(weights.values())
    guarded = chosen.to_guarded()
    support, labels = posterior.support, posterior.labels
    origin = _origins(support, posterior.chosen.automaton, guarded)
    is_dead = np.array([guarded.column(label)[: len(origin)] == DEAD for label in labels], bool).T  # that is certain
    record = replace(
        posterior,
        alternatives=tuple(
            Alternative(one.to_guarded(), str(one), weights[one] / total)
            for one in sorted(weights, key=lambda one: (one != chosen, -weights[one]))
        ),
        support=replace(support, is_untested=support.is_untested[origin] & ~is_dead),
        doubts=tuple(_carry_over_doubts(posterior.doubts, origin)),
        laws=tuple(law.to_document() for law in laws),
    )
    return TaskModel.of_automaton(guarded, model.learner, dataset.words, dataset.scores, record=record)


def obeys(model: TaskModel, law: Correction) -> bool:
    """Whether a law would change nothing in the automaton of a model, over the labels of the scenes."""
    posterior = required_posterior(model)
    chosen = posterior.chosen.automaton
    tables = [canonical_table(to_table(one, posterior.labels)) for one in (chosen, law.apply(chosen))]
    return np.array_equal(*tables)


def under_laws(automaton: GuardedAutomaton, laws: Sequence[Correction]) -> CompactAutomaton:
    """The automaton under laws; without edges if it accepts nothing any more."""
    for law in laws:
        automaton = law.apply(automaton)
    names = sorted(automaton.propositions)
    if len(names) <= MOST_TABULATED:
        sets = [frozenset(some) for size in range(len(names) + 1) for some in combinations(names, size)]
        automaton = restrict(automaton, sets)
    return compact(automaton)


def restrict(automaton: GuardedAutomaton, labels: Collection[Label]) -> GuardedAutomaton:
    """An automaton without the edges that words of these labels do not need until they are accepted."""
    rows = (() if automaton.accepting[state] else _needed(row, labels) for state, row in enumerate(automaton.edges))
    return GuardedAutomaton(tuple(rows), automaton.accepting)


def _needed(row: tuple[Edge, ...], labels: Collection[Label]) -> tuple[Edge, ...]:
    """The edges of a state without which some label would lead elsewhere."""

    def targets(edges: Sequence[Edge]) -> list[int | None]:
        return [next((edge.target for edge in edges if edge.guard.holds(label)), None) for label in labels]

    for edge in row:
        others = tuple(one for one in row if one is not edge)
        if targets(others) == targets(row):
            row = others
    return row


def _origins(support: Support, before_laws: GuardedAutomaton, after: GuardedAutomaton) -> list[int]:
    """The state that each state of an automaton that obeys laws was before them; the accepting one is left out."""
    counterpart, queue = {0: 0}, [0]
    for state in queue:  # grows meanwhile
        for label in support.labels:
            target, old = after.read(state, label), before_laws.read(counterpart[state], label)
            is_new = target != DEAD and not after.accepting[target] and target not in counterpart
            if is_new and 0 <= old < len(support.is_untested):
                counterpart[target] = old
                queue.append(target)
    return [counterpart.get(state, 0) for state in range(after.states - 1)]


def _carry_over_doubts(doubts: Iterable[Doubt], origin: list[int]) -> Iterator[Doubt]:
    """The doubts about an automaton, about the states that its states have become under laws."""
    became = {old: [state for state, one in enumerate(origin) if one == old] for old in origin} | {ACCEPTED: [ACCEPTED]}
    for doubt in doubts:
        constraint = doubt.constraint
        if constraint.kind == "sequence":  # a law may tell states apart that a sequence names
            continue
        if constraint.is_about_orders:  # a law that tells states apart changes no order
            before_laws = (*constraint.changes, *((state, state) for state in set(origin)))
            changes = [
                (s, t) for one, next_one in before_laws for s in became.get(one, []) for t in became.get(next_one, [])
            ]
            yield replace(doubt, constraint=constraint._replace(changes=tuple(sorted(changes))))
        elif constraint.state is None:
            yield doubt
        else:
            for state in became.get(constraint.state, []):
                yield replace(doubt, constraint=constraint._replace(state=state))


def weigh_correction(
    correction: Correction, model: TaskModel, dataset: Dataset, task: Task, seeds: Sequence[int], rng: Generator
) -> tuple[Answer, ...]:
    """The answers that a correction counts for as evidence, each with its weight.

    `model` was learned from the data set by a rational learner; `rng` chooses among equally good plans in the scenes of
    the seeds. Raises `BadCorrectionError` if the model obeys already, or if no automaton that obeys explains the
    demonstrations.
    """
    scenes = explore_scenes(seeds, dataset, task, n_jobs=1)
    answers = counterexamples(correction, model, scenes, rng)
    if not answers:
        raise BadCorrectionError(f"the learned task obeys already: {correction.sentence}")
    disobedient = [model]
    for _ in range(MOST_LEARNINGS):
        certain = tuple(replace(one, weight=CERTAIN_WEIGHT) for one in answers)
        corrected = replace(dataset, answers=(*dataset.answers, *certain))
        learned = RationalLearner().learn(corrected, task, n_jobs=1)
        posterior = posterior_of(learned)
        if posterior is None:
            break
        remaining = counterexamples(correction, learned, scenes, rng)
        if not remaining and not any(_contradicts(learned, one) for one in answers):
            best = posterior.log_posterior - CERTAIN_WEIGHT * len(answers) * log1p(-RationalSettings.answer_error)
            weight = max(_weight(one, best, answers, dataset) for one in disobedient)
            return tuple(replace(one, weight=weight) for one in answers)
        disobedient.append(learned)
        answers = (*answers, *(one for one in remaining if one not in answers))
    raise BadCorrectionError(
        f"no task that obeys {correction.sentence} explains the demonstrations: remove those that break it, or "
        "demonstrate how to obey it"
    )


def _weight(model: TaskModel, best: float, answers: Sequence[Answer], dataset: Dataset) -> float:
    """The weight of each answer for which a model falls behind one that agrees with all."""
    contradicted = sum(_contradicts(model, one) for one in answers)
    successes = sum(one.is_success for one in dataset)
    gap = required_posterior(model).log_posterior - best
    odds = log1p(-RationalSettings.answer_error) - log(RationalSettings.answer_error)
    return max(1.0, (successes + 1) / successes * gap / (contradicted * odds)) if contradicted else 1.0


def _contradicts(model: TaskModel, answer: Answer) -> bool:
    return (model.finite.fulfilled_at(answer.labels) is not None) != answer.is_right


def counterexamples(
    correction: Correction, model: TaskModel, scenes: ExploredScenes, rng: Generator
) -> tuple[Answer, ...]:
    """Plans on which the model and a correction disagree, as answers by the correction; none if the model obeys."""
    chosen = required_posterior(model).chosen.automaton
    tables = [to_table(one, scenes.labels) for one in (chosen, under_laws(chosen, [correction]).to_guarded())]

    def disagreements(is_right: bool) -> Iterator[Answer]:
        table = difference(*(reversed(tables) if is_right else tables))
        for seed, world in zip(scenes.seeds, scenes.worlds, strict=True):
            path = plan_table(world, table).act(0.0, scenes.horizon, rng)
            if path is not None:
                yield Answer(seed, tuple(path.controls.tolist()), scenes.labels_along(path), is_right)

    return tuple(answer for is_right in (False, True) for answer in islice(disagreements(is_right), COUNTEREXAMPLES))
