"""Demonstrations are whole when they are made, and the world can vouch for them."""

import dataclasses

import pytest

from wfairl.demonstrations import Dataset, Demonstration, check_against, merge, replay
from wfairl.demonstrations.demonstration import BadDemonstrationError, ContradictionError, MixedTasksError
from wfairl.worlds import find_task

EMPTY, KEY = frozenset(), frozenset({"key"})


def test_the_word_is_the_labels_with_consecutive_equal_ones_once():
    demonstration = Demonstration((0, 1, 2, 3, 4), (0, 0, 0, 0), (EMPTY, EMPTY, KEY, EMPTY), 1.0, 0)
    assert demonstration.word == (EMPTY, KEY, EMPTY)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"states": (0, 1)}, "2 controls need 3 states, not 2"),
        ({"labels": (EMPTY,)}, "2 controls need as many labels, not 1"),
        ({"score": float("nan")}, "finite number, not nan"),
        ({"score": float("inf")}, "finite number, not inf"),
    ],
)
def test_bad_data_are_rejected_at_birth(change, message):
    good = {"states": (0, 1, 2), "controls": (0, 0), "labels": (EMPTY, KEY), "score": 1.0, "seed": 7}
    Demonstration(**good)
    with pytest.raises(BadDemonstrationError, match=f"seed 7: .*{message}"):
        Demonstration(**{**good, **change})


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_that_cannot_be_stored_is_rejected(seed):
    with pytest.raises(BadDemonstrationError, match="the seed must lie between"):
        Demonstration((0,), (), (), 1.0, seed)


def test_a_data_set_has_a_temperature_that_exists():
    with pytest.raises(BadDemonstrationError, match="temperature must lie between 0 and inf"):
        Dataset("doorkey", (), -0.5)


@pytest.fixture(scope="module")
def world():
    return find_task("doorkey").make_world(5)


@pytest.fixture(scope="module")
def walk(world):
    return replay(world, [0, 2, 1, 2, 3, 5, 2], 0.0, 5)


def test_a_replayed_demonstration_agrees_with_its_world(world, walk):
    check_against(world, walk)
    assert walk.states[0] == world.initial_state


@pytest.mark.parametrize("step", [0, 3, 6])
def test_a_contradiction_is_found_at_its_step(world, walk, step):
    states = list(walk.states)
    states[step + 1] = world.step(states[step + 1], 0)
    with pytest.raises(ContradictionError, match=f"seed 5: step {step}: the world goes to another state"):
        check_against(world, dataclasses.replace(walk, states=tuple(states)))
    labels = list(walk.labels)
    labels[step] = labels[step] ^ {"goal"}
    with pytest.raises(ContradictionError, match=f"seed 5: step {step}: the world gives another label"):
        check_against(world, dataclasses.replace(walk, labels=tuple(labels)))


def test_another_scene_contradicts_from_the_start(walk):
    with pytest.raises(ContradictionError, match="starts in another state"):
        check_against(find_task("doorkey").make_world(6), walk)


def test_a_control_that_the_world_does_not_have_is_named_with_its_step(world):
    with pytest.raises(BadDemonstrationError, match="seed 5: step 1: control 6 is out of range: there are 6, left"):
        replay(world, [0, 6], 0.0, 5)


def test_data_sets_of_one_task_merge_and_of_two_do_not(walk):
    one = Dataset("doorkey", (walk,), 0.5)
    assert merge([one, one]) == Dataset("doorkey", (walk, walk), 0.5)
    assert merge([one, Dataset("doorkey", (walk,), 0.0)]).temperature is None
    with pytest.raises(MixedTasksError, match="there are no demonstrations"):
        merge([])
    with pytest.raises(MixedTasksError, match="cannot be mixed: doorkey, multiroom"):
        merge([one, Dataset("multiroom", (), 0.5)])
