from pathlib import Path

import numpy as np
import pytest
from corridors import Corridor, DrawnCorridor, corridor_task
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.path import follow
from wfairl.core.planning.plan import find_plan
from wfairl.core.planning.product import build_product
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.rendering import Rendering
from wfairl.pages.film import draw_film, film_path, write_image
from wfairl.pages.world_drawing import NoRendererError
from wfairl.runs.task_registry import find_task

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


def lines_of(figure):
    """The line of each part of the path, shape [points, 2], by the number of the part."""
    return {
        int(line.get_label().removeprefix("part-")): np.column_stack(line.get_data())
        for axes in figure.axes
        for line in axes.lines
    }


def frames_of(figure):
    return [axes.get_label() for axes in figure.axes if axes.get_label().startswith("frame")]


def texts_of(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_a_png_shows_the_path_from_event_to_event(film, tmp_path: Path):
    world = TASK.make_world(1)
    figure = draw_film(film)
    way = np.concatenate(list(lines_of(figure).values()))
    places = np.array([world.rendering.places.locate(state) for state in film.path.states])
    np.testing.assert_allclose(way[0], places[0], atol=4)
    np.testing.assert_allclose(way[-1], places[-1], atol=4)
    assert all(np.linalg.norm(way - place, axis=1).min() < 6 for place in places)
    events = [
        step
        for step in range(1, len(places))
        if film.path.automaton_states[step] - film.path.automaton_states[step - 1]
    ]
    assert len(events) == 3
    texts = texts_of(figure)
    assert all(texts.count(str(step)) == 2 for step in (0, *events))  # on the path, and in the list
    assert [text for text in texts if text.startswith("+")] == ["+key", "+door", "+goal"]
    assert frames_of(figure) == [f"frame-{step}" for step in events]  # the key goes, and the door opens
    write_image(film, tmp_path / "plan.png")
    with Image.open(tmp_path / "plan.png") as image:
        assert image.format == "PNG"


def test_a_png_also_shows_what_comes_to_hold_where_the_automaton_stays(film):
    world = TASK.make_world(1)
    unmoved = film_path(world, follow(world, film.path.controls, visit_in_order("goal")))
    assert len(set(unmoved.path.automaton_states)) == 2
    assert frames_of(draw_film(unmoved)) == frames_of(draw_film(film))


def test_frames_are_left_out_where_only_the_agent_moves():
    task = find_task("office-coffee")
    figure = draw_film(film_path(*plan_in(task)))
    assert lines_of(figure)
    assert not frames_of(figure)


def test_a_world_that_does_not_locate_its_agent_is_shown_by_frames_alone():
    class Shown(Corridor):
        rendering = Rendering(lambda state: DrawnCorridor().draw(state))

    figure = draw_film(film_path(*plan_in(corridor_task(Shown))))
    assert not lines_of(figure)
    assert len(frames_of(figure)) >= 3


def test_a_path_that_is_not_accepted_says_so(film):
    world = TASK.make_world(1)
    begun = follow(world, film.path.controls[:-1], visit_in_order("key", "door", "goal"))
    texts = texts_of(draw_film(film_path(world, begun)))
    assert "end in automaton state 2" in texts
    assert not any("accepted" in text for text in texts)


@pytest.mark.parametrize("steps", [0, 1])
def test_a_path_of_hardly_any_steps_is_drawn(film, steps, tmp_path: Path):
    world = TASK.make_world(1)
    short = follow(world, film.path.controls[:steps], visit_in_order("goal"))
    for name in ("short.png", "short.gif"):
        write_image(film_path(world, short), tmp_path / name)
        with Image.open(tmp_path / name) as image:
            image.verify()


@pytest.mark.parametrize("name", ["doorkey", "office-coffee-mail", "blocked-unlock-pickup"])
def test_nothing_that_is_drawn_beside_a_path_covers_another_or_leaves_the_image(name):
    figure = draw_film(film_path(*plan_in(find_task(name))))
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [text.get_window_extent(renderer) for axes in figure.axes for text in axes.texts]
    boxes += [text.get_window_extent(renderer) for text in figure.texts]
    for number, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0
        assert box.y1 <= figure.bbox.y1
        assert not any(box.overlaps(other) for other in boxes[:number])


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
    with pytest.raises(NoRendererError, match=r"the world Corridor has no renderer: .*`rendering`"):
        film_path(*plan_in(corridor_task(Corridor)))


def plan_in(task):
    world = task.make_world(1)
    product = build_product(world, task.rule)
    return world, find_plan(product, unit_cost(product)).path


def test_other_formats_are_refused(film, tmp_path: Path):
    with pytest.raises(BadInputError, match=r"\.png or \.gif"):
        write_image(film, tmp_path / "plan.bmp")
