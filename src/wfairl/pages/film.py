"""Images of a plan.

A PNG shows the path over the first state of the world, its parts as a list, and a frame at the end of each part if more
than the agent changes. A GIF shows a frame for every state, with the way so far and the automaton state below it.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from wfairl.core.automata.automaton import DEAD
from wfairl.core.automata.words import format_label
from wfairl.core.planning.path import Path
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.files import write_atomically
from wfairl.core.worlds.world import World
from wfairl.pages import style
from wfairl.pages.path_drawing import PathPart, Trace, draw_list, draw_over, list_size, split_by_event, step_length
from wfairl.pages.world_drawing import NoRendererError, need_rendering

IMAGE_SUFFIXES = (".png", ".gif")

SMALLEST_SCENE, LARGEST_SCENE = 2.8, 4.4
"""Inches of the longer side of a scene in a PNG, by its number of pixels."""

COLUMNS, CAPTION, GAP = 4, 0.2, 0.12
"""Frames in a row of a PNG, and inches: of the text below a frame, and between frames."""

FRAME = 280  # pixels of the longer side of a frame of a GIF
STRIP = 68  # pixels of the text below it
MILLISECONDS = 350


@dataclass(frozen=True)
class Film:
    """A path of T controls with images of its states."""

    path: Path
    control_names: Sequence[str]
    frames: tuple[NDArray[np.uint8], ...]  # the rendered states, T + 1 images of shape [height, width, 3] of uint8
    # the pixels that the agent passes in each step, T; None if the world does not locate it
    traces: tuple[Trace, ...] | None


def check_format(output: FilePath) -> None:
    """Raise `BadInputError` unless a file name is that of a PNG or a GIF."""
    if output.suffix.lower() not in IMAGE_SUFFIXES:
        raise BadInputError(f"{output}: the name of an image of a plan ends in {' or '.join(IMAGE_SUFFIXES)}")


def check_drawable(world: World[Any]) -> None:
    """Raise `NoRendererError`, before a long search, for a world without images; the error says how to do without."""
    try:
        need_rendering(world)
    except NoRendererError as error:
        raise NoRendererError(f"{error}; leave out -o to do without an image") from None


def film_path(world: World[Any], path: Path) -> Film:
    """Render the states along a path. Raises `NoRendererError` if the world cannot render its states."""
    rendering = need_rendering(world)
    frames = tuple(np.asarray(rendering.render(state), np.uint8) for state in path.states)
    if rendering.places is None:
        return Film(path, world.controls, frames, None)
    pixels = [rendering.places.locate(state) for state in path.states]
    return Film(path, world.controls, frames, tuple(np.array(pair, np.float64) for pair in pairwise(pixels)))


def write_image(film: Film, output: FilePath) -> None:
    """Write a PNG or a GIF, by the file's name."""
    check_format(output)
    if output.suffix.lower() == ".png":
        write_atomically(output, style.print_figure(draw_film(film), "png", dots_per_inch=200))
        return
    stream = io.BytesIO()
    first, *rest = [_tile(film, step) for step in range(len(film.frames))]
    durations = [3 * MILLISECONDS, *[MILLISECONDS] * (len(rest) - 1), 6 * MILLISECONDS][: len(film.frames)]
    first.save(stream, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)
    write_atomically(output, stream.getvalue())


def draw_film(film: Film) -> Figure:
    """The path over the scene, its parts as a list, and the frames at which a part ends."""
    parts = split_by_event(film.path)
    list_width, list_height = list_size(parts)
    scene_width, scene_height = (0.0, 0.0) if film.traces is None else _fitted(film.frames[0])
    upper = max(scene_height, list_height)
    steps = _shown_frames(film, parts)
    titles = [_title(film, step) for step in steps]
    width = max(scene_width + list_width, SMALLEST_SCENE)
    column = max([(width + GAP) / COLUMNS, *(style.text_width(title) + GAP for title in titles)])
    frame_height = (column - GAP) * film.frames[0].shape[0] / film.frames[0].shape[1]
    columns = max(1, int((width + GAP) / column + 1e-9))
    rows = -(-len(steps) // columns)
    width = max(width, column - GAP if steps else 0.0)
    figure = style.new_figure(width + 2 * GAP, upper + rows * (frame_height + CAPTION + GAP) + 2 * GAP)
    if film.traces is not None:
        scene = style.place(figure, GAP, GAP + (upper - scene_height) / 2, scene_width, scene_height)
        style.show_image(scene, film.frames[0], fading=0.4)
        draw_over(scene, parts, film.traces)
    draw_list(style.place_in_units(figure, GAP + scene_width, GAP, list_width, upper), parts)
    for number, (step, title) in enumerate(zip(steps, titles, strict=True)):
        row, place_in_row = divmod(number, columns)
        left, top = GAP + place_in_row * column, 2 * GAP + upper + row * (frame_height + CAPTION + GAP)
        axes = style.place(figure, left, top, column - GAP, frame_height)
        style.show_image(axes, film.frames[step])
        axes.set_label(f"frame-{step}")
        style.write_at(figure, left, top + frame_height + 0.03, title, va="top")
    return figure


def _title(film: Film, step: int) -> str:
    return f"{step}: {film.control_names[film.path.controls[step - 1]]}" if step else "0: start"


def _fitted(image: NDArray[np.uint8]) -> tuple[float, float]:
    """Width and height of a scene in inches."""
    height, width, _ = image.shape
    inch = max(width, height) / min(LARGEST_SCENE, max(SMALLEST_SCENE, max(width, height) / 120))
    return width / inch, height / inch


def _shown_frames(film: Film, parts: Sequence[PathPart]) -> list[int]:
    """The steps that begin a part; none if a path over the scene shows as much."""
    steps = [part.first for part in parts]
    if film.traces is None:
        return steps
    return steps[1:] if any(_shows_more(film, step, film.traces) for step in steps[1:]) else []


def _shows_more(film: Film, step: int, traces: Sequence[Trace]) -> bool:
    """Whether more than the agent has changed since the start."""
    changed = (film.frames[step] != film.frames[0]).any(axis=2)
    near = max(step_length(traces), 0.05 * max(changed.shape))
    for x, y in (traces[0][0], traces[step - 1][-1]):
        changed[max(0, round(y - near)) : round(y + near), max(0, round(x - near)) : round(x + near)] = False
    return bool(changed.any())


def _tile(film: Film, step: int) -> Image.Image:
    """One frame with the way so far, and below it the last control, its label and the automaton state."""
    frame = Image.fromarray(film.frames[step])
    scale = FRAME / max(frame.size)
    frame = frame.resize((round(frame.width * scale), round(frame.height * scale)), Image.Resampling.LANCZOS)
    tile = Image.new("RGB", (FRAME, frame.height + STRIP), style.PAPER)
    tile.paste(frame, ((FRAME - frame.width) // 2, 0))
    draw = ImageDraw.Draw(tile)
    if film.traces is not None and step > 0:
        way = np.concatenate(film.traces[:step]) * scale + ((FRAME - frame.width) // 2, 0)
        draw.line([tuple(point) for point in way.tolist()], style.BLUE, 2, joint="curve")
    state, is_end = film.path.automaton_states[step], step == len(film.frames) - 1
    read = "the task is lost" if state == DEAD else f"automaton state {state}"
    read += ", accepted" if is_end and film.path.is_accepted else ""
    label = f"shows {format_label(film.path.labels[step - 1])}" if step else ""
    for row, text in enumerate((_title(film, step), label, read)):
        draw.text((4, frame.height + 5 + 20 * row), text, style.INK, ImageFont.load_default(15))
    return tile
