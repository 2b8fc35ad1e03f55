"""Images of worlds: what a world offers itself, grids of cells, and graphs whose nodes have positions.

class Warehouse:
    @property
    def rendering(self):
        return Rendering(self.draw, Places(lambda state: cell_centre(*state.cell)))

    def draw(self, state):
        return draw_grid(self.rows, {"#": "#4b525b", "D": "#cfe8d5"}, agent=state.cell)
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.graph import GraphWorld, state_name
from wfairl.core.worlds.rendering import Places, Rendering, offered_rendering

__all__ = [
    "GraphDrawing",
    "NoRendererError",
    "cell_centre",
    "draw_grid",
    "need_places",
    "need_rendering",
    "rendering_of",
    "state_text",
]

Cell = tuple[int, int]
"""(column, row), the row counted from the top."""

CELL = 32
"""Pixels of the side of a cell."""

FLOOR, WALL, LINE, INK, AGENT = "#ffffff", "#4b525b", "#c3c9d0", "#1b1f24", "#d55e00"

LONGEST_SIDE = 640
"""Pixels of the longer side of a drawn graph."""

MARGIN = 24
NODE_RADIUS, MARKED_RADIUS, AGENT_RADIUS = 3, 6, 9
"""Radii in pixels: of a node, of a marked node, and of the agent."""


class NoRendererError(BadInputError):
    """A world has no images of its states, or cannot locate the agent in them."""


def rendering_of(world: Any) -> Rendering | None:
    """How a world looks: its own rendering, or the drawing of a graph with positions; None if it has neither."""
    offered = offered_rendering(world)
    if offered is None and isinstance(world, GraphWorld) and world.table.positions is not None:
        return _graph_rendering(world)
    return offered


def need_rendering(world: Any) -> Rendering:
    """How a world looks. Raises `NoRendererError` if the world cannot be shown; the error says what to add."""
    rendering = rendering_of(world)
    if rendering is None:
        raise NoRendererError(
            f"{_class_to_extend(world)} has no renderer: give it a property `rendering`, as in examples/own_renderer.py"
        )
    return rendering


def need_places(world: Any) -> Places:
    """Where the agent is in the images of a world. Raises `NoRendererError`, which says what the world lacks."""
    places = need_rendering(world).places
    if places is None:
        raise NoRendererError(
            f"{_class_to_extend(world)} does not say where the agent is: give its rendering `Places(locate)`"
        )
    return places


def state_text(world: Any, state: Any) -> str:
    """A state as text, for worlds without renderer."""
    text = str(state_name(world, state))
    return text if len(text) <= 200 else f"{text[:200]}…"


def _class_to_extend(world: Any) -> str:
    is_explored = isinstance(world, GraphWorld) and world.source is not None
    return f"the world {type(world.source if is_explored else world).__name__}"


@lru_cache(maxsize=16)
def _graph_rendering(world: GraphWorld) -> Rendering:
    sources, controls = np.nonzero(world.table.successors != UNAVAILABLE)
    edges = np.stack([sources, world.table.successors[sources, controls]], axis=1)
    texts = {state: ", ".join(sorted(label)) for state, label in world.marks.items()}
    assert world.table.positions is not None
    drawing = GraphDrawing(world.table.positions, edges, texts)
    return Rendering(drawing.render, Places(drawing.locate))


def draw_grid(
    cells: Sequence[str],
    colours: Mapping[str, str] | None = None,
    agent: Cell | None = None,
    agent_text: str = "",
    walls: Iterable[tuple[Cell, Cell]] = (),
    size: int = CELL,
    words: Mapping[Cell, str] | None = None,
) -> NDArray[np.uint8]:
    """A grid of cells, with letters or words in them and the agent as a disc.

    Args:
        cells: a string for each row, a character for each cell. Letters and digits are written into their cell, `#` is
            dark, and everything else is plain floor.
        colours: of cells, by their character; any that Pillow knows.
        agent: the column and row of the agent, None to leave it out.
        agent_text: written on the agent, such as the name of an object that it carries.
        walls: pairs of neighbouring cells, (column, row) each, between which there is a wall.
        size: pixels of the side of a cell.
        words: written into cells, small.

    Returns:
        The image, shape [rows * size, columns * size, 3].
    """
    texts = tuple((words or {}).items())
    image = _grid(tuple(cells), tuple((colours or {}).items()), tuple(walls), size, texts).copy()
    if agent is not None:
        x, y = cell_centre(*agent, size)
        _disc(ImageDraw.Draw(image), x, y, 0.34 * size, agent_text)
    return np.asarray(image)


def cell_centre(column: int, row: int, size: int = CELL) -> tuple[float, float]:
    """The pixel (x, y) of the centre of a cell, as `locate` returns it."""
    return (column + 0.5) * size, (row + 0.5) * size


@lru_cache(maxsize=64)
def _grid(
    cells: tuple[str, ...],
    colours: tuple[tuple[str, str], ...],
    walls: tuple[tuple[Cell, Cell], ...],
    size: int,
    words: tuple[tuple[Cell, str], ...],
) -> Image.Image:
    """The grid without the agent; the same for all states of most worlds."""
    fills = {"#": WALL, **dict(colours)}
    image = Image.new("RGB", (size * max(map(len, cells)), size * len(cells)), FLOOR)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(0.5 * size)
    for row, line in enumerate(cells):
        for column, character in enumerate(line):
            left, top = column * size, row * size
            draw.rectangle((left, top, left + size - 1, top + size - 1), fills.get(character, FLOOR), LINE)
            if character.isalnum():
                draw.text(cell_centre(column, row, size), character, INK, font, anchor="mm")
    small = ImageFont.load_default(0.27 * size)
    for cell, word in words:
        draw.text(cell_centre(*cell, size), word, INK, small, anchor="mm")
    for one, other in walls:
        (x, y), (dx, dy) = np.add(cell_centre(*one, size), cell_centre(*other, size)) / 2, np.subtract(other, one)
        ends = (x - dy * size / 2, y - dx * size / 2, x + dy * size / 2, y + dx * size / 2)
        draw.line(ends, WALL, max(2, size // 8))
    return image


class GraphDrawing:
    """A graph with its nodes at given positions; the agent is at one of them.

    Args:
        positions: of the nodes, y upwards, shape [nodes, 2].
        edges: pairs of nodes, shape [edges, 2].
        texts: captions of marked nodes, by node.
    """

    def __init__(self, positions: NDArray[np.float64], edges: NDArray[np.int64], texts: Mapping[int, str]):
        low, high = positions.min(axis=0), positions.max(axis=0)
        scale = (LONGEST_SIDE - 2 * MARGIN) / max(float((high - low).max()), 1e-12)
        width, height = ((high - low) * scale + 2 * MARGIN).tolist()
        self.size = round(width), round(height)
        self.pixels = (positions - low) * (scale, -scale) + (MARGIN, height - MARGIN)
        self.edges, self.texts = edges, texts

    def render(self, node: int) -> NDArray[np.uint8]:
        """The graph with the agent at a node, shape [height, width, 3]."""
        image = self._graph.copy()
        _disc(ImageDraw.Draw(image), *self.locate(node), AGENT_RADIUS)
        return np.asarray(image)

    def locate(self, node: int) -> tuple[float, float]:
        """The pixel (x, y) of a node."""
        x, y = self.pixels[node].tolist()
        return x, y

    @cached_property
    def _graph(self) -> Image.Image:
        image = Image.new("RGB", self.size, FLOOR)
        draw = ImageDraw.Draw(image)
        for one, other in self.edges.tolist():
            draw.line((*self.locate(one), *self.locate(other)), LINE, 2)
        for node in range(len(self.pixels)):
            x, y = self.locate(node)
            draw.ellipse((x - NODE_RADIUS, y - NODE_RADIUS, x + NODE_RADIUS, y + NODE_RADIUS), WALL)
        font = ImageFont.load_default(15)
        for node, text in self.texts.items():
            x, y = self.locate(node)
            draw.ellipse((x - MARKED_RADIUS, y - MARKED_RADIUS, x + MARKED_RADIUS, y + MARKED_RADIUS), "#0072b2")
            # Above the node, because many edges, and the paths over them, are level.
            offset, anchor = (-6, "rd") if x > self.size[0] / 2 else (6, "ld")
            draw.text((x + offset, y - 3), text, INK, font, anchor=anchor, stroke_width=2, stroke_fill=FLOOR)
        return image


def _disc(draw: ImageDraw.ImageDraw, x: float, y: float, radius: float, text: str = "") -> None:
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), AGENT, FLOOR, 2)
    if text:
        draw.text((x, y), text, FLOOR, ImageFont.load_default(radius), anchor="mm")
