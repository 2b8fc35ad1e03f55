"""Planning until the goal alone: what is accepted, how large the product is, and that its run is an ordinary one."""

import numpy as np
import pytest
from wfairl.baselines.no_automaton import goal_model, train_without_automaton
from wfairl.worlds.tasks import Rule, Task, all_tasks, find_task

from wfairl.demonstrations import Dataset, collect
from wfairl.learning.run_directory import NO_AUTOMATON, RunConfig, read_config
from wfairl.learning.trainer import Settings
from wfairl.methods import load_policy
from wfairl.planning.product import build_product


@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_the_goal_alone_is_asked_for(task):
    goal = task.rule.visit[-1]
    others = sorted(set(task.proposition_names) - {goal})
    model = goal_model(task, Dataset(task.name, ()))
    words = {
        (): False,
        (frozenset(others),): False,
        (frozenset({goal}),): True,
        (frozenset(others), frozenset(), frozenset({goal})): True,
        (frozenset({goal, *others}), frozenset()): True,
    }
    for word, accepted in words.items():
        assert model.judge(word).accepted == accepted


def test_what_has_to_come_before_the_goal_is_not_asked_for():
    task = find_task("doorkey")
    strict = Task("strict", "", task.environment_id, task.propositions, Rule(("key", "door", "goal")), 75)
    model = goal_model(strict, Dataset("strict", ()))
    assert model.judge((frozenset({"goal"}),)).accepted
    assert not model.judge((frozenset({"key"}), frozenset({"key", "door"}))).accepted


def test_the_product_is_the_world_itself():
    task = find_task("doorkey")
    world = task.make_world(0)
    model = goal_model(task, Dataset(task.name, ()))
    product = build_product(world, model.finite)
    goal = task.rule.visit[-1]
    mask = 1 << world.propositions.index(goal)
    everywhere = world.explore()
    reached = (everywhere.labels & mask) > 0
    before_goal = {world.unpack(words) for words in everywhere.states}
    on_goal = {world.unpack(everywhere.states[node]) for node in everywhere.successors[reached]}
    assert len(product) == len(before_goal - on_goal)
    assert len(np.unique(product.states, axis=0)) == len(product)  # no state twice


def test_a_run_is_trained_and_acts_like_any_other(tmp_path):
    task = find_task("doorkey")
    dataset = collect(task, 4, 4, 0.5, seed=0)
    config = RunConfig(task.name, 0.5, training=Settings(epochs=2))
    trained = train_without_automaton(task, dataset, config, tmp_path)
    assert trained.run.task_model.summary.loss == 0  # in this task the goal says it all
    assert read_config(tmp_path).method == NO_AUTOMATON
    policy = load_policy(tmp_path, task)
    assert policy.temperature == 0.5
    assert policy.automaton.states == 2
    again = train_without_automaton(task, dataset, config, tmp_path, resume=True)
    assert again.training.history == trained.training.history
