"""Laws of alignments: the cheapest path in the product of word and automaton, found by another search as well."""

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.automata import TaskModel
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.support.errors import BadInputError, FailedRunError
from wfairl.events.alignment import Aligner

LABELS = tuple(frozenset({name}) for name in "abc")
UNKNOWN = frozenset({"unknown"})


@st.composite
def automata(draw):
    states = draw(st.integers(1, 5))
    row = st.lists(st.integers(-1, states - 1), min_size=3, max_size=3)
    transitions = np.array(draw(st.lists(row, min_size=states, max_size=states)), np.int32)
    accepting = np.array(draw(st.lists(st.booleans(), min_size=states, max_size=states)))
    return FiniteAutomaton(LABELS, transitions, accepting, accepting.astype(float), (None,) * states, keep_repeats=True)


words = st.lists(st.sampled_from((*LABELS, UNKNOWN)), max_size=6).map(tuple)
prices = st.fixed_dictionaries({}, optional={name: st.sampled_from([0.5, 1.0, 3.0]) for name in ("a", "b", "unknown")})


def least_cost(automaton, word, costs):
    """Dijkstra over pairs of a place in the word and a state; infinite if nothing is accepted."""

    def price(label):
        return costs.get(*label, 1.0)

    queue, done = [(0.0, 0, 0)], set()
    while queue:
        cost, place, state = heapq.heappop(queue)
        if (place, state) in done:
            continue
        done.add((place, state))
        if place == len(word) and automaton.accepting[state]:
            return cost
        if place < len(word):
            heapq.heappush(queue, (cost + price(word[place]), place + 1, state))
            after = automaton.read(state, word[place])
            if after >= 0:
                heapq.heappush(queue, (cost, place + 1, after))
        for label in LABELS:
            after = automaton.read(state, label)
            if after >= 0:
                heapq.heappush(queue, (cost + price(label), place, after))
    return np.inf


@given(automata(), st.lists(words, min_size=1, max_size=4), prices)
def test_costs_are_those_of_a_plain_search_and_of_the_moves(automaton, some, costs):
    expected = [least_cost(automaton, word, costs) for word in some]
    if not np.isfinite(expected[0]):
        with pytest.raises(FailedRunError, match="accepts no word"):
            Aligner(automaton, LABELS, costs)
        return
    aligner = Aligner(automaton, LABELS, costs)
    assert aligner.measure(some)[0] == pytest.approx(expected)
    for word, cost, fitness in zip(some, expected, aligner.measure(some)[1], strict=True):
        found = aligner.align(word)
        assert (found.cost, found.fitness) == pytest.approx((cost, fitness))
        assert 0 <= fitness <= 1
        assert (fitness == 1) == automaton.accepts(word)
        assert tuple(move.label for move in found.moves if move.in_word) == word
        assert automaton.accepts(tuple(move.label for move in found.moves if move.in_model))
        assert sum(costs.get(*move.label, 1.0) for move in (*found.extra, *found.missing)) == pytest.approx(cost)
        assert all(word[move.place] == move.label for move in found.extra)


def test_an_alignment_says_what_is_extra_and_what_is_missing_and_where():
    chain = FiniteAutomaton(
        LABELS, np.array([[1, -1, -1], [-1, 2, -1], [-1, -1, 3], [-1, -1, -1]], np.int32), np.arange(4) == 3,
        np.eye(4)[3], (None,) * 4, keep_repeats=True,
    )  # fmt: skip
    found = Aligner.of(TaskModel.of_automaton(chain, "rule")).align(["a", "unknown", "c"])
    assert (found.cost, found.fitness) == (2, pytest.approx(1 - 2 / 6))
    assert [(str(move), move.place) for move in found.extra] == [("extra 'unknown'", 1)]
    assert [(str(move), move.place) for move in found.missing] == [("missing 'b'", 2)]
    assert Aligner.of(TaskModel.of_automaton(chain, "rule"), {"b": 0.25}).align(["a", "c"]).cost == 0.25


def test_a_cost_that_is_none_is_refused():
    everything = FiniteAutomaton(LABELS, np.zeros((1, 3), np.int32), np.ones(1, bool), np.ones(1), (None,))
    with pytest.raises(BadInputError, match="the cost of 'a' is 0"):
        Aligner(everything, LABELS, {"a": 0})
