"""Errands are read off the automata that they make, and these do what is asked."""

from itertools import pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.core.rational.compact_automaton import ANY, CompactEdge, simplify
from wfairl.core.rational.constraints import Constraint
from wfairl.core.rational.errands import Errand, automaton_of, errands, joined_errands, nearest_errands
from wfairl.core.rational.moves import constrained, neighbours, starts
from wfairl.core.rational.prior import log_prior

A, NOT_A, B = Guard(frozenset("a")), Guard(frozenset(), frozenset("a")), Guard(frozenset("b"))
C = Guard(frozenset("c"))
FORBIDDEN = CompactEdge(ANY, Guard(frozenset("x")), DEAD)


@st.composite
def stages(draw):
    """Up to three stages, in each of which some of at most three letters are needed, perhaps with another between."""
    result = []
    for _ in range(draw(st.integers(1, 3))):
        letters = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True))
        guards = tuple(Guard(frozenset(letter)) for letter in letters)
        needed = draw(st.integers(1, len(guards)))
        others = [None, *(Guard(frozenset(one)) for one in "abcd" if one not in letters)]
        between = draw(st.sampled_from(others)) if needed > 1 else None
        result.append(Errand(guards, needed, between, between is not None and draw(st.booleans())))
    return result


@st.composite
def stages_of_ways(draw):
    """One of two letters and then its own, perhaps before a last letter."""
    letters = draw(st.permutations("abcd"))
    guards = tuple(Guard(frozenset(letter)) for letter in letters)
    way = Errand(guards[:2], 1, None, draw(st.booleans()), guards[2:])
    return [way, *([Errand(guards[:1], 1)] if draw(st.booleans()) else [])]


def is_done(asked, word):
    """By the definition: letter by letter, what has come true in the stage at hand, and whether the next may."""
    stage, seen, may = 0, set(), True
    for letter in word:
        if letter == "x":
            return False
        at = asked[stage]
        if at.own and seen:
            (begun,) = seen
            end = dict(zip(at.guards, at.own, strict=True))[Guard(frozenset(begun))]
            if Guard(frozenset(letter)) == end:
                stage, seen = stage + 1, set()
            elif at.deadly and Guard(frozenset(letter)) in at.own:
                return False
        elif Guard(frozenset(letter)) in at.guards and letter not in seen:
            if may:
                seen.add(letter)
                may = at.between is None
            elif at.deadly:
                return False
        may = may or Guard(frozenset(letter)) == at.between
        if len(seen) == at.needed and not at.own:
            stage, seen, may = stage + 1, set(), True
        if stage == len(asked):
            return True
    return False


@given(stages() | stages_of_ways())
def test_stages_are_read_off_their_automaton(asked):
    found = errands(automaton_of(asked, [FORBIDDEN]))
    assert [*map(unordered, found)] == [*map(unordered, asked)]


def unordered(stage):
    own = stage.own or stage.guards
    return set(zip(stage.guards, own, strict=True)), *stage[1:-1]


@given(stages() | stages_of_ways(), st.lists(st.text("abcdx", min_size=1, max_size=8), min_size=1, max_size=30))
def test_the_automaton_of_stages_accepts_what_completes_them(asked, words):
    automaton = automaton_of(asked, [FORBIDDEN]).to_guarded()
    for word in (*words, *map("".join, product("abc", repeat=4))):
        fulfilled = automaton.fulfilled_at([frozenset(letter) for letter in word])
        assert (fulfilled is not None) == is_done(asked, word)


@given(stages(), st.data())
def test_stages_that_lack_an_edge_are_completed(asked, data):
    whole = automaton_of(asked)
    every = {guard for one in asked for guard in one.guards}
    if len(every) == sum(len(one.guards) for one in asked):  # no event belongs to two stages
        plain = all(one.between is None for one in asked)
        assert not plain or automaton_of(nearest_errands(whole)) == whole
        dropped = data.draw(st.sampled_from(whole.edges))
        lacking = simplify(edge for edge in whole.edges if edge != dropped)
        leaving = [edge.source for edge in whole.edges]
        begins = max(leaving.count(edge.source) for edge in whole.edges if edge.guard == dropped.guard)
        if (
            plain and lacking.states == whole.states and leaving.count(dropped.source) < begins
        ):  # not at the begin of a stage
            found = automaton_of(nearest_errands(lacking)).to_guarded()
            for word in product("abcd", repeat=5):
                labels = [frozenset(letter) for letter in word]
                assert found.fulfilled_at(labels) == whole.to_guarded().fulfilled_at(labels)


