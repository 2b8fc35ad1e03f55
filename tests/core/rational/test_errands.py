"""Errands are read off the automata that they make, and these do what is asked."""

from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.core.rational.compact_automaton import ANY, CompactEdge, simplify
from wfairl.core.rational.constraints import Constraint
from wfairl.core.rational.errands import Errand, automaton_of, errands, joined_errands, nearest_errands
from wfairl.core.rational.moves import constrained

A, NOT_A, B = Guard(frozenset("a")), Guard(frozenset(), frozenset("a")), Guard(frozenset("b"))
FORBIDDEN = CompactEdge(ANY, Guard(frozenset("x")), DEAD)


@st.composite
def stages(draw):
    """Up to three stages, in each of which some of at most three letters are needed."""
    result = []
    for _ in range(draw(st.integers(1, 3))):
        letters = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True))
        guards = tuple(Guard(frozenset(letter)) for letter in letters)
        result.append(Errand(guards, draw(st.integers(1, len(guards)))))
    return result


def is_done(asked, word):
    """By the definition: letter by letter, what has come true in the stage at hand."""
    stage, seen = 0, set()
    for letter in word:
        if letter == "x":
            return False
        if Guard(frozenset(letter)) in asked[stage].guards:
            seen.add(letter)
        if len(seen) == asked[stage].needed:
            stage, seen = stage + 1, set()
        if stage == len(asked):
            return True
    return False


@given(stages())
def test_stages_are_read_off_their_automaton(asked):
    found = errands(automaton_of(asked, [FORBIDDEN]))
    assert [(set(one.guards), one.needed) for one in found] == [(set(one.guards), one.needed) for one in asked]


@given(stages(), st.lists(st.text("abcdx", min_size=1, max_size=8), min_size=1, max_size=30))
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
        assert automaton_of(nearest_errands(whole)) == whole
        dropped = data.draw(st.sampled_from(whole.edges))
        lacking = simplify(edge for edge in whole.edges if edge != dropped)
        leaving = [edge.source for edge in whole.edges]
        begins = max(leaving.count(edge.source) for edge in whole.edges if edge.guard == dropped.guard)
        if lacking.states == whole.states and leaving.count(dropped.source) < begins:  # not at the begin of a stage
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


def test_what_is_needed_becomes_an_event_of_a_stage():
    chain = tuple(Errand((Guard(frozenset(letter)),), 1) for letter in "abc")
    needed = automaton_of(chain)._replace(constraints=(Constraint("needed", "d", after="a"),))
    b, d = Guard(frozenset("b")), Guard(frozenset("d"))
    assert automaton_of([chain[0], Errand((b, d), 2), chain[2]]) in set(constrained(needed, ()))


def test_only_stages_count_as_errands():
    chain = [CompactEdge(0, A, 1), CompactEdge(1, B, ACCEPTED)]
    assert errands(simplify(chain)) == errands(simplify([*chain, FORBIDDEN])) == [((A,), 1), ((B,), 1)]
    for other in (CompactEdge(1, A, 0), CompactEdge(0, B, ACCEPTED), CompactEdge(0, B, DEAD), CompactEdge(ANY, B, 0)):
        assert errands(simplify([*chain, other])) is None
