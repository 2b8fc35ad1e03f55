from itertools import combinations_with_replacement

import numpy as np
from strategies_logic import NAMES, random_sketch

from wfairl.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.logic.prior import description_bits, errands, log_prior
from wfairl.logic.sketch import ANY, Sketch, SketchEdge, tidy

A, NOT_A, B = Guard(frozenset("a")), Guard(frozenset(), frozenset("a")), Guard(frozenset("b"))


def test_the_prior_is_that_of_a_prefix_code():
    every = [SketchEdge(s, g, t) for s in (0, 1, ANY) for g in (A, NOT_A) for t in (0, 1, ACCEPTED, DEAD) if s != t]
    sketches = {tidy(2, edges) for number in range(4) for edges in combinations_with_replacement(every, number)}
    total = sum(np.exp(log_prior(sketch, 1)) for sketch in sketches)
    assert 0.1 < total <= 1


def test_every_edge_costs_something():
    rng = np.random.default_rng(0)
    for _ in range(100):
        sketch = random_sketch(rng)
        for i in range(len(sketch.edges)):
            fewer = tidy(sketch.states, sketch.edges[:i] + sketch.edges[i + 1 :])
            if fewer.edges != sketch.edges:
                assert description_bits(fewer, len(NAMES)) < description_bits(sketch, len(NAMES))


def test_a_plain_guard_is_shorter_than_a_negated_or_a_longer_one():
    def bits(guard):
        return description_bits(Sketch(1, (SketchEdge(0, guard, ACCEPTED),)), 4)

    assert bits(A) == bits(B) < bits(NOT_A)
    assert bits(A) < bits(Guard(frozenset("ab")))


def test_more_propositions_to_choose_from_make_a_guard_longer():
    sketch = Sketch(1, (SketchEdge(0, A, ACCEPTED),))
    assert description_bits(sketch, 4) < description_bits(sketch, 40)


def test_forbidding_once_for_all_is_shorter_than_in_every_state():
    chain = [SketchEdge(0, A, 1), SketchEdge(1, B, ACCEPTED)]
    n = Guard(frozenset("n"))
    once = tidy(2, [SketchEdge(ANY, n, DEAD), *chain])
    twice = tidy(2, [SketchEdge(0, n, DEAD), SketchEdge(1, n, DEAD), *chain])
    assert description_bits(once, 4) < description_bits(twice, 4)


def test_another_errand_in_any_order_costs_one_guard_more():
    def bits(*edges):
        return description_bits(tidy(4, [SketchEdge(*edge) for edge in edges]), 4)

    c = Guard(frozenset("c"))
    one = bits((0, A, 1), (1, c, ACCEPTED))
    both = bits((0, A, 1), (0, B, 2), (1, B, 3), (2, A, 3), (3, c, ACCEPTED))
    single = bits((0, A, ACCEPTED))
    assert both - one < one - single


def test_only_what_is_done_in_any_order_counts_as_errands():
    chain = [SketchEdge(0, A, 1), SketchEdge(1, B, ACCEPTED)]
    assert errands(tidy(2, chain)) == [[A], [B]]
    assert errands(tidy(2, [*chain, SketchEdge(ANY, NOT_A, DEAD)])) == [[A], [B]]
    assert errands(tidy(2, [*chain, SketchEdge(1, A, 0)])) is None
    assert errands(tidy(2, [*chain, SketchEdge(0, B, ACCEPTED)])) is None
    assert errands(tidy(2, [*chain, SketchEdge(0, B, DEAD)])) is None
    diamond = [SketchEdge(0, A, 1), SketchEdge(0, B, 2), SketchEdge(1, B, ACCEPTED), SketchEdge(2, A, ACCEPTED)]
    assert errands(tidy(3, diamond)) == [[A, B]]
