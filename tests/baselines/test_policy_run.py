"""Networks as policies: in an episode, at a temperature, and on disk."""

import numpy as np
import pytest
import torch
from test_network import random_network
from wfairl.baselines.sight import AgentSight, MapSight
from wfairl.worlds.tasks import Rule, Task, find_task

from wfairl.baselines.network_policy import NetworkPolicy, log_probabilities, softmax
from wfairl.baselines.policy_run import (
    BrokenPolicyError,
    Choice,
    PolicyRunConfig,
    begin_run,
    finish_run,
    load_policy_file,
    load_policy_run,
    save_policy,
)
from wfairl.baselines.validation import Trials
from wfairl.evaluation import run_episode
from wfairl.learning.grid_network import OtherMapError
from wfairl.learning.run_directory import BrokenRunError, OtherMethodError, RunExistsError, read_config
from wfairl.learning.storage import write_tensors
from wfairl.worlds.minigrid.propositions import AgentOn
from wfairl.worlds.minigrid.rules import WALL

TASK = find_task("doorkey")
SIGHT = MapSight(8, 8)
CONFIG = PolicyRunConfig("bc", "doorkey", {"epochs": 3}, (7,), {"who": "me"})


@pytest.fixture(scope="module")
def networks():
    return [random_network(8, seed).float() for seed in (0, 1)]


def test_a_committee_acts_with_the_mean_of_its_members_probabilities(networks):
    world = TASK.make_world(0)
    batch = SIGHT.look(world, world.explore(max_nodes=100_000).states[:200])
    members = [torch.softmax(one(batch.grids, batch.columns).double(), dim=1) for one in networks]
    torch.testing.assert_close(log_probabilities(networks, batch).exp(), (members[0] + members[1]) / 2)
    assert (members[0] - members[1]).abs().max() > 0.01


@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0])
def test_an_actor_draws_from_the_probabilities_that_it_tells(networks, temperature):
    world = TASK.make_world(0)
    actor = NetworkPolicy("net", tuple(networks), SIGHT, temperature).actor(world, np.random.default_rng(0))
    expected = actor.probabilities()
    drawn = np.bincount([actor.choose() for _ in range(4000)], minlength=6) / 4000
    assert drawn == pytest.approx(expected, abs=0.04)
    assert expected.sum() == pytest.approx(1)
    assert (np.sort(expected)[-1] == 1) == (temperature == 0)
    after = world.step(world.initial_state, 0)
    actor.observe(after, frozenset())
    moved = NetworkPolicy("net", tuple(networks), SIGHT, temperature)
    assert actor.probabilities() == pytest.approx(softmax(_logits(moved, world, after), temperature))


def _logits(policy, world, state):
    batch = policy.sight.look(world, world.pack(state)[None])
    return log_probabilities(policy.networks, batch)[0].detach().numpy()


def test_softmax_keeps_its_head_at_extremes():
    logits = np.array([1000.0, 0.0, -np.inf])
    assert softmax(logits, 1.0) == pytest.approx([1, 0, 0])
    assert softmax(np.array([1.0, 1.0, 0.0]), 0.0).tolist() == [1, 0, 0]
    assert softmax(np.log([0.2, 0.8]), 1.0) == pytest.approx([0.2, 0.8])


def test_a_run_survives_its_directory(networks, tmp_path):
    begin_run(CONFIG, tmp_path)
    with pytest.raises(BrokenRunError, match="has not finished"):
        load_policy_run(tmp_path)
    written = finish_run(CONFIG, tmp_path, networks, SIGHT, Choice(0.5, {"why": "best"}))
    read = load_policy_run(tmp_path)
    assert (read.config, read.choice, read.sight) == (written.config, written.choice, written.sight)
    for one, other in zip(read.networks, networks, strict=True):
        for name, tensor in one.state_dict().items():
            assert torch.equal(tensor, other.state_dict()[name])
    with pytest.raises(RunExistsError):
        begin_run(CONFIG, tmp_path)
    begin_run(CONFIG, tmp_path, resume=True)
    assert load_policy_run(tmp_path).choice == written.choice  # resuming does not forget what was found
    with pytest.raises(OtherMethodError, match="method bc, which learns no cost"):
        read_config(tmp_path)


def test_networks_for_maps_of_another_size_are_refused_before_the_first_step(networks):
    policy = NetworkPolicy("net", tuple(networks), SIGHT, 1.0)
    with pytest.raises(OtherMapError, match=r"8 x 8 .* 25 x 25"):
        policy.actor(find_task("multiroom").make_world(0), np.random.default_rng(0))


def test_the_agents_view_fits_any_map():
    network = random_network(9, seed=0).float()
    for task in ("doorkey", "multiroom", "blocked-unlock-pickup"):
        policy = NetworkPolicy("net", (network,), AgentSight(4), 1.0)
        episode = run_episode(find_task(task), policy, 5_000, np.random.default_rng(0))
        assert episode.steps > 0


def test_broken_policies_are_named(networks, tmp_path):
    path = tmp_path / "policy.safetensors"
    save_policy(networks, SIGHT, path)
    content = path.read_bytes()
    for broken in (b"", content[:100], content[:-8]):
        path.write_bytes(broken)
        with pytest.raises(BrokenPolicyError, match=r"policy\.safetensors"):
            load_policy_file(path)
    tensors = {f"0.{name}": tensor for name, tensor in networks[0].state_dict().items()}
    documents = (
        {"networks": 1, "sight": {"kind": "map", "height": 900, "width": 900}},
        {"networks": 0, "sight": {"kind": "map", "height": 8, "width": 8}},
        {"networks": 1, "sight": {"kind": "ghost"}},
        {},
    )
    for document in documents:
        write_tensors(path, "wfairl-policy", tensors, document)
        with pytest.raises(BrokenPolicyError, match="broken policy"):
            load_policy_file(path)
    tensors["0.dense.bias"] = torch.full_like(tensors["0.dense.bias"], torch.nan)
    write_tensors(path, "wfairl-policy", tensors, {"networks": 1, "sight": {"kind": "map", "height": 8, "width": 8}})
    with pytest.raises(BrokenPolicyError, match="not finite"):
        load_policy_file(path)


class AlongTheWall(torch.nn.Module):
    """Ahead while nothing is in the way, else to the right; sees with the agent's eyes."""

    def forward(self, grids, columns):
        ahead = grids[columns[:, 0], 3, 4]
        return torch.nn.functional.one_hot(torch.where(ahead == WALL, 1, 2), 6).float()


def test_validation_in_the_model_gives_what_episodes_in_the_real_environment_give():
    task = Task(
        name="corner",
        summary="reach the goal in the corner",
        environment_id="MiniGrid-Empty-Random-6x6-v0",
        propositions=lambda _: {"goal": AgentOn("goal")},
        rule=Rule(visit=("goal",)),
        horizon=12,
    )
    networks, sight, seeds = (AlongTheWall(),), AgentSight(4), range(20)
    policy = NetworkPolicy("net", networks, sight, 0.0)
    real = [run_episode(task, policy, seed, np.random.default_rng(0)).episode_return for seed in seeds]
    trials = Trials(task, [task.make_world(seed) for seed in seeds], networks, sight)
    for _ in range(2):  # the second time from memory
        assert trials.mean_return(0.0, np.random.default_rng(0)) == pytest.approx(np.mean(real))
    assert 0 < np.mean(real) < max(real)
    assert min(real) == 0
