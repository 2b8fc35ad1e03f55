"""Laws of spectral learning; Theorem 1 of the paper first."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_automata import exact_blocks, product_of_matrices
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from strategies_automata import random_automaton, random_word, seeds, words

from wfairl.core.spectral.spectral_learner import SpectralLearner, assemble, factorise
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import FailedRunError, WfairlError


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
        basis = basis_of(rng, truth, 2 * rank + 4)
    blocks = exact_blocks(truth, basis, basis)
    learned = assemble(blocks, *factorise(blocks.block, None), truth.alphabet)
    assert learned.rank == rank
    unseen = [random_word(rng, truth.alphabet, 12) for _ in range(100)]
    expected = np.array([product_of_matrices(truth, word) for word in unseen])
    assert np.abs(learned.values(unseen) - expected).max() <= 1e-8 * np.abs(expected).max()


@given(
    st.dictionaries(words, st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=8).filter(lambda d: any(d.values()))
)
@settings(max_examples=50)
def test_the_full_basis_reproduces_every_score(scored):
    learner = SpectralLearner().fit(list(scored), list(scored.values()))
    assert np.allclose(learner.predict(list(scored)), list(scored.values()), atol=1e-9)


@given(seeds)
@settings(max_examples=20)
def test_the_value_of_a_word_is_its_mean_score(seed):
    rng = np.random.default_rng(seed)
    word = (frozenset("a"), frozenset("b"))
    scores = rng.random(5)
    assert np.isclose(SpectralLearner().fit([word] * 5, scores).predict([word])[0], scores.mean())


def test_a_truncated_decomposition_agrees_with_a_dense_one():
    rng = np.random.default_rng(6)
    block = rng.normal(size=(60, 4)) @ np.diag([4.0, 3.0, 2.0, 1.0]) @ rng.normal(size=(4, 80))
    block += 1e-3 * rng.normal(size=block.shape)
    (left, values, right), dense = factorise(csr_array(block), 4), np.linalg.svd(block, full_matrices=False)
    assert np.allclose(values, dense[1][:4])
    rebuilt = left * values @ right.T
    assert np.allclose(rebuilt, dense[0][:, :4] * dense[1][:4] @ dense[2][:4])


def test_the_dominant_word_of_doorkey_has_the_rank_of_the_paper():
    word = (frozenset(), frozenset({"key"}), frozenset({"key", "door"}), frozenset({"key", "door", "goal"}))
    learner = SpectralLearner().fit([word] * 32 + [word[:2]] * 128, [1.0] * 32 + [0.0] * 128)
    assert (learner.automaton_.rank, learner.rows_, learner.cols_) == (5, 4, 4)
    assert learner.condition_ == pytest.approx(1.0)


def test_it_is_an_estimator_of_scikit_learn():
    rng = np.random.default_rng(7)
    alphabet = (frozenset("a"), frozenset("b"))
    sample = [random_word(rng, alphabet, 3) for _ in range(60)]
    scores = [float(word[:1] == alphabet[:1]) for word in sample]
    twin = clone(SpectralLearner(rank=3, rows=2))
    assert twin.get_params()["rank"] == 3
    search = GridSearchCV(SpectralLearner(), {"rank": [1, 2], "rows": [2, None]}, cv=3).fit(sample, scores)
    assert (
        search.best_score_ > GridSearchCV(SpectralLearner(), {"rank": [1]}, cv=3).fit(sample, scores).best_score_ - 1e-9
    )
    assert set(search.best_params_) == {"rank", "rows"}
    assert search.predict(sample).shape == (60,)


A, B = (frozenset("a"),), (frozenset("b"),)


@pytest.mark.parametrize(
    ("fit", "reason"),
    [
        (lambda: SpectralLearner().fit([], []), "no words"),
        (lambda: SpectralLearner().fit([A], [1.0, 2.0]), "as many scores"),
        (lambda: SpectralLearner().fit([A, B], [1.0, np.nan]), "score of word 1 is nan"),
        (lambda: SpectralLearner().fit([A, B], [np.inf, 0.0]), "score of word 0 is inf"),
        (lambda: SpectralLearner().fit([A, B], [0.0, 0.0]), "at least one success"),
        (lambda: SpectralLearner().fit([A, A], [1.0, -1.0]), "cancel out"),
        (lambda: SpectralLearner(rank=0).fit([A], [1.0]), "rank is 0"),
        (lambda: SpectralLearner(rank=9).fit([A], [1.0]), "rank 2, less than the rank 9"),
        (lambda: SpectralLearner(rows=0, cols=0).fit([A * 5], [1.0]), "raise rows and cols"),
        (lambda: SpectralLearner(rows=-1).fit([A], [1.0]), "rows is -1"),
    ],
)
def test_bad_input_is_a_named_error_with_advice(fit, reason):
    with pytest.raises(WfairlError, match=reason):
        fit()


def test_one_word_is_learned():
    assert SpectralLearner().fit([A + B], [1.0]).predict([A + B, A, B, ()]) == pytest.approx([1, 0, 0, 0])


def test_equal_scores_make_a_constant_on_the_words_seen():
    assert SpectralLearner().fit([A, B, ()], [2.0] * 3).predict([A, B, (), A + B]) == pytest.approx([2, 2, 2, 0])


def test_rows_longer_than_any_word_are_no_limit():
    limited = SpectralLearner(rows=50, cols=50).fit([A, A + B], [1.0, 0.5])
    assert limited.automaton_.rank == SpectralLearner().fit([A, A + B], [1.0, 0.5]).automaton_.rank
    assert (limited.rows_, limited.cols_) == (2, 2)


def test_a_label_never_seen_has_the_value_zero():
    assert SpectralLearner().fit([A], [1.0]).predict([(frozenset("z"),)]) == [0.0]


def test_a_block_too_large_for_an_automatic_rank_is_a_named_error(monkeypatch):
    monkeypatch.setattr("wfairl.core.spectral.spectral_learner.DENSE_LIMIT", 2)
    with pytest.raises(FailedRunError, match="limit the basis"):
        SpectralLearner().fit([A + B + A, B + B], [1.0, 1.0])


def test_an_automatic_rank_that_summarises_nothing_is_a_named_error(monkeypatch):
    monkeypatch.setattr("wfairl.core.spectral.spectral_learner.MAX_AUTOMATIC_RANK", 3)
    with pytest.raises(FailedRunError, match="need rank 4"):
        SpectralLearner().fit([A + B + A], [1.0])
    assert SpectralLearner(rank=4).fit([A + B + A], [1.0]).automaton_.rank == 4


def test_a_rule_that_only_memorises_is_said_as_the_words_that_succeeded():
    words = [("a", "b", "c"), ("c", "a", "b"), ("b", "a", "c", "a")]
    model = SpectralTaskLearner().fit(words * 2 + words[:1], [1.0] * 7).model
    assert model.sentences == (
        "one of the 3 words that succeeded, and no other (other learners generalise)",
        "3 of 7 successes are: a, then b, then c",
    )
    chain = SpectralTaskLearner().fit([("a", "b")] * 3, [1.0] * 3).model
    assert chain.sentences == ("the word a, then b, and no other (other learners generalise)",)
