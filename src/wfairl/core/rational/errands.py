"""Errands: automata that ask for stages one after the other, each of them for some events in any order.

    stage = k of n guards come true, in any order:   all of them (k = n), one of them (k = 1), two of three
            another event in between:                back to the depot before the next one counts; or wash before it
                                                     may hold at all
            one of them, and then its own:           badge, then igloo, or else ferry, then gate; the other one's own
                                                     may be deadly

A stage of k of n guards has a state for every set of fewer than k guards. If an event is needed in between, there are
two for each set that is not empty: before that event and after it. If each guard has its own, there is a state after
each guard. `errands` reads the stages off an automaton,
`nearest_errands` and `joined_errands` complete those that an automaton has in part, and `automaton_of` makes the
automaton of some stages.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import NamedTuple

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.core.rational.compact_automaton import ANY, CompactAutomaton, CompactEdge, simplify


class Errand(NamedTuple):
    """A stage: `needed` different ones of some guards come true."""

    guards: tuple[Guard, ...]
    needed: int
    between: Guard | None = None  # what comes true after each of them, before the next one counts; None if nothing must
    deadly: bool = False  # whether the next one, or the own one of another, ends the task in failure before that
    own: tuple[Guard, ...] = ()  # what comes true after each guard, where one is needed; empty if nothing must


def errands(automaton: CompactAutomaton) -> list[Errand] | None:
    """The stages of an automaton, beside what is always forbidden; None for an automaton of another form."""
    own: list[dict[Guard, int]] = [{} for _ in range(automaton.states)]
    for edge in automaton.edges:
        if edge.source == ANY and edge.target == DEAD:
            continue
        if edge.source == ANY or edge.guard in own[edge.source]:
            return None
        own[edge.source][edge.guard] = edge.target
    stages: list[Errand] = []
    described, state = 0, 0
    while state != ACCEPTED:
        forms = (_read_stage(own, state, *form) for form in _forms(own, state))
        found = next(filter(None, chain(forms, [_read_ways(own, state)])), None)
        if found is None or len(stages) == automaton.states:
            return None
        stage, state, states = found
        stages.append(stage)
        described += states
    return stages if described == automaton.states else None


def _forms(own: list[dict[Guard, int]], start: int) -> Iterator[tuple[Guard | None, bool]]:
    """What a stage may need between its events, and whether the next event is deadly before that."""
    yield None, False
    after = own[start][next(iter(own[start]))] if own[start] else ACCEPTED
    if after >= 0:
        on = [guard for guard, target in own[after].items() if target != DEAD]
        if len(on) == 1 and on[0] not in own[start]:
            yield on[0], len(own[after]) > 1


def _read_stage(
    own: list[dict[Guard, int]], start: int, between: Guard | None, deadly: bool
) -> tuple[Errand, int, int] | None:
    """The stage of a form that begins in a state, the state after it, and how many states it has; None if none does."""
    guards = tuple(own[start])
    reached = {frozenset[Guard](): start}
    states = 0
    for size in range(len(guards)):
        for done in [done for done in reached if len(done) == size]:
            state, left = reached[done], set(guards) - done
            if between is not None and done:
                if state < 0 or own[state].keys() != {between, *(left if deadly else ())}:
                    return None
                if deadly and any(own[state][guard] != DEAD for guard in left):
                    return None
                state, states = own[state][between], states + 1
            if state < 0 or own[state].keys() != left or DEAD in own[state].values():
                return None
            states += 1
            for guard, target in own[state].items():
                if reached.setdefault(done | {guard}, target) != target:
                    return None
        ends = {after for done, after in reached.items() if len(done) == size + 1}
        if len(ends) == 1:
            return Errand(guards, size + 1, between, deadly), ends.pop(), states
    return None


def _read_ways(own: list[dict[Guard, int]], start: int) -> tuple[Errand, int, int] | None:
    """The stage of one of some guards and then its own that begins in a state; otherwise like `_read_stage`."""
    guards, ends, follow = tuple(own[start]), set[int](), list[Guard]()
    for state in own[start].values():
        on = [(guard, target) for guard, target in own[state].items() if target != DEAD] if state >= 0 else []
        if len(on) != 1:
            return None
        follow.append(on[0][0])
        ends.add(on[0][1])
    dead = [{guard for guard, target in own[state].items() if target == DEAD} for state in own[start].values()]
    deadly, states = any(dead), set(own[start].values())
    if len(ends) != 1 or not 1 < len(guards) == len(states) == len(set(follow)):
        return None
    if any(one != (set(follow) - {mine} if deadly else set()) for one, mine in zip(dead, follow, strict=True)):
        return None
    return Errand(guards, 1, None, deadly, tuple(follow)), ends.pop(), 1 + len(guards)


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
    for i, (guards, needed, between, deadly, own) in enumerate(stages):
        if own:
            start, first = first, first + 1 + len(guards)
            end = first if i < len(stages) - 1 else ACCEPTED
            for k, (guard, mine) in enumerate(zip(guards, own, strict=True), start=start + 1):
                edges += [CompactEdge(start, guard, k), CompactEdge(k, mine, end)]
                edges += [CompactEdge(k, other, DEAD) for other in own if deadly and other != mine]
            continue
        sets = [frozenset(some) for size in range(needed) for some in combinations(guards, size)]
        entered = {some: first + k for k, some in enumerate(sets)}
        free = {some: first + (len(sets) + k if between is not None and some else k) for k, some in enumerate(sets)}
        first = max(*entered.values(), *free.values()) + 1
        end = first if i < len(stages) - 1 else ACCEPTED
        for done in sets:
            left = [guard for guard in guards if guard not in done]
            edges += [CompactEdge(free[done], guard, entered.get(done | {guard}, end)) for guard in left]
            if between is not None and done:
                edges.append(CompactEdge(entered[done], between, free[done]))
                edges += [CompactEdge(entered[done], guard, DEAD) for guard in left if deadly]
    return simplify(edges)
