import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.route_choice.routes import (
    bits_per_decision,
    bleu,
    edit_distance,
    greedy_routes,
    nearest_edit_distance,
    route_distance,
    score_routes,
)

routes = st.lists(st.integers(0, 4), min_size=1, max_size=7).map(tuple)


def edits_by_trying(one, other):
    """The least number of edits, by trying all three at the first difference."""
    if not one or not other:
        return len(one) + len(other)
    if one[0] == other[0]:
        return edits_by_trying(one[1:], other[1:])
    return 1 + min(
        edits_by_trying(one[1:], other), edits_by_trying(one, other[1:]), edits_by_trying(one[1:], other[1:])
    )


def bleu_by_the_book(route, references):
    """Papineni et al. (2002) with smoothing 1 of Chen and Cherry (2014), counted with lists."""
    logs = 0.0
    for n in (1, 2, 3, 4):
        runs = [route[i : i + n] for i in range(len(route) - n + 1)]
        matched = 0
        for run in set(runs):
            best = max([one[i : i + n] for i in range(len(one) - n + 1)].count(run) for one in references)
            matched += min(runs.count(run), best)
        if n == 1 and not matched:
            return 0.0
        logs += math.log((matched if matched else 0.1) / max(1, len(runs))) / 4
    lengths = sorted(len(one) for one in references)
    nearest = min(lengths, key=lambda length: abs(length - len(route)))
    return math.exp(logs) * (1.0 if len(route) > nearest else math.exp(1 - nearest / len(route)))


@settings(max_examples=200)
@given(routes, routes)
def test_edit_distance_is_the_least_number_of_edits(one, other):
    assert edit_distance(one, other) == edits_by_trying(one, other)


@given(routes, routes, routes)
def test_edit_distance_is_a_metric(one, other, third):
    assert edit_distance(one, other) == edit_distance(other, one)
    assert (edit_distance(one, other) == 0) == (one == other)
    assert edit_distance(one, third) <= edit_distance(one, other) + edit_distance(other, third)


@settings(max_examples=200)
@given(routes, st.lists(routes, min_size=1, max_size=3))
def test_bleu_is_that_of_the_book(route, references):
    assert bleu(route, references) == pytest.approx(bleu_by_the_book(route, references))


def test_bleu_of_the_example_in_nltk_is_what_its_documentation_says():
    sentences = [
        "It is a guide to action which ensures that the military always obeys the commands of the party",
        "It is a guide to action that ensures that the military will forever heed Party commands",
        "It is the guiding principle which guarantees the military forces always being under the command of the Party",
        "It is the practical guide for the army always to heed the directions of the party",
    ]
    words = {word: i for i, word in enumerate(sorted({word for one in sentences for word in one.split()}))}
    route, *references = (tuple(words[word] for word in one.split()) for one in sentences)
    assert f"{bleu(route, references):.10f}".startswith("0.5045")


def test_scores_compare_with_all_true_routes_of_the_pair():
    true = [(0, 1, 2, 3), (0, 4, 2, 3), (0, 4, 2, 3), (5, 6)]
    perfect = score_routes(true, [(0, 4, 2, 3), (0, 1, 2, 3), (0, 4, 2, 3), (5, 6)])
    assert (perfect["edit distance"], perfect["Jensen-Shannon"]) == (0.0, 0.0)
    # The second prediction is one link away from a route that another trip of the pair took.
    near = score_routes(true, [(0, 1, 2, 3), (0, 1, 3), (0, 4, 2, 3), (5, 9, 9, 9, 9, 6)])
    assert near["edit distance"] == pytest.approx((0 + 0.25 + 0 + 1.0) / 4)  # at most 1 each


def test_the_distance_of_route_frequencies_is_zero_for_equal_ones_and_largest_for_disjoint_ones():
    true = [(0, 1), (0, 1), (0, 2, 1)]
    assert route_distance(true, [(0, 2, 1), (0, 1), (0, 1)]) == 0.0
    assert route_distance(true, [(0, 3, 1)] * 3) == pytest.approx(math.sqrt(math.log(2)))


def test_bits_per_decision_of_a_guess_among_four_are_minus_two():
    assert bits_per_decision(np.log(np.full(10, 0.25))) == pytest.approx(-2.0)


def test_greedy_routes_take_the_most_likely_control_and_end_where_they_run_in_circles():
    successors = np.array([[1, 2], [3, 0], [3, 2], [3, 3]], np.int32)
    Q = np.array([[1.0, 2.0], [1.0, 5.0], [9.0, 1.0], [1.0, 1.0]])
    assert greedy_routes(successors, {3: Q}, [(0, 3), (2, 3)], longest=5) == [(0, 1, 3), (2, 2, 2, 2, 2, 2)]
    assert nearest_edit_distance((0, 1, 3), [(0, 2, 3), (0, 1, 1, 3)]) == 0.25
