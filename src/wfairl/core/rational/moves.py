"""Moves: the small changes by which the search gets from one automaton to the next.

An edge is dropped, added, changed or sent elsewhere, or two states are merged. Larger moves add what tasks are made of:

    insert     one or two events must happen first, or after an edge
    either     one of two or three events must happen first, or after an edge; or one of them, and then its own one
    fuse       two events in a row become one: both hold at the same time
    again      what an edge waits for must end, and perhaps happen again
    conjoin    another event must happen too, in any order with the others
    recount    some of several events must happen, in any order: another number of them, of one more, one of them first
               or last (`errands`)
    detour     there is an alternative path
    split      what happened before matters: a state is told apart by how it was entered
    constrain  something must not happen, or must, at times (`constraints`)

Each of these is one move, because its halves explain nothing by themselves: the search would not get past them.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, pairwise, permutations, product

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard, Label
from wfairl.core.rational.compact_automaton import ANY, CompactAutomaton, CompactEdge, simplify
from wfairl.core.rational.constraints import Constraint
from wfairl.core.rational.errands import Errand, automaton_of, errands, joined_errands, nearest_errands
from wfairl.core.rational.tables import holding

Edges = list[CompactEdge]

MAX_STATES, MAX_LITERALS = 8, 3
"""Of an automaton, acceptance not counted; and of a guard."""

MOST_AT_ONCE = 4
"""Errands of an automaton that the search begins with."""

MOST_STATES_OF_ERRANDS = 32
"""An automaton of stages may have more states than others: only its stages change then, and its constraints."""

LEAST_TAKEN = 0.75
"""Share of the demonstrations in which one of the events of a choice happens; the others may be outliers."""

MOST_EVENTS = 3
"""Events of a choice."""


def neighbours(
    automaton: CompactAutomaton,
    propositions: Sequence[str],
    labels: tuple[Label, ...],
    reads: NDArray[np.bool_],
) -> Iterator[CompactAutomaton]:
    """Every automaton one move away; some more than once.

    Args:
        automaton: where to start.
        propositions: those that guards may contain.
        labels: those that occur; they decide whether the order of two edges matters.
        reads: whether a demonstration reads a label in a state of the automaton, [demonstrations, states, labels]. A
            detour that no demonstration takes is not tried, and neither are rare events in a row, or a choice between
            events of which most demonstrations take none.
    """
    guards = [Guard(frozenset({p})) for p in propositions]
    moves: list[Iterable[Edges]] = []
    if automaton.states <= MAX_STATES:
        moves += [
            (_replaced(automaton, i) for i in range(len(automaton.edges))),
            _change_guard(automaton, propositions),
            _retarget(automaton),
            (_renamed(automaton, other, state) for state, other in combinations(range(automaton.states), 2)),
            _fuse(automaton),
            _add_edge(automaton, guards, labels),
        ]
    if automaton.states < MAX_STATES:
        moves += [
            _insert(automaton, [(guard,) for guard in guards]),
            _again(automaton),
            _conjoin(automaton, guards),
            _either(automaton, guards, labels, reads),
            _detour(automaton, guards, labels, reads),
            _split(automaton, guards),
        ]
    moves.append(_recount(automaton, guards, inserts=automaton.states >= MAX_STATES))  # else `_insert` does it
    if automaton.states + 2 <= MAX_STATES:
        visits = reads.sum(axis=0)
        often = [guard for guard in guards if 2 * visits[:, holding(guard, labels)].sum() >= visits.max(initial=0)]
        moves.append(_insert(automaton, permutations(often, 2)))
    for edges in chain.from_iterable(moves):
        yield simplify(edges)._replace(constraints=automaton.constraints)


def constrained(automaton: CompactAutomaton, possible: Sequence[Constraint]) -> Iterator[CompactAutomaton]:
    """The automaton with a constraint less, said by edges, in force at other times; and with a possible one more."""
    kept = automaton.constraints
    new = [one for one in possible if one not in kept]
    for i, old in enumerate(kept):
        others = kept[:i] + kept[i + 1 :]
        yield automaton._replace(constraints=others)
        for edges in chain(_at_the_same_time(automaton, old), _as_event(automaton, old)):
            yield simplify(edges)._replace(constraints=others)
        if old.asks:
            rest = tuple(one for one in others if not (one.asks and one.proposition == old.proposition))
            for edges in _as_errand(automaton, old):
                yield simplify(edges)._replace(constraints=rest)
        for one in new:
            if one[:2] == old[:2]:
                yield automaton._replace(constraints=tuple(sorted((*others, one), key=str)))
    for one in new:
        yield automaton._replace(constraints=tuple(sorted((*kept, one), key=str)))


def _at_the_same_time(automaton: CompactAutomaton, needed: Constraint) -> Iterator[Edges]:
    """What is needed must hold at the same time as an event. Where the event asks for it, other edges wait."""
    asked = frozenset({needed.proposition})
    together = asked | {name for name in (needed.after, needed.beside) if name}
    for i, edge in enumerate(automaton.edges):
        if needed.kind == "needed" and edge.guard == Guard(frozenset({needed.after or ""})) and edge.target != DEAD:
            guard = Guard(edge.guard.true | asked)
            yield _unless(_replaced(automaton, i, edge._replace(guard=guard)), i, edge.guard)
        elif needed.asks and not needed.is_obligation and edge.target != DEAD:
            both = _both(edge.guard, Guard(together))
            if both is not None:
                yield _replaced(automaton, i, edge._replace(guard=both))


def _as_errand(automaton: CompactAutomaton, needed: Constraint) -> Iterator[Edges]:
    """What is needed is an event more of a stage, in any order with the others, or a stage of its own."""
    beside = {needed.beside} if needed.beside else set()
    yield from _recount(automaton, [Guard(frozenset({needed.proposition, *beside}))], inserts=True)


def _as_event(automaton: CompactAutomaton, ban: Constraint) -> Iterator[Edges]:
    """What ends a ban is an event of its own, before the one that is banned until then."""
    if ban.kind == "never" and ban.until is not None and automaton.states < MAX_STATES:
        new = automaton.states
        for i, edge in enumerate(automaton.edges):
            if edge.guard == Guard(frozenset({ban.proposition})) and edge.target != DEAD and edge.source != ANY:
                beside = [
                    one._replace(source=new) for one in automaton.edges if one.source == edge.source != one.target
                ]
                first = CompactEdge(edge.source, Guard(frozenset({ban.until})), new)
                yield [*_replaced(automaton, i, first), *beside]


def _again(automaton: CompactAutomaton) -> Iterator[Edges]:
    """What an edge waits for must end before the task goes on; or end, and happen again."""
    new = automaton.states
    for i, edge in enumerate(automaton.edges):
        if edge.target != DEAD and len(edge.guard.literals) == 1:
            begun = _replaced(automaton, i, edge._replace(target=new))
            ended = Guard(edge.guard.false, edge.guard.true)
            yield [*begun, CompactEdge(new, ended, edge.target)]
            if new + 2 <= MAX_STATES:
                yield [*begun, CompactEdge(new, ended, new + 1), CompactEdge(new + 1, edge.guard, edge.target)]


def starts(propositions: Sequence[str], read: frozenset[str], last: frozenset[str]) -> Iterator[CompactAutomaton]:
    """The automata of one state and one edge: a proposition or its negation comes true; and all errands at once.

    All that is `read` by every demonstration, or all but one or two that are read by chance, is done in any order,
    perhaps with one of it between the others, and then what they read `last`, if they all read the same.
    """
    for p in propositions:
        for guard in (Guard(frozenset({p})), Guard(frozenset(), frozenset({p}))):
            yield CompactAutomaton(1, (CompactEdge(0, guard, ACCEPTED),))
    events = tuple(Guard(frozenset({name})) for name in sorted(read - last))
    for end in [[Errand((Guard(frozenset({p})),), 1)] for p in sorted(last)] or [[]]:
        for between, chance in product((None, *events), chain.from_iterable(combinations(events, k) for k in range(3))):
            others = tuple(event for event in events if event not in (between, *chance))
            for deadly in (False, True) if between is not None else (False,):
                if 1 < len(others) <= MOST_AT_ONCE and between not in chance:
                    yield automaton_of([Errand(others, len(others), between, deadly), *end])


def _targets(automaton: CompactAutomaton) -> list[int]:
    return [*range(automaton.states), ACCEPTED, DEAD]


def _replaced(automaton: CompactAutomaton, i: int, *edges: CompactEdge) -> Edges:
    """The edges with others, or none, instead of edge i."""
    return [*automaton.edges[:i], *edges, *automaton.edges[i + 1 :]]


def _renamed(automaton: CompactAutomaton, old: int, new: int) -> Edges:
    """The edges with one number of a state instead of another."""
    number = {old: new}
    return [CompactEdge(number.get(s, s), guard, number.get(t, t)) for s, guard, t in automaton.edges]


def _change_guard(automaton: CompactAutomaton, propositions: Sequence[str]) -> Iterator[Edges]:
    """A literal more, less, or replaced by a positive one; and the edge for any state instead of one."""
    for i, edge in enumerate(automaton.edges):
        true, false = edge.guard.true, edge.guard.false
        literals = len(true) + len(false)
        for p in propositions:
            changed = []
            if p in true or p in false:
                if literals > 1:
                    changed.append(Guard(true - {p}, false - {p}))
            else:
                if literals < MAX_LITERALS:
                    changed += [Guard(true | {p}, false), Guard(true, false | {p})]
                changed += [Guard(true - {old} | {p}, false - {old}) for old in sorted(true | false)]
            for guard in changed:
                yield _replaced(automaton, i, edge._replace(guard=guard))
        if edge.source == ANY:
            for source in range(automaton.states):
                yield _replaced(automaton, i, edge._replace(source=source))
        elif automaton.states > 1:
            others = [e for e in automaton.edges if (e.guard, e.target) != (edge.guard, edge.target)]
            yield [*others, edge._replace(source=ANY)]


def _retarget(automaton: CompactAutomaton) -> Iterator[Edges]:
    for i, edge in enumerate(automaton.edges):
        for target in _targets(automaton):
            if target != edge.target:
                yield _replaced(automaton, i, edge._replace(target=target))


def _fuse(automaton: CompactAutomaton) -> Iterator[Edges]:
    """Two events in a row become one: both must hold at the same time. Other edges may then wait for the opposite."""
    for i, first in enumerate(automaton.edges):
        for second in automaton.edges:
            is_next = first.target == second.source and second.target != DEAD
            both = _both(first.guard, second.guard) if is_next else None
            if both is not None:
                fused = _replaced(automaton, i, CompactEdge(first.source, both, second.target))
                yield fused
                if len(first.guard.literals) == 1:
                    yield _unless(fused, i, first.guard)


def _unless(edges: Edges, i: int, guard: Guard) -> Edges:
    """The edges with the rivals of edge i, in its state, only where a guard of one literal does not hold."""
    changed = list(edges)
    for k, edge in enumerate(edges):
        if k != i and edge.source == edges[i].source and edge.target != DEAD:
            changed[k] = edge._replace(guard=_both(edge.guard, Guard(guard.false, guard.true)) or edge.guard)
    return changed


def _both(one: Guard, other: Guard) -> Guard | None:
    """The guard that holds where both do, None if that is nowhere, or if it has too many literals."""
    both = one.both(other)
    return None if both is None or len(both.true) + len(both.false) > MAX_LITERALS else both


def _add_edge(automaton: CompactAutomaton, guards: Sequence[Guard], labels: tuple[Label, ...]) -> Iterator[Edges]:
    """An edge after those of its state, and before them where that makes a difference."""
    for source in [*range(automaton.states), ANY] if automaton.states > 1 else [0]:
        rivals = [edge for edge in automaton.edges if edge.source == source]
        for guard in guards:
            overlaps = any((holding(guard, labels) & holding(edge.guard, labels)).any() for edge in rivals)
            for target in _targets(automaton):
                if target != source:
                    new = CompactEdge(source, guard, target)
                    yield [*automaton.edges, new]
                    if overlaps:
                        yield [new, *automaton.edges]


def _gaps(automaton: CompactAutomaton) -> Iterator[tuple[Edges, int, int]]:
    """Where something may have to happen first, at the beginning or after an edge: before a state, and after another.

    One of the two states is new, and the edges do not lead from the one to the other.
    """
    new = automaton.states
    yield _renamed(automaton, 0, new), 0, new
    for i, edge in enumerate(automaton.edges):
        if edge.target != DEAD:
            yield _replaced(automaton, i, edge._replace(target=new)), new, edge.target


def _insert(automaton: CompactAutomaton, sequences: Iterable[Sequence[Guard]]) -> Iterator[Edges]:
    """One event must happen first, or several in a row: at the beginning, or after an edge."""
    for events in sequences:
        for edges, before, after in _gaps(automaton):
            states = (before, *range(automaton.states + 1, automaton.states + len(events)), after)
            yield [*edges, *map(CompactEdge, states, events, states[1:])]


def _either(
    automaton: CompactAutomaton, guards: Sequence[Guard], labels: tuple[Label, ...], reads: NDArray[np.bool_]
) -> Iterator[Edges]:
    """One of several events must happen, perhaps with its own one after it: first, after an edge, or instead of it."""
    new = automaton.states
    instead = ((_replaced(automaton, i), e.source, e.target) for i, e in enumerate(automaton.edges) if e.source != ANY)
    for edges, before, after in chain(_gaps(automaton), instead):
        entered = before if before < new else after
        if entered < 0 or after == DEAD:
            continue
        here = reads[reads[:, entered].any(axis=1), entered]
        happens = np.array([here[:, holding(guard, labels)].any(axis=1) for guard in guards])
        for first in choices(happens, LEAST_TAKEN):
            yield [*edges, *(CompactEdge(before, guards[k], after) for k in first)]
            states = range(new + 1, new + 1 + len(first))
            for own in product(*(_companions(happens, k, first) for k in first)):
                if len(set(own)) == len(own) and states.stop <= MAX_STATES:
                    begun = (CompactEdge(before, guards[k], state) for k, state in zip(first, states, strict=True))
                    ended = (CompactEdge(state, guards[k], after) for k, state in zip(own, states, strict=True))
                    yield [*edges, *begun, *ended]


def _companions(happens: NDArray[np.bool_], event: int, others: Sequence[int]) -> list[int]:
    """The events that happen in most demonstrations in which one does, and not in all, beside some others."""
    share = happens[:, happens[event]].mean(axis=1)
    return [k for k in np.flatnonzero(share >= LEAST_TAKEN).tolist() if k not in others and not happens[k].all()]


def choices(happens: NDArray[np.bool_], share: float) -> Iterator[tuple[int, ...]]:
    """Two or three events of which a share of the demonstrations takes one, and of which none can be left out.

    Args:
        happens: whether an event takes place in a demonstration, [events, demonstrations].
        share: least share of the demonstrations that take one of them.
    """
    enough, times = share * happens.shape[1], happens.sum(axis=1)
    rare = [k for k in range(len(happens)) if 0 < times[k] < happens.shape[1]]
    pairs = set()
    for pair in combinations(rare, 2):
        if happens[list(pair)].any(axis=0).sum() >= max(enough, times[list(pair)].max() + 1):
            pairs.add(pair)
            yield pair
    for three in combinations(rare, MOST_EVENTS):
        if happens[list(three)].any(axis=0).sum() >= enough and pairs.isdisjoint(combinations(three, 2)):
            yield three


def _conjoin(automaton: CompactAutomaton, guards: Sequence[Guard]) -> Iterator[Edges]:
    """Another event must happen too before a target is entered, in any order with those that must happen so far.

    The states before the target are doubled. In the originals the event has not happened yet, and the edges into the
    target are gone. The copies are what the states were.
    """
    for target in (*range(1, automaton.states), ACCEPTED):
        before = _states_before(automaton, target)
        if automaton.states + len(before) > MAX_STATES:
            continue
        copy = {state: automaton.states + i for i, state in enumerate(before)}
        for guard in guards:
            edges = []
            for e in automaton.edges:
                if e.source not in copy:
                    edges.append(e)
                    continue
                copied_target = copy.get(e.target, e.target)
                edges.append(CompactEdge(copy[e.source], e.guard, copied_target))
                if e.target != target:
                    edges.append(e._replace(target=copied_target) if e.guard == guard else e)
            yield [*edges, *(CompactEdge(state, guard, copy[state]) for state in before)]


def _recount(automaton: CompactAutomaton, guards: Sequence[Guard], inserts: bool) -> Iterator[Edges]:
    """Stages become whole; one has an event more, needed or not; another number is needed; or a stage is inserted."""
    exact = errands(automaton)
    stages = nearest_errands(automaton) if exact is None else exact
    forbidden = [edge for edge in automaton.edges if edge.source == ANY and edge.target == DEAD]
    if exact is None:
        for whole in (stages, joined_errands(automaton)):
            if whole:
                yield list(automaton_of(whole, forbidden).edges)
    variants: list[list[Errand]] = []
    if inserts:
        variants += [[*stages[:i], Errand((guard,), 1), *stages[i:]] for i in range(len(stages)) for guard in guards]
    for i, stage in enumerate(stages):
        events, needed = stage.guards, stage.needed
        if stage.own:
            changed = [stage._replace(deadly=not stage.deadly), stage._replace(deadly=False, own=())]
            variants += [[*stages[:i], one, *stages[i + 1 :]] for one in changed]
            apart = [Errand(events, 1), Errand(stage.own, 1)]
            variants.append([*stages[:i], *apart, *stages[i + 1 :]])
            continue
        more = [guard for guard in guards if guard not in events]
        # The last stage stays the end of the task: what is needed beside it comes before it.
        counts = (needed, needed + 1) if i < len(stages) - 1 else (needed,)
        changed = [stage._replace(guards=(*events, guard), needed=count) for guard in more for count in counts]
        changed += [stage._replace(needed=count) for count in range(1, len(events) + 1) if count != needed]
        if needed == len(events) > 1:
            changed += [stage._replace(guards=fewer, needed=needed - 1) for fewer in combinations(events, needed - 1)]
        if needed > 1:
            changed += [stage._replace(between=guard, deadly=deadly) for guard in more for deadly in (False, True)]
            changed.append(Errand(events, needed))
        if needed > 2:  # one of the events comes between the others
            for event in events:
                others = tuple(one for one in events if one != event)
                changed += [Errand(others, needed - 1, event, deadly) for deadly in (False, True)]
        variants += [[*stages[:i], one, *stages[i + 1 :]] for one in changed]
        if needed == len(events) > 1:  # one of the events comes before all others, or after them
            for event in events:
                alone = Errand((event,), 1)
                rest = stage._replace(guards=tuple(one for one in events if one != event), needed=needed - 1)
                variants += [[*stages[:i], *both, *stages[i + 1 :]] for both in ((alone, rest), (rest, alone))]
    for i, (before, after) in enumerate(pairwise(stages)):
        is_choice = before.needed == after.needed == 1 < len(before.guards) == len(after.guards)
        if is_choice and not before.own + after.own:  # each event of the second stage belongs to one of the first
            for own, deadly in product(permutations(after.guards), (False, True)):
                variants.append([*stages[:i], Errand(before.guards, 1, None, deadly, own), *stages[i + 2 :]])
    for i, (before, middle, after) in enumerate(zip(stages, stages[1:], stages[2:], strict=False)):
        if len(middle.guards) == 1:  # it comes between any two events
            both, needed = tuple(dict.fromkeys((*before.guards, *after.guards))), before.needed + after.needed
            for events in dict.fromkeys((both, before.guards, after.guards)):
                if needed <= len(events) and middle.guards[0] not in events:
                    joined = (Errand(events, needed, middle.guards[0], deadly) for deadly in (False, True))
                    variants += [[*stages[:i], one, *stages[i + 3 :]] for one in joined]
    for one in variants:
        other = automaton_of(one, forbidden)
        if other.states <= MOST_STATES_OF_ERRANDS:
            yield list(other.edges)


def _states_before(automaton: CompactAutomaton, target: int) -> list[int]:
    """The states that can be entered without entering the target."""
    reached = [0]
    for state in reached:
        for edge in automaton.edges:
            if edge.source in (state, ANY) and edge.target >= 0 and edge.target not in (target, *reached):
                reached.append(edge.target)
    return reached


def _detour(
    automaton: CompactAutomaton, guards: Sequence[Guard], labels: tuple[Label, ...], reads: NDArray[np.bool_]
) -> Iterator[Edges]:
    """An alternative path through a new state: two events more, such as the other order of two errands."""
    new = automaton.states
    for source in range(automaton.states):
        for first in guards:
            if reads[:, source, holding(first, labels)].any():
                for second in guards:
                    for target in (*range(automaton.states), ACCEPTED):
                        yield [*automaton.edges, CompactEdge(source, first, new), CompactEdge(new, second, target)]


def _split(automaton: CompactAutomaton, guards: Sequence[Guard]) -> Iterator[Edges]:
    """One of the edges into a state leads to a copy of it, which has one edge more or less, or another target."""
    new = automaton.states
    for i, edge in enumerate(automaton.edges):
        if edge.target < 0:
            continue
        copies = [e._replace(source=new) for e in automaton.edges if e.source == edge.target]
        redirected = _replaced(automaton, i, edge._replace(target=new))
        for j, copy in enumerate(copies):
            others = [*redirected, *copies[:j], *copies[j + 1 :]]
            yield others
            yield from ([*others, copy._replace(target=t)] for t in _targets(automaton) if t != copy.target)
        for guard in guards:
            yield from ([*redirected, *copies, CompactEdge(new, guard, target)] for target in _targets(automaton))
