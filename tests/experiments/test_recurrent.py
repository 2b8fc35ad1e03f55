"""Laws of the recurrent learner."""

from itertools import product

import numpy as np
import pytest
import torch
from torch import nn

from experiments.baselines.recurrent import (
    Batch,
    RecurrentLearner,
    RecurrentNetwork,
    TrainingWords,
    batch_loss,
    split,
)
from wfairl.core.automata.word_corpus import build_prefix_tree, encode
from wfairl.core.automata.words import BadWordsError
from wfairl.core.costs.epochs import DivergedError
from wfairl.core.support.errors import BadInputError

A, B = frozenset({"a"}), frozenset({"b"})
ALL_WORDS = [word for length in range(6) for word in product((A, B), repeat=length)]


def ends_in_b_after_an_a(word):
    return bool(word) and word[-1] == B and A in word


SCORES = [float(ends_in_b_after_an_a(word)) for word in ALL_WORDS]


@pytest.fixture(scope="module")
def trained():
    return RecurrentLearner(hidden=16, embedding=8).fit(ALL_WORDS, SCORES)


def test_a_small_regular_language_is_learned_and_goes_on_in_longer_words(trained):
    assert ((trained.values(ALL_WORDS) >= 0.5) == np.array(SCORES, bool)).all()
    longer = list(product((A, B), repeat=7))
    right = (trained.values(longer) >= 0.5) == [ends_in_b_after_an_a(word) for word in longer]
    assert right.mean() > 0.95
    assert np.mean((trained.values(ALL_WORDS) - SCORES) ** 2) < 0.01


def test_the_same_seed_gives_the_same_network_and_another_one_another():
    first, again, other = (
        RecurrentLearner(hidden=16, embedding=8, max_epochs=10, seed=seed).fit(ALL_WORDS, SCORES).values(ALL_WORDS)
        for seed in (0, 0, 1)
    )
    assert (again == first).all()
    assert not (other == first).all()


def test_learning_leaves_the_generators_of_others_and_the_threads_alone():
    before = torch.get_rng_state(), np.random.get_state()[1], torch.get_num_threads()  # noqa: NPY002
    RecurrentLearner(max_epochs=2).fit(ALL_WORDS, SCORES)
    assert (torch.get_rng_state() == before[0]).all()
    assert (np.random.get_state()[1] == before[1]).all()  # noqa: NPY002
    assert torch.get_num_threads() == before[2]


def test_repeated_words_count_as_often_as_they_are_repeated():
    """Two words three and one times over, all at once, and the plain mean over the four."""
    words, scores = [(A,), (A,), (A,), (A, B)], np.array([1.0, 0.0, 1.0, 1.0])
    trained = RecurrentLearner(held_out=0, max_epochs=1).fit(words, scores)
    batch = Batch.of(encode(words, trained.alphabet, scores))
    assert sorted(batch.weights.tolist()) == [1, 3]
    values, means = trained.values(words), np.array([2 / 3, 2 / 3, 2 / 3, 1.0])
    expected = np.mean(-means * np.log(values) - (1 - means) * np.log1p(-values))
    assert batch_loss(trained.network, batch).item() == pytest.approx(expected, rel=1e-5)
    thrice = RecurrentLearner(held_out=0, max_epochs=20).fit(words * 3, [*scores] * 3)
    once = RecurrentLearner(held_out=0, max_epochs=20).fit(words, scores)
    assert thrice.values(words) == pytest.approx(once.values(words), abs=1e-5)


def test_the_order_of_the_words_does_not_matter_without_held_out_ones():
    order = np.random.default_rng(3).permutation(len(ALL_WORDS))
    learner = RecurrentLearner(held_out=0, max_epochs=10)
    shuffled = learner.fit([ALL_WORDS[i] for i in order], [SCORES[i] for i in order])
    assert shuffled.values(ALL_WORDS) == pytest.approx(learner.fit(ALL_WORDS, SCORES).values(ALL_WORDS), abs=1e-5)


