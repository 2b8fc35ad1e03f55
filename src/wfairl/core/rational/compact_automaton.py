"""Compact automata: the form in which automata are searched, and in which their length is measured.

A compact automaton has n states and a tuple of edges (source, guard, target). The source is a state, or `ANY` for an
edge that every state has. The target is a state, `ACCEPTED` or `DEAD`. A label is read by the first edge whose guard
holds, in the order: edges of `ANY` to `DEAD` (always forbidden), edges of the state itself, other edges of `ANY`. If
none holds, the state stays.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard, Label
from wfairl.core.automata.guarded import Edge, GuardedAutomaton, intersect
from wfairl.core.automata.minimisation import Table
from wfairl.core.rational.constraints import Constraint, conjoin
from wfairl.core.rational.tables import holding

ANY = -3
"""Source of an edge that every state has."""


class CompactEdge(NamedTuple):
    """One edge: source state or `ANY`, guard, and target state, `ACCEPTED` or `DEAD`."""

    source: int
    guard: Guard
    target: int


class CompactAutomaton(NamedTuple):
    """An automaton of `states` states that are not accepting, its edges, and the constraints that it keeps beside."""

    states: int
    edges: tuple[CompactEdge, ...]
    constraints: tuple[Constraint, ...] = ()

    def __str__(self) -> str:
        """One line, such as `0 -coffee-> 1, 1 -office-> done, any -plant-> dead`."""
        names = {ANY: "any", DEAD: "dead", ACCEPTED: "done"}
        edges = [f"{names.get(e.source, e.source)} -{e.guard}-> {names.get(e.target, e.target)}" for e in self.edges]
        return ", ".join([*edges, *map(str, self.constraints)])

    def to_table(self, labels: tuple[Label, ...]) -> Table:
        """State after each label, `DEAD` or `ACCEPTED`; shape [states, labels]."""
        table = np.empty((self.states, len(labels)), np.int32)
        table[:] = np.arange(self.states)[:, None]
        for edge in reversed(self._by_precedence()):
            table[slice(None) if edge.source == ANY else edge.source, holding(edge.guard, labels)] = edge.target
        for constraint in self.constraints:
            table = conjoin(table, constraint, labels)
        return table

    def to_guarded(self) -> GuardedAutomaton:
        """The same as a guarded automaton; its last state is the accepting one."""
        if self.constraints:
            automaton = self._replace(constraints=()).to_guarded()
            for constraint in self.constraints:
                automaton = intersect(automaton, constraint.automaton(), waits=True)
            return compact(automaton).to_guarded()
        targets = {ACCEPTED: self.states}
        rows = [
            tuple(Edge(e.guard, targets.get(e.target, e.target)) for e in self._by_precedence() if e.source in (ANY, q))
            for q in range(self.states)
        ]
        return GuardedAutomaton((*rows, ()), np.arange(self.states + 1) == self.states)

    def _by_precedence(self) -> list[CompactEdge]:
        """The edges in the order in which they are tried."""
        own = [e for e in self.edges if e.source != ANY]
        common = [e for e in self.edges if e.source == ANY]
        return [*(e for e in common if e.target == DEAD), *own, *(e for e in common if e.target != DEAD)]


def compact(automaton: GuardedAutomaton) -> CompactAutomaton:
    """A guarded automaton until it accepts; without edges if it accepts nothing."""
    accepted = dict.fromkeys(np.flatnonzero(automaton.accepting).tolist(), ACCEPTED)
    result = simplify(
        CompactEdge(state, edge.guard, accepted.get(edge.target, edge.target))
        for state, row in enumerate(automaton.edges)
        for edge in row
        if state not in accepted
    )
    return result if any(edge.target == ACCEPTED for edge in result.edges) else CompactAutomaton(1, ())


def simplify(edges: Iterable[CompactEdge]) -> CompactAutomaton:
    """The automaton of some edges in its simplest form.

    States from which acceptance cannot be reached become `DEAD`. Unreachable states, duplicate edges and edges that
    change nothing are removed. States are numbered as they are first mentioned.
    """
    live = _without_hopeless_states([edge for edge in edges if edge.source != edge.target])
    number = {0: 0}
    for edge in description_order(live):
        if edge.target >= 0:
            number.setdefault(edge.target, len(number))
    renumbered = dict.fromkeys(
        CompactEdge(number.get(e.source, ANY), e.guard, number[e.target] if e.target >= 0 else e.target)
        for e in live
        if e.source == ANY or e.source in number
    )
    return CompactAutomaton(len(number), tuple(sorted(renumbered, key=lambda edge: edge.source)))


def description_order(edges: Iterable[CompactEdge]) -> Iterator[CompactEdge]:
    """The edges in the order of their description: state by state as they are first mentioned, from 0 on.

    When there is no other state to describe, an edge of `ANY` to another state follows. Edges of `ANY` to `DEAD`, and
    those of states that are never mentioned, are left out.
    """
    by_source: dict[int, list[CompactEdge]] = {}
    for edge in edges:
        by_source.setdefault(edge.source, []).append(edge)
    common = iter([edge for edge in by_source.get(ANY, ()) if edge.target != DEAD])
    mentioned, described = [0], 0
    while True:
        if described < len(mentioned):
            following = by_source.get(mentioned[described], [])
            described += 1
        else:
            following = list(islice(common, 1))
            if not following:
                return
        for edge in following:
            yield edge
            if edge.target >= 0 and edge.target not in mentioned:
                mentioned.append(edge.target)


def _without_hopeless_states(edges: list[CompactEdge]) -> list[CompactEdge]:
    hopeful = {ACCEPTED}
    while grown := {edge.source for edge in edges if edge.target in hopeful} - hopeful:
        hopeful |= grown
        if ANY in grown:
            hopeful |= {state for edge in edges for state in (edge.source, edge.target) if state >= 0}
    return [
        edge if edge.target in hopeful else edge._replace(target=DEAD)
        for edge in edges
        if edge.source in hopeful or edge.source in (0, ANY)
    ]
