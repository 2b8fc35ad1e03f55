"""Shapes on a floor, and how paths meet them: collisions, crossings of their sides, and metres inside them.

Every shape is a simple polygon, so that one exact test serves all: a segment is cut where it crosses the sides. A
circle is the regular polygon around it, so that an obstacle is never too small. Paths are chains of straight segments,
tested many at a time in compiled code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit
from wfairl.core.support.errors import BadInputError

CIRCLE_SIDES = 32

Points = NDArray[np.float64]
"""Places, y upwards, in metres; shape [points, 2]."""


class BrokenShapeError(BadInputError):
    """Points that do not define a polygon."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A simple polygon.

    Attributes:
        vertices: its corners in order, shape [corners, 2].
    """

    vertices: Points

    def __post_init__(self) -> None:
        vertices = np.asarray(self.vertices, np.float64)
        if vertices.ndim != 2 or vertices.shape[1] != 2 or len(vertices) < 3 or not np.isfinite(vertices).all():
            raise BrokenShapeError("a polygon has three or more corners (x, y), all of them finite numbers")
        object.__setattr__(self, "vertices", vertices)
        if self.area <= 0:
            raise BrokenShapeError("a polygon must have an area above zero")

    @property
    def area(self) -> float:
        """Square metres."""
        x, y = self.vertices.T
        return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2

    @property
    def box(self) -> tuple[Points, Points]:
        """The least and the largest x and y, shape [2] each."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)


def polygon(*corners: tuple[float, float]) -> Shape:
    """The polygon of some corners, in order."""
    return Shape(np.array(corners, np.float64))


def rectangle(left: float, bottom: float, right: float, top: float) -> Shape:
    """The rectangle between two x and two y."""
    return polygon((left, bottom), (right, bottom), (right, top), (left, top))


def circle(x: float, y: float, radius: float) -> Shape:
    """The regular polygon around a circle."""
    angles = (np.arange(CIRCLE_SIDES) + 0.5) * 2 * math.pi / CIRCLE_SIDES
    around = radius / math.cos(math.pi / CIRCLE_SIDES)
    return Shape(np.array([x, y]) + around * np.stack([np.cos(angles), np.sin(angles)], axis=1))


class Chains(NamedTuple):
    """Concatenated paths.

    Attributes:
        points: of all paths, shape [points, 2].
        first: index of the first point of each path, and the number of points; shape [paths + 1].
    """

    points: Points
    first: NDArray[np.int64]


def straight_chains(starts: Points, ends: Points) -> Chains:
    """A segment from each start to each end."""
    points = np.stack([starts[:, :2], ends[:, :2]], axis=1).reshape(-1, 2)
    return Chains(np.ascontiguousarray(points), np.arange(0, len(points) + 1, 2))


def join_chains(paths: Sequence[Points]) -> Chains:
    """Some paths as one record."""
    first = np.concatenate([[0], np.cumsum([len(path) for path in paths])]).astype(np.int64)
    return Chains(np.concatenate([path[:, :2] for path in paths]) if paths else np.empty((0, 2)), first)


def chain_lengths(chains: Chains) -> NDArray[np.float64]:
    """Metres of each path, shape [paths]."""
    steps = np.append(np.linalg.norm(np.diff(chains.points, axis=0), axis=1), 0.0)
    steps[chains.first[1:] - 1] = 0.0  # the step from one path to the next
    return np.add.reduceat(steps, chains.first[:-1])


class Polygons(NamedTuple):
    """Shapes packed for compiled code.

    Attributes:
        vertices: of all shapes, shape [vertices, 2].
        first: index of the first vertex of each shape, and the number of vertices; shape [shapes + 1].
        boxes: least x and y, largest x and y of each shape; shape [shapes, 4].
    """

    vertices: Points
    first: NDArray[np.int64]
    boxes: NDArray[np.float64]


class ShapeSet:
    """Shapes that are tested together."""

    def __init__(self, shapes: Sequence[Shape]):
        self.shapes = tuple(shapes)
        boxes = np.array([np.concatenate(shape.box) for shape in self.shapes], np.float64)
        packed = join_chains([shape.vertices for shape in self.shapes])
        self._polygons = Polygons(*packed, boxes.reshape(len(self.shapes), 4))

    def __len__(self) -> int:
        """The number of shapes."""
        return len(self.shapes)

    def contain(self, points: Points) -> NDArray[np.bool_]:
        """Which shapes each point is in, shape [points, shapes]."""
        return _contain(np.ascontiguousarray(np.asarray(points, np.float64)[:, :2]), self._polygons)

    def are_hit(self, chains: Chains) -> NDArray[np.bool_]:
        """Whether each path touches any shape, shape [paths]."""
        return _are_hit(chains, self._polygons)

    def metres_inside(self, chains: Chains) -> NDArray[np.float64]:
        """Metres of each path inside each shape, shape [paths, shapes]."""
        return _metres_inside(chains, self._polygons)

    def count_crossings(self, chains: Chains) -> NDArray[np.int64]:
        """How often each path crosses the sides of each shape, shape [paths, shapes]."""
        return _count_crossings(chains, self._polygons)

    def crossings(self, path: Points) -> list[tuple[float, int]]:
        """Where one path crosses sides, in order: the segment's number plus the fraction of it, and the shape."""
        path = np.ascontiguousarray(path[:, :2])
        return sorted(
            (segment + fraction, shape)
            for segment in range(len(path) - 1)
            for shape in range(len(self))
            for fraction in _crossings(path[segment], path[segment + 1], self._polygons, shape)
        )


