import numpy as np
import pytest
from strategies_learning import TwoPaths, demonstrate, doorkey_world, goal_rule
from strategies_planning import TableWorld, rule

from wfairl.core.automata.automaton import ACCEPTED, UNAVAILABLE
from wfairl.core.costs.scene import NoSuccessfulDemonstrationError, NoUsableDemonstrationError, prepare_scenes
from wfairl.core.demonstrations.demonstration import BadDemonstrationError, Demonstration, replay
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.errors import BadInputError

RULE = goal_rule()


def make_world(seed):
    return doorkey_world(5, seed)


def demonstrations(count):
    return [demonstrate(make_world(i), RULE, np.random.default_rng(i), seed=i) for i in range(count)]


def test_a_scene_retraces_its_demonstration():
    shown = demonstrations(3)
    prepared = prepare_scenes(shown, make_world, RULE, 0.5)
    assert not prepared.left_out
    for scene, demonstration in zip(prepared.scenes, shown, strict=True):
        product = scene.product
        states = demonstration.follow(product.world).states
        assert [product.state(node) for node in scene.nodes] == list(states[:-1])
        assert scene.controls.tolist() == list(demonstration.controls)
        assert product.successors[scene.nodes[-1], scene.controls[-1]] == ACCEPTED


def test_failures_are_passed_over():
    shown = demonstrations(2)
    failure = replay(make_world(7), [0, 1], 0.0, 7)
    assert len(prepare_scenes([*shown, failure], make_world, RULE, 0.5).scenes) == 2


def test_what_the_automaton_does_not_accept_is_left_out_with_the_reason():
    (good,) = demonstrations(1)
    unfinished = Demonstration(good.controls[:-1], good.labels[:-1], 1.0, good.seed)
    by_key = SpectralTaskLearner().fit([good.word, ()], [1.0, 0.0]).model.finite
    drops = replay(make_world(0), [4, *good.controls], 1.0, 0)
    prepared = prepare_scenes([good, unfinished, drops], make_world, by_key, 0.5)
    assert [left.number for left in prepared.left_out] == [1]
    assert "missing" in prepared.left_out[0].reason
    avoiding = rule(["goal"], ["key"])
    with pytest.raises(NoUsableDemonstrationError, match=r"after 'pickup' at step \d+, with the label 'key'"):
        prepare_scenes([good], make_world, avoiding, 0.5)


def test_there_must_be_a_success():
    failure = replay(make_world(7), [0, 1], 0.0, 7)
    with pytest.raises(NoSuccessfulDemonstrationError, match=r"score of 0\.5 or more"):
        prepare_scenes([failure], make_world, RULE, 0.5)


def test_labels_that_the_world_does_not_have_are_refused():
    with pytest.raises(BadInputError, match="the automaton reads lamp"):
        prepare_scenes(demonstrations(1), make_world, rule(["lamp"]), 0.5)


def test_a_demonstration_of_another_scene_is_refused():
    (shown,) = demonstrations(1)
    with pytest.raises(BadDemonstrationError, match=r"step \d+: the world gives another label than the demonstration"):
        prepare_scenes([shown], lambda _: make_world(1), RULE, 0.5)


def test_a_demonstration_that_the_world_cannot_follow_is_refused():
    world = TableWorld(np.array([[0, UNAVAILABLE]]), np.array([[0, 1]]))
    for control, message in (
        (1, "the control 'u1' is not available there"),
        (2, "2 is not a control; there are 2, u0, u1"),
    ):
        shown = Demonstration((control,), (frozenset("a"),), 1.0, 5)
        with pytest.raises(BadDemonstrationError, match=f"seed 5: step 0: {message}"):
            prepare_scenes([shown], lambda _: world, rule("a"), 0.5)


def test_demonstrations_in_one_world_share_its_product():
    world = TwoPaths()
    shown = [replay(world, controls, 1.0, i) for i, controls in enumerate([[0], [1, 0], [1, 1]])]
    first, *others = prepare_scenes(shown, lambda _: world, rule(["done"]), 0.5).scenes
    assert all(scene.product is first.product for scene in others)
