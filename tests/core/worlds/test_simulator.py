"""What an agent acts in: the model itself, or the real environment in the model's terms."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from strategies_planning import TableWorld, random_walk, worlds

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning import unit_cost
from wfairl.core.planning.planner import AutoPlanner
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import ModelSimulator, ModelTask, Simulator, explore_world
from wfairl.minigrid import MiniGridTask
from wfairl.runs.task_registry import all_tasks, find_task

MINIGRID = [task for task in all_tasks() if isinstance(task, MiniGridTask)]


@pytest.mark.parametrize("task", MINIGRID, ids=lambda task: task.name)
def test_the_real_minigrid_does_what_the_model_says_until_it_ends(task):
    rng = np.random.default_rng(0)
    for seed in range(2):
        simulator = task.make_simulator(seed)
        assert isinstance(simulator, Simulator)
        world = simulator.world
        state, ended = task.make_world(seed).initial_state, False
        assert state == world.initial_state
        while not ended and rng.random() < 0.99:
            control = int(rng.choice(6, p=[0.12, 0.12, 0.3, 0.16, 0.12, 0.18]))
            before, (state, label, ended) = state, simulator.step(control)
            assert state == world.step(before, control)
            assert label == world.label(before, control, state)
            assert world.state_of(simulator.environment) == state


@given(worlds())
def test_the_model_as_a_simulator_does_what_the_model_says(world: TableWorld):
    rng = np.random.default_rng(0)
    controls = random_walk(world, 20, rng)
    explored = explore_world(world)
    plain, compiled = ModelSimulator(world), ModelSimulator(explored)
    assert isinstance(plain, Simulator)
    state = world.initial_state
    for control in controls:
        before, state = state, world.step(state, control)
        expected = (state, world.label(before, control, state), False)
        assert plain.step(control) == expected
        shown = compiled.step(control)
        assert (explored.name(shown.state), shown.label, shown.ended) == expected


def test_a_task_may_have_a_simulator_of_its_own():
    class Slippery(ModelSimulator):
        """The second step does not come off."""

        steps = 0

        def step(self, control):
            self.steps += 1
            return super().step(0 if self.steps == 2 else control)

    world = TableWorld(np.array([[0, 1], [1, 2], [2, 2]]), np.array([[0, 0], [0, 0], [1, 1]]))
    task = ModelTask("slippery", "", ("a", "b"), visit_in_order("a"), 9, lambda _: world, simulator=Slippery)
    simulator = task.make_simulator(0)
    assert [simulator.world.name(simulator.step(1).state) for _ in range(3)] == ["x1", "x1", "x2"]


def test_a_task_of_its_own_goes_on_after_the_mission_of_its_level():
    errands, level = find_task("maze-errands"), find_task("babyai-goto")
    plan = AutoPlanner().solve(level.make_world(4), level.rule, unit_cost).plan()
    own, mission = errands.make_simulator(4), level.make_simulator(4)
    for control in plan.path.controls:
        ended_by_mission, ended = mission.step(control).ended, own.step(control).ended
    assert ended_by_mission
    assert mission.succeeded
    assert not ended


def test_a_scene_that_lacks_what_a_task_is_about_is_drawn_again():
    task = replace(find_task("maze-errands"), environment_id="BabyAI-GoToLocalS7N4-v0")
    for seed in range(6):
        assert task.make_world(seed).propositions == ("key", "ball", "box")
    with pytest.raises(BadInputError, match="no scene of seed 0 has ball, box, key"):
        replace(task, environment_id="BabyAI-GoToLocalS5N2-v0").make_world(0)
