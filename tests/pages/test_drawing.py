"""Laws of drawings: the agent is where `locate` says, and a world says honestly whether it can be drawn."""

import networkx
import numpy as np
import pytest
from corridors import Corridor, DrawnCorridor
from PIL import ImageColor

from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.graph import GraphWorld, explore_world
from wfairl.core.worlds.rendering import Rendering
from wfairl.pages.world_drawing import (
    AGENT,
    WALL,
    NoRendererError,
    cell_centre,
    draw_grid,
    need_places,
    need_rendering,
    rendering_of,
)
from wfairl.runs.task_registry import find_task


def colour_at(image, x, y):
    return tuple(image[int(y), int(x)].tolist())


def where_drawn(image):
    """The middle of the pixels in the agent's colour."""
    ys, xs = np.nonzero((image == ImageColor.getrgb(AGENT)).all(axis=2))
    return (xs.min() + xs.max() + 1) / 2, (ys.min() + ys.max() + 1) / 2


@pytest.mark.parametrize("size", [16, 32])
def test_cells_have_their_colours_and_the_agent_its_place(size):
    rows = ["#..", ".~A"]
    image = draw_grid(rows, {"~": "#102030"}, agent=(1, 0), size=size)
    assert image.shape == (2 * size, 3 * size, 3)
    assert image.dtype == np.uint8
    assert colour_at(image, *cell_centre(0, 0, size)) == ImageColor.getrgb(WALL)
    assert colour_at(image, *cell_centre(1, 1, size)) == (0x10, 0x20, 0x30)
    assert where_drawn(image) == pytest.approx(cell_centre(1, 0, size), abs=1)
    letter = image[size:, 2 * size :]
    assert len(np.unique(letter.reshape(-1, 3), axis=0)) > 2  # floor, line, and ink


def test_walls_stand_between_their_cells():
    image = draw_grid(["..", ".."], walls=[((0, 0), (1, 0)), ((1, 0), (1, 1))])
    wall = ImageColor.getrgb(WALL)
    assert colour_at(image, 32, 16) == wall
    assert colour_at(image, 48, 32) == wall
    assert colour_at(image, 32, 48) != wall
    assert colour_at(image, 16, 32) != wall


def test_an_explored_world_is_drawn_and_located_by_its_source():
    source = DrawnCorridor()
    world = explore_world(source)
    rendering = need_rendering(world)
    for number, state in enumerate(world.table.states):
        np.testing.assert_array_equal(rendering.render(number), source.draw(state))
        assert rendering.places.locate(number) == source.locate(state)


def test_a_world_without_a_renderer_says_so_and_names_what_to_add():
    world = explore_world(Corridor())
    assert rendering_of(world) is None
    for ask in (need_rendering, need_places):
        with pytest.raises(NoRendererError, match=r"the world Corridor has no renderer: .*`rendering`"):
            ask(world)


def test_a_world_that_renders_but_does_not_locate_says_so():
    class Shown(Corridor):
        rendering = Rendering(lambda state: np.zeros((4, 4, 3), np.uint8))

    world = explore_world(Shown())
    assert rendering_of(world).places is None
    with pytest.raises(NoRendererError, match=r"Shown does not say where the agent is: .*`Places\(locate\)`"):
        need_places(world)


def test_a_graph_with_positions_is_drawn_with_the_agent_at_its_node():
    graph = networkx.DiGraph([("a", "b"), ("b", "c"), ("c", "a")])
    graph.nodes["c"]["label"] = ["goal"]
    positions = {"a": (0, 0), "b": (1, 2), "c": (3, 1)}
    world = GraphWorld.from_networkx(graph, start="a", positions=positions)
    render, locate = need_rendering(world).render, need_places(world).locate
    for name in positions:
        state = world.find(name)
        assert where_drawn(render(state)) == pytest.approx(locate(state), abs=1.5)
    right, up = (locate(world.find(name)) for name in ("c", "b"))
    assert right[0] == max(locate(state)[0] for state in range(3))
    assert up[1] == min(locate(state)[1] for state in range(3))  # y is upwards on the map, downwards in pictures
    other = world.scene(marks={"b": ["goal"]})
    assert (need_rendering(other).render(0) != render(0)).any()


def test_a_node_without_a_position_is_refused():
    with pytest.raises(BadInputError, match="the node 'b' has no position"):
        GraphWorld.from_edges([("a", "b"), ("b", "a")], start="a", positions={"a": (0, 0)})


@pytest.mark.parametrize("name", ["doorkey", "multiroom", "blocked-unlock-pickup"])
def test_minigrid_is_drawn_as_it_draws_itself_within_its_walls(name):
    task = find_task(name)
    world = task.make_world(5_003)
    environment = task.make_environment(5_003, render_mode="rgb_array")
    environment.unwrapped.highlight = False
    rng = np.random.default_rng(0)
    state = world.initial_state
    for _ in range(40):
        whole, part = environment.render(), world.rendering.render(state)
        x, y = world.rendering.places.locate(state)
        agent_x, agent_y = environment.unwrapped.agent_pos
        left, top = round(32 * (agent_x + 0.5) - x), round(32 * (agent_y + 0.5) - y)
        np.testing.assert_array_equal(whole[top : top + part.shape[0], left : left + part.shape[1]], part)
        assert world.rendering.places.heading(state) == 90 * environment.unwrapped.agent_dir
        control = int(rng.integers(len(world.controls)))
        environment.step(control)
        state = world.step(state, control)
