"""Networks as policies: in an episode, at a temperature, and on disk."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from strategies_baselines import grid_network

from experiments.baselines.network import GridEncoder
from experiments.baselines.network_policy import (
    BrokenPolicyError,
    ModelSelection,
    NetworkPolicy,
    NetworkRun,
    finish_run,
    finished_run,
    load_network_run,
    load_policy_file,
    mean_log_probabilities,
    save_policy,
    softmax,
)
from experiments.baselines.validation import best_temperature, draw_by_gumbel, draw_by_inversion, validate
from experiments.baselines.vector_environment import compile_scenes
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning.rollout import roll_out
from wfairl.core.support.safetensors_files import write_arrays
from wfairl.minigrid import MiniGridTask
from wfairl.minigrid.physics import HANDS, WALL
from wfairl.minigrid.propositions import AgentOn
from wfairl.runs.evaluation import episode_return
from wfairl.runs.run_directory import BrokenRunError, RunConfig, load_run, write_config
from wfairl.runs.task_registry import find_task

TASK = find_task("doorkey")
ENCODER = GridEncoder(4)
CONFIG = RunConfig("bc", "doorkey", 0.5, {"epochs": 3}, (7,), {"who": "me"})


@pytest.fixture(scope="module")
def networks():
    return [grid_network(4, seed).float() for seed in (0, 1)]


def test_a_ensemble_acts_with_the_mean_of_its_members_probabilities(networks):
    world = TASK.make_world(0)
    states = [world.unpack(words) for words in world.explore(max_nodes=100_000).states[:200]]
    batch = ENCODER.for_world(world)(states)
    members = [torch.softmax(one(batch).double(), dim=1) for one in networks]
    torch.testing.assert_close(
        mean_log_probabilities([one(batch) for one in networks]).exp(), (members[0] + members[1]) / 2
    )
    assert (members[0] - members[1]).abs().max() > 0.01


@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0])
def test_an_actor_draws_from_the_probabilities_that_it_tells(networks, temperature):
    world = TASK.make_world(0)
    actor = NetworkPolicy("net", tuple(networks), ENCODER, temperature).actor(world, np.random.default_rng(0))
    expected = actor.probabilities()
    drawn = np.bincount([actor.choose() for _ in range(4000)], minlength=6) / 4000
    assert drawn == pytest.approx(expected, abs=0.04)
    assert expected.sum() == pytest.approx(1)
    assert (np.sort(expected)[-1] == 1) == (temperature == 0)
    after = world.step(world.initial_state, 0)
    actor.observe(after, frozenset())
    moved = NetworkPolicy("net", tuple(networks), ENCODER, temperature)
    assert actor.probabilities() == pytest.approx(softmax(_logits(moved, world, after), temperature))


def _logits(policy, world, state):
    batch = policy.encoder.for_world(world)([state])
    return mean_log_probabilities([one(batch) for one in policy.networks])[0].detach().numpy()


def test_softmax_keeps_its_head_at_extremes():
    logits = np.array([1000.0, 0.0, -np.inf])
    assert softmax(logits, 1.0) == pytest.approx([1, 0, 0])
    assert softmax(np.array([1.0, 1.0, 0.0]), 0.0).tolist() == [1, 0, 0]
    assert softmax(np.log([0.2, 0.8]), 1.0) == pytest.approx([0.2, 0.8])


def test_a_run_survives_its_directory(networks, tmp_path):
    write_config(tmp_path, CONFIG)
    assert finished_run(tmp_path) is None
    with pytest.raises(BrokenRunError, match="has not finished"):
        load_network_run(tmp_path)
    found = ModelSelection(0.5, 0.75, {"why": "best"})
    written = finish_run(CONFIG, tmp_path, NetworkRun(tuple(networks), ENCODER, found), [])
    read = load_network_run(tmp_path)
    assert (read.found, read.encoder) == (written.found, written.encoder)
    for one, other in zip(read.networks, networks, strict=True):
        for name, tensor in one.state_dict().items():
            assert torch.equal(tensor, other.state_dict()[name])
    assert finished_run(tmp_path).found == found  # resuming does not forget what was found
    with pytest.raises(BrokenRunError, match="method bc, which learns no cost"):
        load_run(tmp_path)


def test_the_agents_view_fits_any_map():
    network = grid_network(4, seed=0).float()
    for task in ("doorkey", "multiroom", "blocked-unlock-pickup"):
        policy = NetworkPolicy("net", (network,), GridEncoder(4), 1.0)
        assert len(roll_out(find_task(task), policy, 5_000, np.random.default_rng(0))) > 0


def test_broken_policies_are_named(networks, tmp_path):
    path = tmp_path / "policy.safetensors"
    save_policy(networks, ENCODER, path)
    content = path.read_bytes()
    for broken in (b"", content[:100], content[:-8]):
        path.write_bytes(broken)
        with pytest.raises(BrokenPolicyError, match=r"policy\.safetensors"):
            load_policy_file(path)
    tensors = {f"0.{name}": tensor.numpy() for name, tensor in networks[0].state_dict().items()}
    documents = (
        {"kind": "grid", "encoder": {"radius": 5}},
        {"kind": "grid", "encoder": {"radius": 900}},
        {"kind": "ghost", "encoder": {}},
        {},
    )
    for document in documents:
        write_arrays(path, "wfairl-policy", 1, document, tensors)
        with pytest.raises(BrokenPolicyError, match="broken policy"):
            load_policy_file(path)
    tensors["0.dense.bias"] = np.full_like(tensors["0.dense.bias"], np.nan)
    write_arrays(path, "wfairl-policy", 1, {"kind": "grid", "encoder": {"radius": 4}}, tensors)
    with pytest.raises(BrokenPolicyError, match="not finite"):
        load_policy_file(path)


class AlongTheWall:
    """Ahead while nothing is in the way, else to the right; has the agent's view, and no weights."""

    head = SimpleNamespace(from_hidden=lambda hidden: hidden)

    def __call__(self, observations):
        return self.entry_table(observations.bank[observations.columns[:, 0]])

    def entry_table(self, entries, dropout=None):
        return torch.nn.functional.one_hot(torch.where(entries[:, 3, 4] == WALL, 1, 2), 6).float()

    def index_tables(self):
        return torch.zeros(9 * 9 * 4, 6), torch.zeros(len(HANDS), 6)


