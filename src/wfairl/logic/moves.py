"""Moves: the sketches that differ from a given one by a small step of thought.

Beside adding, dropping and changing edges there are moves for what tasks are made of: something has to happen first, or
two things in an order (`_insert`), something else has to happen as well, in any order (`_conjoin`), there is another
way (`_detour`), it matters how one came here (`_split`). Each is one step, because none of its halves explains
anything.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, DEAD, Guard, Label
from wfairl.logic.sketch import ANY, Sketch, SketchEdge, tidy
from wfairl.logic.tables import holding


def neighbours(
    sketch: Sketch,
    propositions: Sequence[str],
    labels: tuple[Label, ...],
    visits: NDArray[np.integer],
    max_states: int,
    max_literals: int,
) -> Iterator[Sketch]:
    """Every sketch one move away; some more than once.

    Args:
        sketch: where to start.
        propositions: those that guards may speak of.
        labels: those that occur, which tell whether the order of two edges matters.
        visits: how many demonstrations read a label in a state of the sketch, [states, labels]: a way round that no
            demonstration takes is not tried, nor an order of what few of them show.
        max_states: of the results.
        max_literals: of their guards.
    """
    guards = [Guard(frozenset({p})) for p in propositions]
    yield from _drop_edge(sketch)
    yield from _change_guard(sketch, propositions, max_literals)
    yield from _retarget(sketch)
    yield from _merge(sketch)
    yield from _add_edge(sketch, guards, labels)
    if sketch.states < max_states:
        yield from _insert(sketch, [(guard,) for guard in guards])
        yield from _conjoin(sketch, guards, max_states)
        yield from _detour(sketch, guards, labels, visits)
        yield from _split(sketch, guards)
    if sketch.states + 2 <= max_states:
        often = [guard for guard in guards if 2 * visits[:, holding(guard, labels)].sum() >= visits.max(initial=0)]
        yield from _insert(sketch, permutations(often, 2))


def starts(propositions: Sequence[str]) -> Iterator[Sketch]:
    """The sketches of one state and one edge: something comes true."""
    for p in propositions:
        yield Sketch(1, (SketchEdge(0, Guard(frozenset({p})), ACCEPTED),))
        yield Sketch(1, (SketchEdge(0, Guard(frozenset(), frozenset({p})), ACCEPTED),))


def _targets(sketch: Sketch) -> list[int]:
    return [*range(sketch.states), ACCEPTED, DEAD]


def _sources(sketch: Sketch) -> list[int]:
    return [*range(sketch.states), ANY] if sketch.states > 1 else [0]


def _replace(sketch: Sketch, i: int, *edges: SketchEdge) -> Sketch:
    return tidy(sketch.states, (*sketch.edges[:i], *edges, *sketch.edges[i + 1 :]))


def _drop_edge(sketch: Sketch) -> Iterator[Sketch]:
    for i in range(len(sketch.edges)):
        yield _replace(sketch, i)


def _change_guard(sketch: Sketch, propositions: Sequence[str], max_literals: int) -> Iterator[Sketch]:
    """A literal more, a literal less, a literal replaced by another; and the edge for any state instead of one."""
    for i, edge in enumerate(sketch.edges):
        true, false = edge.guard.true, edge.guard.false
        for p in propositions:
            literals = len(true) + len(false)
            if p not in true and p not in false:
                if literals < max_literals:
                    yield _replace(sketch, i, SketchEdge(edge.source, Guard(true | {p}, false), edge.target))
                    yield _replace(sketch, i, SketchEdge(edge.source, Guard(true, false | {p}), edge.target))
                for old in sorted(true):
                    guard = Guard(true - {old} | {p}, false)
                    yield _replace(sketch, i, SketchEdge(edge.source, guard, edge.target))
            elif literals > 1:
                yield _replace(sketch, i, SketchEdge(edge.source, Guard(true - {p}, false - {p}), edge.target))
        if edge.source == ANY:
            for source in range(sketch.states):
                yield _replace(sketch, i, SketchEdge(source, edge.guard, edge.target))
        elif sketch.states > 1:
            same = [e for e in sketch.edges if e.guard == edge.guard and e.target == edge.target]
            yield tidy(
                sketch.states,
                [*(e for e in sketch.edges if e not in same), SketchEdge(ANY, edge.guard, edge.target)],
            )


def _retarget(sketch: Sketch) -> Iterator[Sketch]:
    for i, edge in enumerate(sketch.edges):
        for target in _targets(sketch):
            if target != edge.target:
                yield _replace(sketch, i, SketchEdge(edge.source, edge.guard, target))


def _merge(sketch: Sketch) -> Iterator[Sketch]:
    for kept in range(sketch.states):
        for gone in range(kept + 1, sketch.states):
            into = {gone: kept}
            yield tidy(
                sketch.states,
                [SketchEdge(into.get(e.source, e.source), e.guard, into.get(e.target, e.target)) for e in sketch.edges],
            )


def _add_edge(sketch: Sketch, guards: Sequence[Guard], labels: tuple[Label, ...]) -> Iterator[Sketch]:
    """An edge after those of its state, and before them where that makes a difference."""
    for source in _sources(sketch):
        rivals = [edge for edge in sketch.edges if edge.source == source]
        for guard in guards:
            overlaps = any((holding(guard, labels) & holding(edge.guard, labels)).any() for edge in rivals)
            for target in _targets(sketch):
                if target != source:
                    new = SketchEdge(source, guard, target)
                    yield tidy(sketch.states, (*sketch.edges, new))
                    if overlaps:
                        yield tidy(sketch.states, (new, *sketch.edges))


def _insert(sketch: Sketch, chains: Iterable[Sequence[Guard]]) -> Iterator[Sketch]:
    """Something has to happen first, or one thing after the other: at the beginning, or after an edge."""
    for chain in chains:
        new = range(sketch.states, sketch.states + len(chain))
        moved = {0: new[-1]}
        rest = [SketchEdge(moved.get(e.source, e.source), e.guard, moved.get(e.target, e.target)) for e in sketch.edges]
        yield tidy(new.stop, [*map(SketchEdge, (0, *new), chain, new), *rest])
        for i, edge in enumerate(sketch.edges):
            if edge.target != DEAD:
                first = SketchEdge(edge.source, edge.guard, new[0])
                then = map(SketchEdge, new, chain, (*new[1:], edge.target))
                yield tidy(new.stop, [*sketch.edges[:i], first, *sketch.edges[i + 1 :], *then])


def _conjoin(sketch: Sketch, guards: Sequence[Guard], max_states: int) -> Iterator[Sketch]:
    """Something has to happen as well before a target is entered, in any order with what has to happen so far.

    The states before the target are doubled: in the originals it has not happened yet, and the edges into the
    target are gone; the copies are as the states were.
    """
    for target in (*range(1, sketch.states), ACCEPTED):
        before = _states_before(sketch, target)
        if sketch.states + len(before) > max_states:
            continue
        copy = {state: sketch.states + i for i, state in enumerate(before)}
        for guard in guards:
            edges = []
            for e in sketch.edges:
                if e.source not in copy:
                    edges.append(e)
                    continue
                edges.append(SketchEdge(copy[e.source], e.guard, copy.get(e.target, e.target)))
                if e.target != target:
                    after = copy.get(e.target, e.target) if e.guard == guard else e.target
                    edges.append(SketchEdge(e.source, e.guard, after))
            edges += [SketchEdge(state, guard, copy[state]) for state in before]
            yield tidy(sketch.states + len(before), edges)


def _states_before(sketch: Sketch, target: int) -> list[int]:
    """The states that can be entered without entering the target."""
    found = [0]
    for state in found:
        for edge in sketch.edges:
            if edge.source in (state, ANY) and edge.target >= 0 and edge.target not in (target, *found):
                found.append(edge.target)
    return found


def _detour(
    sketch: Sketch, guards: Sequence[Guard], labels: tuple[Label, ...], visits: NDArray[np.integer]
) -> Iterator[Sketch]:
    """A way round through a new state: two events more, such as the other order of two errands."""
    new = sketch.states
    for source in range(sketch.states):
        for first in guards:
            if not visits[source, holding(first, labels)].any():
                continue
            for second in guards:
                for target in (*range(sketch.states), ACCEPTED):
                    yield tidy(
                        new + 1,
                        (*sketch.edges, SketchEdge(source, first, new), SketchEdge(new, second, target)),
                    )


def _split(sketch: Sketch, guards: Sequence[Guard]) -> Iterator[Sketch]:
    """One of the edges into a state leads to a copy of it, which has one edge more or less, or another target."""
    new = sketch.states
    for i, edge in enumerate(sketch.edges):
        if edge.target < 0:
            continue
        copies = [SketchEdge(new, e.guard, e.target) for e in sketch.edges if e.source == edge.target]
        moved = [*sketch.edges[:i], SketchEdge(edge.source, edge.guard, new), *sketch.edges[i + 1 :]]
        for j, copy in enumerate(copies):
            others = [*copies[:j], *copies[j + 1 :]]
            yield tidy(new + 1, [*moved, *others])
            for target in _targets(sketch):
                if target != copy.target:
                    yield tidy(new + 1, [*moved, *others, SketchEdge(new, copy.guard, target)])
        for guard in guards:
            for target in _targets(sketch):
                yield tidy(new + 1, [*moved, *copies, SketchEdge(new, guard, target)])
