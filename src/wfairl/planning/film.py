"""Images of a plan: a frame of the world for each state, with the automaton state below it.

A PNG shows the frames at which the automaton state changes or a proposition becomes true; a GIF shows them all.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from wfairl.automata.words import format_label
from wfairl.errors import BadInputError
from wfairl.files import write_atomically
from wfairl.planning.path import Path
from wfairl.worlds.rendering import as_renderer
from wfairl.worlds.world import World

FORMATS = (".png", ".gif")

TILE = 280  # pixels of a frame's longer side
STRIP = 98  # pixels of the text and automaton below it
GAP = 16
COLUMNS = 4
MAX_TILES = 16  # beyond which a PNG shows only changes of the automaton state
MILLISECONDS = 350
INK, PALE, DONE, HERE, PAPER = "#1b1b1b", "#9a9a9a", "#c9d7f0", "#f2a33a", "#ffffff"


@dataclass(frozen=True)
class Film:
    """A path with images of its states.

    Attributes:
        path: the path, T controls.
        control_names: the names of the world's controls.
        frames: the rendered states, T + 1 images of shape [height, width, 3] of uint8.
    """

    path: Path
    control_names: Sequence[str]
    frames: tuple[NDArray[np.uint8], ...]


def check_format(output: FilePath) -> None:
    """Raise `BadInputError` unless a file name is that of a PNG or a GIF."""
    if output.suffix.lower() not in FORMATS:
        raise BadInputError(f"{output}: the name of an image of a plan ends in {' or '.join(FORMATS)}")


def film_path(world: World[Any], path: Path) -> Film:
    """Render the states along a path.

    Raises:
        NoRendererError: the world cannot render its states.
    """
    renderer = as_renderer(world)
    render_trail = getattr(getattr(world, "source", None), "render_trail", None)
    if render_trail is not None:
        frames = tuple(render_trail(path.states[: step + 1]) for step in range(len(path.states)))
    else:
        frames = tuple(np.asarray(renderer.render(state), np.uint8) for state in path.states)
    return Film(path, world.controls, frames)


def write_image(film: Film, output: FilePath) -> None:
    """Write a PNG or a GIF, by the file's name."""
    check_format(output)
    stream = io.BytesIO()
    if output.suffix.lower() == ".gif":
        first, *rest = [_tile(film, step) for step in range(len(film.frames))]
        durations = [3 * MILLISECONDS, *[MILLISECONDS] * (len(rest) - 1), 6 * MILLISECONDS][: len(film.frames)]
        first.save(stream, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)
    else:
        _sheet(film).save(stream, "PNG")
    write_atomically(output, stream.getvalue())


def _sheet(film: Film) -> Image.Image:
    """The start, every step at which the automaton state changes or a proposition becomes true, and the end."""
    states, labels = film.path.automaton_states, (frozenset(), *film.path.labels)
    last = len(states) - 1
    moves = {0, last, *(step for step in range(1, last + 1) if states[step] != states[step - 1])}
    events = moves | {step for step in range(1, last + 1) if labels[step] - labels[step - 1]}
    tiles = [_tile(film, step) for step in sorted(events if len(events) <= MAX_TILES else moves)]
    width, height = tiles[0].size
    columns = min(COLUMNS, len(tiles))
    rows = -(-len(tiles) // columns)
    sheet = Image.new("RGB", (columns * (width + GAP) + GAP, rows * (height + GAP) + GAP), PAPER)
    for i, tile in enumerate(tiles):
        sheet.paste(tile, (GAP + i % columns * (width + GAP), GAP + i // columns * (height + GAP)))
    return sheet


def _tile(film: Film, step: int) -> Image.Image:
    """One frame with the last control, its label and the automaton states."""
    frame = Image.fromarray(film.frames[step])
    scale = TILE / max(frame.size)
    frame = frame.resize((round(frame.width * scale), round(frame.height * scale)), Image.Resampling.LANCZOS)
    tile = Image.new("RGB", (TILE, frame.height + STRIP), PAPER)
    tile.paste(frame, ((TILE - frame.width) // 2, 0))
    draw = ImageDraw.Draw(tile)
    if step == 0:
        title, label = "start", ""
    else:
        title = f"{step}  {film.control_names[film.path.controls[step - 1]]}"
        label = f"shows {format_label(film.path.labels[step - 1])}"
    draw.text((4, frame.height + 5), title, INK, ImageFont.load_default(15))
    draw.text((4, frame.height + 25), label, INK, ImageFont.load_default(15))
    _draw_automaton(draw, film.path, step, frame.height + 70)
    return tile


def _draw_automaton(draw: ImageDraw.ImageDraw, path: Path, step: int, y: int) -> None:
    """The automaton states along the path as a row of circles: past, present, future; two rings where it accepts."""
    states = path.automaton_states
    moves = [0, *(t for t in range(1, len(states)) if states[t] != states[t - 1])]
    distance = min(56.0, (TILE - 40) / max(1, len(moves) - 1))
    radius = min(15.0, 0.38 * distance)
    here = max(i for i, t in enumerate(moves) if t <= step)
    left = TILE / 2 - distance * (len(moves) - 1) / 2
    font = ImageFont.load_default(max(8, 0.95 * radius))
    for i, t in enumerate(moves):
        x = left + distance * i
        if i:
            draw.line((x - distance + radius, y, x - radius, y), INK if i <= here else PALE, 2)
        fill = HERE if i == here else DONE if i < here else PAPER
        ink = INK if i <= here else PALE
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill, ink, 2)
        if path.is_accepted and t == moves[-1]:
            draw.ellipse((x - radius + 4, y - radius + 4, x + radius - 4, y + radius - 4), None, ink, 1)
        draw.text((x, y), str(states[t]), ink, font, anchor="mm")
