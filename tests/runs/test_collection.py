"""Collections follow from one seed, and are what they say they are."""

from dataclasses import replace

import numpy as np
import pytest
from experts import solve

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.demonstrations import replay
from wfairl.core.planning import unit_cost
from wfairl.core.support.errors import BadInputError, FailedRunError
from wfairl.core.worlds import GraphWorld, ModelTask
from wfairl.runs.collection import FIRST_TRAINING_SEED, collect
from wfairl.runs.task_registry import find_task


@pytest.fixture(scope="module")
def doorkey():
    return find_task("doorkey")


def test_the_same_seed_gives_the_same_collection_on_one_core_or_two(doorkey):
    assert collect(doorkey, 6, 6, 0.5, seed=3, n_jobs=1) == collect(doorkey, 6, 6, 0.5, seed=3, n_jobs=2)


def test_collections_with_different_seeds_share_no_scene_and_none_is_a_test_scene(doorkey):
    first, second = (collect(doorkey, 5, 5, 0.5, seed=seed) for seed in (0, 1))
    assert not first.seeds & second.seeds
    assert min(first.seeds | second.seeds) >= FIRST_TRAINING_SEED
    assert len(first.seeds) == len(first)


@pytest.mark.parametrize("task_name", ["doorkey", "multiroom"])
@pytest.mark.parametrize("temperature", [0.0, 0.5])
def test_successes_and_failures_are_what_they_say(task_name, temperature):
    task = find_task(task_name)
    dataset = collect(task, 8, 12, temperature, seed=0)
    assert dataset.scores == (1.0,) * 8 + (0.0,) * 12
    for demonstration in dataset:
        world = task.make_world(demonstration.seed)
        assert replay(world, demonstration.controls, demonstration.score, demonstration.seed) == demonstration
        assert (task.rule.fulfilled_at(demonstration.labels) is not None) == (demonstration.score == 1)
        if demonstration.score == 0:
            assert len(demonstration) == task.horizon
        else:
            optimum = solve(world, task.rule).optimal_cost
            assert optimum <= len(demonstration) <= task.horizon
            assert temperature > 0 or len(demonstration) == optimum


def crossing(_):
    """A choice between a short road that costs 9 and a long one that costs 4; node 3 shows the goal."""
    edges = [(0, 3), (0, 1), (1, 2), (2, 3), (3, 0)]
    features = np.array([[9.0], [1.0], [1.0], [2.0], [1.0]])
    return GraphWorld.from_edges(edges, start=0, marks={3: ["goal"]}, features=features)


def test_the_expert_pays_the_tasks_true_cost_and_walkers_take_what_can_be_chosen():
    task = ModelTask(
        "roads", "", ("goal",), visit_in_order("goal"), 6, crossing, true_cost=lambda features: features[:, 0]
    )
    dataset = collect(task, 3, 0, 0.0, seed=0)
    assert [item.controls for item in dataset] == [(1, 0, 0)] * 3
    assert [item.controls for item in collect(task, 1, 0, 0.0, 0, cost=unit_cost)] == [(0,)]
    never = replace(task, rule=visit_in_order("goal", "never"), propositions=("goal", "never"))
    never = replace(never, scene=lambda seed: replace(crossing(seed), propositions=("goal", "never")))
    for item in collect(never, 0, 5, 0.0, seed=0):
        assert replay(crossing(0), item.controls, 0.0, item.seed) == item  # which refuses what cannot be chosen


def test_an_expert_that_cannot_succeed_ends_in_a_named_outcome(doorkey):
    with pytest.raises(FailedRunError, match="0 of 100 came out as required, and 2 are asked for"):
        collect(doorkey, 2, 0, float("inf"), seed=0)


def scenes_with_a_goal(has_goal):
    return lambda seed: GraphWorld.from_edges(
        [(0, 1), (1, 0)], start=0, marks={1: ["goal"]} if has_goal(seed) else {}, propositions=["goal"]
    )


def test_scenes_in_which_the_rule_cannot_be_satisfied_are_passed_over():
    task = ModelTask("some", "", ("goal",), visit_in_order("goal"), 6, scenes_with_a_goal(lambda seed: seed % 4))
    assert sorted(collect(task, 5, 0, 0.0, seed=0).seeds) == [FIRST_TRAINING_SEED + 2 + 4 * i for i in range(5)]


def test_a_rule_that_no_scene_satisfies_ends_in_a_named_outcome_with_a_scene_and_the_reason():
    task = ModelTask("none", "", ("goal",), visit_in_order("goal"), 6, scenes_with_a_goal(lambda _: False))
    with pytest.raises(FailedRunError, match=f"seed {FIRST_TRAINING_SEED}: .*goal can never hold"):
        collect(task, 40, 0, 0.0, seed=0)


def test_the_demonstrator_does_not_draw_the_numbers_that_drew_the_scene(doorkey):
    """A walk by the scene's own generator would tell something of the layout."""
    walks = [item.controls for item in collect(doorkey, 0, 20, 0.5, seed=0)]
    for walk, scene in zip(walks, sorted(collect(doorkey, 0, 20, 0.5, seed=0).seeds), strict=True):
        assert walk != tuple(np.random.default_rng(scene).integers(6, size=doorkey.horizon).tolist())


@pytest.mark.parametrize(
    "settings",
    [(10**6, 0, 0.5, 0), (1, 1, 0.5, 10**12), (-1, 0, 0.5, 0), (0, -1, 0.5, 0), (1, 1, -0.5, 0), (1, 1, 0.5, -1)],
)
def test_impossible_settings_are_refused(doorkey, settings):
    with pytest.raises(BadInputError):
        collect(doorkey, *settings)
