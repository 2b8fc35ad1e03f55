from pathlib import Path

import numpy as np
import pytest
from corridors import Corridor, DrawnCorridor, corridor_task
from PIL import Image

from wfairl.automata.rules import visit_in_order
from wfairl.errors import BadInputError
from wfairl.planning.cost import unit_cost
from wfairl.planning.film import film_path, write_image
from wfairl.planning.plan import find_plan
from wfairl.planning.product import build_product
from wfairl.worlds.registry import find_task
from wfairl.worlds.rendering import NoRendererError

TASK = find_task("doorkey")


@pytest.fixture(scope="module")
def film():
    world = TASK.make_world(1)
    product = build_product(world, visit_in_order("key", "door", "goal"))
    return film_path(world, find_plan(product, unit_cost(product)).path)


def test_a_film_has_a_frame_for_every_state(film):
    assert len(film.frames) == len(film.path.controls) + 1
    assert len({frame.tobytes() for frame in film.frames}) == len(film.frames)  # an optimal plan never stands still


def test_a_gif_shows_every_frame(film, tmp_path: Path):
    write_image(film, tmp_path / "plan.gif")
    with Image.open(tmp_path / "plan.gif") as image:
        assert image.n_frames == len(film.frames)


def test_a_png_shows_the_start_and_each_move_of_the_automaton(film, tmp_path: Path):
    write_image(film, tmp_path / "plan.png")
    with Image.open(tmp_path / "plan.png") as image:
        pixels = np.asarray(image.convert("RGB"))
    # start, key, door, goal: four tiles in a row, each with the one circle that says where the automaton stands
    here = (np.abs(pixels.astype(int) - [0xF2, 0xA3, 0x3A]).sum(axis=2) < 10).any(axis=0)
    assert pixels.shape[1] > 2 * pixels.shape[0]
    quarters = np.array_split(here, 4)
    assert all(quarter.any() for quarter in quarters)


def test_a_png_also_shows_what_comes_to_hold_where_the_automaton_stays(film, tmp_path: Path):
    world = TASK.make_world(1)
    product = build_product(world, visit_in_order("goal"))
    unmoved = film_path(world, product.follow(film.path.controls))
    assert len(set(unmoved.path.automaton_states)) == 2
    for one, name in ((film, "plan.png"), (unmoved, "unmoved.png")):
        write_image(one, tmp_path / name)
    with Image.open(tmp_path / "plan.png") as picture, Image.open(tmp_path / "unmoved.png") as other:
        assert picture.size == other.size


def test_frames_are_those_of_the_real_environment(film):
    environment = TASK.make_environment(1, render_mode="rgb_array")
    environment.unwrapped.highlight = False
    for frame, control in zip(film.frames, (*film.path.controls, None), strict=True):
        np.testing.assert_array_equal(frame, environment.render())
        if control is not None:
            environment.step(control)


def test_any_world_with_a_renderer_is_filmed(tmp_path: Path):
    task = corridor_task(DrawnCorridor)
    film = film_path(*plan_in(task))
    assert len(film.frames) == len(film.path.controls) + 1
    for name in ("plan.png", "plan.gif"):
        write_image(film, tmp_path / name)
        with Image.open(tmp_path / name) as image:
            image.verify()


def test_a_world_without_a_renderer_is_named():
    with pytest.raises(NoRendererError, match=r"the world Corridor has no renderer: .*`render\(state\)`"):
        film_path(*plan_in(corridor_task(Corridor)))


def plan_in(task):
    world = task.make_world(1)
    product = build_product(world, task.rule)
    return world, find_plan(product, unit_cost(product)).path


def test_other_formats_are_refused(film, tmp_path: Path):
    with pytest.raises(BadInputError, match=r"\.png or \.gif"):
        write_image(film, tmp_path / "plan.bmp")
