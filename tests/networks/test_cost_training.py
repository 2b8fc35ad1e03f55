import json
import threading
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_learning import adam_by_the_book
from strategies_learning import TwoPaths, doorkey_scene, doorkey_world, goal_rule, walk

from wfairl.core.automata.automaton import DEAD
from wfairl.core.costs import scene as scene_module
from wfairl.core.costs.feature_costs import PricesCost, SampledCost
from wfairl.core.costs.scene import ExactSolver, TrainingScene
from wfairl.core.costs.settings import CostSettings
from wfairl.core.costs.training import CHECKPOINT, BrokenCheckpointError, OtherConfigurationError, train_cost
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.product import build_product
from wfairl.core.support.errors import BadInputError
from wfairl.networks import cost_training
from wfairl.networks.adam import Adam
from wfairl.networks.epochs import DivergedError
from wfairl.networks.grid_costs import LocalCost, PaperCost

QUICK = CostSettings(epochs=4, batch_size=3, learning_rate=1e-2, seed=1)


def doorkey_scenes(count: int, cost=unit_cost, seed: int = 0):
    return [doorkey_scene(i, np.random.default_rng([seed, i]), cost=cost) for i in range(count)]


def parameters(model):
    return torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()])


def local_cost(seed: int = 0) -> LocalCost:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LocalCost()


class Killed(BaseException):
    """What a signal does to a process, as far as one process can show it."""


@settings(max_examples=20)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.01, 0.3]),
    st.lists(st.floats(1e-5, 0.1), min_size=1, max_size=6),
)
def test_adam_is_the_one_of_the_book(seed, weight_decay, rates):
    rng = np.random.default_rng(seed)
    module = torch.nn.Linear(3, 2).double()
    start = module.weight.detach().numpy().copy()
    adam = Adam(module, weight_decay)
    gradients = [rng.normal(size=start.shape) for _ in rates]
    for gradient, rate in zip(gradients, rates, strict=True):
        adam.step({"weight": torch.from_numpy(gradient)}, rate)
    expected = adam_by_the_book(start, gradients, rates, weight_decay)
    assert module.weight.detach().numpy() == pytest.approx(expected, abs=1e-12)


def test_what_the_demonstrator_avoids_becomes_expensive():
    """The demonstrator always takes the long way: so the short one must cost more than the long one."""
    product = TwoPaths().product()
    scene = walk(product, 0.0, np.random.default_rng(0), cost=lambda _: np.array([[5.0, 1.0], [1.0, 1.0]]))
    assert scene.controls[0] == 1
    result = train_cost(SampledCost.for_products([product]), [scene] * 32, CostSettings(temperature=0.5))
    costs = result.model(product)
    assert costs[0, 0] > costs[0, 1] + costs[1].min()


def test_a_taste_of_the_expert_is_learned_and_not_only_kept_from_the_start():
    """An expert for whom turning left costs four times as much is better explained after training than before."""

    def hidden_cost(product):
        costs = np.ones(product.successors.shape)
        costs[:, 0] = 4.0
        return costs

    scenes = doorkey_scenes(24, hidden_cost)
    result = train_cost(local_cost(), scenes, CostSettings(epochs=30, learning_rate=1e-2, seed=0))
    assert result.epoch > 0
    before, after = result.history[0].held_out_loss, result.history[result.epoch].held_out_loss
    unseen = doorkey_scene(100, np.random.default_rng(0))
    costs = result.model(unseen.product)
    moves = unseen.product.successors != np.arange(len(unseen.product))[:, None]
    assert after < before - 0.1
    assert np.median(costs[:, 0]) > 1.5 * np.median(costs[moves[:, 2], 2])
    assert np.median(costs[:, 0]) > 1.5 * np.median(costs[:, 1])


def test_the_epoch_is_chosen_on_what_was_held_out():
    scenes = doorkey_scenes(8)
    result = train_cost(local_cost(), scenes, replace(QUICK, epochs=12, learning_rate=3e-2))
    losses = [metrics.held_out_loss for metrics in result.history]
    assert result.epoch == int(np.argmin(losses))
    assert losses[result.epoch] < losses[-1]  # else nothing was chosen


def test_without_held_out_demonstrations_the_last_epoch_is_kept():
    result = train_cost(local_cost(), doorkey_scenes(3), replace(QUICK, held_out=0.0))
    assert result.epoch == QUICK.epochs
    assert all(metrics.held_out_loss is None for metrics in result.history)


