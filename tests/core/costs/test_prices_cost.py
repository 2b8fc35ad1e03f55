"""A cost of prices: linear in amounts, the same however a path is cut, and learned from what was chosen."""

import numpy as np
import pytest
from experts import solve
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_learning import loss_of_steps
from strategies_continuous import random_walk, small_roadmap
from strategies_learning import TwoPaths, doorkey_scene, scenes
from strategies_planning import rule, slipping_worlds

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.costs.cost_model import FLOOR, load_cost, save_cost
from wfairl.core.costs.feature_costs import WEIGHT_SPREAD, PricesCost, SampledCost
from wfairl.core.costs.scene import ExactSolver, TrainingScene
from wfairl.core.costs.settings import CostSettings
from wfairl.core.costs.training import CostTraining, train_cost
from wfairl.core.planning import ExactPlanner, build_product
from wfairl.core.planning.cost import feature_cost
from wfairl.core.planning.path import nodes_along
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import GraphWorld
from wfairl.core.worlds.chances import slip_chances


def product_of(features):
    """A ring of states whose transitions have given features."""
    states = range(len(features))
    edges = [(state, (state + 1) % len(features)) for state in states]
    world = GraphWorld.from_edges(
        edges, start=0, features=np.asarray(features, float), marks={len(features) - 1: "end"}
    )
    return build_product(world, visit_in_order("end"))


@given(st.integers(0, 2**31))
@settings(max_examples=25)
def test_costs_are_amounts_times_prices(seed):
    rng = np.random.default_rng(seed)
    features = rng.uniform(0, 3, (5, 2)) + 0.01
    model = PricesCost(2)
    model.weight[:] = rng.normal(size=2)
    product = product_of(features)
    expected = features @ (FLOOR + np.log1p(np.expm1(1 - FLOOR) * np.exp(model.weight)))
    assert model(product)[:, 0] == pytest.approx(expected[: len(product)], rel=1e-5)


def test_every_price_starts_at_one_and_is_kept_in_a_file(tmp_path):
    model = PricesCost(3)
    assert model.prices == pytest.approx(np.ones(3))
    model.weight[:] = 0.5, -1.0, 3.0
    save_cost(model, tmp_path / "cost.safetensors")
    assert load_cost(tmp_path / "cost.safetensors").prices == pytest.approx(model.prices)


def test_a_path_cut_into_more_transitions_costs_the_same():
    model = PricesCost(2)
    model.weight[:] = 0.3, 2.0
    whole, cut = (model(product_of(rows)) for rows in ([[2, 1], [1, 1]], [[1, 0.5], [1, 0.5], [1, 1]]))
    assert whole[0, 0] == pytest.approx(cut[0, 0] + cut[1, 0])


@pytest.mark.parametrize("features", [[[1, -0.1], [1, 1]], [[0, 0], [1, 1]]])
def test_features_that_are_no_amounts_are_refused(features):
    with pytest.raises(BadInputError, match="needs features that are amounts"):
        PricesCost(2)(product_of(features))


def test_what_is_not_available_costs_one():
    world = GraphWorld.from_edges(
        [(0, 1), (0, 2), (1, 2), (2, 0)], start=0, features=np.array([[2.0], [3.0], [4.0], [5.0]]), marks={2: "end"}
    )
    product, model = build_product(world, visit_in_order("end")), SampledCost(1, len(world.controls))
    model.weight[0] = 1.0
    for cost in (PricesCost(1), model):
        assert not product.available.all()
        assert (cost(product)[~product.available] == 1.0).all()
        assert (cost(product)[product.available] > 1.0).all()


@given(slipping_worlds(), st.integers(0, 2**31))
def test_a_control_costs_the_same_whatever_it_leads_to(world, seed):
    product = build_product(world, rule(world.propositions[:1]))
    model = SampledCost(3, controls := len(world.controls))
    model.weight[3:] = np.random.default_rng(seed).uniform(0, 5, controls)
    chances, costs = product.chances or slip_chances(product.available, 0.0), model(product)
    for node, control in np.argwhere(chances.available):
        effects, probabilities = map(np.array, zip(*chances.lottery(node, control), strict=True))
        assert costs[node, effects] @ probabilities == pytest.approx(1.0 + model.weight[3 + control])


def test_a_training_on_features_that_are_no_amounts_is_refused_before_it_begins():
    scene = TrainingScene(ExactSolver(product_of([[1, -0.1], [1, 1]])), np.array([0]), np.array([0]))
    with pytest.raises(BadInputError, match="needs features that are amounts"):
        CostTraining(PricesCost(2), [scene], CostSettings())


def test_prices_are_learned_from_the_ways_that_were_chosen():
    """Demonstrators on a roadmap to whom a wet metre costs four dry ones."""
    roadmap, rule, temperature = small_roadmap(), visit_in_order("a", "b"), 0.3
    scenes = []
    for seed in range(24):
        world = roadmap.world(random_walk(roadmap, 0, seed)[0])
        expert = solve(world, rule, feature_cost(lambda features: features @ [1.0, 4.0]), ExactPlanner())
        controls, succeeded = expert.act(temperature, 200, np.random.default_rng(seed))
        assert succeeded
        product = expert.solution.product
        scenes.append(
            TrainingScene(ExactSolver(product), np.array(nodes_along(product, controls)[:-1]), np.array(controls))
        )
    model = PricesCost.for_products([scene.product for scene in scenes])
    settings = CostSettings(temperature=temperature)
    dry, wet = train_cost(model, scenes, settings, n_jobs=1).model.prices
    assert dry == pytest.approx(1, rel=0.25)
    assert wet / dry == pytest.approx(4, rel=0.4)


@settings(max_examples=25)
@given(scene=scenes(), seed=st.integers(0, 2**31))
def test_the_gradient_by_the_weights_equals_finite_differences(scene, seed):
    rng = np.random.default_rng(seed)
    model = PricesCost.for_products([scene.product])
    training = CostTraining(model, [scene], CostSettings(temperature=0.5), n_jobs=1)
    weight, step = 0.5 * rng.normal(size=3), 1e-6
    value, gradient = model.objective(training, weight)
    model.weight = weight
    loss = loss_of_steps(scene.product.successors, model(scene.product), scene.nodes, scene.controls, 0.5)
    assert value == pytest.approx(loss + (weight @ weight) / (2 * WEIGHT_SPREAD**2 * len(scene.controls)))
    for _ in range(3):
        direction = rng.normal(size=3)
        ahead, behind = (model.objective(training, weight + sign * step * direction)[0] for sign in (1, -1))
        assert gradient @ direction == pytest.approx((ahead - behind) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("kind", [PricesCost, SampledCost])
def test_costs_over_features_refuse_other_features_and_other_outputs(kind):
    scene = doorkey_scene(0, np.random.default_rng(0))
    with pytest.raises(BadInputError, match="features"):
        kind.for_products([TwoPaths().product()])(scene.product)
