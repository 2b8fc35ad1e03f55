"""Laws of distributions over words: n-grams, smoothing, and maximum likelihood."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_automata import statistic_of
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
from wfairl.events.distributions.smoothing import SmoothedDistribution, choose_weight, fit_ngrams
from wfairl.events.distributions.spectral_distribution import SpectralDistributionLearner
from wfairl.events.distributions.spectral_start import spectral_start
from wfairl.events.distributions.statistics import Statistic, apply_statistic
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


@given(seeds, st.integers(1, 4))
@settings(max_examples=20)
def test_ngrams_are_a_distribution_over_the_next_label(seed, order):
    rng = np.random.default_rng(seed)
    words = [random_word(rng, LABELS, 4) for _ in range(10)]
    model = fit_ngrams(encode(words, LABELS), 2, order)
    for prefix in [random_word(rng, LABELS, 5) for _ in range(5)]:
        # The last entry is the end of the word; that of a longer word at this place, the next label.
        total = model.next_probabilities(encode([prefix], LABELS))[-1]
        for label in LABELS:
            total += model.next_probabilities(encode([(*prefix, label)], LABELS))[len(prefix)]
        assert total == pytest.approx(1.0)


def test_unigrams_are_smoothed_by_hand():
    words = [(LABELS[0],), (LABELS[0], LABELS[0])]
    found = fit_ngrams(encode(words, LABELS), 2, 1).next_probabilities(encode([LABELS], LABELS))
    assert found == pytest.approx([(3 + 2 / 3) / 7, (0 + 2 / 3) / 7, (2 + 2 / 3) / 7])  # 3 a, 0 b, 2 ends; 2 kinds


def test_an_order_that_does_not_fit_is_an_error():
    with pytest.raises(BadInputError, match="order"):
        fit_ngrams(encode([LABELS], LABELS), 2, 0)
    with pytest.raises(BadInputError, match="order"):
        fit_ngrams(encode([LABELS], LABELS), 10**6, 4)


@given(st.lists(words, min_size=1, max_size=8), st.sampled_from(list(Statistic)))
@settings(max_examples=60)
def test_statistics_count_words_prefixes_suffixes_and_factors(sample, statistic):
    corpus, alphabet = encode_all(sample)
    counted = apply_statistic(corpus, statistic, 4)
    found = dict(zip(spell(counted, alphabet), counted.weights / len(sample), strict=True))
    assert len(found) == len(counted)
    factors = {word[i:j] for word in sample for i in range(len(word) + 1) for j in range(i, len(word) + 1)}
    for factor in factors:
        expected = statistic_of(sample, statistic, factor) if len(factor) <= 4 else 0.0
        assert np.isclose(found.get(factor, 0.0), expected)


@pytest.mark.parametrize("statistic", ["word", "prefix", "suffix", "factor"])
def test_every_statistic_with_the_full_basis_gives_the_word_frequencies(statistic):
    rng = np.random.default_rng(5)
    alphabet = (frozenset("a"), frozenset("b"))
    sample = [random_word(rng, alphabet, 4) for _ in range(200)]
    learner = SpectralDistributionLearner(statistic=statistic).fit(sample)
    seen = sorted(set(sample), key=repr)
    assert np.allclose(learner.predict(seen), [sample.count(word) / 200 for word in seen], atol=1e-9)


def test_an_unknown_statistic_is_an_error_that_names_them():
    with pytest.raises(BadInputError, match="'letter'; it must be one of word"):
        SpectralDistributionLearner(statistic="letter").fit([LABELS])


def test_smoothing_a_distribution_with_a_distribution_gives_a_distribution():
    rng = np.random.default_rng(3)
    source = random_source(rng)
    ngrams = fit_ngrams(encode(draw_words(rng, source, 100), LABELS), 2, 2)
    logarithms = SmoothedDistribution(source, ngrams, 0.3).log_probabilities(encode(all_words(12), LABELS))
    assert 0.97 < np.exp(logarithms).sum() <= 1 + 1e-9


def test_a_smoothed_automaton_excludes_no_word():
    rng = np.random.default_rng(3)
    sample = draw_words(rng, random_source(rng), 300)
    learner = SpectralDistributionLearner(rank=3, rows=3, cols=3, statistic="prefix", smoothing=2).fit(sample)
    words = all_words(8)
    values = learner.automaton_.values(words)
    assert (values <= 0).any()
    assert (learner.predict(words) > 0).all()
    assert learner.log_probability([(frozenset("z"),)]) == [-np.inf]
    assert learner.log_probability([LABELS * 2_000]) > -np.inf
    assert learner.score(sample) == pytest.approx(learner.log_probability(sample).mean())


def test_the_weight_of_smoothing_is_the_best_on_held_out_words():
    rng = np.random.default_rng(4)
    source = random_source(rng)
    sample, held_out = draw_words(rng, source, 50), encode(draw_words(rng, source, 200), LABELS)
    ngrams = fit_ngrams(encode(sample, LABELS), 2, 3)
    weight = choose_weight(source, ngrams, held_out)

    def likelihood(weight):
        return SmoothedDistribution(source, ngrams, weight).log_probabilities(held_out).sum()

    assert weight < 0.5
    assert likelihood(weight) > likelihood(1.0)


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
