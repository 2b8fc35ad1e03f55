"""The tiles of a frame, put together again, are the image that the world renders."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from wfairl.runs.task_registry import find_task
from wfairl.studio.frames import FrameEncoder, describe_scene


def image_of(frame, tiles):
    images = [
        np.asarray(Image.open(io.BytesIO(base64.b64decode(one.partition(",")[2]))).convert("RGB")) for one in tiles
    ]
    cells = np.array(frame["cells"]).reshape(frame["rows"], frame["columns"])
    return np.vstack([np.hstack([images[number] for number in row]) for row in cells])


@pytest.mark.parametrize("name", ["doorkey", "blocked-unlock-pickup", "errand", "terrain", "random-office-coffee"])
def test_tiles_put_together_are_the_image(name):
    world = find_task(name).make_world(3)
    rng, encoder, state = np.random.default_rng(0), FrameEncoder(), world.initial_state
    for _ in range(40):
        frame = encoder.encode(world, state)
        rendered = world.rendering.render(state)
        image = image_of(frame, encoder.tiles)[: rendered.shape[0], : rendered.shape[1]]
        assert np.array_equal(image, rendered)
        state = world.step(state, int(rng.integers(len(world.controls))))
    assert len(set(encoder.tiles)) == len(encoder.tiles)


def test_a_scene_is_described_as_the_real_environment_has_it():
    task = find_task("doorkey")
    world, real = task.make_world(3), task.make_environment(3).unwrapped
    state = world.initial_state
    for control in (0, 2, 1, 2):
        state = world.step(state, control)
        real.step(control)
    text, (x, y) = describe_scene(world, state), real.agent_pos
    ahead = real.grid.get(*real.front_pos)
    assert text.startswith(f"You are at column {x}, row {y}, facing {('right', 'down', 'left', 'up')[real.agent_dir]};")
    assert f"ahead: {'empty' if ahead is None else ahead.type}" in text.replace(f"{getattr(ahead, 'color', '')} ", "")
    (key,) = [(i, j) for i in range(8) for j in range(8) if getattr(real.grid.get(i, j), "type", "") == "key"]
    assert f"yellow key at column {key[0]}, row {key[1]}" in text
    assert "locked yellow door at" in text
    assert "goal at column 6, row 6" in text


def test_an_office_is_described_as_the_published_map_has_it():
    """Columns and rows count from one and from the top, as in the image."""
    world = find_task("office-coffee").make_world(0)
    agent, things = describe_scene(world, world.initial_state).splitlines()
    x, y = world.initial_state if isinstance(world.initial_state, tuple) else world.table.states[world.initial_state]
    assert agent.startswith(f"You are at column {x + 1}, row {9 - y}; ways: ")
    for place in ("f at column 9, row 7 and column 4, row 3", "e at column 8, row 5", "g at column 5, row 5"):
        assert place in things
    for move, control in zip(("up", "right", "down", "left"), range(4), strict=True):
        leads_on = world.step(world.initial_state, control) != world.initial_state
        assert (f" {move}" in agent) == leads_on


def test_a_world_that_does_not_describe_itself_is_described_by_its_state():
    """How large its cells are, nobody knows."""
    world = find_task("workshop").make_world(0)
    assert describe_scene(world, world.initial_state) == str(world.name(world.initial_state))


def test_a_path_is_drawn_through_the_middle_of_what_the_agent_stands_on():
    """A cell of an office is two tiles wide, and one of MiniGrid is one."""
    for name in ("errand", "coffee-and-mail"):
        world = find_task(name).make_world(3)
        frame = FrameEncoder().encode(world, world.initial_state)
        x, y = world.rendering.places.locate(world.initial_state)
        assert np.allclose([(one + 0.5) * 32 for one in frame["place"]], (x, y))
