"""The compiled vector environment in lockstep with real MiniGrid environments in Gymnasium's SyncVectorEnv."""

from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from minigrid.core.constants import IDX_TO_OBJECT

from experiments.baselines.vector_environment import Bank, CompiledVectorEnv, compile_scenes
from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.support.errors import BadInputError
from wfairl.minigrid.physics import CELL_TYPES, HANDS, pack_fields
from wfairl.minigrid.propositions import AgentOn, Carrying, DoorOpen
from wfairl.minigrid.tasks import PAPER_TASKS, MiniGridTask

LAVA = MiniGridTask(
    name="lava",
    summary="cross the lava, which ends an episode without success",
    environment_id="MiniGrid-LavaCrossingS9N2-v0",
    scene_propositions=lambda _: {"goal": AgentOn("goal"), "lava": AgentOn("lava")},
    rule=all_of(visit_in_order("goal"), avoid("lava")),
    horizon=30,
)
EMPTY = MiniGridTask(
    name="empty",
    summary="reach the goal, often within the horizon",
    environment_id="MiniGrid-Empty-Random-5x5-v0",
    scene_propositions=lambda _: {"goal": AgentOn("goal")},
    rule=visit_in_order("goal"),
    horizon=20,
)
UNLOCK = MiniGridTask(
    name="unlock",
    summary="the environment's own end is the second step of the rule",
    environment_id="MiniGrid-Unlock-v0",
    scene_propositions=lambda _: {"key": Carrying("key"), "door": DoorOpen()},
    rule=visit_in_order("key", "door"),
    horizon=40,
)
KEY_CORRIDOR = MiniGridTask(
    name="corridor",
    summary="many doors, in scenes with different numbers of fields",
    environment_id="MiniGrid-KeyCorridorS3R2-v0",
    scene_propositions=lambda _: {"ball": Carrying("ball")},
    rule=visit_in_order("ball"),
    horizon=50,
)
BUSY = np.array([0.15, 0.15, 0.35, 0.12, 0.08, 0.15])
"""Chances of controls that pick up, drop and open more often than a random walk does."""


class NextScene(gymnasium.Wrapper):
    """A real environment that resets to a given scene."""

    seed = 0

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=self.seed, options=options)


def real_environments(task, count):
    def make():
        return NextScene(gymnasium.make(task.environment_id, max_steps=task.horizon, disable_env_checker=True))

    return SyncVectorEnv([make] * count, autoreset_mode=AutoresetMode.SAME_STEP)


def cell_type(code):
    kind = IDX_TO_OBJECT[int(code[0])]
    return ("open door", "closed door", "locked door")[int(code[2])] if kind == "door" else kind


def observe_real(real):
    """Grid, place and hands of a real environment, by MiniGrid's own encoding."""
    real = real.unwrapped
    grid = [[cell_type(code) for code in row] for row in real.grid.encode().transpose(1, 0, 2)]
    x, y = real.agent_pos
    hands = "nothing" if real.carrying is None else real.carrying.type
    return grid, (int(y) * real.width + int(x)) * 4 + int(real.agent_dir), hands


def observe(environment, columns):
    grid, place, hands = columns
    return [[CELL_TYPES[code] for code in row] for row in environment.bank.entries[grid]], int(place), HANDS[hands]


@pytest.mark.parametrize("task", [*PAPER_TASKS, LAVA, EMPTY, UNLOCK, KEY_CORRIDOR], ids=lambda task: task.name)
def test_it_is_in_lockstep_with_the_real_environments(task):
    rows = 4
    environment = CompiledVectorEnv(compile_scenes(task, range(2_000_000, 2_000_010)), rows)
    real = real_environments(task, rows)
    rng = np.random.default_rng(1)

    columns, info = environment.reset(seed=3)
    set_scenes(real, info["seed"])
    real.reset()
    worlds = [task._world_of(one) for one in real.envs]
    states = [world.initial_state for world in worlds]
    assert [observe(environment, row) for row in columns] == [observe_real(one) for one in real.envs]
    ends = {"terminated": 0, "truncated": 0, "rewarded": 0}
    for _ in range(3 * task.horizon):
        controls = rng.choice(6, size=rows, p=BUSY)
        columns, rewards, terminated, truncated, info = environment.step(controls)
        set_scenes(real, info["seed"])
        _, real_rewards, real_terminated, real_truncated, real_info = real.step(controls)

        np.testing.assert_allclose(rewards, real_rewards, atol=1e-12)
        np.testing.assert_array_equal(terminated, real_terminated)
        np.testing.assert_array_equal(truncated, real_truncated)
        assert [observe(environment, row) for row in columns] == [observe_real(one) for one in real.envs]
        over = terminated | truncated
        assert over.any() == ("final_obs" in info) == ("final_obs" in real_info)
        for row in range(rows):
            states[row] = worlds[row].step(states[row], int(controls[row]))
            if over[row]:  # what the last state showed, by the model of the scene that has just been left
                scene = worlds[row].encode(states[row])
                x, y = scene.position
                assert info["final_obs"][row][1] == (y * environment.pool.size[1] + x) * 4 + scene.direction
                worlds[row] = task._world_of(real.envs[row])
                states[row] = worlds[row].initial_state
            assert packed(environment, worlds[row], row) == worlds[row].pack(states[row]).tolist()
        ends["terminated"] += int(terminated.sum())
        ends["truncated"] += int(truncated.sum())
        ends["rewarded"] += int((rewards > 0).sum())
    assert ends["terminated"] + ends["truncated"] >= 2 * rows
    if task is EMPTY:
        assert min(ends.values()) > 0
    if task is LAVA:
        assert ends["terminated"] > ends["rewarded"]


