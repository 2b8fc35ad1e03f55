"""The named tasks, and tasks of one's own."""

import dataclasses

import numpy as np
import pytest

from wfairl.demonstrations import solve
from wfairl.errors import BadInputError
from wfairl.worlds import Rule, Task, all_tasks, find_task, register_task
from wfairl.worlds import tasks as tasks_module
from wfairl.worlds.minigrid.propositions import Carrying

MEAN_OPTIMAL_STEPS = {"doorkey": 16.73, "multiroom": 20.29, "blocked-unlock-pickup": 22.4}


def agrees_with_the_known_mean(name, seeds):
    task = find_task(name)
    steps = [solve(task.make_world(seed), task.rule).optimal_cost for seed in seeds]
    standard_error = np.std(steps, ddof=1) / np.sqrt(len(steps))
    return abs(np.mean(steps) - MEAN_OPTIMAL_STEPS[name]) <= 3 * standard_error


@pytest.mark.parametrize("name", ["doorkey", "multiroom"])
def test_the_mean_optimal_steps_are_those_of_the_protocol(name):
    assert agrees_with_the_known_mean(name, range(200))


@pytest.mark.slow
def test_the_mean_optimal_steps_of_the_hardest_task_are_those_of_the_protocol():
    assert agrees_with_the_known_mean("blocked-unlock-pickup", range(200))


def test_a_few_scenes_of_the_hardest_task_agree_with_the_protocol_too():
    assert agrees_with_the_known_mean("blocked-unlock-pickup", range(6))


@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_the_propositions_and_the_initial_labels_are_what_the_paper_says(task):
    expected = {
        "doorkey": ("key", "door", "goal"),
        "multiroom": ("door1", "door2", "door3", "goal"),
        "blocked-unlock-pickup": ("ball", "key", "door", "box"),
    }[task.name]
    assert task.proposition_names == expected
    for seed in range(20):
        world = task.make_world(seed)
        after_a_turn = world.step(world.initial_state, 0)
        assert world.label(world.initial_state, 0, after_a_turn) == frozenset()


def test_the_doors_of_multiroom_are_counted_along_the_rooms():
    """Along a shortest path to the goal they open in the order of their numbers."""
    task = find_task("multiroom")
    for seed in range(20):
        world = task.make_world(seed)
        controls, _ = solve(world, task.rule).act(0.0, task.horizon, np.random.default_rng(0))
        _, labels = world.walk(controls)
        first_open = [next(t for t, label in enumerate(labels) if f"door{i}" in label) for i in (1, 2, 3)]
        assert first_open == sorted(first_open)
        assert "goal" in labels[-1]


def test_the_real_environment_ends_a_task_exactly_when_its_rule_says_so():
    for task in all_tasks():
        env = task.make_environment(seed=4)
        world = task.world_of(env)
        controls, _ = solve(world, task.rule).act(0.5, task.horizon, np.random.default_rng(0))
        labels = []
        state = world.initial_state
        for control in controls:
            _, reward, terminated, _, _ = env.step(control)
            following = world.step(state, control)
            labels.append(world.label(state, control, following))
            state = following
            assert terminated == task.rule.succeeds(labels)
            assert (reward > 0) == terminated
        assert terminated


@pytest.fixture
def own_task(monkeypatch):
    monkeypatch.setattr(tasks_module, "_TASKS", dict(tasks_module._TASKS))
    return Task(
        name="fetch-a-key",
        summary="pick up the key",
        environment_id="MiniGrid-DoorKey-5x5-v0",
        propositions=lambda _: {"key": Carrying("key")},
        rule=Rule(visit=("key",)),
        horizon=30,
    )


def test_a_task_of_ones_own_works_like_the_others(own_task):
    register_task(own_task)
    task = find_task("fetch-a-key")
    controls, succeeded = solve(task.make_world(3), task.rule).act(0.0, task.horizon, np.random.default_rng(0))
    assert succeeded
    assert controls[-1] == 3  # pickup


def test_a_name_is_taken_once_and_a_rule_must_know_its_propositions(own_task):
    register_task(own_task)
    with pytest.raises(BadInputError, match="there is a task 'fetch-a-key' already"):
        register_task(own_task)
    foreign = Task("x", "", own_task.environment_id, own_task.propositions, Rule(visit=("gold",)), 10)
    with pytest.raises(BadInputError, match="speaks of gold"):
        register_task(foreign)


def test_a_horizon_must_leave_time_for_something(own_task):
    with pytest.raises(BadInputError, match="horizon"):
        dataclasses.replace(own_task, horizon=0)


def test_an_unknown_task_is_answered_with_the_known_ones():
    with pytest.raises(BadInputError, match="unknown task 'doorkeys'; known are doorkey, multiroom"):
        find_task("doorkeys")
