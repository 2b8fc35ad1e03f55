"""Demonstrations are whole when they are made, and the world can vouch for them."""

import numpy as np
import pytest
from hypothesis import given
from strategies_planning import TableWorld, random_walk, worlds

from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.demonstrations import Dataset, Demonstration, merge, replay
from wfairl.core.demonstrations.demonstration import BadDemonstrationError
from wfairl.core.support.errors import BadInputError
from wfairl.runs.task_registry import find_task

EMPTY, KEY = frozenset(), frozenset({"key"})


def test_the_word_is_the_labels_with_consecutive_equal_ones_once():
    demonstration = Demonstration((0, 0, 0, 0), (EMPTY, EMPTY, KEY, EMPTY), 1.0, 0)
    assert demonstration.word == (EMPTY, KEY, EMPTY)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": (EMPTY,)}, "2 controls need as many labels, not 1"),
        ({"score": float("nan")}, "finite number, not nan"),
        ({"score": float("inf")}, "finite number, not inf"),
    ],
)
def test_bad_data_are_rejected_at_birth(change, message):
    good = {"controls": (0, 0), "labels": (EMPTY, KEY), "score": 1.0, "seed": 7}
    Demonstration(**good)
    with pytest.raises(BadDemonstrationError, match=f"seed 7: .*{message}"):
        Demonstration(**{**good, **change})


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_that_cannot_be_stored_is_rejected(seed):
    with pytest.raises(BadDemonstrationError, match="the seed must lie between"):
        Demonstration((), (), 1.0, seed)


def test_a_data_set_has_a_temperature_that_exists():
    with pytest.raises(BadDemonstrationError, match="temperature must lie between 0 and inf"):
        Dataset("doorkey", (), -0.5)


@pytest.fixture(scope="module")
def world():
    return find_task("doorkey").make_world(5)


@pytest.fixture(scope="module")
def walk(world):
    return replay(world, [0, 2, 1, 2, 3, 5, 2], 0.0, 5)


@given(worlds())
def test_a_replayed_demonstration_is_a_walk_through_its_world(world: TableWorld):
    """Controls by index, by NumPy's integers or by name are the same controls."""
    controls = random_walk(world, 12, np.random.default_rng(0))
    demonstration = replay(world, controls, 0.5, 3)
    assert demonstration == replay(world, [world.controls[control] for control in controls], 0.5, 3)
    assert demonstration == replay(world, np.array(controls), 0.5, 3)
    path = demonstration.follow(world)
    states, labels = path.states, path.labels
    assert (states[0], len(states)) == (world.initial_state, len(controls) + 1)
    for t, control in enumerate(controls):
        assert states[t + 1] == world.step(states[t], control)
        assert labels[t] == demonstration.labels[t] == world.label(states[t], control, states[t + 1])


@pytest.mark.parametrize("control", [6, -1, "jump", True, 1.0])
def test_a_control_that_the_world_does_not_have_is_named_with_its_step(world, control):
    with pytest.raises(BadDemonstrationError, match=f"seed 5: step 1: {control!r} is not a control; there are 6, left"):
        replay(world, [0, control], 0.0, 5)


def test_a_walk_refuses_what_the_world_does_not_have_or_cannot_do():
    world = TableWorld(np.array([[0, UNAVAILABLE]]), np.array([[0, 0]]))
    with pytest.raises(BadDemonstrationError, match="seed 4: step 1: the control 'u1' is not available there"):
        replay(world, ["u0", "u1"], 1.0, 4)
    with pytest.raises(BadDemonstrationError, match="seed 4: step 0: 7 is not a control"):
        Demonstration((7,), (frozenset(),), 1.0, 4).follow(world)


def test_data_sets_of_one_task_merge_and_of_two_do_not(walk):
    one = Dataset("doorkey", (walk,), 0.5)
    assert merge([one, one]) == Dataset("doorkey", (walk, walk), 0.5)
    assert merge([one, Dataset("doorkey", (walk,), 0.0)]).temperature is None
    with pytest.raises(BadInputError, match="there are no demonstrations"):
        merge([])
    with pytest.raises(BadInputError, match="cannot be mixed: doorkey, multiroom"):
        merge([one, Dataset("multiroom", (), 0.5)])
