"""Plans with automata learned from demonstrations, on scenes that nobody has shown.

Whatever was learned, a plan of cost 1 is as short as the best path among the words that were seen to succeed. On T1
and T2 that is the optimum, whichever scenes the demonstrations came from.
"""

from functools import cache

import numpy as np
import pytest
from oracles_planning import fewest_steps_with_word

from wfairl.core.automata.words import as_read
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.plan import UnsatisfiableTaskError, find_plan
from wfairl.core.planning.product import build_product
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task

TEST_SEEDS = range(5000, 5016)


@cache
def learn(task_name: str, temperature: float, seed: int):
    """The finite automaton of a data set of the paper, and the words that succeeded."""
    dataset = collect(find_task(task_name), 32, 128, temperature, seed)
    model = SpectralTaskLearner().fit(dataset.words, dataset.scores, Reading(optional_start=True)).model
    words = as_read(dataset.words, model.keep_repeats)
    seen = {word for word, score in zip(words, dataset.scores, strict=True) if score == 1}
    return model.finite, seen


def plan_length(world, automaton) -> float:
    product = build_product(world, automaton)
    try:
        return find_plan(product, unit_cost(product)).cost
    except UnsatisfiableTaskError:
        return np.inf


def optimum(world, goal: str) -> float:
    """The fewest steps to a state where the proposition holds, breadth first over the world alone."""
    explored = world.explore()
    shows_it = np.array([goal in label for label in explored.labels])
    level, seen, steps = np.array([0]), np.zeros(len(explored.states), bool), 0
    while level.size:
        steps += 1
        if shows_it[explored.label_index[level]].any():
            return steps
        seen[level] = True
        reached = np.unique(explored.successors[level])
        level = reached[~seen[reached]]
    return np.inf


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))])
@pytest.mark.parametrize("temperature", [0.0, 0.5], ids=["D1", "D2"])
@pytest.mark.parametrize("task_name", ["doorkey", "multiroom"])
def test_plans_are_optimal_on_new_scenes(task_name: str, temperature: float, seed: int):
    task = find_task(task_name)
    automaton, _ = learn(task_name, temperature, seed)
    worlds = [task.make_world(seed) for seed in TEST_SEEDS]
    lengths = [plan_length(world, automaton) for world in worlds]
    assert lengths == [optimum(world, "goal") for world in worlds]


@pytest.mark.parametrize("temperature", [0.0, 0.5], ids=["D1", "D2"])
@pytest.mark.parametrize(
    "task_name", ["doorkey", "multiroom", pytest.param("blocked-unlock-pickup", marks=pytest.mark.slow)]
)
def test_plans_are_as_short_as_the_best_path_among_the_words_seen(task_name: str, temperature: float):
    task = find_task(task_name)
    automaton, seen = learn(task_name, temperature, seed=0)
    scenes = TEST_SEEDS if task_name != "blocked-unlock-pickup" else TEST_SEEDS[:3]  # of half a million states each
    for seed in scenes:
        world = task.make_world(seed)
        explored = world.explore()
        best = min(fewest_steps_with_word(explored, word) for word in seen)
        assert plan_length(world, automaton) <= best, f"seed {seed}"
