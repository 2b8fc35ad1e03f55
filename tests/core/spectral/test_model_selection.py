"""Laws of the choice of rank and basis."""

import numpy as np
import pytest
from strategies_automata import random_word

from wfairl.core.automata.words import BadWordsError
from wfairl.core.spectral.model_selection import PAPER_PRESETS, SpectralSetting, leading_part, preset, select_setting
from wfairl.core.spectral.spectral_learner import SpectralLearner
from wfairl.core.support.errors import BadInputError

LABELS = (frozenset("a"), frozenset("b"))


def scored_sample(rng, size):
    """Words of three labels, scored by whether `a` occurs an even number of times; rank 2 on them with zeros."""
    words = [random_word(rng, LABELS, 4) for _ in range(size)]
    return words, [float(word.count(LABELS[0]) % 2 == 0) for word in words]


def test_the_leading_part_is_what_a_lower_rank_learns():
    words, scores = scored_sample(np.random.default_rng(0), 80)
    full = SpectralLearner().fit(words, scores).automaton_
    for rank in range(1, full.rank):
        cut = SpectralLearner(rank=rank).fit(words, scores).automaton_
        assert np.allclose(leading_part(full, rank).values(words), cut.values(words), atol=1e-8)


def test_the_choice_is_the_smallest_within_the_tolerance_of_the_best():
    words, scores = scored_sample(np.random.default_rng(1), 200)
    selection = select_setting(words, scores, np.random.default_rng(0), tolerance=0.01)
    good = [c.setting for c in selection.candidates if c.held_out_loss <= selection.best + 0.01]
    assert selection.chosen in good
    assert selection.chosen.rank == min(setting.rank for setting in good)
    assert selection.best == min(c.held_out_loss for c in selection.candidates)
    assert selection.best < np.var(scores)


def test_held_out_losses_are_those_of_a_plain_cross_validation():
    words, scores = scored_sample(np.random.default_rng(2), 40)
    selection = select_setting(words, scores, np.random.default_rng(3), bases=[(None, None)], folds=2, max_rank=3)
    assert len(selection.candidates) == 3
    shuffled = np.random.default_rng(3).permutation(len(words))
    order = sorted(shuffled, key=lambda i: scores[i] == 0)
    folds = {i: place % 2 for place, i in enumerate(order)}
    for candidate in selection.candidates:
        squares = []
        for fold in (0, 1):
            inside = [i for i in range(len(words)) if folds[i] != fold]
            learner = SpectralLearner(rank=candidate.setting.rank)
            learner.fit([words[i] for i in inside], [scores[i] for i in inside])
            squares += [(learner.predict([words[i]])[0] - scores[i]) ** 2 for i in folds if folds[i] == fold]
        assert candidate.held_out_loss == pytest.approx(np.mean(squares), abs=1e-8)


def test_the_same_seed_gives_the_same_choice():
    words, scores = scored_sample(np.random.default_rng(4), 60)
    assert select_setting(words, scores, np.random.default_rng(5)) == select_setting(
        words, scores, np.random.default_rng(5)
    )


def test_one_success_cannot_be_held_out():
    with pytest.raises(BadWordsError, match="full basis"):
        select_setting([LABELS, LABELS[:1]], [1.0, 0.0], np.random.default_rng(0))


def test_bases_too_short_for_every_word_are_refused():
    words = [LABELS * 3, LABELS[::-1] * 3, LABELS[:1] * 6, LABELS[1:] * 6]
    with pytest.raises(BadWordsError, match="no word is short enough"):
        select_setting(words, [1, 1, 1, 0], np.random.default_rng(0), bases=[(1, 1)])


def test_presets_are_the_settings_of_the_paper():
    assert preset("doorkey-d1") == SpectralSetting(5, 4, 4)
    assert preset("blocked-unlock-pickup-d2") == SpectralSetting(11, 6, 7)
    assert len(PAPER_PRESETS) == 6
    with pytest.raises(BadInputError, match="multiroom-d1"):
        preset("mountain-car")


def test_progress_is_shown_for_every_fit():
    words, scores = scored_sample(np.random.default_rng(6), 40)
    seen = []

    def track(jobs, description, total):
        seen.append((description, total))
        return jobs

    select_setting(words, scores, np.random.default_rng(0), bases=[(1, 1), (2, 2)], folds=4, track=track)
    assert seen == [("choosing rank and basis", 8)]


def test_whatever_could_be_chosen_can_be_learned_from_all_words():
    """Some of the words may have a higher rank than all of them."""
    words, scores = scored_sample(np.random.default_rng(4), 30)
    selection = select_setting(words, scores, np.random.default_rng(0))
    for candidate in selection.candidates:
        setting = candidate.setting
        learned = SpectralLearner(rank=setting.rank, rows=setting.rows, cols=setting.cols).fit(words, scores)
        assert learned.automaton_.rank == setting.rank
    assert len({candidate.setting.rank for candidate in selection.candidates}) > 2
