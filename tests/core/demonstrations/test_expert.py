"""The expert is optimal at temperature 0, random at inf, and Boltzmann between."""

import numpy as np
import pytest
from experts import solve
from minigrid.core.world_object import Goal
from oracles_worlds import fewest_steps, stands_on_an_end

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.minigrid import AgentOn, MiniGridWorld
from wfairl.minigrid.environment import make_environment, reset
from wfairl.runs.task_registry import find_task


def on_goal(env):
    return stands_on_an_end(env) and isinstance(env.grid.get(*env.agent_pos), Goal)


@pytest.mark.parametrize("seed", range(10))
def test_no_shorter_solution_exists(seed):
    """Against breadth-first search over copies of the real environment."""
    env = make_environment("MiniGrid-DoorKey-5x5-v0")
    reset(env, seed)
    world = MiniGridWorld.from_environment(env, {"goal": AgentOn("goal")})
    expert = solve(world, visit_in_order("goal"))
    assert expert.optimal_cost == fewest_steps(env.unwrapped, on_goal)
    controls, succeeded = expert.act(0.0, 200, np.random.default_rng(0))
    assert succeeded
    assert len(controls) == expert.optimal_cost


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seed"), [("doorkey", 5000), ("doorkey", 5001), *(("multiroom", seed) for seed in range(5000, 5006))]
)
def test_no_shorter_solution_exists_in_the_papers_tasks(name, seed):
    task = find_task(name)
    env = task.make_environment(seed)
    expert = solve(task.make_world(seed), task.rule)
    assert expert.optimal_cost == fewest_steps(env.unwrapped, on_goal)


@pytest.fixture(scope="module")
def expert():
    task = find_task("multiroom")
    return solve(task.make_world(1), task.rule)


def test_ties_at_temperature_zero_are_broken_by_the_generator(expert):
    runs = {tuple(expert.act(0.0, 80, np.random.default_rng(seed))[0]) for seed in range(60)}
    assert {len(run) for run in runs} == {expert.optimal_cost}
    assert len(runs) > 1
    same = [expert.act(0.0, 80, np.random.default_rng(3))[0] for _ in range(2)]
    assert same[0] == same[1]


def test_the_first_controls_of_many_runs_follow_the_boltzmann_distribution(expert):
    temperature, runs = 0.7, 4_000
    rng = np.random.default_rng(0)
    first = np.array([expert.act(temperature, 1, rng)[0][0] for _ in range(runs)])
    weights = np.exp(
        -(expert.solution.control_cost_to_go(expert.world.initial_state, 0) - expert.optimal_cost) / temperature
    )
    expected = runs * weights / weights.sum()
    counts = np.bincount(first, minlength=6)
    # Chi-squared with 5 degrees of freedom exceeds 25.7 once in ten thousand times.
    assert ((counts - expected) ** 2 / expected).sum() < 25.7


def test_at_infinite_temperature_all_controls_are_equally_likely(expert):
    rng = np.random.default_rng(0)
    controls = np.concatenate([expert.act(np.inf, 80, rng)[0] for _ in range(50)])
    counts = np.bincount(controls, minlength=6)
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 25.7


def test_the_true_cost_is_an_argument():
    """An expert to whom turning left costs a fortune never turns left."""
    task = find_task("doorkey")

    def dear_left(product):
        costs = np.ones(product.successors.shape)
        costs[:, 0] = 50.0
        return costs

    for seed in range(5):
        controls, _ = solve(task.make_world(seed), task.rule, dear_left).act(0.0, 200, np.random.default_rng(0))
        assert 0 not in controls


def test_a_rule_that_cannot_be_fulfilled_is_a_named_outcome():
    env = make_environment("MiniGrid-DoorKey-5x5-v0")
    reset(env, 0)
    raw = env.unwrapped
    key = next(thing for thing in raw.grid.grid if thing is not None and thing.type == "key")
    raw.grid.set(*key.cur_pos, None)
    world = MiniGridWorld.from_environment(env, {"goal": AgentOn("goal")})
    with pytest.raises(UnsatisfiableTaskError):
        solve(world, visit_in_order("goal"))
