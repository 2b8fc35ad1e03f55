"""Likelihood and gradient along the paths that focused searches find, against the exact ones."""

import numpy as np
import pytest
import torch

from wfairl.core.costs.feature_costs import PricesCost
from wfairl.core.costs.scene import prepare_scenes
from wfairl.core.costs.settings import CostSettings
from wfairl.core.costs.training import CostTraining, train_cost
from wfairl.minigrid.focused.solver import FocusedSolver
from wfairl.networks.cost_training import NetworkLoss
from wfairl.networks.grid_costs import LocalCost
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task


def random_model(kind, products):
    torch.manual_seed(0)
    model = kind.for_products(products).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


@pytest.mark.parametrize("name", ["doorkey", "multiroom", "doorkey-terrain"])
@pytest.mark.parametrize("kind", [LocalCost, PricesCost])
def test_likelihood_and_gradient_agree_with_the_exact_ones(name, kind):
    task = find_task(name)
    demonstrations = collect(task, 3, 0, temperature=0.5, seed=3, n_jobs=1).demonstrations
    found = []
    for planner in ("exact", "own"):
        scenes = prepare_scenes(demonstrations, task.make_world, task.rule, 0.5, 1, planner).scenes
        found.append(loss_and_gradients(kind, scenes))
    (exact, exact_gradients), (focused, focused_gradients) = found
    np.testing.assert_allclose(focused, exact, rtol=1e-9)
    for one, other in zip(focused_gradients, exact_gradients, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)


def loss_and_gradients(kind, scenes):
    products, settings = [scene.product for scene in scenes], CostSettings(temperature=0.5)
    if kind is PricesCost:
        model = PricesCost.for_products(products)
        weight = 0.3 * np.random.default_rng(0).normal(size=len(model.weight))
        loss, gradient = model.objective(CostTraining(model, scenes, settings, n_jobs=1), weight)
        return loss, [gradient]
    model = random_model(kind, products)
    loss, differentiable = NetworkLoss(model, CostTraining(model, scenes, settings, n_jobs=1)).differentiable(scenes)
    return loss, [one.numpy() for one in torch.autograd.grad(differentiable, list(model.parameters()))]


def test_what_is_too_hard_to_prove_is_differentiated_along_the_best_path_found():
    task = find_task("blocked-unlock-pickup")
    demonstrations = collect(task, 2, 0, temperature=0.5, seed=3, n_jobs=1).demonstrations
    for scene in prepare_scenes(demonstrations, task.make_world, task.rule, 0.5, 1, "own").scenes:
        scene.solver.search.expansion_limit = 0
        costs = np.random.default_rng(0).uniform(0.5, 1.5, scene.product.successors.shape)
        (paths,) = scene.solver.solve(costs, [scene])
        assert scene.solver.search.unproven > 0
        assert np.isfinite(paths.control_cost_to_go[np.arange(len(scene.nodes)), scene.controls]).all()
        paid = paths.sums(costs.reshape(-1, 1)[paths.transitions])[:, :, 0]
        is_live = np.isfinite(paths.control_cost_to_go)
        np.testing.assert_allclose(paid[is_live], paths.control_cost_to_go[is_live])
        weights = np.where(is_live, np.random.default_rng(1).normal(size=is_live.shape), 0.0)
        along = paths.weights(weights) @ costs.reshape(-1)[paths.transitions]
        assert along == pytest.approx((weights[is_live] * paths.control_cost_to_go[is_live]).sum())


def test_training_in_a_world_too_large_to_enumerate_explains_the_demonstrations_better():
    task = find_task("babyai-pickup-loc")
    demonstrations = collect(task, 6, 0, temperature=0.5, seed=0, n_jobs=1).demonstrations
    scenes = prepare_scenes(demonstrations, task.make_world, task.rule, 0.5, 1).scenes
    assert all(isinstance(scene.solver, FocusedSolver) for scene in scenes)
    model = LocalCost.for_products([scene.product for scene in scenes])
    result = train_cost(model, scenes, CostSettings(epochs=6, held_out=0.0, learning_rate=1e-2), n_jobs=1)
    assert result.history[-1].train_loss < result.history[0].train_loss
