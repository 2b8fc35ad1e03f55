import numpy as np
import pytest
import torch
from oracles_learning import loss_of_steps
from strategies_learning import TwoPaths, doorkey_scene

from wfairl.core.costs.cost_model import FLOOR
from wfairl.core.costs.scene import TrainingScene
from wfairl.core.costs.settings import CostSettings
from wfairl.core.costs.training import CostTraining
from wfairl.minigrid.grid_view import view_states
from wfairl.networks.cost_network import CostNetwork, NodeInputs, costs_of
from wfairl.networks.cost_training import NetworkLoss
from wfairl.networks.grid_costs import LocalCost, OtherMapError, PaperCost

GRID_MODELS = (PaperCost, LocalCost)


def randomised(kind: type[CostNetwork], scene: TrainingScene, seed: int) -> CostNetwork:
    """A model in float64 with all its parameters at random, so that hardly any two paths cost the same."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind.for_products([scene.product]).double()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                scale = 0.5 if "head.last" in name or parameter.dim() < 2 else parameter.shape[-1] ** -0.5
                parameter.copy_(torch.randn(parameter.shape) * scale)
    _spread_out(model, scene)
    return model


def whole(model: CostNetwork, scene: TrainingScene) -> tuple[NodeInputs, np.ndarray]:
    return model.inputs_of(scene.product), np.flatnonzero(scene.product.available)


@torch.no_grad()
def _spread_out(model: CostNetwork, scene: TrainingScene) -> None:
    """Preactivations of mean 0 and spread 1: a random network may have saturated."""
    inputs = model.inputs_of(scene.product)
    z = model.preactivation(inputs, torch.arange(6 * (inputs.numbers.max() + 1)))
    model.head.last.weight /= z.std()
    model.head.last.bias.copy_((model.head.last.bias - z.mean()) / z.std())


def check_gradient(
    model: CostNetwork, scene: TrainingScene, rng: np.random.Generator, temperature: float = 0.5
) -> None:
    """The derivative along random directions of parameters, against central differences of the slow loss."""
    training = CostTraining(model, [scene], CostSettings(temperature=temperature), n_jobs=1)
    loss, differentiable = NetworkLoss(model, training).differentiable([scene])
    parameters = list(model.parameters())
    gradients = torch.autograd.grad(differentiable, parameters)

    def slow_loss() -> float:
        return loss_of_steps(
            scene.product.successors, model.table(*whole(model, scene)), scene.nodes, scene.controls, temperature
        )

    assert loss == pytest.approx(slow_loss(), abs=1e-12)
    step = 1e-6
    directions = [torch.from_numpy(rng.normal(size=tuple(parameter.shape))) for parameter in parameters]
    length = sum((direction**2).sum() for direction in directions) ** 0.5
    values = []
    with torch.no_grad():
        for move in (step, -2 * step, step):
            for parameter, direction in zip(parameters, directions, strict=True):
                parameter += move * direction / length
            values.append(slow_loss())
    slope = sum((g * d / length).sum().item() for g, d in zip(gradients, directions, strict=True))
    assert slope == pytest.approx((values[0] - values[1]) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("kind", GRID_MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_of_grid_costs_equals_finite_differences(kind, seed):
    rng = np.random.default_rng(seed)
    scene = doorkey_scene(seed, rng)
    check_gradient(randomised(kind, scene, seed), scene, rng)


@pytest.mark.parametrize("kind", GRID_MODELS)
def test_every_network_starts_with_a_cost_of_1_everywhere(kind):
    scene = doorkey_scene(0, np.random.default_rng(0))
    model = kind.for_products([scene.product])
    assert model(scene.product) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("kind", GRID_MODELS)
def test_costs_never_fall_below_the_floor(kind):
    scene = doorkey_scene(1, np.random.default_rng(1))
    model = randomised(kind, scene, 1)
    with torch.no_grad():
        model.head.last.weight *= 10
        model.head.last.bias *= 10
    costs = model(scene.product)
    assert costs.min() >= FLOOR
    assert costs.min() < FLOOR + 0.5 < costs.max()  # else the bound would not have been tried


@pytest.mark.parametrize("kind", GRID_MODELS)
def test_the_table_agrees_with_the_differentiable_costs(kind):
    scene = doorkey_scene(2, np.random.default_rng(2))
    model = randomised(kind, scene, 2)
    inputs, transitions = model.inputs_of(scene.product), np.arange(scene.product.successors.size)
    table = model.table(*whole(model, scene)).reshape(-1)
    one_by_one = [model.costs(inputs, transitions[[t]]).item() for t in transitions[::17]]
    assert model.costs(inputs, transitions).detach().numpy() == pytest.approx(table)
    assert one_by_one == pytest.approx(table[::17])
    assert len(np.unique(table)) > 10


def test_a_table_of_some_transitions_holds_the_costs_of_those_alone():
    scene = doorkey_scene(2, np.random.default_rng(2))
    model = randomised(LocalCost, scene, 2)
    some = np.arange(0, scene.product.successors.size, 5)
    given = (model.inputs_of(scene.product), some), whole(model, scene)
    table, of_all = (model.table(*one).reshape(-1) for one in given)
    assert table[some] == pytest.approx(of_all[some])
    assert (np.delete(table, some) == 1).all()


def test_sums_of_tables_give_what_the_concatenated_network_gives():
    scene = doorkey_scene(3, np.random.default_rng(3), size=6)
    model = randomised(PaperCost, scene, 3)
    view = view_states(scene.product.world, np.asarray(scene.product.states))
    grids = torch.from_numpy(view.grids[view.grid_numbers])
    parts = [torch.from_numpy(part) for part in (view.cells, view.directions, view.carried)]
    for control in range(6):
        embeddings = (model.position, model.direction, model.carried, model.control)
        inputs = (*parts, torch.full((len(scene.product),), control))
        embedded = [embed(one) for embed, one in zip(embeddings, inputs, strict=True)]
        hidden = model.dense(torch.cat([model.convolution(grids), *embedded], dim=1))
        z = model.head.from_hidden(hidden).squeeze(1)
        costs = costs_of(z).detach().numpy()
        assert model(scene.product)[:, control] == pytest.approx(costs, abs=1e-10)


def test_a_local_cost_carries_over_to_other_maps_and_the_papers_says_that_it_does_not():
    small, large = (doorkey_scene(0, np.random.default_rng(0), size) for size in (5, 8))
    paper, local = (randomised(kind, small, 0) for kind in GRID_MODELS)
    assert local(large.product).shape == large.product.successors.shape
    with pytest.raises(OtherMapError, match=r"5 x 5 .* 8 x 8"):
        paper(large.product)


@pytest.mark.parametrize("kind", GRID_MODELS)
def test_grid_costs_refuse_a_world_without_a_grid(kind):
    with pytest.raises(OtherMapError, match=r"world\.features"):
        kind.for_products([TwoPaths().product()])
