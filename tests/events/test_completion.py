"""Half of the values of a function of low rank give the other half."""

from itertools import product as words_over

import numpy as np
import pytest
from strategies_automata import random_automaton

from wfairl.core.automata.corpus import encode
from wfairl.core.support.errors import BadInputError
from wfairl.events.completion import CompletionSettings, complete


def half_known(seed, rank, labels, longest):
    rng = np.random.default_rng(seed)
    target = random_automaton(rng, rank, labels)
    words = [word for length in range(longest + 1) for word in words_over(target.alphabet, repeat=length)]
    return target, words, target.values(words), rng.random(len(words)) < 0.5


@pytest.mark.parametrize(
    ("seed", "rank", "labels", "longest"), [(0, 2, 2, 6), (1, 3, 2, 7), (2, 3, 3, 5), (3, 4, 3, 5)]
)
def test_unknown_values_of_a_function_of_low_rank_are_found(seed, rank, labels, longest):
    target, words, values, known = half_known(seed, rank, labels, longest)
    seen = [word for word, is_known in zip(words, known, strict=True) if is_known]
    completion = complete(encode(seen, target.alphabet, values[known]), target.alphabet)
    errors = (completion.automaton.values(words) - values)[~known]
    assert np.mean(errors**2) < 1e-6 * np.mean(values[~known] ** 2)
    assert np.mean((completion.automaton.values(seen) - values[known]) ** 2) < 1e-6
    # Also beyond the table: words longer than any that was given.
    longer = [target.alphabet[:2] * longest, target.alphabet[-1:] * (longest + 2)]
    assert completion.automaton.values(longer) == pytest.approx(target.values(longer), abs=1e-4)


def test_noisy_values_are_smoothed_rather_than_memorised():
    target, words, values, known = half_known(4, 2, 2, 7)
    noise = 0.05 * np.random.default_rng(0).normal(size=len(values)) * np.abs(values).max()
    seen = [word for word, is_known in zip(words, known, strict=True) if is_known]
    completion = complete(encode(seen, target.alphabet, (values + noise)[known]), target.alphabet)
    errors = (completion.automaton.values(words) - values)[~known]
    assert np.mean(errors**2) < 0.1 * np.mean(values[~known] ** 2)


def test_a_rank_that_is_given_is_used_and_few_words_do_not_hurt():
    target, words, values, _ = half_known(5, 2, 2, 3)
    corpus = encode(words[:2], target.alphabet, values[:2])
    assert complete(corpus, target.alphabet, CompletionSettings(rank=2)).automaton.rank == 2
    assert complete(corpus, target.alphabet).automaton.rank == 1


def test_bad_settings_are_named():
    with pytest.raises(BadInputError, match="max_rank must be at least 1"):
        CompletionSettings(max_rank=0)
    with pytest.raises(BadInputError, match=r"^rank must be at least 1"):
        CompletionSettings(rank=0)
    with pytest.raises(BadInputError, match="held_out"):
        CompletionSettings(held_out=1)