@pytest.mark.parametrize("kind", [LocalCost, PaperCost])
def test_the_same_seed_gives_the_same_run_however_many_work_on_it(kind, monkeypatch):
    scenes, workers = doorkey_scenes(6), set()
    model = kind.for_products([scenes[0].product])
    real = scene_module.cost_to_go

    def watched(*arguments):
        workers.add(threading.current_thread())
        return real(*arguments)

    monkeypatch.setattr(scene_module, "WORTH_THREADS", 0)
    monkeypatch.setattr(scene_module, "cost_to_go", watched)
    one = train_cost(model, scenes, QUICK, n_jobs=1)
    assert workers == {threading.main_thread()}
    two = train_cost(model, scenes, QUICK, n_jobs=2)
    assert len(workers) > 1  # else nobody else worked on it
    other = train_cost(model, scenes, replace(QUICK, seed=2))
    assert torch.equal(parameters(one.model), parameters(two.model))
    assert one.history == two.history
    assert one.history != other.history


def test_demonstrations_that_share_a_product_share_its_search(monkeypatch):
    """Ten walks in one world: one search a batch, and the losses that ten separate products give."""
    product = build_product(doorkey_world(5, 0), goal_rule())
    together = [walk(product, 0.5, np.random.default_rng(i)) for i in range(10)]
    apart = [replace(scene, solver=ExactSolver(build_product(doorkey_world(5, 0), goal_rule()))) for scene in together]
    searches = []
    real = scene_module.cost_to_go
    monkeypatch.setattr(scene_module, "cost_to_go", lambda *arguments: searches.append(1) or real(*arguments))
    alone = replace(QUICK, epochs=1, batch_size=10, held_out=0.0)
    shared = train_cost(local_cost(), together, alone)
    assert len(searches) == 2  # before training, and in the one batch
    separate = train_cost(local_cost(), apart, alone)
    assert len(searches) == 2 + 2 * 10
    assert shared.history[-1].train_loss == pytest.approx(separate.history[-1].train_loss)
    assert parameters(shared.model).numpy() == pytest.approx(parameters(separate.model).numpy(), abs=1e-5)


@pytest.mark.parametrize("before", [1, 2])
def test_torch_computes_with_one_thread_in_training_and_with_as_many_as_before_after_it(monkeypatch, before):
    seen, real, outside = [], scene_module.cost_to_go, torch.get_num_threads()

    def watched(*arguments):
        seen.append(torch.get_num_threads())
        return real(*arguments)

    monkeypatch.setattr(scene_module, "WORTH_THREADS", 0)
    monkeypatch.setattr(scene_module, "cost_to_go", watched)
    try:
        torch.set_num_threads(before)
        train_cost(local_cost(), doorkey_scenes(4), QUICK)
        assert torch.get_num_threads() == before
    finally:
        torch.set_num_threads(outside)
    assert set(seen) == {1}


def test_training_leaves_the_given_model_and_torchs_generator_alone():
    model = local_cost()
    before, state = parameters(model), torch.get_rng_state()
    train_cost(model, doorkey_scenes(4), QUICK)
    assert torch.equal(parameters(model), before)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.fixture(scope="module", params=[LocalCost, PaperCost])
def whole_run(request, tmp_path_factory):
    """A model, scenes, and a run that nobody kills: its result and its directory."""
    scenes, directory = doorkey_scenes(5), tmp_path_factory.mktemp("trainer") / "whole"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = request.param.for_products([scenes[0].product])
    return model, scenes, train_cost(model, scenes, QUICK, directory), directory


@pytest.mark.parametrize(
    ("write", "survived"), [("write_checkpoint", 0), ("write_metrics", 0), ("write_metrics", 1), ("write_metrics", 3)]
)
@pytest.mark.parametrize("late", [False, True])
def test_a_killed_run_resumes_to_the_same_bits(tmp_path, monkeypatch, whole_run, write, survived, late):
    """Killed before or after one of its writes, the run begins again and ends as if nothing had happened."""
    model, scenes, whole, directory = whole_run
    real, calls = getattr(cost_training, write), []

    def deadly(*arguments):
        calls.append(arguments)
        if len(calls) <= survived or late:
            real(*arguments)
        if len(calls) > survived:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(cost_training, write, deadly)
        with pytest.raises(Killed):
            train_cost(model, scenes, QUICK, tmp_path / "killed")
    resumed = train_cost(model, scenes, QUICK, tmp_path / "killed", resume=True)
    assert torch.equal(parameters(resumed.model), parameters(whole.model))
    assert resumed.epoch == whole.epoch
    for name in ("metrics.jsonl", CHECKPOINT):
        assert (tmp_path / "killed" / name).read_bytes() == (directory / name).read_bytes()