@given(st.sets(st.permutations("abc").map(tuple), min_size=2))
def test_some_orders_of_events_are_joined_to_any_order(orders):
    """Automata that know some orders of three events, before a last one: what all orders begin with comes first."""
    sets = {frozenset(order[:done]) for order in orders for done in range(4)}
    number = {some: i for i, some in enumerate(sorted(sets, key=lambda some: (len(some), sorted(some))))}
    steps = {
        (number[frozenset(order[:i])], order[i], number[frozenset(order[: i + 1])])
        for order in orders
        for i in range(3)
    }
    edges = [CompactEdge(source, Guard(frozenset(letter)), target) for source, letter, target in sorted(steps)]
    found = joined_errands(simplify([*edges, CompactEdge(number[frozenset("abc")], Guard(frozenset("d")), ACCEPTED)]))
    shared = [
        i for i in range(1, 4) if len({frozenset(order[:i]) for order in orders}) == 1
    ]  # all have the same by then
    expected = [set(next(iter(orders))[first:last]) for first, last in pairwise([0, *shared])]
    assert [{p for guard in one.guards for p in guard.true} for one in found] == [*expected, {"d"}]
    assert all(one.needed == len(one.guards) for one in found)


def test_what_is_needed_after_each_of_two_events_comes_before_the_end():
    a, b, c, d = (Guard(frozenset(letter)) for letter in "abcd")
    asked = automaton_of([Errand((a, b), 2), Errand((c,), 1), Errand((d,), 1)])
    needed = (Constraint("needed", "c", after="a"), Constraint("needed in turn", "c", after="b"))
    short = automaton_of([Errand((a, b), 2), Errand((d,), 1)])
    assert asked in set(constrained(short._replace(constraints=needed), ()))
    kept = (*needed, Constraint("never", "e", after="a"))
    assert asked._replace(constraints=kept[2:]) in set(constrained(short._replace(constraints=kept), ()))


def test_stages_around_an_event_become_one_with_that_event_in_between():
    a, b, c, d = (Guard(frozenset(letter)) for letter in "abcd")
    labels = tuple(frozenset(letter) for letter in "abcd")
    either = [Errand((a, b), 1), Errand((c,), 1), Errand((a, b), 1), Errand((d,), 1)]
    in_a_row = [Errand((a,), 1), Errand((c,), 1), Errand((b,), 1), Errand((d,), 1)]
    for begun in map(automaton_of, (either, in_a_row)):
        found = set(neighbours(begun, "abcd", labels, np.ones((1, begun.states, len(labels)), bool)))
        for deadly in (False, True):
            assert automaton_of([Errand((a, b), 2, c, deadly), Errand((d,), 1)]) in found


def test_one_of_two_ways_is_one_move_away():
    a, b, c, d, e = (Guard(frozenset(letter)) for letter in "abcde")
    labels = tuple(frozenset(letter) for letter in "abcde")
    ways = Errand((a, b), 1, None, False, (c, d))
    apart = automaton_of([Errand((a, b), 1), Errand((c, d), 1), Errand((e,), 1)])
    assert automaton_of([ways, Errand((e,), 1)]) in set(
        neighbours(apart, "abcde", labels, np.ones((1, apart.states, len(labels)), bool))
    )
    short = automaton_of([Errand((c,), 1), Errand((e,), 1)])
    reads = np.zeros((2, short.states, len(labels)), bool)  # two demonstrations, a with c and b with d
    reads[0, 0, [0, 2]] = reads[1, 0, [1, 3]] = reads[:, 1, 4] = True
    assert automaton_of([ways, Errand((e,), 1)]) in set(neighbours(short, "abcde", labels, reads))
    whole = automaton_of([ways, Errand((e,), 1)])
    deadly = automaton_of([ways._replace(deadly=True), Errand((e,), 1)])
    assert deadly in set(neighbours(whole, "abcde", labels, reads[:, [0] * whole.states]))


