"""A learned cost prefers something where its plan differs from the shortest one, and pays for that."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
from corridors import Corridor, corridor_task, muddy_cost
from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.planning.cost import true_cost, unit_cost
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.core.worlds.task import ModelTask
from wfairl.pages.run_training import LEAST_PREFERENCE, preference, why_no_maps

SCENES = range(5_000, 5_008)
NOISE = np.random.default_rng(0).uniform(-1, 1, (15, 2))
"""For each state and control, such as a training leaves where there is nothing to learn."""


@dataclass(frozen=True)
class Fork:
    """Two ways to the goal, 0: 2, 1, 0 with mud at first, or 2, 14, 13, 12, 11, 0."""

    propositions = ("goal",)
    controls = ("on", "around")
    initial_state = 2
    feature_names = ("one", "mud", "noise")

    def step(self, state, control):
        return 14 if (state, control) == (2, 1) else {11: 0}.get(state, max(state - 1, 0))

    def label(self, state, control, next_state):
        return frozenset({"goal"} if next_state == 0 else ())

    def features(self, state, control, next_state):
        return np.array([1.0, float((state, control) == (2, 0)), NOISE[state, control]])


def fork_task(mud, noise=0.0):
    return ModelTask(
        name="fork",
        summary="reach the goal",
        propositions=("goal",),
        rule=visit_in_order("goal"),
        horizon=20,
        scene=lambda _: Fork(),
        true_cost=lambda features: features @ np.array([1.0, mud, noise]),
    )


@given(st.floats(0, 50))
def test_a_preference_is_what_the_shortest_way_pays_above_the_cheapest(mud):
    task = fork_task(mud)
    short, dry = 2 + mud, 5.0
    assert preference(task, SCENES, task.rule, true_cost(task)) == pytest.approx(short / min(short, dry) - 1)


@given(st.floats(0.01, 100))
def test_costs_that_are_equal_everywhere_are_no_preference(price):
    task = fork_task(0.0)
    assert preference(task, SCENES, task.rule, lambda product: price * unit_cost(product)) == pytest.approx(0)


def test_a_page_without_maps_says_how_much_may_be_noise():
    assert re.match(f"No preference found.*1.2%.*8 scenes.*{LEAST_PREFERENCE:.0%}", why_no_maps(0.0123, SCENES, ()))


def test_a_cost_that_changes_no_plan_is_no_preference():
    task = corridor_task(Corridor, true_cost=muddy_cost)  # there is one way only, through the mud
    assert preference(task, SCENES, task.rule, true_cost(task)) < LEAST_PREFERENCE


@given(st.floats(0.0, 0.5))
def test_a_preference_is_told_from_noise(noise):
    task = fork_task(9.0, noise)
    assert preference(task, SCENES, task.rule, true_cost(task)) >= LEAST_PREFERENCE
    task = fork_task(0.0, noise)
    assert preference(task, SCENES, task.rule, true_cost(task)) < LEAST_PREFERENCE


def test_scenes_that_cannot_be_done_do_not_count():
    task = fork_task(9.0)
    with pytest.raises(UnsatisfiableTaskError):
        preference(task, SCENES, all_of(task.rule, avoid("goal")), true_cost(task))
