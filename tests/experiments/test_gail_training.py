"""GAIL as a whole: it imitates, goes on where it was stopped, and leaves alone what is not its own."""

import json
import shutil
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from experiments.baselines.gail import train as gail
from experiments.baselines.gail.train import GailConfig, train_gail
from experiments.baselines.network import GridEncoder, Observations
from experiments.baselines.network_policy import BrokenPolicyError
from experiments.baselines.vector_environment import CompiledVectorEnv, compile_scenes
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.costs.training import OtherConfigurationError
from wfairl.core.planning.policies import expert_policy
from wfairl.minigrid import AgentOn, MiniGridTask
from wfairl.minigrid.physics import CONTROLS
from wfairl.minigrid.tasks import DOORKEY
from wfairl.runs import evaluate
from wfairl.runs.collection import collect
from wfairl.runs.methods import TrainingRequest
from wfairl.runs.run_directory import RunExistsError

pytest.importorskip("stable_baselines3")

EMPTY = MiniGridTask(
    name="empty-5x5",
    summary="reach the goal of an empty room",
    environment_id="MiniGrid-Empty-5x5-v0",
    scene_propositions=lambda _: {"goal": AgentOn("goal")},
    rule=visit_in_order("goal"),
    horizon=100,
)
SMALL = GailConfig(
    rewards=("log-d",),
    fresh_scenes=6,
    radius=3,
    pretraining=2,
    iterations=5,
    environments=6,
    rollout=50,
    epochs=2,
    batch_size=100,
    validation_scenes=4,
    validate_every=2,
)


@pytest.fixture(scope="module")
def dataset():
    return collect(DOORKEY, 3, 0, 0.0, 0, n_jobs=1)


@pytest.fixture(scope="module")
def whole(dataset, tmp_path_factory):
    """A training that nobody stops, and the states of the global generators before and after it."""
    directory = tmp_path_factory.mktemp("gail") / "whole"
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002 - the one that others may be using
    before = global_generators()
    run = train(DOORKEY, dataset, SMALL, directory)
    return SimpleNamespace(directory=directory, run=run, generators=(before, global_generators()))


def train(task, dataset, config, directory, resume=False):
    return train_gail(TrainingRequest(task, dataset, directory, resume=resume, n_jobs=1), config)


def history(directory):
    return [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]


def global_generators():
    return torch.get_rng_state().tolist(), np.random.get_state()[1].tolist()  # noqa: NPY002


@pytest.mark.parametrize("reward", ["log-d", "minus-log-1-d"])
@pytest.mark.slow
def test_one_path_is_enough_to_cross_an_empty_room_as_well_as_the_expert(tmp_path, reward):
    dataset = collect(EMPTY, 1, 0, 0.0, 0, n_jobs=1)
    config = GailConfig(
        rewards=(reward,),
        fresh_scenes=1,
        pretraining=0,
        warmup=0,
        iterations=80,
        environments=16,
        rollout=64,
        epochs=4,
        learning_rate=1e-3,
        batch_size=256,
        discriminator_steps=2,
        validation_scenes=8,
    )
    run = train(EMPTY, dataset, config, tmp_path)
    steps = len(dataset.demonstrations[0])
    assert run.found.validation_return == pytest.approx(1 - 0.9 * steps / 100)


FROM_NOTHING = GailConfig(
    rewards=("minus-log-1-d",),
    fresh_scenes=12,
    pretraining=0,
    warmup=0,
    iterations=40,
    environments=16,
    rollout=64,
    epochs=4,
    learning_rate=2e-3,
    batch_size=256,
    discriminator_steps=2,
    validation_scenes=8,
    radius=8,
)


def optimal_return(task):
    return evaluate(task, expert_policy(task, 0.0), range(16)).mean_return


class KilledError(Exception):
    """What a test stops a training with."""


def kill_after(monkeypatch, iterations):
    original = gail.AdversarialTraining.iterate

    def iterate(self, iteration):
        if iteration == iterations:
            raise KilledError
        return original(self, iteration)

    monkeypatch.setattr(gail.AdversarialTraining, "iterate", iterate)


@pytest.mark.parametrize("stop", [pytest.param(3, marks=pytest.mark.slow), 4])
def test_a_training_that_was_killed_and_resumed_ends_with_the_same_weights(tmp_path, dataset, whole, stop):
    torch.manual_seed(6)  # what others draw does not matter
    with pytest.MonkeyPatch.context() as patch:
        kill_after(patch, stop)
        with pytest.raises(KilledError):
            train(DOORKEY, dataset, SMALL, tmp_path / "killed")
    train(DOORKEY, dataset, SMALL, tmp_path / "killed", resume=True)
    for name in ("metrics.jsonl", "policy.safetensors", "config.json"):
        assert (whole.directory / name).read_bytes() == (tmp_path / "killed" / name).read_bytes()


