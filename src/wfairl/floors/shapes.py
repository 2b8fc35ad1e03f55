"""Shapes on a floor, and how paths meet them: collisions, crossings of their outlines, and metres inside them.

A shape is a polygon of Shapely (the extra `floors`). A circle is the regular polygon around it, so that an obstacle is
never too small. Paths are tested many at a time.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.errors import BadInputError, MissingExtraError

try:
    import shapely
except ImportError:
    raise MissingExtraError("Shapely", "floors") from None

CIRCLE_SIDES = 32

Points = NDArray[np.float64]
"""Places, y upwards, in metres; shape [points, 2]."""

Shape: TypeAlias = shapely.Polygon

Lines = NDArray[Any]
"""Paths as lines of Shapely, or points, which are paths of no length; shape [paths]."""

_GEOS = threading.Lock()
"""Two threads at once in a prepared geometry crash the process: GEOS keeps a search's state in it."""


def polygon(*corners: tuple[float, float]) -> Shape:
    """The polygon of some corners, in order.

    Raises:
        BadInputError: the corners are fewer than three, not finite, or their outline crosses itself.
    """
    if len(corners) < 3 or not np.isfinite(corners).all():
        raise BadInputError("a polygon has three or more corners (x, y), all of them finite numbers")
    shape = shapely.Polygon(corners)
    if not shape.is_valid or not shape.area:
        raise BadInputError("a polygon must have an area above zero, and an outline that does not cross itself")
    return shape


def rectangle(left: float, bottom: float, right: float, top: float) -> Shape:
    """The rectangle between two x and two y."""
    return polygon((left, bottom), (right, bottom), (right, top), (left, top))


def circle(x: float, y: float, radius: float) -> Shape:
    """The regular polygon around a circle."""
    angles = (np.arange(CIRCLE_SIDES) + 0.5) * 2 * math.pi / CIRCLE_SIDES
    around = radius / math.cos(math.pi / CIRCLE_SIDES)
    return polygon(*(np.array([x, y]) + around * np.stack([np.cos(angles), np.sin(angles)], axis=1)).tolist())


def corners_of(shape: Shape) -> Points:
    """The corners of a shape in order, shape [corners, 2]."""
    return shapely.get_coordinates(shape.exterior)[:-1]


def lines_between(starts: Points, ends: Points) -> Lines:
    """The line from each start to each end, shape [lines]."""
    return shapely.linestrings(np.stack([starts, ends], axis=1))


class ShapeSet:
    """Shapes that are tested together."""

    def __init__(self, shapes: Sequence[Shape]):
        self.shapes = np.array(shapes, object)
        self._outlines = shapely.boundary(self.shapes)
        self._union = shapely.union_all(self.shapes)
        for geometry in (self.shapes, self._outlines, self._union):
            shapely.prepare(geometry)

    def contain(self, points: Points) -> NDArray[np.bool_]:
        """Which shapes each point is in, shape [points, shapes]."""
        with _GEOS:
            return shapely.contains_xy(self.shapes, points[:, :1], points[:, 1:2])

    def are_hit(self, lines: Lines) -> NDArray[np.bool_]:
        """Whether each path touches any shape, shape [paths]."""
        with _GEOS:
            return shapely.intersects(self._union, lines)

    def metres_inside(self, lines: Lines) -> NDArray[np.float64]:
        """Metres of each path inside each shape, shape [paths, shapes]."""
        with _GEOS:
            metres = shapely.length(lines)[:, None] * shapely.covers(self.shapes, lines[:, None])
            path, shape = np.nonzero(shapely.intersects(self._outlines, lines[:, None]))
        metres[path, shape] = shapely.length(shapely.intersection(lines[path], self.shapes[shape]))
        return metres

    def count_crossings(self, lines: Lines) -> NDArray[np.int64]:
        """How often each path crosses the outline of each shape, shape [paths, shapes]."""
        counts = np.zeros((len(lines), len(self.shapes)), np.int64)
        with _GEOS:
            path, shape = np.nonzero(shapely.intersects(self._outlines, lines[:, None]))
        counts[path, shape] = shapely.get_num_geometries(shapely.intersection(lines[path], self._outlines[shape]))
        return counts

    def crossings(self, path: Points) -> NDArray[np.float64]:
        """The places at which a path meets outlines, ascending: segment plus fraction of it; shape [places]."""
        segments = lines_between(path[:-1], path[1:])
        with _GEOS:
            segment, shape = np.nonzero(shapely.intersects(self._outlines, segments[:, None]))
        met = shapely.intersection(segments[segment], self._outlines[shape])
        points, index = shapely.get_coordinates(met, return_index=True)
        start = path[segment[index]]
        fraction = np.linalg.norm(points - start, axis=1) / np.linalg.norm(path[segment[index] + 1] - start, axis=1)
        return np.unique(segment[index] + fraction)
