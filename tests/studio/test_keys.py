"""Keys of controls, pointing where there are none, and paths that a person draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from studio_sessions import send

from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.rendering import Places, Rendering
from wfairl.runs.task_registry import find_task
from wfairl.studio.frames import corner_of, encode_film
from wfairl.studio.keys import can_point, control_in_direction, control_towards, controls_through, keys_of


@given(st.lists(st.sampled_from(["left", "right", "forward", "toggle", "north", "run", "unx", "go 1"]), unique=True))
def test_every_control_has_a_key_of_its_own(controls):
    keys = [one["key"] for one in keys_of(controls)]
    assert all(keys)
    assert len(set(keys)) == len(keys)
    assert not set(keys) & set("urntyx123")


class Crossing:
    """A world whose controls have no names to speak of: from the middle to waypoints around it, and nowhere else."""

    WAYS = ((30, 0), (0, 40), (-20, 2), (5, -50), (10, 0))

    def __init__(self):
        self.controls = tuple(f"way {number}" for number in range(len(self.WAYS)))
        self.initial_state = None

    def step(self, state, control):
        return control if state is None else state

    def locate(self, state):
        x, y = (0, 0) if state is None else self.WAYS[state]
        return 100 + x, 100 + y

    @property
    def rendering(self):
        return Rendering(lambda state: np.zeros((200, 200, 3), np.uint8), Places(self.locate))


def test_one_points_where_controls_have_no_keys():
    world = Crossing()
    assert can_point(world)
    assert not can_point(find_task("errand").make_world(0))
    arrows = {"ArrowRight": 0, "ArrowDown": 1, "ArrowLeft": 2, "ArrowUp": 3}
    assert {key: control_in_direction(world, None, key) for key in arrows} == arrows
    for control, (x, y) in enumerate(world.WAYS):
        assert control_towards(world, None, 100 + x, 100 + y) == control
    with pytest.raises(BadInputError, match="in that direction"):
        control_in_direction(world, 0, "ArrowUp")
    with pytest.raises(BadInputError, match="nearer to that point"):
        control_towards(world, None, 100, 100)
    with pytest.raises(BadInputError, match="no such direction"):
        control_in_direction(world, None, "Home")


def test_a_drawn_path_opens_doors_as_the_real_environment_does():
    task = find_task("babyai-goto")
    world, environment = task.make_world(5000), task.make_environment(5000)
    column, row = corner_of(world)
    controls = controls_through(world, (), [(18 * 32 + 16, 3 * 32 + 16)])
    assert world.controls.index("toggle") in controls
    for control in controls:
        environment.step(int(control))
    assert tuple(environment.unwrapped.agent_pos) == (18 + column, 3 + row)
    assert encode_film(world, [world.initial_state])["instruction"] == environment.unwrapped.mission


def test_a_drawn_path_leads_through_its_waypoints_by_the_fewest_steps(controller):
    scene = send(controller, {"do": "watch", "seed": 5000}).view("watch")
    columns, wall, begun = scene["frames"][0]["columns"], 0, 4
    own = [frame["agent"] for frame in scene["frames"]]
    cells = [own[begun + 6], wall, own[begun]]  # on, into a wall, which is passed over, and back again
    waypoints = [[32 * (cell % columns) + 16, 32 * (cell // columns) + 16] for cell in cells]
    controls = scene["episode"]["controls"]
    message = {"do": "watch", "seed": 5000, "controls": controls[:begun], "waypoints": waypoints}
    drawn = send(controller, message).view("watch")
    path = drawn["episode"]["controls"]
    assert path[:begun] == controls[:begun]

    world = find_task("errand").make_world(5000)
    state = world.initial_state
    for control in path[:begun]:
        state = world.step(state, control)
    cell = begun
    for goal in (cells[0], cells[2]):
        on, state = fewest_steps(world, state, lambda one, goal=goal: agent_cell(world, one, columns) == goal)
        cell += on
        assert drawn["frames"][cell]["agent"] == goal
    assert drawn["episode"]["imposed"] == cell
    assert drawn["episode"]["cost"] == len(path) > scene["episode"]["cost"]
    assert "cannot get there" in send(controller, {**message, "waypoints": [[1, 1]]}).notice.lower()


def agent_cell(world, state, columns):
    x, y = world.rendering.places.locate(state)
    return int(y // 32) * columns + int(x // 32)


def fewest_steps(world, start, is_there):
    layer, seen = [start], {start}
    for steps in range(1000):
        arrived = [state for state in layer if is_there(state)]
        if arrived:
            return steps, arrived[0]
        layer = list({world.step(state, control) for state in layer for control in range(3)} - seen)
        seen |= set(layer)
    raise AssertionError