@njit(cache=True, nogil=True)
def _contain(points: Points, polygons: Polygons) -> NDArray[np.bool_]:
    inside = np.zeros((len(points), len(polygons.boxes)), np.bool_)
    for i in range(len(points)):
        for shape in range(len(polygons.boxes)):
            inside[i, shape] = _is_inside(points[i], polygons, shape)
    return inside


@njit(cache=True, nogil=True)
def _are_hit(chains: Chains, polygons: Polygons) -> NDArray[np.bool_]:
    hit = np.zeros(len(chains.first) - 1, np.bool_)
    for path in range(len(hit)):
        hit[path] = _is_hit(chains.points[chains.first[path] : chains.first[path + 1]], polygons)
    return hit


@njit(cache=True, nogil=True)
def _is_hit(path: Points, polygons: Polygons) -> bool:
    for i in range(len(path)):
        p, q = path[i], path[min(i + 1, len(path) - 1)]
        for shape in range(len(polygons.boxes)):
            if _misses_box(p, q, polygons, shape):
                continue
            if _is_inside(p, polygons, shape):
                return True
            j = polygons.first[shape + 1] - 1
            for k in range(polygons.first[shape], polygons.first[shape + 1]):
                if _crossing(p, q, polygons.vertices[k], polygons.vertices[j]) >= 0:
                    return True
                j = k
    return False


@njit(cache=True, nogil=True)
def _metres_inside(chains: Chains, polygons: Polygons) -> NDArray[np.float64]:
    points, first = chains
    metres = np.zeros((len(first) - 1, len(polygons.boxes)))
    for path in range(len(first) - 1):
        for i in range(first[path], first[path + 1] - 1):
            p, q = points[i], points[i + 1]
            length = math.hypot(q[0] - p[0], q[1] - p[1])
            for shape in range(len(polygons.boxes)):
                if _misses_box(p, q, polygons, shape):
                    continue
                inside, since = _is_inside(p, polygons, shape), 0.0
                for fraction in _crossings(p, q, polygons, shape):
                    if inside:
                        metres[path, shape] += (fraction - since) * length
                    inside, since = not inside, fraction
                if inside:
                    metres[path, shape] += (1 - since) * length
    return metres


@njit(cache=True, nogil=True)
def _count_crossings(chains: Chains, polygons: Polygons) -> NDArray[np.int64]:
    points, first = chains
    counts = np.zeros((len(first) - 1, len(polygons.boxes)), np.int64)
    for path in range(len(first) - 1):
        for i in range(first[path], first[path + 1] - 1):
            for shape in range(len(polygons.boxes)):
                if not _misses_box(points[i], points[i + 1], polygons, shape):
                    counts[path, shape] += len(_crossings(points[i], points[i + 1], polygons, shape))
    return counts


@njit(cache=True, nogil=True)
def _is_inside(p: Points, polygons: Polygons, shape: int) -> bool:
    """Whether a ray to the right crosses an odd number of sides."""
    (x, y), box = (p[0], p[1]), polygons.boxes[shape]
    if x < box[0] or y < box[1] or x > box[2] or y > box[3]:
        return False
    inside = False
    j = polygons.first[shape + 1] - 1
    for i in range(polygons.first[shape], polygons.first[shape + 1]):
        one, other = polygons.vertices[i], polygons.vertices[j]
        if (one[1] > y) != (other[1] > y) and x < (other[0] - one[0]) * (y - one[1]) / (other[1] - one[1]) + one[0]:
            inside = not inside
        j = i
    return inside


@njit(cache=True, nogil=True)
def _misses_box(p: Points, q: Points, polygons: Polygons, shape: int) -> bool:
    box = polygons.boxes[shape]
    return max(p[0], q[0]) < box[0] or max(p[1], q[1]) < box[1] or min(p[0], q[0]) > box[2] or min(p[1], q[1]) > box[3]


@njit(cache=True, nogil=True)
def _crossings(p: Points, q: Points, polygons: Polygons, shape: int) -> NDArray[np.float64]:
    """The fractions of p-q at which it crosses sides of a shape, ascending."""
    first, end = polygons.first[shape], polygons.first[shape + 1]
    fractions = np.empty(end - first)
    count, j = 0, end - 1
    for i in range(first, end):
        fraction = _crossing(p, q, polygons.vertices[i], polygons.vertices[j])
        if fraction >= 0:
            fractions[count] = fraction
            count += 1
        j = i
    return np.sort(fractions[:count])


@njit(cache=True, nogil=True)
def _crossing(p: Points, q: Points, one: Points, other: Points) -> float:
    """The fraction of p-q at which it crosses the side one-other, -1 if it does not.

    Both segments are half open, so that a path through a corner crosses once.
    """
    dx, dy = q[0] - p[0], q[1] - p[1]
    side_one = dx * (one[1] - p[1]) - dy * (one[0] - p[0])
    side_other = dx * (other[1] - p[1]) - dy * (other[0] - p[0])
    if (side_one > 0) == (side_other > 0):
        return -1.0
    sx, sy = other[0] - one[0], other[1] - one[1]
    across = dx * sy - dy * sx
    fraction = ((one[0] - p[0]) * sy - (one[1] - p[1]) * sx) / across
    return fraction if 0 <= fraction < 1 else -1.0