def packed(environment, world, row):
    """The state of a row as the world of its scene packs it."""
    words = np.empty(world.layout.words, np.uint64)
    pack_fields(world.layout.table, environment.states[row, : world.layout.largest_values.size], words)
    return words.tolist()


def set_scenes(real, seeds):
    for one, seed in zip(real.envs, seeds, strict=True):
        one.seed = int(seed)


def test_the_columns_of_an_end_show_the_last_state_and_not_the_next_scene():
    environment = CompiledVectorEnv(compile_scenes(EMPTY, range(30)), 8)
    environment.reset(seed=0)
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(60):
        _, _, terminated, _, info = environment.step(rng.choice(6, size=8, p=BUSY))
        for row in np.flatnonzero(terminated):
            grid, place, _ = info["final_obs"][row]
            assert CELL_TYPES[environment.bank.entries[grid].flat[place // 4]] == "goal"
            assert environment.steps[row] == 0
            ends += 1
    assert ends > 3


def test_a_rule_that_was_broken_gives_no_reward():
    broken = MiniGridTask(
        name="no-key",
        summary="to carry the key breaks the rule, and nobody reaches the goal without",
        environment_id="MiniGrid-DoorKey-5x5-v0",
        scene_propositions=lambda _: {"goal": AgentOn("goal"), "key": Carrying("key")},
        rule=all_of(visit_in_order("goal"), avoid("key")),
        horizon=400,
    )
    environment = CompiledVectorEnv(compile_scenes(broken, range(4)), 16)
    environment.reset(seed=0)
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(800):
        _, rewards, terminated, _, _ = environment.step(rng.choice(6, size=16, p=BUSY))
        assert not rewards.any()
        ended += int(terminated.sum())
    assert ended > 0  # the goal was reached, which needs the key


def test_the_same_seed_gives_the_same_episodes():
    pool = compile_scenes(PAPER_TASKS[0], range(1_000_000, 1_000_020))
    controls = np.random.default_rng(0).choice(6, size=(200, 5), p=BUSY)

    def run(environment, rows):
        return [[observe(environment, row) for row in environment.step(one)[0]] for one in rows]

    first, second = CompiledVectorEnv(pool, 5), CompiledVectorEnv(pool, 5)
    first.reset(seed=7)
    second.reset(seed=7)
    assert run(first, controls) == run(second, controls)


def test_forgetting_keeps_what_is_shown_and_nothing_else():
    environment = CompiledVectorEnv(compile_scenes(PAPER_TASKS[2], range(9)), 4)
    environment.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(300):
        columns, *_ = environment.step(rng.choice(6, size=4, p=BUSY))
    before = [observe(environment, row) for row in columns]
    many = len(environment.bank)
    columns = environment.forget()
    assert [observe(environment, row) for row in columns] == before
    assert len(environment.bank) <= 4 < many


def test_a_bank_gives_equal_grids_one_number_and_different_ones_different_numbers():
    bank = Bank((2, 3), np.uint8)
    rng = np.random.default_rng(0)
    grids = rng.integers(2, size=(500, 6)).astype(np.uint8)
    numbers = bank.number(grids)
    np.testing.assert_array_equal(bank.entries[numbers].reshape(-1, 6), grids)
    assert len(bank) == len({grid.tobytes() for grid in grids}) == len(np.unique(numbers))


def test_episodes_begin_in_the_scenes_that_are_given():
    environment = CompiledVectorEnv(compile_scenes(EMPTY, [1, 2]), 3)
    _, info = environment.reset(seed=0, scenes=[1, 0, 1])
    assert info["seed"].tolist() == [2, 1, 2]


def test_what_cannot_be_stepped_is_refused():
    pool = compile_scenes(EMPTY, [1, 2])
    environment = CompiledVectorEnv(pool, 2)
    environment.reset(seed=0)
    for controls in ([0], [0, 6], [-1, 0]):
        with pytest.raises(BadInputError, match="controls between 0 and 5"):
            environment.step(np.array(controls))
    for wrong in (partial(compile_scenes, EMPTY, []), partial(CompiledVectorEnv, pool, 0)):
        with pytest.raises(BadInputError):
            wrong()
