from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from wfairl.automata.finite import from_rule
from wfairl.errors import BadInputError
from wfairl.planning.cost import unit_cost
from wfairl.planning.picture import StrayedError, film_path, write_picture
from wfairl.planning.plan import find_plan
from wfairl.planning.product import build_product
from wfairl.worlds.tasks import find_task

TASK = find_task("doorkey")


@pytest.fixture(scope="module")
def film():
    world = TASK.make_world(1)
    product = build_product(world, from_rule(["key", "door", "goal"], [], world.propositions))
    path = find_plan(product, unit_cost(product)).path
    return film_path(TASK.make_environment(1, render_mode="rgb_array"), world, path)


def test_a_film_has_a_frame_for_every_state_and_ends_where_the_environment_does(film):
    assert len(film.frames) == len(film.path.controls) + 1
    assert len({frame.tobytes() for frame in film.frames}) == len(film.frames)  # an optimal plan never stands still


def test_a_gif_shows_every_frame(film, tmp_path: Path):
    write_picture(film, tmp_path / "plan.gif")
    with Image.open(tmp_path / "plan.gif") as image:
        assert image.n_frames == len(film.frames)


def test_a_png_shows_the_start_and_each_move_of_the_automaton(film, tmp_path: Path):
    write_picture(film, tmp_path / "plan.png")
    with Image.open(tmp_path / "plan.png") as image:
        pixels = np.asarray(image.convert("RGB"))
    # start, key, door, goal: four tiles in a row, each with the one circle that says where the automaton stands
    here = (np.abs(pixels.astype(int) - [0xF2, 0xA3, 0x3A]).sum(axis=2) < 10).any(axis=0)
    assert pixels.shape[1] > 2 * pixels.shape[0]
    quarters = np.array_split(here, 4)
    assert all(quarter.any() for quarter in quarters)


def test_a_path_that_the_environment_does_not_follow_is_a_named_outcome(film):
    with pytest.raises(StrayedError, match="step 1"):
        film_path(TASK.make_environment(2, render_mode="rgb_array"), _Blind(TASK.make_world(2)), film.path)


class _Blind:
    """A model that sees every environment of its own seed."""

    def __init__(self, world):
        self.controls, self.state_of = world.controls, world.state_of


def test_other_formats_are_refused(film, tmp_path: Path):
    with pytest.raises(BadInputError, match=r"\.png or \.gif"):
        write_picture(film, tmp_path / "plan.bmp")
