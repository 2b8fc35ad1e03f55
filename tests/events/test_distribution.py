"""Laws of distributions over words."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies_automata import random_word, seeds, spell, words

from wfairl.core.automata.weighted import WeightedAutomaton
from wfairl.core.automata.word_corpus import encode, encode_all
from wfairl.core.automata.words import BadWordsError
from wfairl.core.support.errors import BadInputError
from wfairl.events.distributions.baum_welch import (
    build_sample_tree,
    expect,
    maximise,
    mean_log_probability,
    refine,
    word_log_probabilities,
)
from wfairl.events.distributions.distribution import DistributionLearner, mean_of
from wfairl.events.distributions.pautomac import read_pautomac, read_pautomac_solution
from wfairl.events.distributions.spectral_start import count_factors, spectral_start
from wfairl.events.scored_words import MalformedWordsError

LABELS = (frozenset("a"), frozenset("b"))


def random_source(rng, states=3, labels=LABELS):
    """A probabilistic automaton whose words end soon."""
    weights = rng.random((states, len(labels) * states + 1))
    weights /= weights.sum(axis=1, keepdims=True)
    stops = 0.4 * weights[:, -1] + 0.3
    transitions = weights[:, :-1] / weights[:, :-1].sum(axis=1, keepdims=True) * (1 - stops)[:, None]
    return WeightedAutomaton(
        labels,
        rng.dirichlet(np.ones(states)),
        stops,
        transitions.reshape(states, len(labels), states).transpose(1, 0, 2),
    )


def draw_words(rng, source, count):
    words = []
    for _ in range(count):
        state, word = rng.choice(source.rank, p=source.initial), []
        while rng.random() > source.final[state]:
            moves = source.transitions[:, state, :].ravel()
            move = rng.choice(len(moves), p=moves / moves.sum())
            word.append(source.alphabet[move // source.rank])
            state = move % source.rank
        words.append(tuple(word))
    return words


def all_words(longest, labels=LABELS):
    return [word for length in range(longest + 1) for word in product(labels, repeat=length)]


def expected_uses_by_paths(source, words):
    """Sum over all paths of states, weighted by their share of the probability of the word."""
    initial, final = np.zeros(source.rank), np.zeros(source.rank)
    transitions = np.zeros_like(source.transitions)
    for word in words:
        symbols = [source.alphabet.index(label) for label in word]
        paths = {}
        for path in product(range(source.rank), repeat=len(word) + 1):
            weight = source.initial[path[0]] * source.final[path[-1]]
            for t, symbol in enumerate(symbols):
                weight *= source.transitions[symbol, path[t], path[t + 1]]
            paths[path] = weight
        for path, weight in paths.items():
            share = weight / sum(paths.values())
            initial[path[0]] += share
            final[path[-1]] += share
            for t, symbol in enumerate(symbols):
                transitions[symbol, path[t], path[t + 1]] += share
    return initial, final, transitions


@given(seeds)
@settings(max_examples=15)
def test_expected_uses_are_those_of_all_paths(seed):
    rng = np.random.default_rng(seed)
    source = random_source(rng)
    words = [random_word(rng, LABELS, 4) for _ in range(6)]
    uses = expect(source, build_sample_tree(encode(words, LABELS), 2))
    initial, final, transitions = expected_uses_by_paths(source, words)
    assert np.allclose(uses.initial, initial)
    assert np.allclose(uses.final, final)
    assert np.allclose(uses.transitions, transitions)


@given(seeds)
@settings(max_examples=15)
def test_an_iteration_never_lowers_the_likelihood(seed):
    rng = np.random.default_rng(seed)
    sample = build_sample_tree(encode(draw_words(rng, random_source(rng), 40), LABELS), 2)
    automaton = random_source(rng)
    for _ in range(5):
        before = mean_log_probability(automaton, sample)
        automaton = maximise(expect(automaton, sample), LABELS, pseudocount=0.0)
        assert mean_log_probability(automaton, sample) >= before - 1e-9


def test_refinement_stops_when_held_out_words_gain_nothing():
    rng = np.random.default_rng(1)
    words = draw_words(rng, random_source(rng), 60)
    learned, held_out = (build_sample_tree(encode(part, LABELS), 2) for part in (words[:40], words[40:]))
    result = refine(random_source(rng, 8), learned, held_out, iterations=200)
    assert result.iterations < 200
    assert result.held_out == pytest.approx(mean_log_probability(result.automaton, held_out))


def test_log_probabilities_of_long_words_do_not_underflow():
    source = random_source(np.random.default_rng(2))
    word = LABELS * 2_000
    logarithm = word_log_probabilities(source, encode([word], LABELS))[0]
    assert -np.inf < logarithm < -1_000
    assert np.exp(word_log_probabilities(source, encode([LABELS], LABELS))) == pytest.approx(source.values([LABELS]))


@given(st.lists(words, min_size=1, max_size=8))
@settings(max_examples=60)
def test_factors_are_counted_up_to_a_length(sample):
    corpus, alphabet = encode_all(sample)
    counted = count_factors(corpus, 4)
    expected = Counter(
        word[i:j] for word in sample for i in range(len(word) + 1) for j in range(i, min(i + 4, len(word)) + 1)
    )
    assert len(counted) == len(expected)
    assert dict(zip(spell(counted, alphabet), counted.weights, strict=True)) == expected


@given(seeds, st.integers(1, 6))
@settings(max_examples=15)
def test_the_spectral_start_is_a_probabilistic_automaton(seed, states):
    rng = np.random.default_rng(seed)
    corpus, alphabet = encode_all(draw_words(rng, random_source(rng), 50))
    start = spectral_start(corpus, alphabet, states, rng)
    assert 1 <= start.rank <= states
    assert start.initial.sum() == pytest.approx(1.0)
    assert start.final + start.transitions.sum(axis=(0, 2)) == pytest.approx(np.ones(start.rank))
    assert min(start.initial.min(), start.final.min(), start.transitions.min()) > 0


def test_a_distribution_is_learned_without_any_setting():
    rng = np.random.default_rng(6)
    source = random_source(rng)
    sample, fresh = draw_words(rng, source, 3_000), draw_words(rng, source, 1_000)
    learner = DistributionLearner(sizes=(2, 4, 8), folds=3).fit(sample)
    best = np.log(source.values(fresh)).mean()
    assert best - 0.02 < learner.score(fresh)
    assert learner.states_ in (2, 4, 8)
    assert set(learner.held_out_) <= {2, 4, 8}
    assert learner.automaton_.values(fresh) == pytest.approx(learner.predict(fresh))
    again = DistributionLearner(sizes=(2, 4, 8), folds=3).fit(sample)
    assert (again.predict(fresh) == learner.predict(fresh)).all()


def test_the_mean_of_automata_has_their_mean_value():
    rng = np.random.default_rng(7)
    members = [random_source(rng, states) for states in (1, 2, 3)]
    words = all_words(4)
    assert mean_of(members).values(words) == pytest.approx(np.mean([m.values(words) for m in members], axis=0))


@pytest.mark.parametrize(
    ("learner", "words"),
    [(DistributionLearner(), []), (DistributionLearner(folds=1), [LABELS] * 5), (DistributionLearner(), [LABELS] * 3)],
)
def test_too_few_words_are_a_named_error(learner, words):
    with pytest.raises(BadWordsError, match="folds"):
        learner.fit(words)


def test_sizes_must_be_positive():
    with pytest.raises(BadInputError, match="sizes"):
        DistributionLearner(sizes=(0,)).fit([LABELS] * 9)


def test_pautomac_files_are_read(tmp_path):
    (tmp_path / "p.train").write_text("3 2\n2 0 1\n0\n1 1\n")
    zero, one = frozenset({"0"}), frozenset({"1"})
    assert read_pautomac(tmp_path / "p.train").words == ((zero, one), (), (one,))
    (tmp_path / "p.solution").write_text("2\n0.25\n1e-3\n")
    assert read_pautomac_solution(tmp_path / "p.solution").tolist() == [0.25, 0.001]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("3\n", "header"),
        ("2 2\n1 0\n", "promises 2 words"),
        ("1 2\n2 0\n", "line 2: 1 labels where 2"),
        ("1 2\n1 5\n", "line 2: a label outside"),
        ("1 2\n1 x\n", "line 2: not a list of whole numbers"),
    ],
)
def test_a_broken_pautomac_file_is_an_error(tmp_path, text, reason):
    (tmp_path / "p.train").write_text(text)
    with pytest.raises(MalformedWordsError, match=reason):
        read_pautomac(tmp_path / "p.train")
