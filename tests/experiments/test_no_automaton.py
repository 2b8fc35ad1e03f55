"""Planning until the goal alone: what is accepted, how large the product is, and that its run is an ordinary one."""

from dataclasses import replace

import numpy as np
import pytest

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.planning.product import build_product
from wfairl.minigrid.tasks import DOORKEY, PAPER_TASKS
from wfairl.runs.collection import collect
from wfairl.runs.methods import load_policy, train
from wfairl.runs.planning_methods import goal_alone
from wfairl.runs.run_directory import read_config

GOALS = {"doorkey": "goal", "multiroom": "goal", "blocked-unlock-pickup": "box"}


def goal_model(task):
    return TaskModel.of_automaton(goal_alone(task.rule, task.propositions), "goal alone")


@pytest.mark.parametrize("task", PAPER_TASKS, ids=lambda task: task.name)
def test_the_goal_alone_is_asked_for(task):
    goal = GOALS[task.name]
    others = sorted(set(task.propositions) - {goal})
    model = goal_model(task)
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
    model = goal_model(replace(DOORKEY, name="strict", rule=visit_in_order("key", "door", "goal")))
    assert model.judge((frozenset({"goal"}),)).accepted
    assert not model.judge((frozenset({"key"}), frozenset({"key", "door"}))).accepted


def test_the_product_is_the_world_itself():
    world = DOORKEY.make_world(0)
    product = build_product(world, goal_model(DOORKEY).finite)
    everywhere = world.explore()
    shows_goal = np.array(["goal" in label for label in everywhere.labels])
    reached = shows_goal[everywhere.label_index]
    states = {world.unpack(words) for words in everywhere.states}
    on_goal = {world.unpack(everywhere.states[node]) for node in everywhere.successors[reached]}
    assert len(product) == len(states - on_goal)
    assert len(np.unique(product.states, axis=0)) == len(product)  # no state twice


def test_a_run_is_trained_and_acts_like_any_other(tmp_path):
    dataset = collect(DOORKEY, 4, 4, 0.5, seed=0)
    trained = train("no-automaton", dataset, tmp_path, {"epochs": 2})
    assert read_config(tmp_path).method == "no-automaton"
    policy = load_policy(tmp_path, DOORKEY)
    assert policy.temperature == 0.5
    assert policy.automaton.states == 2
    again = train("no-automaton", dataset, tmp_path, {"epochs": 2}, resume=True)
    assert again.facts == trained.facts
