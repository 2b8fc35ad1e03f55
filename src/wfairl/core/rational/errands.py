"""Errands: automata that ask for stages one after the other, each of them for some events in any order.

    stage = k of n guards come true, in any order:   all of them (k = n), one of them (k = 1), two of three

A stage of k of n guards has a state for every set of fewer than k guards. `errands` reads the stages off an automaton,
`nearest_errands` and `joined_errands` complete those that an automaton has in part, and `automaton_of` makes the
automaton of some stages.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.core.rational.compact_automaton import ANY, CompactAutomaton, CompactEdge, simplify


class Errand(NamedTuple):
    """A stage: `needed` different ones of some guards come true."""

    guards: tuple[Guard, ...]
    needed: int


def errands(automaton: CompactAutomaton) -> list[Errand] | None:
    """The stages of an automaton, beside what is always forbidden; None for an automaton of another form."""
    own: list[dict[Guard, int]] = [{} for _ in range(automaton.states)]
    for edge in automaton.edges:
        if edge.source == ANY and edge.target == DEAD:
            continue
        if edge.source == ANY or edge.target == DEAD or edge.guard in own[edge.source]:
            return None
        own[edge.source][edge.guard] = edge.target
    stages: list[Errand] = []
    described, state = 0, 0
    while state != ACCEPTED:
        guards = tuple(own[state])
        reached = _sets_of_stage(own, state, guards)
        if reached is None or len(stages) == automaton.states:
            return None
        stages.append(Errand(guards, max(map(len, reached))))
        described += sum(len(done) < stages[-1].needed for done in reached)
        state = next(after for done, after in reached.items() if len(done) == stages[-1].needed)
    return stages if described == automaton.states else None


def _sets_of_stage(
    own: list[dict[Guard, int]], start: int, guards: tuple[Guard, ...]
) -> dict[frozenset[Guard], int] | None:
    """The state after each set of guards came true, until all sets of a size lead to one; None if they never do."""
    reached = {frozenset[Guard](): start}
    for size in range(len(guards)):
        for done in [done for done in reached if len(done) == size]:
            state = reached[done]
            if state == ACCEPTED or set(own[state]) != set(guards) - done:
                return None
            for guard, target in own[state].items():
                if reached.setdefault(done | {guard}, target) != target:
                    return None
        if len({after for done, after in reached.items() if len(done) == size + 1}) == 1:
            return reached
    return None


def nearest_errands(automaton: CompactAutomaton) -> list[Errand]:
    """Stages of the events on the shortest ways to acceptance; none if there is no way.

    A step whose events all belong to the stage before it continues that stage: one event more is needed there.
    """
    stages: list[Errand] = []
    for events, _ in _steps_of_shortest_ways(automaton):
        before = stages[-1] if stages else Errand((), 0)
        if before.needed < len(before.guards) and set(events) <= set(before.guards):
            stages[-1] = before._replace(needed=before.needed + 1)
        else:
            stages.append(Errand(events, 1))
    return stages


def joined_errands(automaton: CompactAutomaton) -> list[Errand]:
    """Stages of all events between two states that every shortest way passes; none if there is no way."""
    stages: list[Errand] = []
    events, steps = dict[Guard, None](), 0
    for some, layer in _steps_of_shortest_ways(automaton):
        events |= dict.fromkeys(some)
        steps += 1
        if len(layer) == 1:
            stages.append(Errand(tuple(events), min(steps, len(events))))
            events, steps = {}, 0
    return stages


def _steps_of_shortest_ways(automaton: CompactAutomaton) -> list[tuple[tuple[Guard, ...], set[int]]]:
    """The events of each step of the ways to acceptance, and the states that it leads to, `ACCEPTED` last."""
    steps: list[tuple[tuple[Guard, ...], set[int]]] = []
    layer, seen = {0}, {0}
    while ACCEPTED not in layer:
        edges = [e for e in automaton.edges if e.source in (ANY, *layer) and e.target not in (DEAD, *seen)]
        if not edges:
            return []
        layer = {edge.target for edge in edges}
        seen |= layer
        steps.append((tuple(dict.fromkeys(edge.guard for edge in edges)), layer))
    return steps


def automaton_of(stages: Sequence[Errand], forbidden: Iterable[CompactEdge] = ()) -> CompactAutomaton:
    """The automaton of some stages, and of edges of any state to `DEAD`."""
    edges, first = [*forbidden], 0
    for i, (guards, needed) in enumerate(stages):
        sets = [frozenset(some) for size in range(needed) for some in combinations(guards, size)]
        number = {some: first + k for k, some in enumerate(sets)}
        first += len(sets)
        end = first if i < len(stages) - 1 else ACCEPTED
        edges += [
            CompactEdge(number[done], guard, number.get(done | {guard}, end))
            for done in sets
            for guard in guards
            if guard not in done
        ]
    return simplify(edges)