CORNER = MiniGridTask(
    name="corner",
    summary="reach the goal in the corner",
    environment_id="MiniGrid-Empty-Random-6x6-v0",
    scene_propositions=lambda _: {"goal": AgentOn("goal")},
    rule=visit_in_order("goal"),
    horizon=12,
)


@pytest.mark.parametrize("draw", [draw_by_inversion, draw_by_gumbel])
def test_validation_in_the_model_gives_what_episodes_in_the_real_environment_give(draw):
    networks, encoder, seeds = (AlongTheWall(),), GridEncoder(4), range(20)
    real = returns_of(CORNER, NetworkPolicy("net", networks, encoder, 0.0), seeds)
    found = validate(networks, encoder, compile_scenes(CORNER, seeds), (0, 0), draw)
    assert found["0"] == pytest.approx(np.mean(real))
    assert found[f"{best_temperature(found):g}"] == max(found.values())
    assert 0 < np.mean(real) < max(real)
    assert min(real) == 0


def returns_of(task, policy, seeds):
    ways = [roll_out(task, policy, seed, np.random.default_rng(0)) for seed in seeds]
    return [episode_return(len(way), way.is_success, task.horizon) for way in ways]


def test_draws_by_inversion_are_those_of_numpy_for_rows_that_run():
    rng = np.random.default_rng(0)
    log_p = np.log(rng.dirichlet(np.ones(5), size=7))
    running = np.array([True, False, True, True, False, True, True])
    drawn = draw_by_inversion(log_p, 0.5, running, np.random.default_rng(3))
    one_by_one = np.random.default_rng(3)
    for row in np.flatnonzero(running):
        assert drawn[row] == one_by_one.choice(5, p=softmax(log_p[row], 0.5))