def test_metrics_have_one_line_an_epoch(tmp_path):
    result = train_cost(local_cost(), doorkey_scenes(4), QUICK, tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == list(range(QUICK.epochs + 1))
    assert [line["held_out_loss"] for line in lines] == [metrics.held_out_loss for metrics in result.history]


@pytest.mark.parametrize("change", ["settings", "data", "model"])
def test_a_checkpoint_of_another_configuration_is_refused(tmp_path, change):
    scenes = doorkey_scenes(4)
    train_cost(local_cost(), scenes, QUICK, tmp_path)
    other = {
        "settings": (local_cost(), scenes, replace(QUICK, learning_rate=2e-2)),
        "data": (local_cost(), scenes[:3], QUICK),
        "model": (local_cost(seed=1), scenes, QUICK),
    }[change]
    with pytest.raises(OtherConfigurationError, match="another configuration"):
        train_cost(*other, tmp_path, resume=True)


@dataclass(frozen=True)
class Signposts(TwoPaths):
    """The two paths, with other features."""

    def features(self, state, control, next_state):
        return 3.0 * super().features(state, control, next_state)


def test_a_checkpoint_of_a_world_with_other_features_is_refused(tmp_path):
    products = [world.product() for world in (TwoPaths(), Signposts())]
    scenes = [walk(product, 0.0, np.random.default_rng(0)) for product in products]
    assert (products[0].successors == products[1].successors).all()
    model = PricesCost.for_products(products[:1])
    train_cost(model, scenes[:1], QUICK, tmp_path)
    train_cost(model, scenes[:1], QUICK, tmp_path, resume=True)
    with pytest.raises(OtherConfigurationError, match="another configuration"):
        train_cost(model, scenes[1:], QUICK, tmp_path, resume=True)


@pytest.mark.parametrize("part", ["successors", "automaton"])
def test_a_checkpoint_of_another_automaton_is_refused(tmp_path, part):
    """One that leads elsewhere in these scenes, and one that does so only on labels that they do not have."""
    scene = doorkey_scene(0, np.random.default_rng(0))
    train_cost(local_cost(), [scene], QUICK, tmp_path)
    product = scene.product
    if part == "successors":
        successors = product.successors.copy()
        spare = np.setdiff1d(np.arange(len(product)), scene.nodes)[-1]
        successors[spare] = DEAD
        other = replace(product, successors=successors)
    else:
        accepting = product.automaton.accepting.copy()
        accepting[0] = True
        other = replace(product, automaton=replace(product.automaton, accepting=accepting))
    with pytest.raises(OtherConfigurationError, match="another automaton"):
        train_cost(local_cost(), [replace(scene, solver=ExactSolver(other))], QUICK, tmp_path, resume=True)


def test_a_step_that_moves_from_one_demonstration_to_the_next_is_another_configuration(tmp_path):
    product = TwoPaths().product()
    nodes, controls = np.array([0, 0, 0]), np.array([0, 0, 0])

    def cut(at):
        return [
            TrainingScene(ExactSolver(product), nodes[part], controls[part]) for part in (slice(0, at), slice(at, 3))
        ]

    model = PricesCost.for_products([product])
    train_cost(model, cut(1), QUICK, tmp_path)
    with pytest.raises(OtherConfigurationError, match="other demonstrations"):
        train_cost(model, cut(2), QUICK, tmp_path, resume=True)


def test_a_broken_checkpoint_is_named(tmp_path):
    scenes = doorkey_scenes(4)
    train_cost(local_cost(), scenes, QUICK, tmp_path)
    path = tmp_path / CHECKPOINT
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(BrokenCheckpointError, match="safetensors"):
        train_cost(local_cost(), scenes, QUICK, tmp_path, resume=True)


def test_training_that_diverges_stops_and_keeps_the_epochs_before(tmp_path, monkeypatch):
    scenes, real, calls = doorkey_scenes(4), Adam.step, []

    def explode(self, gradients, learning_rate):
        calls.append(1)
        real(self, gradients, learning_rate)
        if len(calls) == 5:
            with torch.no_grad():
                for parameter in self.parameters.values():
                    parameter.fill_(torch.nan)

    with monkeypatch.context() as patch:
        patch.setattr(Adam, "step", explode)
        with pytest.raises(DivergedError, match="lower the learning rate"):
            train_cost(local_cost(), scenes, replace(QUICK, batch_size=2), tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [0, 1, 2]
    resumed = train_cost(local_cost(), scenes, replace(QUICK, batch_size=2), tmp_path, resume=True)
    assert len(resumed.history) == QUICK.epochs + 1  # without the accident


def test_a_learning_rate_beyond_reason_is_reported_as_divergence():
    with pytest.raises(DivergedError, match="not a finite number"):
        train_cost(local_cost(), doorkey_scenes(4), replace(QUICK, learning_rate=1e30, epochs=20))


@pytest.mark.parametrize(
    "bad",
    [
        {"epochs": -1},
        {"batch_size": 0},
        {"learning_rate": 0.0},
        {"weight_decay": -1.0},
        {"temperature": -1.0},
        {"temperature": float("inf")},
        {"held_out": 1.0},
        {"seed": -1},
        {"seed": 2**63},
    ],
)
def test_settings_that_make_no_sense_are_refused(bad):
    with pytest.raises(BadInputError):
        CostSettings(**bad)


def test_there_must_be_something_to_train_on():
    with pytest.raises(BadInputError, match="no demonstrations"):
        train_cost(local_cost(), [], QUICK)
