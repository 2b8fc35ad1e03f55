"""The statistics of comparisons, held against brute force and SciPy's own bootstrap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import bootstrap, mannwhitneyu

from wfairl.core.planning import RandomPolicy, expert_policy
from wfairl.core.runs import evaluate
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task_registry import find_task
from wfairl.pages.policy_comparison import compare_costs, compare_evaluations, compare_scores, interquartile_mean

LEVELS = st.sampled_from([0.0, 0.25, 0.5, 1.0])  # few, so that there are ties


@st.composite
def matrices(draw):
    """Scores of two policies in one or two tasks, [training seeds, scenes], the same scenes for both."""
    ours, others = [], []
    for _ in range(draw(st.integers(1, 2))):
        scenes = draw(st.integers(1, 6))
        for scores in (ours, others):
            scores.append(draw(arrays(np.float64, (draw(st.integers(1, 3)), scenes), elements=LEVELS)))
    return ours, others


@given(matrices())
def test_the_probability_of_improvement_is_the_published_one(scores):
    """Definition of rliable: over all pairs of runs of a task (here a scene), 1 if ours is better, 1/2 for a tie."""
    ours, others = scores
    by_scene = []
    for one, other in zip(ours, others, strict=True):
        for scene in range(one.shape[1]):
            wins = [1.0 if x > y else 0.5 if x == y else 0.0 for x in one[:, scene] for y in other[:, scene]]
            by_scene.append(sum(wins) / len(wins))
            statistic = mannwhitneyu(one[:, scene], other[:, scene], method="asymptotic").statistic
            assert by_scene[-1] == pytest.approx(statistic / len(wins))
    found = compare_scores(ours, others, resamples=20).improvement
    assert found.value == pytest.approx(np.mean(by_scene))


@given(matrices())
def test_the_difference_is_that_of_the_means_in_each_scene_and_turns_around_with_the_policies(scores):
    ours, others = scores
    gaps = [gap for one, other in zip(ours, others, strict=True) for gap in one.mean(axis=0) - other.mean(axis=0)]
    forth, back = compare_scores(ours, others, resamples=20), compare_scores(others, ours, resamples=20)
    assert forth.difference.value == pytest.approx(np.mean(gaps))
    assert back.difference.value == pytest.approx(-forth.difference.value)
    assert back.improvement.value == pytest.approx(1 - forth.improvement.value)


@given(matrices())
def test_the_interquartile_mean_is_that_of_the_middle_half_and_lies_in_its_interval(scores):
    ours, _ = scores
    ordered = sorted(float(score) for one in ours for score in one.ravel())
    cut = len(ordered) // 4
    found = interquartile_mean(ours, resamples=200)
    assert found.value == pytest.approx(np.mean(ordered[cut : len(ordered) - cut]))
    assert min(ordered) <= found.low <= found.high <= max(ordered)


def test_intervals_of_one_training_seed_are_those_of_scipys_bootstrap():
    rng = np.random.default_rng(0)
    ours, others = rng.normal(0.7, 0.1, (1, 64)), rng.normal(0.6, 0.2, (1, 64))
    found = compare_scores([ours], [others], resamples=20_000).difference
    gaps = (ours - others)[0]
    known = bootstrap((gaps,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1))
    assert (found.low, found.high) == pytest.approx(tuple(known.confidence_interval), abs=2e-3)
    assert found.low < found.value < found.high


def test_intervals_of_strata_draw_within_each_of_them():
    # Two tasks whose scores differ by 10: drawn together, the mean would spread by far more.
    low, high = np.linspace(0, 1, 30)[None], np.linspace(10, 11, 30)[None]
    found = compare_scores([low, high], [np.zeros((1, 30)), np.zeros((1, 30))], resamples=5_000).difference
    spread = np.hypot(low.std(), high.std()) / 2 / np.sqrt(30)
    assert found.high - found.low == pytest.approx(2 * 1.96 * spread, rel=0.1)


def test_intervals_cover_the_truth_where_scenes_and_training_seeds_are_both_drawn():
    rng, covered = np.random.default_rng(0), 0
    for seed in range(200):
        scene = rng.normal(0, 0.3, (1, 40))
        ours = 0.1 + scene + rng.normal(0, 0.1, (8, 1)) + rng.normal(0, 0.1, (8, 40))
        others = scene + rng.normal(0, 0.1, (8, 1)) + rng.normal(0, 0.1, (8, 40))
        found = compare_scores([ours], [others], resamples=300, seed=seed).difference
        covered += found.low <= 0.1 <= found.high
    assert 0.85 <= covered / 200 <= 0.99


def test_evaluations_are_compared_scene_by_scene_and_in_the_same_scenes_alone():
    task = find_task("doorkey")
    optimal, random = (evaluate(task, one, range(5000, 5004)) for one in (expert_policy(task, 0.0), RandomPolicy()))
    found = compare_evaluations(optimal, random)
    assert found.difference.value == pytest.approx(optimal.mean_return - random.mean_return)
    assert found.improvement.text(2) == "1.00"
    with pytest.raises(BadInputError, match="different scenes"):
        compare_evaluations(optimal, evaluate(task, RandomPolicy(), range(5001, 5005)))


def test_costs_are_compared_in_the_scenes_in_which_both_succeed():
    task = find_task("doorkey")
    noisy, optimal = (evaluate(task, expert_policy(task, temperature), range(5000, 5006)) for temperature in (0.5, 0.0))
    found = compare_costs(noisy, optimal)
    both = [
        (one.cost, other.cost)
        for one, other in zip(noisy.episodes, optimal.episodes, strict=True)
        if one.success and other.success
    ]
    assert found.value == pytest.approx(np.mean([one - other for one, other in both]))
    assert found.low <= found.value <= found.high
    assert compare_costs(evaluate(task, RandomPolicy(), range(5000, 5002)), optimal) is None