def test_what_is_needed_becomes_an_event_of_a_stage():
    chain = tuple(Errand((Guard(frozenset(letter)),), 1) for letter in "abc")
    needed = automaton_of(chain)._replace(constraints=(Constraint("needed", "d", after="a"),))
    b, d = Guard(frozenset("b")), Guard(frozenset("d"))
    assert automaton_of([chain[0], Errand((b, d), 2), chain[2]]) in set(constrained(needed, ()))


def test_what_comes_between_the_events_of_a_stage_is_one_move_away():
    a, b, c, d = (Guard(frozenset(letter)) for letter in "abcd")
    labels = tuple(frozenset(letter) for letter in "abcd")
    plain = automaton_of([Errand((a, b), 2), Errand((c,), 1)])
    reads = np.ones((1, plain.states, len(labels)), bool)
    for deadly in (False, True):
        asked = automaton_of([Errand((a, b), 2, d, deadly), Errand((c,), 1)])
        assert asked in set(neighbours(plain, "abcd", labels, reads))
        assert log_prior(plain, 4) > log_prior(asked, 4) > log_prior(plain, 4) - 8


def test_an_event_of_a_stage_comes_between_the_others_one_move_away():
    a, b, c, d = (Guard(frozenset(letter)) for letter in "abcd")
    labels = tuple(frozenset(letter) for letter in "abcd")
    mixed = automaton_of([Errand((a, b, c), 3), Errand((d,), 1)])
    reads = np.ones((1, mixed.states, len(labels)), bool)
    found = set(neighbours(mixed, "abcd", labels, reads))
    for deadly in (False, True):
        assert automaton_of([Errand((a, b), 2, c, deadly), Errand((d,), 1)]) in found


def test_what_ends_a_ban_becomes_an_event_of_its_own():
    for ban in (Constraint("never", "b", after="a", until="d"), Constraint("never", "b", until="d")):
        banned = automaton_of([Errand((A,), 1), Errand((B,), 1), Errand((C,), 1)])._replace(constraints=(ban,))
        order = [Errand((guard,), 1) for guard in (A, Guard(frozenset("d")), B, C)]
        assert automaton_of(order) in set(constrained(banned, ()))


def test_the_search_begins_with_all_that_every_demonstration_does():
    a, b, c, d = (Guard(frozenset(letter)) for letter in "abcd")
    begun = set(starts("abcd", frozenset("abcd"), frozenset("c")))
    assert automaton_of([Errand((a, b, d), 3), Errand((c,), 1)]) in begun
    assert automaton_of([Errand((a, d), 2), Errand((c,), 1)]) in begun  # b is read by chance
    for deadly in (False, True):
        assert automaton_of([Errand((a, b), 2, d, deadly), Errand((c,), 1)]) in begun
    assert automaton_of([Errand((a, b, c), 3)]) in set(starts("abc", frozenset("abc"), frozenset()))
    e = Guard(frozenset("e"))
    by_chance = set(starts("abcdef", frozenset("abcdef"), frozenset("e")))  # d and f are read by chance
    assert automaton_of([Errand((a, b), 2, c, True), Errand((e,), 1)]) in by_chance


def test_one_of_two_events_may_happen_in_nearly_all_demonstrations():
    labels = tuple(frozenset(letter) for letter in "abc")
    task = automaton_of([Errand((C,), 1)])
    reads = np.zeros((8, 1, 3), bool)
    reads[:, 0, 2], reads[:7, 0, 0], reads[7, 0, 1] = True, True, True  # c always, a in seven of eight, b in the other
    assert automaton_of([Errand((A, B), 1), Errand((C,), 1)]) in set(neighbours(task, "abc", labels, reads))


def test_only_stages_count_as_errands():
    chain = [CompactEdge(0, A, 1), CompactEdge(1, B, ACCEPTED)]
    assert errands(simplify(chain)) == errands(simplify([*chain, FORBIDDEN])) == [Errand((A,), 1), Errand((B,), 1)]
    for other in (CompactEdge(1, A, 0), CompactEdge(0, B, ACCEPTED), CompactEdge(0, B, DEAD), CompactEdge(ANY, B, 0)):
        assert errands(simplify([*chain, other])) is None
