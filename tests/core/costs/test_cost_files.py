"""The files of cost models."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from strategies_learning import doorkey_scene

from wfairl.core.costs import PricesCost
from wfairl.core.costs.cost_model import COST_MODELS, BrokenCostError, load_cost, save_cost
from wfairl.core.costs.feature_costs import SampledCost
from wfairl.core.support.safetensors_files import write_arrays
from wfairl.networks.grid_costs import LocalCost


@pytest.mark.parametrize("kind", sorted(COST_MODELS))
def test_a_cost_survives_its_file(kind, tmp_path):
    scene = doorkey_scene(4, np.random.default_rng(4))
    made = COST_MODELS[kind].for_products([scene.product])
    rng = np.random.default_rng(4)
    arrays = {name: 0.3 * np.abs(rng.normal(size=one.shape)).astype(one.dtype) for name, one in made.arrays.items()}
    model = made.from_arrays(arrays, **made.settings)
    save_cost(model, tmp_path / "cost.safetensors")
    again = load_cost(tmp_path / "cost.safetensors")
    assert type(again) is type(model)
    assert np.array_equal(again(scene.product), model(scene.product))


class SeededCost(PricesCost):
    """Of one's own: a setting that is a whole number and no size."""

    kind = "seeded"

    def __init__(self, features, seed, **settings):
        super().__init__(features, **settings)
        self.settings["seed"] = seed


def test_the_file_of_a_cost_model_that_is_not_registered_says_how_to_register_it(tmp_path):
    save_cost(SeededCost(3, 0), tmp_path / "cost.safetensors")
    with pytest.raises(BrokenCostError) as refused:
        load_cost(tmp_path / "cost.safetensors")
    assert str(refused.value).endswith(
        "made with the cost model 'seeded', which is not registered; name the file that registers it: wfairl --tasks"
        " FILE ..."
    )


@pytest.mark.parametrize("seed", [0, -3, 10**9])
def test_a_whole_number_among_the_settings_is_no_size_unless_the_model_says_so(seed, tmp_path, monkeypatch):
    monkeypatch.setitem(COST_MODELS._entries, "seeded", SeededCost)
    save_cost(SeededCost(3, seed), tmp_path / "cost.safetensors")
    assert load_cost(tmp_path / "cost.safetensors").settings == SeededCost(3, seed).settings


def test_a_cost_over_controls_alone_survives_its_file_and_one_without_samples_is_refused(tmp_path):
    model = SampledCost(features=0, controls=3, samples=2)
    model.weights[:] = [[0.0, 1.0, 0.0], [0.0, 3.0, 0.0]]
    save_cost(model, tmp_path / "cost.safetensors")
    assert np.array_equal(load_cost(tmp_path / "cost.safetensors").weights, model.weights)
    save_cost(SampledCost(features=2, controls=3, samples=0), tmp_path / "cost.safetensors")
    with pytest.raises(BrokenCostError, match=r"broken cost model \(weights is empty\)"):
        load_cost(tmp_path / "cost.safetensors")


ALONE = """
import sys
from pathlib import Path
from wfairl.core.costs import PricesCost, load_cost, save_cost
from wfairl.core.costs.training import check_checkpoint, train_cost, write_checkpoint
from wfairl.runs.pipeline import run_pipeline
model = PricesCost(3)
save_cost(model, Path("cost.safetensors"))
load_cost(Path("cost.safetensors"))
write_checkpoint(Path("last.safetensors"), "fingerprint")
check_checkpoint(Path("last.safetensors"), "fingerprint")
print({"minigrid", "pygame", "torch"} & set(sys.modules))
"""


def test_a_cost_over_features_and_its_checkpoint_are_written_and_read_without_minigrid_and_torch(tmp_path):
    command = [sys.executable, "-c", ALONE]
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
    padding = {"padding": np.zeros(2000)}
    header = {"kind": kind, "settings": {**model.settings, **sizes}}
    write_arrays(tmp_path / "cost.safetensors", "wfairl-cost", 1, header, {**model.arrays, **padding})
    monkeypatch.setattr(COST_MODELS[kind], "__init__", None)  # whoever makes one fails
    with pytest.raises(BrokenCostError, match=rf"broken cost model \({name} has the shape"):
        load_cost(tmp_path / "cost.safetensors")


@pytest.mark.parametrize("kind", sorted(COST_MODELS))
def test_every_size_of_a_cost_model_is_held_against_a_shape(kind):
    """No two sizes may give the same shapes, or the check would be blind. All integers of our own models are sizes."""
    model = COST_MODELS[kind].for_products([doorkey_scene(4, np.random.default_rng(4)).product])
    sizes = {name: value for name, value in model.settings.items() if isinstance(value, int)}
    assert sizes.keys() == set(model.size_names)
    shapes = model.shapes(**sizes)
    for name, shape in shapes.items():
        assert model.arrays[name].shape == shape
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
