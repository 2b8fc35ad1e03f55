import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.planning.policy import (
    NoLiveControlError,
    log_probabilities,
    probabilities,
    sample_control,
)
from wfairl.core.support.errors import BadInputError

COSTS = st.lists(st.one_of(st.floats(0.01, 1e3), st.just(np.inf)), min_size=1, max_size=6).filter(
    lambda costs: min(costs) < np.inf
)


@given(COSTS, st.floats(0.01, 100))
def test_policy_is_the_formula_of_the_paper(costs: list[float], temperature: float):
    weights = [np.exp(-(cost - min(costs)) / temperature) for cost in costs]
    np.testing.assert_allclose(probabilities(np.array(costs), temperature), np.array(weights) / sum(weights), rtol=1e-9)


@given(COSTS, st.one_of(st.just(0.0), st.floats(1e-300, 1e300)))
def test_probabilities_sum_to_one_and_are_zero_exactly_where_nothing_is_reached(costs: list[float], temperature: float):
    found = probabilities(np.array(costs), temperature)
    assert found.sum() == pytest.approx(1)
    assert (found[np.isinf(costs)] == 0).all()
    assert found[np.argmin(costs)] >= 1 / len(costs) * (1 - 1e-9)


@given(COSTS, st.floats(0.01, 100), st.floats(0, 50))
def test_a_constant_added_to_all_costs_changes_nothing(costs: list[float], temperature: float, constant: float):
    np.testing.assert_allclose(
        probabilities(np.array(costs) + constant, temperature), probabilities(np.array(costs), temperature), atol=1e-9
    )


def test_greedy_policy_is_uniform_over_minimisers_up_to_rounding():
    costs = np.array([0.1 + 0.2, 0.3, 0.31, np.inf])
    assert 0.1 + 0.2 != 0.3
    assert probabilities(costs, 0).tolist() == [0.5, 0.5, 0, 0]


def test_random_policy_is_uniform_over_all_controls_also_those_that_lead_nowhere():
    assert probabilities(np.array([1.0, np.inf, 5.0, np.inf]), np.inf).tolist() == [0.25] * 4
    assert probabilities(np.array([np.inf, np.inf]), np.inf).tolist() == [0.5] * 2


def test_log_probabilities_stay_finite_where_probabilities_underflow():
    found = log_probabilities(np.array([0.0, 1.0]), 1e-4)
    np.testing.assert_allclose(found, [0, -1e4])


def test_no_live_control_is_a_named_outcome():
    with pytest.raises(NoLiveControlError):
        probabilities(np.array([[1.0, 2.0], [np.inf, np.inf]]), 0.5)


@pytest.mark.parametrize("temperature", [-1.0, np.nan])
def test_bad_temperature_is_refused(temperature: float):
    with pytest.raises(BadInputError, match="temperature"):
        probabilities(np.ones(2), temperature)


@pytest.mark.parametrize("temperature", [0.0, 0.5, np.inf])
def test_sampled_controls_have_the_frequencies_of_the_policy(temperature: float):
    costs = np.array([1.0, 2.0, 1.0, np.inf])
    rng = np.random.default_rng(1)
    draws = [sample_control(costs, temperature, rng) for _ in range(20_000)]
    frequencies = np.bincount(draws, minlength=4) / len(draws)
    expected = probabilities(costs, temperature)
    assert (np.abs(frequencies - expected) <= 5 * np.sqrt(expected * (1 - expected) / len(draws))).all()


def test_sampling_depends_on_the_generator_alone():
    costs = np.array([1.0, 1.5, 2.0])
    first, again = ([sample_control(costs, 1.0, rng) for _ in range(50)] for rng in map(np.random.default_rng, (3, 3)))
    assert first == again
