"""Laws of spectral learning; Theorem 1 of the paper first."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_automata import product_of_matrices
from strategies_automata import random_automaton, random_word, seeds, words

from wfairl.automata.hankel import blocks_from_function
from wfairl.automata.spectral import SpectralLearner, assemble, factorise


def basis_of(rng, automaton, size):
    """Enough random words that the block has the rank of the automaton."""
    return [()] + [random_word(rng, automaton.alphabet, 5) for _ in range(size)]


@pytest.mark.parametrize("rank", range(1, 13))
@pytest.mark.parametrize("labels", [1, 2, 4, 8])
def test_exact_blocks_give_back_the_values_of_unseen_words(rank, labels):
    rng = np.random.default_rng([rank, labels])
    truth = random_automaton(rng, rank, labels)
    if labels == 1:  # words differ only in length: the basis must hold all of them
        basis = [truth.alphabet * length for length in range(rank + 2)]
        truth = type(truth)(truth.alphabet, np.ones(rank), np.ones(rank), [np.diag(np.linspace(-1, 1, rank))])
    else:
        basis = basis_of(rng, truth, 12 * rank)
    blocks = blocks_from_function(truth.value, truth.alphabet, basis, basis)
    factors = factorise(blocks.block, None, 1e-10)
    learned = assemble(blocks, factors, truth.alphabet)
    assert learned.rank == truth.minimal().rank
    unseen = [random_word(rng, truth.alphabet, 12) for _ in range(100)]
    expected = np.array([product_of_matrices(truth, word) for word in unseen])
    assert np.abs(learned.values(unseen) - expected).max() <= 1e-8 * np.abs(expected).max()


@given(
    st.dictionaries(words, st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=8).filter(lambda d: any(d.values()))
)
@settings(max_examples=50, deadline=None)
def test_the_full_basis_reproduces_every_score(scored):
    learner = SpectralLearner().fit(list(scored), list(scored.values()))
    assert np.allclose(learner.predict(list(scored)), list(scored.values()), atol=1e-9)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_the_value_of_a_word_is_its_mean_score(seed):
    rng = np.random.default_rng(seed)
    word = (frozenset("a"), frozenset("b"))
    scores = rng.random(5)
    assert np.isclose(SpectralLearner().fit([word] * 5, scores).predict([word])[0], scores.mean())
