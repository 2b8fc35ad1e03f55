"""Worlds that slip: their contract, their simulators, and what really happened."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies_planning import slipping_worlds

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning import PlannedPolicy, feature_cost, path_cost, roll_out, unit_cost
from wfairl.core.planning.path import Walk
from wfairl.core.worlds import (
    BrokenLawError,
    GraphWorld,
    ModelSimulator,
    ModelTask,
    Observation,
    check_world,
    explore_world,
)
from wfairl.core.worlds.chances import slip_chances
from wfairl.core.worlds.world import outcomes_of
from wfairl.runs.task_laws import check_task
from wfairl.runs.task_registry import find_task

LENGTH = 6


class Corridor:
    """Cells (i,) on a line; features and labels are those of the real transition."""

    controls, propositions, initial_state = ("left", "right"), ("home", "tool", "back"), (2,)

    def step(self, state, control):
        return (min(max(state[0] + (1 if control else -1), 0), LENGTH - 1),)

    def label(self, state, control, next_state):
        back = {"back"} if control and next_state < state else set()
        return frozenset(
            back | ({"home"} if next_state == (0,) else {"tool"} if next_state == (LENGTH - 1,) else set())
        )

    def features(self, state, control, next_state):
        return np.array([1.0, control, state[0] - next_state[0]])


class Wind:
    """A simulator in plain states; a control is now and then replaced by a jump or by nothing."""

    def __init__(self, world, rng):
        self.world, self.state, self.rng = world, world.initial_state, rng

    def step(self, control):
        before, kind = self.state, self.rng.integers(0, 4)
        cells = [self.world.step(before, control), before, self.world.step(before, 1 - control), (before[0] % 5 + 1,)]
        self.state = cells[kind]
        return Observation(self.state, self.world.label(before, control, self.state), False)


WINDY = ModelTask(
    "windy", "", Corridor.propositions, visit_in_order("tool", "home"), 60, lambda _: Corridor(), simulator=Wind,
    true_cost=lambda features: 5 + features @ np.array([1.0, 0.5, 0.25]),
)  # fmt: skip


@given(slipping_worlds())
def test_an_explored_world_has_the_outcomes_labels_and_features_of_its_source(world):
    check_world(world)
    explored = explore_world(world)
    check_world(explored)
    for number, state in enumerate(explored.table.states):
        for control in range(len(world.controls)):
            assert explored.is_available(number, control) == world.is_available(state, control)
            if world.is_available(state, control):
                expected = {after: p for p, after in outcomes_of(world, state, control)}
                found = {explored.name(after): p for p, after in outcomes_of(explored, number, control)}
                assert found == pytest.approx(expected)
                for after in expected:
                    there = explored.find(after)
                    assert explored.label(number, control, there) == world.label(state, control, after)
                    assert np.array_equal(
                        explored.features(number, control, there), world.features(state, control, after)
                    )


@pytest.mark.parametrize("seed", range(20))
def test_labels_features_and_costs_are_those_of_what_really_happened(seed):
    world, cost = Corridor(), WINDY.true_cost
    episode = roll_out(WINDY, PlannedPolicy("", WINDY.rule, unit_cost, 0.5), seed, np.random.default_rng(seed))
    states = [episode.world.name(state) for state in episode.states]
    steps = list(zip(states, episode.controls, states[1:], strict=False))
    assert list(episode.labels) == [world.label(*step) for step in steps]
    for step, (state, after) in zip(steps, zip(episode.states, episode.states[1:], strict=False), strict=True):
        assert episode.world.label(state, step[1], after) == world.label(*step)
        assert np.array_equal(episode.world.features(state, step[1], after), world.features(*step))
    expected = sum(float(cost(world.features(*step)[None])[0]) for step in steps)
    assert path_cost(feature_cost(cost), episode) == pytest.approx(expected)
    assert episode.is_success == (WINDY.rule.fulfilled_at(episode.labels) is not None)


def test_episodes_of_a_simulator_differ_and_are_repeatable():
    def states(seed):
        simulator = WINDY.make_simulator(seed)
        return [simulator.step(1).state for _ in range(20)]

    assert states(0) == states(0) != states(1)


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        ({"step": lambda self, control: Observation("elsewhere", frozenset(), False)}, "cannot reach"),
        ({"step": lambda self, control: Observation((1,), {"tool"}, False)}, "must be a frozenset"),
        ({"step": lambda self, control: Observation((1,), frozenset({"gold"}), False)}, "propositions of the task"),
        ({"step": lambda self, control: (1,)}, "step fails"),
        ({"step": lambda self, control: 1 / 0}, "step fails"),
    ],
)
def test_a_broken_simulator_is_named(broken, law):
    check_task(WINDY)
    with pytest.raises(BrokenLawError, match=law):
        check_task(replace(WINDY, simulator=type("Broken", (Wind,), broken)))


@pytest.mark.parametrize(
    ("outcomes", "law"),
    [
        ([(0.5, (1,)), (0.4, (2,))], "sum to 0.9"),
        ([(1.5, (1,)), (-0.5, (2,))], "-0.5 is not a probability"),
        ([(float("nan"), (1,))], "nan is not a probability"),
        ([], "sum to 0"),
        ([(1.0, [1])], "hashable"),
        ((1.0, (1,)), "pairs"),
    ],
)
def test_broken_outcomes_are_named(outcomes, law):
    world = type("Broken", (Corridor,), {"outcomes": lambda self, state, control: outcomes})()
    with pytest.raises(BrokenLawError, match=law):
        check_world(world)


@given(st.floats(0.01, 0.9), st.integers(0, 1000))
def test_a_control_that_slips_is_replaced_by_every_other_one_alike(probability, seed):
    available = np.random.default_rng(seed).random((5, 4)) < 0.7
    available[:, 0] = True
    chances = slip_chances(available, probability)
    assert np.array_equal(chances.available, available)
    for state, control in np.argwhere(available):
        lottery = dict(chances.lottery(state, control))
        others = available[state].sum() - 1
        assert sum(lottery.values()) == pytest.approx(1)
        assert lottery[control] == pytest.approx(1 - probability if others else 1)
        assert set(lottery) == set(np.flatnonzero(available[state]))


@pytest.mark.parametrize("name", ["doorkey-slip-0.2", "office-coffee-slip-0.2"])
def test_a_simulator_does_what_the_model_of_a_slipping_task_allows(name):
    task = find_task(name)
    check_task(task)
    world, simulator = task.make_world(3), task.make_simulator(3)
    walk, rng, slipped = Walk(simulator, task.rule), np.random.default_rng(0), 0
    for _ in range(100):
        control = int(rng.choice(np.flatnonzero([True] * len(world.controls))))
        before = walk.states[-1]
        state, label, ended = walk.take(control)
        assert state in [after for _, after in outcomes_of(world, before, control)]
        if state != before:
            assert label == world.label(before, control, state)
        slipped += state != world.step(before, control)
        if ended:
            break
    assert slipped


def test_a_graph_without_a_source_answers_for_what_happened():
    graph = GraphWorld.from_edges(
        [("a", "b"), ("a", "c"), ("b", "a"), ("c", "a")], start="a", marks={"c": "fire"},
        labels=["", "smoke", "", ""], features=np.arange(4.0)[:, None], propositions=("", "fire", "smoke"),
    )  # fmt: skip
    a, c = graph.find("a"), graph.find("c")
    assert graph.label(a, 0, c) == {"smoke", "fire"}  # it should have gone to b, and went to c
    assert graph.features(a, 0, c).tolist() == [1.0]
    assert graph.features(a, 0, a).tolist() == [0.0]  # nothing leads there: that of what it tried
    assert ModelSimulator(graph).step(1) == (c, {"smoke", "fire"}, False)


def test_a_surprise_in_an_office_is_read_by_its_marks():
    task = find_task("office-coffee")
    world = task.make_world(0)
    plant = next(state for state, label in world.marks.items() if label == {"n"})
    far = next(state for state in range(len(world.table.successors)) if plant not in world.table.successors[state])
    assert world.label(far, 0, plant) == {"n"}
    assert world.features(far, 0, plant).tolist() == [1.0]
