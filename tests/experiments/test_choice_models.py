import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_learning import log_probability_of_walks, loss_of_steps

from experiments.route_choice.choice_models import ExactChoice, NoSoftCostToGoError, SoftChoice
from experiments.route_choice.choices import Choices, ImpossibleChoiceError
from experiments.route_choice.estimation import (
    CostEstimate,
    CostFamily,
    NotIdentifiedError,
    choose_penalty,
    covariances,
    fit,
    flat_estimate,
    parameters_of,
)
from wfairl.core.automata.automaton import ACCEPTED, UNAVAILABLE

MODELS = [ExactChoice(n_jobs=1), SoftChoice()]


def draw_choices(seed: int, nodes: int = 9, controls: int = 3, goals: int = 3, steps: int = 40) -> Choices:
    """Steps at random on a graph where a ring leads everywhere, also from the goal itself."""
    rng = np.random.default_rng(seed)
    successors = rng.integers(0, nodes, (nodes, controls)).astype(np.int32)
    successors[rng.random(successors.shape) < 0.2] = UNAVAILABLE
    successors[:, 0] = (np.arange(nodes) + 1) % nodes
    at = rng.integers(0, nodes, steps)
    chosen = np.array([rng.choice(np.flatnonzero(successors[node] != UNAVAILABLE)) for node in at])
    trips = np.sort(rng.integers(0, steps // 4, steps))
    goal_of_trip = rng.integers(0, goals, steps)
    return Choices(successors, goal_of_trip[trips], at, chosen, trips)


def draw_family(choices: Choices, seed: int, features: int = 2, table: bool = False) -> CostFamily:
    rng = np.random.default_rng([seed, 1])
    shape = choices.successors.shape
    names = tuple(f"feature {k}" for k in range(features))
    entries = rng.integers(-1, 4, shape) if table else None
    return CostFamily(rng.uniform(0.5, 1.5, (*shape, features)), names, entries)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_the_exact_log_likelihood_is_that_of_dijkstra_and_a_softmax_one_step_at_a_time(seed):
    choices = draw_choices(seed)
    costs = draw_family(choices, seed).costs(np.ones(2), np.zeros(0))
    expected = []
    for goal, node, control in zip(choices.goals, choices.nodes, choices.controls, strict=True):
        towards = np.where(choices.successors == goal, ACCEPTED, choices.successors)
        expected.append(-loss_of_steps(towards, costs, np.array([node]), np.array([control]), 1.0))
    found = ExactChoice(n_jobs=1).log_probabilities(choices, costs)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert ExactChoice(n_jobs=2).log_likelihood(choices, costs).value == pytest.approx(sum(expected))


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_the_recursive_logit_gives_a_path_its_share_of_all_paths(seed):
    """On a graph without cycles: exp(-cost) of a path over the sum of that of all paths to the goal."""
    rng = np.random.default_rng(seed)
    nodes, controls = 8, 3
    successors = np.full((nodes, controls), UNAVAILABLE, np.int32)
    for node in range(nodes - 1):
        successors[node] = rng.integers(node + 1, nodes, controls)  # parallel transitions too
    costs = rng.uniform(0.1, 2.0, successors.shape)
    goal, node, steps = nodes - 1, 0, []
    while node != goal:
        control = int(rng.integers(controls))
        steps.append((node, control))
        node = int(successors[node, control])
    at, chosen = np.array(steps).T
    choices = Choices(successors, np.full(len(at), goal), at, chosen, np.zeros(len(at), np.int64))
    expected = log_probability_of_walks(successors, costs, goal, steps)
    assert SoftChoice().log_likelihood(choices, costs).value == pytest.approx(expected)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_the_soft_cost_to_go_satisfies_its_equation_and_lies_below_the_exact_one(seed):
    choices = draw_choices(seed)
    costs = 1.0 + draw_family(choices, seed).costs(np.ones(2), np.zeros(0))
    for goal in range(3):
        soft, exact = (model.control_cost_to_go(choices.successors, costs, goal) for model in (SoftChoice(), MODELS[0]))
        V = -np.log(np.exp(-soft).sum(axis=1))
        V[goal] = 0.0
        expected = np.where(choices.successors == UNAVAILABLE, np.inf, costs + V[choices.successors])
        np.testing.assert_allclose(soft, expected, rtol=1e-9)
        assert (soft <= exact + 1e-9).all()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("table", [False, True])
def test_the_gradient_of_the_log_likelihood_equals_finite_differences(model, table):
    for seed in range(5):
        choices = draw_choices(seed)
        family = draw_family(choices, seed, table=table)
        rng = np.random.default_rng(seed)
        point = np.concatenate([rng.uniform(1.0, 2.0, 2), rng.normal(0, 0.1, family.table_size)])

        def value(point, choices=choices, family=family):
            return model.log_likelihood(choices, family.costs(point[:2], point[2:])).value

        gradient = model.log_likelihood(choices, family.costs(point[:2], point[2:])).gradient
        found = np.concatenate(family.pull_back(gradient, point[:2], point[2:]))
        steps = 1e-6 * np.eye(len(point))
        expected = [(value(point + step) - value(point - step)) / 2e-6 for step in steps]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_scores_add_up_to_the_gradient_and_the_hessian_is_its_derivative(model):
    choices = draw_choices(3)
    family, weights = draw_family(choices, 3), np.array([1.3, 1.7])
    costs = family.costs(weights, np.zeros(0))
    information = model.information(choices, costs, family.features)

    def gradient(weights):
        found = model.log_likelihood(choices, family.costs(weights, np.zeros(0))).gradient
        return family.pull_back(found, weights, np.zeros(0))[0]

    np.testing.assert_allclose(information.scores.sum(axis=0), gradient(weights), rtol=1e-6, atol=1e-8)
    assert len(information.scores) == len(np.unique(choices.trips))
    steps = 1e-5 * np.eye(2)
    expected = [(gradient(weights + step) - gradient(weights - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(information.hessian, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_one_decision_is_a_logit_whose_estimate_and_standard_error_are_known(model):
    """Of n before two ways, k take the second, whose feature is 1: w = log((n - k) / k), variance 1 / (n p (1 - p))."""
    n, k = 200, 60
    successors = np.array([[1, 1], [UNAVAILABLE, UNAVAILABLE]], np.int32)
    features = np.array([[[0.0], [1.0]], [[0.0], [0.0]]])
    taken = np.repeat([0, 1], [n - k, k])
    choices = Choices(successors, np.ones(n, np.int64), np.zeros(n, np.int64), taken, np.arange(n))
    start = CostEstimate(CostFamily(features, ("second",)), np.array([3.0]), np.zeros(0))
    estimate = fit(model, choices, start)
    (parameter,) = parameters_of(model, choices, estimate)
    p = k / n
    assert parameter.estimate == pytest.approx(-np.log((1 - p) / p), rel=1e-4)
    assert parameter.standard_error == pytest.approx(1 / np.sqrt(n * p * (1 - p)), rel=1e-4)
    assert parameter.robust_error == pytest.approx(parameter.standard_error, rel=1e-4)  # the model is right
    assert parameter.t_test == pytest.approx(parameter.estimate / parameter.robust_error)
    assert estimate.log_likelihood == pytest.approx(n * (p * np.log(p) + (1 - p) * np.log(1 - p)), rel=1e-6)


def test_the_sandwich_counts_a_trip_that_is_recorded_twice_as_one_piece_of_evidence():
    choices = draw_choices(5)
    family = draw_family(choices, 5)
    parts = (choices.goals, choices.nodes, choices.controls, choices.trips)
    twice = Choices(choices.successors, *(np.concatenate([part, part]) for part in parts))
    costs = family.costs(np.ones(2), np.zeros(0))
    once, both = (ExactChoice(1).information(one, costs, family.features) for one in (choices, twice))
    np.testing.assert_allclose(covariances(both)[1], covariances(once)[1], rtol=1e-9)
    np.testing.assert_allclose(covariances(both)[0], covariances(once)[0] / 2, rtol=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_fit_finds_the_weights_that_made_the_choices_within_their_standard_errors(model):
    rng = np.random.default_rng(1)
    choices = draw_choices(11, nodes=12)
    family, truth = draw_family(choices, 11), np.array([0.8, 1.6])
    costs = family.costs(truth, np.zeros(0))
    at, goals = rng.integers(0, 12, 4000), rng.integers(0, 3, 4000)
    chosen, cost_to_go = [], [model.control_cost_to_go(choices.successors, costs, goal) for goal in range(3)]
    for node, goal in zip(at, goals, strict=True):
        Q = cost_to_go[goal][node]
        odds = np.exp(Q.min() - Q)
        chosen.append(rng.choice(len(odds), p=odds / odds.sum()))
    made = Choices(choices.successors, goals, at, np.array(chosen), np.arange(4000))
    estimate = fit(model, made, flat_estimate(family, 2.0))
    for parameter, true in zip(parameters_of(model, made, estimate), truth, strict=True):
        assert abs(-parameter.estimate - true) < 4 * parameter.standard_error


def test_a_penalty_pulls_the_table_to_zero_and_one_that_helps_held_out_trips_is_chosen():
    choices = draw_choices(7, steps=400)
    easy = Choices(choices.successors, choices.goals, choices.nodes, np.zeros(400, np.int64), choices.trips)
    start = flat_estimate(draw_family(easy, 7, table=True), 2.0)
    free, held = (fit(ExactChoice(1), easy, start, penalty) for penalty in (0.1, 1e5))
    assert np.abs(held.table).max() < 0.1 < np.abs(free.table).max()
    assert free.log_likelihood > held.log_likelihood
    chosen = choose_penalty(ExactChoice(1), easy, start, (0.1, 1.0, 1e5), np.random.default_rng(0), folds=2)
    assert chosen.penalty < 1e5
    assert chosen.held_out[chosen.penalty] == max(chosen.held_out.values())
    again = choose_penalty(ExactChoice(1), easy, start, (0.1, 1.0, 1e5), np.random.default_rng(0), folds=2)
    assert again.held_out == chosen.held_out


def test_weights_that_the_choices_do_not_tell_apart_have_no_standard_errors():
    choices = draw_choices(2)
    one = draw_family(choices, 2, features=1).features
    family = CostFamily(np.concatenate([one, 2 * one], axis=2), ("one", "twice"))
    with pytest.raises(NotIdentifiedError, match="leave out a feature"):
        parameters_of(ExactChoice(1), choices, flat_estimate(family))


def test_costs_too_low_for_the_recursive_logit_are_refused_with_advice():
    choices = draw_choices(0)
    with pytest.raises(NoSoftCostToGoError, match="Raise the costs"):
        SoftChoice().log_likelihood(choices, np.full(choices.successors.shape, 0.01))


def test_a_step_that_the_graph_does_not_allow_is_refused():
    successors = np.array([[1, UNAVAILABLE], [0, 1]], np.int32)
    with pytest.raises(ImpossibleChoiceError, match="trip 7: control 1 is not available at node 0"):
        Choices(successors, np.array([1]), np.array([0]), np.array([1]), np.array([7]))
