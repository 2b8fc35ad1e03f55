import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_learning import loss_of_steps
from strategies_learning import TwoPaths, doorkey_scene, scenes

from wfairl.core.costs.cost_model import ACTIVATIONS, CostModel
from wfairl.core.costs.feature_costs import PricesCost, SampledCost
from wfairl.core.costs.gradient import control_cost_to_go, log_likelihood, trace_paths
from wfairl.core.costs.scene import TrainingScene
from wfairl.core.costs.storage import COST_MODELS, BrokenCostError, load_cost, save_cost
from wfairl.core.planning.shortest_path import cost_to_go
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.safetensors_files import write_tensors
from wfairl.minigrid.grid_costs import LocalCost, OtherMapError, PaperCost
from wfairl.minigrid.grid_view import view_states

GRID_MODELS = (PaperCost, LocalCost)
FEATURE_MODELS = (PricesCost,)


def randomised(kind: type[CostModel], scene: TrainingScene, seed: int, activation: str = "softplus") -> CostModel:
    """A model in float64 with all its parameters at random, so that hardly any two paths cost the same."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind.for_products([scene.product], activation=activation).double()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                scale = 0.5 if "head.last" in name or parameter.dim() < 2 else parameter.shape[-1] ** -0.5
                parameter.copy_(torch.randn(parameter.shape) * scale)
    if kind in GRID_MODELS:
        _spread_out(model, scene)
    return model


@torch.no_grad()
def _spread_out(model: CostModel, scene: TrainingScene) -> None:
    """Preactivations of mean 0 and spread 1: a random network may have saturated."""
    inputs = model.inputs_of(scene.product)
    z = model.preactivation(inputs, torch.arange(6 * (inputs.numbers.max() + 1)))
    model.head.last.weight /= z.std()
    model.head.last.bias.copy_((model.head.last.bias - z.mean()) / z.std())


def check_gradient(model: CostModel, scene: TrainingScene, rng: np.random.Generator, temperature: float = 0.5) -> None:
    """The derivative along random directions of parameters, against central differences of the slow loss."""
    view = model.view(scene.product)
    paths = trace_paths(scene.product.successors, cost_to_go(scene.product.graph, model.table(view)), scene.nodes)
    Q = control_cost_to_go(model(view, paths.transitions), paths)
    loss = -log_likelihood(Q, torch.from_numpy(scene.controls), temperature).mean()
    parameters = list(model.parameters())
    gradients = torch.autograd.grad(loss, parameters)

    def slow_loss() -> float:
        return loss_of_steps(scene.product.successors, model.table(view), scene.nodes, scene.controls, temperature)

    assert loss.item() == pytest.approx(slow_loss(), abs=1e-12)
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


@pytest.mark.parametrize("kind", FEATURE_MODELS)
@settings(max_examples=25)
@given(scene=scenes(), seed=st.integers(0, 2**31), activation=st.sampled_from(sorted(ACTIVATIONS)))
def test_the_gradient_of_feature_costs_equals_finite_differences(kind, scene, seed, activation):
    check_gradient(randomised(kind, scene, seed, activation), scene, np.random.default_rng(seed))


@pytest.mark.parametrize("kind", GRID_MODELS)
@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_of_grid_costs_equals_finite_differences(kind, activation, seed):
    rng = np.random.default_rng(seed)
    scene = doorkey_scene(seed, rng)
    check_gradient(randomised(kind, scene, seed, activation), scene, rng)


@pytest.mark.parametrize("kind", GRID_MODELS)
@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_every_network_starts_with_a_cost_of_1_everywhere(kind, activation):
    scene = doorkey_scene(0, np.random.default_rng(0))
    model = kind.for_products([scene.product], activation=activation)
    assert model.as_cost()(scene.product) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("kind", GRID_MODELS)
@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_costs_never_fall_below_the_floor(kind, activation):
    scene = doorkey_scene(1, np.random.default_rng(1))
    model = randomised(kind, scene, 1, activation)
    with torch.no_grad():
        model.head.last.weight *= 10
        model.head.last.bias *= 10
    costs = model.as_cost()(scene.product)
    assert costs.min() >= model.floor
    assert costs.min() < model.floor + 0.5 < costs.max()  # else the bound would not have been tried


@pytest.mark.parametrize("kind", [*GRID_MODELS, *FEATURE_MODELS])
def test_the_table_agrees_with_the_differentiable_costs(kind):
    scene = doorkey_scene(2, np.random.default_rng(2))
    model = randomised(kind, scene, 2)
    view = model.view(scene.product)
    transitions = np.arange(scene.product.successors.size)
    one_by_one = [model(view, transitions[[t]]).item() for t in transitions[::17]]
    assert model(view, transitions).detach().numpy() == pytest.approx(model.table(view).reshape(-1))
    assert one_by_one == pytest.approx(model.table(view).reshape(-1)[::17])
    assert len(np.unique(model.table(view))) > 10


def test_a_view_of_some_transitions_tabulates_those_alone():
    scene = doorkey_scene(2, np.random.default_rng(2))
    model = randomised(LocalCost, scene, 2)
    some = np.arange(0, scene.product.successors.size, 5)
    table, whole = (model.table(model.view(scene.product, asked)).reshape(-1) for asked in (some, None))
    assert table[some] == pytest.approx(whole[some])
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
        costs = ACTIVATIONS["softplus"](z, model.floor).detach().numpy()
        assert model.as_cost()(scene.product)[:, control] == pytest.approx(costs, abs=1e-10)


def test_a_local_cost_carries_over_to_other_maps_and_the_papers_says_that_it_does_not():
    small, large = (doorkey_scene(0, np.random.default_rng(0), size) for size in (5, 8))
    paper, local = (randomised(kind, small, 0) for kind in GRID_MODELS)
    assert local.as_cost()(large.product).shape == large.product.successors.shape
    with pytest.raises(OtherMapError, match=r"5 x 5 .* 8 x 8"):
        paper.as_cost()(large.product)


@pytest.mark.parametrize("kind", GRID_MODELS)
def test_grid_costs_refuse_a_world_without_a_grid(kind):
    with pytest.raises(OtherMapError, match=r"world\.features"):
        kind.for_products([TwoPaths().product()])


def test_feature_costs_refuse_other_features():
    scene = doorkey_scene(0, np.random.default_rng(0))
    for kind in FEATURE_MODELS:
        with pytest.raises(BadInputError, match="features"):
            kind.for_products([TwoPaths().product()]).view(scene.product)


@pytest.mark.parametrize("kind", sorted(COST_MODELS))
def test_a_cost_survives_its_file(kind, tmp_path):
    scene = doorkey_scene(4, np.random.default_rng(4))
    model = randomised(COST_MODELS[kind], scene, 4)
    model = model if kind == SampledCost.kind else model.float()
    save_cost(model, tmp_path / "cost.safetensors")
    again = load_cost(tmp_path / "cost.safetensors")
    assert type(again) is type(model)
    assert np.array_equal(again.as_cost()(scene.product), model.as_cost()(scene.product))


WITHOUT_MINIGRID = """
import sys
from pathlib import Path
from wfairl.core.costs import PricesCost, load_cost, save_cost
from wfairl.core.costs.adam import Adam
from wfairl.core.costs.checkpoint import Checkpoint, EpochMetrics, read_checkpoint, write_checkpoint
model = PricesCost(3)
save_cost(model, Path("cost.safetensors"))
load_cost(Path("cost.safetensors"))
checkpoint = Checkpoint.capture(model, Adam(model, 0.0), EpochMetrics(0, 0.0, 1.0, None), None)
write_checkpoint(checkpoint, Path("last.safetensors"), "fingerprint")
read_checkpoint(Path("last.safetensors"), "fingerprint")
print({"minigrid", "pygame", "wfairl.minigrid.grid_costs"} & set(sys.modules))
"""


def test_a_cost_over_features_and_its_checkpoint_are_written_and_read_without_minigrid(tmp_path):
    command = [sys.executable, "-c", WITHOUT_MINIGRID]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("kind", "sizes", "name"),
    [
        ("paper", {"height": 2000, "width": 2000}, "position.weight"),
        ("paper", {"height": 25, "width": 4}, "position.weight"),
        ("prices", {"features": 2000}, "weight"),
        ("auto", {"features": 2000}, "weights"),
    ],
)
def test_a_cost_file_that_declares_more_than_it_holds_is_refused_before_anything_is_made(
    kind, sizes, name, tmp_path, monkeypatch
):
    model = COST_MODELS[kind].for_products([doorkey_scene(4, np.random.default_rng(4)).product])
    padding = {"padding": torch.zeros(2000)}
    header = {"kind": kind, "settings": {**model.settings, **sizes}}
    write_tensors(tmp_path / "cost.safetensors", "wfairl-cost", {**model.state_dict(), **padding}, header)
    monkeypatch.setattr(COST_MODELS[kind], "__init__", None)  # whoever makes one fails
    with pytest.raises(BrokenCostError, match=rf"broken cost model \({name} has the shape"):
        load_cost(tmp_path / "cost.safetensors")


@pytest.mark.parametrize("kind", sorted(COST_MODELS))
def test_every_size_of_a_cost_model_is_held_against_a_shape(kind):
    """Sizes are the integers among the settings: no two may give the same shapes, or the check would be blind."""
    model = COST_MODELS[kind].for_products([doorkey_scene(4, np.random.default_rng(4)).product])
    sizes = {name: value for name, value in model.settings.items() if isinstance(value, int)}
    shapes = model.shapes(**sizes)
    for name, shape in shapes.items():
        assert tuple(model.state_dict()[name].shape) == shape
    for name in sizes:
        assert model.shapes(**{**sizes, name: sizes[name] + 1}) != shapes


def test_a_broken_cost_file_is_named(tmp_path):
    path = tmp_path / "cost.safetensors"
    model = LocalCost()
    save_cost(model, path)
    content = path.read_bytes()
    for broken in (b"", content[:100], content[:-8], content.replace(b"local", b"ghost")):
        path.write_bytes(broken)
        with pytest.raises(BrokenCostError, match=r"cost\.safetensors"):
            load_cost(path)
    with torch.no_grad():
        model.head.last.bias.fill_(torch.nan)
    save_cost(model, path)
    with pytest.raises(BrokenCostError, match="not finite"):
        load_cost(path)
