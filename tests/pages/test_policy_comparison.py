"""The statistics of comparisons, held against SciPy's own bootstrap."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from wfairl.core.planning import RandomPolicy, expert_policy
from wfairl.core.support.errors import BadInputError
from wfairl.pages.policy_comparison import compare_costs, compare_returns, mean_with_interval
from wfairl.runs import evaluate
from wfairl.runs.task_registry import find_task


def test_intervals_are_those_of_scipys_bootstrap():
    gaps = np.random.default_rng(0).normal(0.1, 0.2, 64)
    found = mean_with_interval(gaps, resamples=20_000)
    known = bootstrap((gaps,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1))
    assert (found.low, found.high) == pytest.approx(tuple(known.confidence_interval), abs=2e-3)
    assert found.low < found.value < found.high


def test_evaluations_are_compared_scene_by_scene_and_in_the_same_scenes_alone():
    task = find_task("doorkey")
    optimal, random = (evaluate(task, one, range(5000, 5004)) for one in (expert_policy(task, 0.0), RandomPolicy()))
    found = compare_returns(optimal, random)
    assert found.value == pytest.approx(optimal.mean_return - random.mean_return)
    assert compare_returns(random, optimal).value == pytest.approx(-found.value)
    with pytest.raises(BadInputError, match="different scenes"):
        compare_returns(optimal, evaluate(task, RandomPolicy(), range(5001, 5005)))


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
