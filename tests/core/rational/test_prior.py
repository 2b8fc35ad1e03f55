from itertools import combinations_with_replacement

import numpy as np
from strategies_logic import NAMES, random_automaton

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.core.rational.compact_automaton import ANY, CompactAutomaton, CompactEdge, simplify
from wfairl.core.rational.errands import Errand, automaton_of
from wfairl.core.rational.prior import description_bits, log_prior

A, NOT_A, B = Guard(frozenset("a")), Guard(frozenset(), frozenset("a")), Guard(frozenset("b"))


def test_the_prior_is_that_of_a_prefix_code():
    every = [CompactEdge(s, g, t) for s in (0, 1, ANY) for g in (A, NOT_A) for t in (0, 1, ACCEPTED, DEAD) if s != t]
    automata = {simplify(edges) for number in range(4) for edges in combinations_with_replacement(every, number)}
    total = sum(np.exp(log_prior(automaton, 1)) for automaton in automata)
    assert 0.1 < total <= 1


def test_every_edge_costs_something():
    rng = np.random.default_rng(0)
    for _ in range(100):
        automaton = random_automaton(rng)
        for i in range(len(automaton.edges)):
            fewer = simplify(automaton.edges[:i] + automaton.edges[i + 1 :])
            if fewer.edges != automaton.edges:
                assert description_bits(fewer, len(NAMES)) < description_bits(automaton, len(NAMES))


def test_a_plain_guard_is_shorter_than_a_negated_or_a_longer_one():
    def bits(guard):
        return description_bits(CompactAutomaton(1, (CompactEdge(0, guard, ACCEPTED),)), 4)

    assert bits(A) == bits(B) < bits(NOT_A)
    assert bits(A) < bits(Guard(frozenset("ab")))


def test_more_propositions_to_choose_from_make_a_guard_longer():
    automaton = CompactAutomaton(1, (CompactEdge(0, A, ACCEPTED),))
    assert description_bits(automaton, 4) < description_bits(automaton, 40)


def test_forbidding_once_for_all_is_shorter_than_in_every_state():
    chain = [CompactEdge(0, A, 1), CompactEdge(1, B, ACCEPTED)]
    n = Guard(frozenset("n"))
    once = simplify([CompactEdge(ANY, n, DEAD), *chain])
    twice = simplify([CompactEdge(0, n, DEAD), CompactEdge(1, n, DEAD), *chain])
    assert description_bits(once, 4) < description_bits(twice, 4)


def test_another_errand_in_any_order_costs_one_guard_more():
    def bits(*edges):
        return description_bits(simplify([CompactEdge(*edge) for edge in edges]), 4)

    c = Guard(frozenset("c"))
    one = bits((0, A, 1), (1, c, ACCEPTED))
    both = bits((0, A, 1), (0, B, 2), (1, B, 3), (2, A, 3), (3, c, ACCEPTED))
    single = bits((0, A, ACCEPTED))
    assert both - one < one - single


def test_some_of_several_errands_cost_little_more_than_all_of_them():
    guards = tuple(Guard(frozenset(name)) for name in "abc")
    bits = [description_bits(automaton_of([Errand(guards, needed), Errand((NOT_A,), 1)]), 4) for needed in (3, 2, 1)]
    assert bits[1] == bits[2]
    assert bits[0] < bits[1] < bits[0] + 4


def test_ways_of_two_events_cost_their_events():
    a, b, c, d = (Guard(frozenset(name)) for name in "abcd")
    ways = automaton_of([Errand((a, b), 1, None, True, (c, d))])
    in_a_row = automaton_of([Errand((one,), 1) for one in (a, b, c, d)])
    assert description_bits(ways, 8) < description_bits(in_a_row, 8) + 3
