"""Floor plans as images: obstacles, zones, regions by their propositions, the roadmap faintly, and paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.floors.shapes import Points, Shape, corners_of
from wfairl.pages.world_drawing import AGENT, FLOOR, INK, LONGEST_SIDE, WALL

if TYPE_CHECKING:
    from wfairl.floors.roadmap import Roadmap

OVERSAMPLING = 2
"""Images are drawn this many times larger and then scaled down, which smooths them."""

BORDER = 8
SHOWN_NEIGHBOURS, MOST_EDGES = 6, 6_000
"""Edges of a roadmap that are drawn: so many of the shortest edges of each vertex, and at most so many of all."""

ROADMAP, UNUSED_REGION = "#eceef1", "#aab1ba"
ZONES = ("#cfe6f7", "#fbe6c4", "#e4d8f2", "#d9efd6")
REGIONS = ("#009e73", "#cc79a7", "#e69f00", "#e0543e", "#56b4e9", "#f0e442")
PATHS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
ROBOT_RADIUS, PATH_WIDTH = 8, 3
"""Pixels: the radius of the robot, and the width of a path."""


class FloorDrawing:
    """Draws the floor of a roadmap, with the proposition of each region in a scene."""

    def __init__(self, roadmap: Roadmap, meanings: Mapping[str, str]):
        self.roadmap, self.meanings = roadmap, meanings
        left, bottom, right, top = roadmap.plan.bounds
        self._scale = (LONGEST_SIDE - 2 * BORDER) / max(right - left, top - bottom)
        size = np.array([right - left, top - bottom]) * self._scale + 2 * BORDER
        self.size = round(float(size[0])), round(float(size[1]))

    def render(self, vertex: int | None = None, paths: Sequence[Points] = ()) -> NDArray[np.uint8]:
        """The floor with the robot at a vertex, and paths in colours of their own; shape [height, width, 3]."""
        image = self._floor.copy()
        draw = ImageDraw.Draw(image)
        for number, path in enumerate(paths):
            line = [tuple(point) for point in self._fine(path).tolist()]
            if len(line) > 1:
                draw.line(line, PATHS[number % len(PATHS)], PATH_WIDTH * OVERSAMPLING, joint="curve")
        if vertex is not None:
            x, y = self._fine(self.roadmap.places[[vertex]])[0].tolist()
            radius = ROBOT_RADIUS * OVERSAMPLING
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), AGENT, FLOOR, 2 * OVERSAMPLING)
        self._write_names(draw)
        return np.asarray(image.resize(self.size, Image.Resampling.LANCZOS))

    def locate(self, vertex: int) -> tuple[float, float]:
        """The pixel (x, y) of a vertex."""
        x, y = self.pixels(self.roadmap.places[[vertex]])[0].tolist()
        return x, y

    def pixels(self, places: Points) -> Points:
        """The pixels of places, from the upper left corner of the image; shape [places, 2]."""
        left, _, _, top = self.roadmap.plan.bounds
        return (places - (left, top)) * (self._scale, -self._scale) + BORDER

    def _fine(self, places: Points) -> Points:
        return self.pixels(places) * OVERSAMPLING

    @cached_property
    def _floor(self) -> Image.Image:
        """All that is below paths, the robot and the names."""
        plan = self.roadmap.plan
        image = Image.new("RGB", (self.size[0] * OVERSAMPLING, self.size[1] * OVERSAMPLING), FLOOR)
        draw = ImageDraw.Draw(image)
        for number, zone in enumerate(plan.zones.values()):
            draw.polygon(self._corners(zone), ZONES[number % len(ZONES)])
        self._draw_roadmap(draw)
        colours = dict(zip(dict.fromkeys(self.meanings.values()), REGIONS * len(self.meanings), strict=False))
        for name, region in plan.regions.items():
            if name in self.meanings:
                colour = colours[self.meanings[name]]
                draw.polygon(self._corners(region), Image.blend(*_swatches(colour), 0.35).getpixel((0, 0)), colour, 3)
            else:
                draw.polygon(self._corners(region), None, UNUSED_REGION, 2)
        for obstacle in plan.obstacles:
            draw.polygon(self._corners(obstacle), WALL)
        left, bottom, right, top = plan.bounds
        (x0, y0), (x1, y1) = self._fine(np.array([(left, top), (right, bottom)])).tolist()
        draw.rectangle((x0, y0, x1, y1), None, WALL, 3 * OVERSAMPLING)
        return image

    def _draw_roadmap(self, draw: ImageDraw.ImageDraw) -> None:
        successors = self.roadmap.table.successors[:, :SHOWN_NEIGHBOURS]
        one, control = np.nonzero(successors != UNAVAILABLE)
        other = successors[one, control]
        some = slice(None, None, max(1, len(one) // MOST_EDGES))
        one, other = one[some], other[some]
        places = self.roadmap.places
        ends = zip(self._fine(places[one]).tolist(), self._fine(places[other]).tolist(), strict=True)
        for start, end in ends:
            draw.line([tuple(start), tuple(end)], ROADMAP, 1)

    def _write_names(self, draw: ImageDraw.ImageDraw) -> None:
        font = ImageFont.load_default(13 * OVERSAMPLING)
        for name, shape in (*self.roadmap.plan.zones.items(), *self.roadmap.plan.regions.items()):
            is_zone = name in self.roadmap.plan.zones
            if not is_zone and name not in self.meanings:
                continue
            x, y = self._fine(corners_of(shape)).mean(axis=0).tolist()
            text, ink = (name, "#5a7fa0") if is_zone else (self.meanings[name], INK)
            draw.text((x, y), text, ink, font, anchor="mm", stroke_width=2 * OVERSAMPLING, stroke_fill=FLOOR)

    def _corners(self, shape: Shape) -> list[tuple[float, ...]]:
        return [tuple(corner) for corner in self._fine(corners_of(shape)).tolist()]


def _swatches(colour: str) -> tuple[Image.Image, Image.Image]:
    return Image.new("RGB", (1, 1), FLOOR), Image.new("RGB", (1, 1), colour)
