"""Laws of weighted automata."""

import base64
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_automata import change_basis, product_of_matrices
from strategies_automata import random_automaton, random_word, seeds

from wfairl.core.automata.weighted import WeightedAutomaton, span_of_products
from wfairl.core.support.errors import BadInputError

sizes = st.integers(1, 5)


def draw(seed, rank, labels):
    rng = np.random.default_rng(seed)
    automaton = random_automaton(rng, rank, labels)
    return rng, automaton, [random_word(rng, automaton.alphabet, 8) for _ in range(20)]


@given(seeds, sizes, sizes)
@settings(max_examples=30)
def test_values_are_products_of_matrices(seed, rank, labels):
    _, automaton, words = draw(seed, rank, labels)
    words.append((frozenset({"never seen"}),))
    expected = [product_of_matrices(automaton, word) for word in words]
    assert np.allclose(automaton.values(words), expected)
    assert np.allclose([automaton.value(word) for word in words], expected)


@given(seeds, sizes, sizes)
@settings(max_examples=30)
def test_a_change_of_basis_leaves_values_alone(seed, rank, labels):
    rng, automaton, words = draw(seed, rank, labels)
    basis = np.linalg.qr(rng.normal(size=(rank, rank)))[0] * rng.uniform(0.5, 2, size=rank)
    assert np.allclose(change_basis(automaton, basis).values(words), automaton.values(words))


def test_products_that_vanish_to_rounding_are_no_new_directions():
    label = frozenset("a")
    basis = np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))[0]
    chain = change_basis(WeightedAutomaton((label,), np.eye(4)[0], np.eye(4)[3], np.eye(4, k=1)[None]), basis)
    assert len(span_of_products(chain.initial, chain.transitions, 1e-10)) == 4
    assert len(span_of_products(np.zeros(4), chain.transitions, 1e-10)) == 0


@given(seeds, sizes, sizes)
@settings(max_examples=20)
def test_json_keeps_every_bit(seed, rank, labels):
    _, automaton, words = draw(seed, rank, labels)
    again = WeightedAutomaton.from_document(json.loads(json.dumps(automaton.to_document())))
    assert again.alphabet == automaton.alphabet
    assert (again.values(words) == automaton.values(words)).all()


def test_many_weights_are_packed_and_keep_every_bit():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(3, 100, 100))
    automaton = WeightedAutomaton((frozenset(), frozenset("a"), frozenset("b")), weights[0, 0], weights[1, 0], weights)
    document = json.loads(json.dumps(automaton.to_document()))
    assert np.frombuffer(base64.b64decode(document["transitions"]), "<f8").tolist() == weights.ravel().tolist()
    assert (WeightedAutomaton.from_document(document).transitions == weights).all()


@pytest.mark.parametrize(
    "change",
    [
        {"initial": None},
        {"initial": [1, 2, 3]},
        {"final": ["a", "b"]},
        {"final": [1, float("nan")]},
        {"transitions": [[[1]]]},
        {"transitions": "AAAAAAAA8D8="},
        {"transitions": "AAA"},
        {"transitions": "\u00bd" * 88},
        {"transitions": base64.b64encode(np.full(8, np.nan).tobytes()).decode()},
        {"alphabet": "ab"},
        {"alphabet": [["a"], ["a"]]},
        {"alphabet": [[1], ["b"]]},
    ],
)
def test_a_broken_document_is_a_named_error(change):
    _, automaton, _ = draw(0, 2, 2)
    document = automaton.to_document() | change
    with pytest.raises(BadInputError):
        WeightedAutomaton.from_document({key: value for key, value in document.items() if value is not None})