def test_the_tree_of_prefixes_gives_what_torchs_own_unit_gives_word_by_word():
    network = RecurrentNetwork(2, 3, 5, np.random.default_rng(0))
    unit = nn.GRU(3, 5, batch_first=True)
    with torch.no_grad():
        unit.weight_ih_l0.copy_(network.input_weights)
        unit.weight_hh_l0.copy_(network.state_weights)
        unit.bias_ih_l0.copy_(network.input_bias)
        unit.bias_hh_l0.copy_(network.state_bias)
        tree = build_prefix_tree(encode(ALL_WORDS, (A, B)))
        outputs = network(tree)[torch.from_numpy(tree.ends)]
        for word, output in zip(ALL_WORDS, outputs, strict=True):
            state = network.initial[None, None]
            if word:
                symbols = torch.tensor([int(label == B) for label in word])
                _, state = unit(network.embedding[symbols][None], state)
            expected = state[0, 0] @ network.final + network.final_bias
            assert float(output) == pytest.approx(float(expected), abs=1e-5)


def test_beginnings_of_words_fail_only_where_nothing_else_is_known():
    corpus = encode([(A, B, A), (A, B), (A, B)], (A, B), np.array([1.0, 1.0, 0.0]))
    without, with_them = Batch.of(corpus), Batch.of(TrainingWords.of(corpus).whole)
    assert (without.scores.tolist(), without.weights.tolist()) == ([0.5, 1.0], [2.0, 1.0])
    assert (with_them.scores.tolist(), with_them.weights.tolist()) == ([0, 0, 0.5, 1.0], [3.0, 3.0, 2.0, 1.0])


def test_a_beginning_that_is_a_word_elsewhere_does_not_fail_where_words_are_held_out():
    """The success a b is learned, and a b a, which begins so, is held out: a b is no failure there."""
    corpus = encode([(A, B, A), (A, B)], (A, B), np.array([1.0, 1.0]))
    learned, judged = TrainingWords.of(corpus).split(np.array([0]))
    assert Batch.of(judged).scores.tolist() == [0, 0, 1]  # nothing, a, and a b a
    assert Batch.of(learned).scores.tolist() == [0, 0, 1]  # nothing, a, and a b


def test_a_word_with_a_label_never_seen_has_the_value_zero(trained):
    values = trained.values([(A, B), (A, frozenset({"c"}), B), (frozenset(),)])
    assert values[0] > 0.5
    assert (values[1:] == 0).all()
    assert trained.values([]).shape == (0,)


def test_training_needs_no_held_out_words():
    values = RecurrentLearner(max_epochs=3, held_out=0).fit(ALL_WORDS, SCORES).values(ALL_WORDS)
    assert ((values > 0) & (values < 1)).all()


@pytest.mark.parametrize(("successes", "failures", "expected"), [(10, 20, 6), (2, 2, 0), (5, 0, 0), (0, 50, 10)])
def test_a_share_of_successes_and_of_failures_is_held_out_and_never_all(successes, failures, expected):
    scores = np.array([1.0] * successes + [0.0] * failures)
    held_out = split(scores, 0.2, np.random.default_rng(0))
    assert len(held_out) == expected
    assert np.count_nonzero(scores[held_out]) == (round(0.2 * successes) if expected else 0)
    assert len(split(np.ones(4), 0.99, np.random.default_rng(0))) == 3


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"hidden": 0}, "hidden must be at least 1"),
        ({"held_out": 1.0}, "held_out must be"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_bad_settings_are_named(settings, reason):
    with pytest.raises(BadInputError, match=reason):
        RecurrentLearner(**settings)


def test_words_that_cannot_be_learned_are_named():
    for words, scores, reason in [
        ([], [], "no words"),
        ([(A,)], [0.0], "every score is 0"),
        ([(A,)], [2.0], "between 0 and 1"),
    ]:
        with pytest.raises(BadWordsError, match=reason):
            RecurrentLearner().fit(words, scores)


def test_a_loss_that_runs_away_is_a_failed_run_with_advice():
    with pytest.raises(DivergedError, match="lower the learning rate"):
        RecurrentLearner(held_out=0, learning_rate=3e37).fit([(A,), (A,)], [1.0, 0.0])
