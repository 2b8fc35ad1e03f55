"""Sketches: automata in the form in which they are searched and in which their length is measured.

A sketch has n states and a tuple of edges (source, guard, target). The source is a state or `ANY`, an edge that
every state has. The target is a state, `ACCEPTED` or `DEAD`. A label is read by the first edge that holds, in the
order: edges of `ANY` to `DEAD` (what is forbidden throughout), edges of the state itself, other edges of `ANY`.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, DEAD, Guard, Label
from wfairl.automata.guarded import Edge, GuardedAutomaton
from wfairl.compiling import njit
from wfairl.logic import tables

ANY = -3
"""Source of an edge that every state has."""


class SketchEdge(NamedTuple):
    """One edge: source state or `ANY`, guard, and target state, `ACCEPTED` or `DEAD`."""

    source: int
    guard: Guard
    target: int


class Sketch(NamedTuple):
    """An automaton of `states` states that are not accepting, and its edges."""

    states: int
    edges: tuple[SketchEdge, ...]

    def __str__(self) -> str:
        """One line, such as `0 -coffee-> 1, 1 -office-> done, any -plant-> dead`."""
        names = {ANY: "any", DEAD: "dead", ACCEPTED: "done"}
        return ", ".join(
            f"{names.get(e.source, e.source)} -{e.guard}-> {names.get(e.target, e.target)}" for e in self.edges
        )


def tidy(states: int, edges: Iterable[SketchEdge]) -> Sketch:
    """The sketch in its plainest form.

    States from which the task cannot be done become `DEAD`, states that are not reached vanish with their edges, so
    do duplicates and edges that change nothing; states are numbered as they are first mentioned.
    """
    kept = _without_hopeless_states(states, [edge for edge in edges if edge.source != edge.target])
    number = {0: 0}
    for edge in description_order(kept):
        if edge.target >= 0:
            number.setdefault(edge.target, len(number))
    renumbered = dict.fromkeys(
        SketchEdge(number.get(e.source, ANY), e.guard, number[e.target] if e.target >= 0 else e.target)
        for e in kept
        if e.source == ANY or e.source in number
    )
    return Sketch(len(number), tuple(sorted(renumbered, key=lambda edge: edge.source)))


def description_order(edges: Iterable[SketchEdge]) -> Iterator[SketchEdge]:
    """The edges as they are described: state after state as they are first mentioned, from 0 on.

    When there is no other state to describe, an edge of `ANY` to another state follows. Edges of `ANY` to `DEAD`, and
    those of states that are never mentioned, are left out.
    """
    by_source: dict[int, list[SketchEdge]] = {}
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


def _without_hopeless_states(states: int, edges: list[SketchEdge]) -> list[SketchEdge]:
    hopeful: set[int] = {ACCEPTED}
    while True:
        grown = {edge.source for edge in edges if edge.target in hopeful} - hopeful
        if not grown:
            break
        hopeful |= set(range(states)) if ANY in grown else grown
        hopeful |= grown
    return [
        edge if edge.target in hopeful else SketchEdge(edge.source, edge.guard, DEAD)
        for edge in edges
        if edge.source in hopeful or edge.source in (0, ANY)
    ]


def to_table(sketch: Sketch, labels: tuple[Label, ...]) -> NDArray[np.int32]:
    """State after each label, `DEAD` or `ACCEPTED`; shape [states, labels]."""
    table = np.empty((sketch.states, len(labels)), np.int32)
    table[:] = np.arange(sketch.states, dtype=np.int32)[:, None]
    anywhere = [edge for edge in sketch.edges if edge.source == ANY]
    for edge in reversed([edge for edge in anywhere if edge.target != DEAD]):
        table[:, tables.holding(edge.guard, labels)] = edge.target
    for edge in reversed(sketch.edges):
        if edge.source != ANY:
            table[edge.source, tables.holding(edge.guard, labels)] = edge.target
    for edge in anywhere:
        if edge.target == DEAD:
            table[:, tables.holding(edge.guard, labels)] = DEAD
    return table


def to_automaton(sketch: Sketch) -> GuardedAutomaton:
    """The guarded automaton that a sketch means; its last state is the accepting one."""
    accepting = sketch.states
    edges: list[tuple[Edge, ...]] = []
    for state in range(sketch.states):
        forbidden = [e for e in sketch.edges if e.source == ANY and e.target == DEAD]
        own = [e for e in sketch.edges if e.source == state]
        common = [e for e in sketch.edges if e.source == ANY and e.target != DEAD]
        edges.append(
            tuple(Edge(e.guard, accepting if e.target == ACCEPTED else e.target) for e in (*forbidden, *own, *common))
        )
    return GuardedAutomaton((*edges, ()), np.arange(sketch.states + 1) == accepting)


@njit(cache=True, nogil=True)
def canonical(table: NDArray[np.int32]) -> NDArray[np.int32]:
    """The table of the same language with states breadth first; hopeless states are `DEAD`, equal ones are merged."""
    states, labels = table.shape
    hopeful = np.zeros(states, np.bool_)
    changed = True
    while changed:
        changed = False
        for q in range(states):
            if not hopeful[q]:
                for a in range(labels):
                    after = table[q, a]
                    if after == ACCEPTED or (after >= 0 and hopeful[after]):
                        hopeful[q] = True
                        changed = True
                        break
    # Moore's algorithm: classes of states that no word has told apart so far.
    group = np.zeros(states, np.int32)
    groups = 1
    while True:
        refined = np.zeros(states, np.int32)
        count = 0
        for q in range(states):
            found = False
            for p in range(q):
                same = group[p] == group[q]
                if same:
                    for a in range(labels):
                        x, y = table[p, a], table[q, a]
                        x = group[x] if x >= 0 and hopeful[x] else (DEAD if x >= 0 else x)
                        y = group[y] if y >= 0 and hopeful[y] else (DEAD if y >= 0 else y)
                        if x != y:
                            same = False
                            break
                if same:
                    refined[q] = refined[p]
                    found = True
                    break
            if not found:
                refined[q] = count
                count += 1
        group = refined
        if count == groups:
            break
        groups = count
    number = np.full(groups, -1, np.int32)
    order = np.empty(groups, np.int32)
    number[group[0]], order[0] = 0, 0
    filled, scanned = 1, 0
    result = np.empty((groups, labels), np.int32)
    while scanned < filled:
        for a in range(labels):
            after = table[order[scanned], a]
            if after >= 0 and not hopeful[after]:
                after = DEAD
            if after >= 0:
                if number[group[after]] < 0:
                    number[group[after]] = filled
                    order[filled] = after
                    filled += 1
                after = number[group[after]]
            result[scanned, a] = after
        scanned += 1
    return result[:filled].copy()
