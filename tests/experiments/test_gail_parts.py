"""The parts of GAIL, each against the slow and obvious version of what it claims to be."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies_baselines import random_network

from experiments.baselines.cloning import Steps
from experiments.baselines.gail.discriminator import (
    REWARDS,
    Discriminator,
    absorbing_fraction,
    absorbing_return,
    discrimination_loss,
)
from experiments.baselines.gail.train import GailConfig, clone, prepare_data
from experiments.baselines.network import FrozenNetwork, GridBatch, GridEncoder, Observations
from experiments.baselines.network_policy import NetworkPolicy
from experiments.baselines.validation import FIRST_VALIDATION_SEED, draw_by_gumbel, validate
from experiments.baselines.vector_environment import Bank, CompiledVectorEnv, compile_scenes
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.costs.scene import NoSuccessfulDemonstrationError
from wfairl.core.demonstrations import Dataset
from wfairl.core.planning.rollout import roll_out
from wfairl.core.support.errors import BadInputError
from wfairl.minigrid import AgentOn, MiniGridTask
from wfairl.minigrid.physics import HANDS
from wfairl.minigrid.tasks import DOORKEY, PAPER_TASKS
from wfairl.runs.collection import FIRST_TRAINING_SEED, collect
from wfairl.runs.evaluation import episode_return

SIZE = 5
ENCODER = GridEncoder(SIZE // 2)
SMALL = GailConfig(fresh_scenes=5, validation_scenes=1)

EMPTY = MiniGridTask(
    name="empty-room",
    summary="reach the goal",
    environment_id="MiniGrid-Empty-Random-5x5-v0",
    scene_propositions=lambda _: {"goal": AgentOn("goal")},
    rule=visit_in_order("goal"),
    horizon=30,
)


def random_steps(rng, rows, absorbing=0.0):
    columns = np.stack(
        [rng.integers(4, size=rows), rng.integers(SIZE * SIZE * 4, size=rows), rng.integers(len(HANDS), size=rows)]
    ).T
    grids = rng.integers(8, size=(4, SIZE, SIZE)).astype(np.uint8)
    controls = torch.from_numpy(rng.integers(6, size=rows))
    return Steps(Observations(torch.from_numpy(grids), torch.from_numpy(columns)), controls), absorbing


def test_a_frozen_network_is_the_network_also_for_grids_that_come_later():
    rng = np.random.default_rng(0)
    network, bank = random_network(ENCODER, 7), Bank((SIZE, SIZE), np.uint8)
    frozen = FrozenNetwork(network, bank)
    for _ in range(3):
        numbers = bank.number(rng.integers(8, size=(5, SIZE * SIZE)).astype(np.uint8))
        columns = torch.from_numpy(
            np.stack([numbers, rng.integers(SIZE * SIZE * 4, size=5), rng.integers(len(HANDS), size=5)]).T
        )
        seen = Observations(torch.from_numpy(bank.entries), columns)
        torch.testing.assert_close(frozen(columns), network(seen))
    assert not frozen(columns).requires_grad


@given(st.floats(-30, 30))
def test_rewards_are_what_their_names_say(logit):
    d = 1 / (1 + np.exp(-logit))
    one = torch.tensor(logit, dtype=torch.float64)
    assert REWARDS["log-d"](one).item() == pytest.approx(np.log(d), rel=1e-6)
    assert REWARDS["minus-log-1-d"](one).item() == pytest.approx(logit + np.log1p(np.exp(-logit)), rel=1e-6)


@given(st.floats(-5, 5), st.floats(0.5, 0.98))
def test_the_end_is_worth_what_infinitely_many_steps_in_the_absorbing_state_are(reward, discount):
    steps = sum(reward * discount**t for t in range(1, 2000))
    assert absorbing_return(reward, discount) == pytest.approx(steps, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=6), st.integers(0, 2**32))
def test_the_loss_is_that_of_episodes_filled_up_to_the_horizon(episodes, seed):
    """The absorbing state as literal rows, H - T for each episode that terminated after T steps."""
    horizon, smoothing = 9, 0.1
    rng = np.random.default_rng(seed)
    discriminator = Discriminator(ENCODER)
    discriminator.network = random_network(ENCODER)
    torch.nn.init.constant_(discriminator.absorbing, float(rng.normal()))
    sides, rows = [], []
    for label in (1.0, 0.0):
        steps = sum(length for length, _ in episodes)
        ended = np.array([length for length, terminated in episodes if terminated], np.int64)
        side = random_steps(rng, steps, absorbing_fraction(steps, ended, horizon))
        sides.append(side)
        logits = [*discriminator(side[0]), *[discriminator.absorbing] * int((horizon - ended).sum())]
        target = label * (1 - smoothing) + (1 - label) * smoothing
        chances = [torch.sigmoid(logit.double()).item() for logit in logits]
        rows.append(np.mean([-target * np.log(d) - (1 - target) * np.log(1 - d) for d in chances]))
    loss = discrimination_loss(discriminator, *sides, smoothing)
    assert loss.item() == pytest.approx(sum(rows), rel=1e-4)


def test_the_discriminator_learns_how_often_each_side_is_in_the_absorbing_state():
    rng = np.random.default_rng(0)
    discriminator = Discriminator(ENCODER)
    minimizer = torch.optim.LBFGS([discriminator.absorbing])
    expert, generator = random_steps(rng, 9, absorbing=0.6), random_steps(rng, 9, absorbing=0.2)

    def loss():
        minimizer.zero_grad()
        found = discrimination_loss(discriminator, expert, generator, 0.0)
        found.backward()
        return found

    minimizer.step(loss)
    assert torch.sigmoid(discriminator.absorbing).item() == pytest.approx(0.6 / (0.6 + 0.2), abs=1e-3)


@pytest.fixture(scope="module")
def dataset():
    return collect(DOORKEY, 4, 3, 0.5, 0, n_jobs=1)


def states_of(demonstration):
    return demonstration.follow(DOORKEY.make_world(demonstration.seed)).states


def test_only_what_successful_demonstrations_show_is_the_experts(dataset):
    data = prepare_data(DOORKEY, dataset, SMALL, 1)
    successes = [one for one in dataset if one.score == 1]
    steps = sum(map(len, successes))
    expert, absorbing = data.expert
    assert expert.controls.tolist() == [control for one in successes for control in one.controls]
    assert absorbing == pytest.approx(1 - steps / (len(successes) * DOORKEY.horizon))
    assert set(data.pool.seeds[data.judged].tolist()) == {one.seed for one in successes}
    failures = tuple(one for one in dataset if one.score == 0)
    with pytest.raises(NoSuccessfulDemonstrationError, match="needs 1 or more"):
        prepare_data(DOORKEY, Dataset(DOORKEY.name, failures), SMALL, 1)


def test_fresh_scenes_are_neither_for_demonstrations_nor_validation_nor_tests(dataset):
    shown = {one.seed for one in dataset if one.score == 1}
    for seed in (0, 1, 9_999, 2**62):
        data = prepare_data(DOORKEY, dataset, replace(SMALL, seed=seed), 1)
        fresh = set(data.pool.seeds.tolist()) - shown
        assert len(fresh) == 5
        assert all(FIRST_TRAINING_SEED <= one < FIRST_VALIDATION_SEED for one in fresh)
        assert set(data.pool.seeds[data.judged].tolist()) == shown


def test_scenes_of_demonstrations_are_drawn_about_as_often_as_fresh_ones(dataset):
    data = prepare_data(DOORKEY, dataset, replace(SMALL, fresh_scenes=40), 1)
    assert data.judged.mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("task", PAPER_TASKS, ids=lambda task: task.name)
def test_a_batch_is_encoded_as_one_world_is(task):
    encoder = GridEncoder(3)
    pool = compile_scenes(task, range(1_000_000, 1_000_006))
    environment = CompiledVectorEnv(pool, 5)
    batch = GridBatch(encoder, environment.bank)
    rng = np.random.default_rng(0)
    columns, info = environment.reset(seed=0)
    worlds = {seed: task.make_world(seed) for seed in pool.seeds.tolist()}
    states = [worlds[seed].initial_state for seed in info["seed"].tolist()]
    for step in range(60):
        seen = batch.encode(columns)
        for row, seed in enumerate(info["seed"].tolist()):
            shown = encoder.for_world(worlds[seed])([states[row]])
            assert seen[row, 1:].tolist() == shown.columns[0, 1:].tolist()
            np.testing.assert_array_equal(batch.bank.entries[seen[row, 0]], shown.bank[0])
        controls = rng.choice(6, size=5, p=[0.15, 0.15, 0.35, 0.12, 0.08, 0.15])
        seeds = info["seed"].tolist()
        columns, _, terminated, _, info = environment.step(controls)
        assert not terminated.any()
        states = [worlds[seed].step(state, int(u)) for seed, state, u in zip(seeds, states, controls, strict=True)]
        if step == 30:
            columns = environment.forget()
            batch.clear()


def test_the_clone_is_not_told_of_idle_steps_and_the_discriminator_is():
    dataset = collect(DOORKEY, 3, 0, 0.5, 0, n_jobs=1)
    steps = [len(one) for one in dataset]
    changing = [sum(a != b for a, b in pairwise(states_of(one))) for one in dataset]
    assert changing != steps
    data = prepare_data(DOORKEY, dataset, SMALL, 1)
    assert [len(one) for one in data.demonstrations] == changing
    assert len(data.expert[0]) == sum(steps)


def test_a_clone_does_what_was_demonstrated():
    data = prepare_data(DOORKEY, collect(DOORKEY, 2, 0, 0.0, 0, n_jobs=1), replace(SMALL, radius=3), 1)
    network, (expert, _) = random_network(data.encoder, 7), data.expert
    clone(network, data.demonstrations, data.encoder, 150, np.random.default_rng(0))
    outputs = network(expert.observations)
    assert (outputs[:, :6].argmax(dim=1) == expert.controls).float().mean() > 0.8


def test_validation_is_what_the_real_environment_says():
    """On a room that some random networks can cross."""
    pool = compile_scenes(EMPTY, range(FIRST_VALIDATION_SEED, FIRST_VALIDATION_SEED + 5))
    found = 0.0
    for seed, encoder in product(range(4), (GridEncoder(2), GridEncoder(4))):
        network = random_network(encoder, seed=seed)
        policy = NetworkPolicy("greedy", (network,), encoder, 0.0)
        real = [roll_out(EMPTY, policy, int(one), np.random.default_rng(0)) for one in pool.seeds]
        returns = [episode_return(len(one), one.is_success, EMPTY.horizon) for one in real]
        assert validate([network], encoder, pool, [0], draw_by_gumbel)["0"] == pytest.approx(np.mean(returns))
        found += sum(one.is_success for one in real)
    assert found > 0


@pytest.mark.parametrize("setting", [{"rewards": ()}, {"rewards": ("d",)}, {"iterations": 0},
                                     {"discount": 1.0}, {"smoothing": 0.5}, {"learning_rate": 0.0},
                                     {"entropy": -1.0}, {"pretraining": -1}, {"seed": -1}])  # fmt: skip
def test_settings_that_cannot_be_trained_with_are_refused(setting):
    with pytest.raises(BadInputError):
        GailConfig(**setting)