def test_it_learns_something_and_says_so(tmp_path, dataset):
    config = replace(SMALL, rewards=("log-d", "minus-log-1-d"), iterations=3, rollout=25, batch_size=75)
    run = train(DOORKEY, dataset, config, tmp_path)
    lines = history(tmp_path)
    assert [(line["reward"], line["iteration"]) for line in lines] == [
        (reward, iteration) for reward in config.rewards for iteration in range(3)
    ]
    assert lines[2]["steps"] == 3 * 6 * 25
    assert lines[2]["discriminator_loss"] < lines[0]["discriminator_loss"]
    assert lines[2]["entropy"] < np.log(len(CONTROLS))
    returns = run.found.selection["validation_returns"]
    assert list(returns) == list(config.rewards)
    best = {reward: max(one.values()) for reward, one in returns.items()}
    assert run.found.validation_return == best[run.found.selection["reward"]] == max(best.values())


def test_the_global_generators_are_left_as_they_were(whole):
    assert whole.generators[0] == whole.generators[1]


def test_another_training_in_the_directory_is_refused(tmp_path, dataset, whole):
    directory = shutil.copytree(whole.directory, tmp_path / "run")
    with pytest.raises(RunExistsError):
        train(DOORKEY, dataset, SMALL, directory)
    with pytest.raises(OtherConfigurationError):
        train(DOORKEY, dataset, replace(SMALL, entropy=0.5), directory, resume=True)
    path = directory / "policy.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(BrokenPolicyError):
        train(DOORKEY, dataset, SMALL, directory, resume=True)


def test_ppo_returns_go_on_behind_an_end_and_behind_the_horizon(dataset):
    """With lambda = 1, returns by hand: the absorbing state behind an end, the value behind the horizon."""
    from experiments.baselines.gail.discriminator import REWARDS, Discriminator
    from experiments.baselines.gail.generator import JudgedVecEnv, make_ppo

    task = replace(EMPTY, horizon=12)
    discount, rows, steps = 0.9, 8, 40
    with torch.random.fork_rng():
        torch.manual_seed(4)
        discriminator = Discriminator(GridEncoder(2))
        torch.nn.init.normal_(discriminator.network.head.last.weight)
        torch.nn.init.constant_(discriminator.absorbing, 2.0)
        environment = JudgedVecEnv(
            CompiledVectorEnv(compile_scenes(task, [0]), rows),
            GridEncoder(2),
            discriminator,
            "minus-log-1-d",
            discount,
        )
        ppo = make_ppo(environment, n_steps=steps, batch_size=rows * steps, gamma=discount, gae_lambda=1.0)
        torch.nn.init.normal_(ppo.policy.network.head.last.weight)
        environment.environment.reset(seed=0)
        ppo._last_obs = environment.start()
        ppo._last_episode_starts = np.ones(rows, bool)
        told, step_wait = [], environment.step_wait
        environment.step_wait = lambda: told.append(step_wait()) or told[-1]
        ppo._setup_learn(1, None, reset_num_timesteps=False)
        ppo.collect_rollouts(ppo.env, ppo._init_callback(None), ppo.rollout_buffer, steps)
    buffer, grids = ppo.rollout_buffer, torch.from_numpy(environment.batch.bank.entries)
    with torch.no_grad():
        columns = torch.from_numpy(buffer.observations.reshape(-1, 3))
        logits = discriminator.network(Observations(grids, columns)).reshape(steps, rows, -1)
        end_reward = REWARDS["minus-log-1-d"](discriminator.absorbing).item()
    rewards = REWARDS["minus-log-1-d"](logits).numpy()
    ends = {True: 0, False: 0}
    for row in range(rows):
        for first, end in pairwise(np.flatnonzero(buffer.episode_starts[:, row])):
            own = rewards[np.arange(first, end), row, buffer.actions[first:end, row, 0].astype(int)]
            total = (1 - discount) * sum(discount**t * reward for t, reward in enumerate(own))
            info = told[end - 1][3][row]
            cut_off = info["TimeLimit.truncated"]
            if cut_off:
                with torch.no_grad():
                    last = torch.from_numpy(info["terminal_observation"])[None]
                    total += discount ** (end - first) * ppo.policy.network(Observations(grids, last))[0, -1].item()
            else:
                total += (1 - discount) * sum(discount**t * end_reward for t in range(end - first, 3000))
            assert buffer.returns[first, row] == pytest.approx(total, rel=1e-3, abs=1e-5)
            ends[cut_off] += 1
    assert min(ends.values()) > 0


def test_a_rollout_is_cut_into_batches_entry_by_entry():
    from experiments.baselines.gail.generator import entrywise_batches

    rng = np.random.default_rng(0)
    grids = rng.integers(50, size=1000)
    batches = entrywise_batches(grids, 100, rng)
    assert sorted(np.concatenate(batches)) == list(range(1000))
    assert {len(batch) for batch in batches} == {100}
    assert sum(len(np.unique(grids[batch])) for batch in batches) <= 50 + len(batches) - 1
