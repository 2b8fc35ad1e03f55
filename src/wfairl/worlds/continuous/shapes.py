"""Shapes on a floor, and what paths do to them: hit them, enter and leave them, run through them for some metres.

Every shape is a simple polygon, so that one exact test serves all: a segment is cut where it crosses the sides. A
circle is the regular polygon around it, which makes an obstacle never smaller than it is. Paths are chains of straight
segments; many of them are looked at in one compiled call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.compiling import njit
from wfairl.errors import BadInputError

CIRCLE_SIDES = 32

Points = NDArray[np.float64]
"""Places, y upwards, in metres; shape [points, 2]."""


class BrokenShapeError(BadInputError):
    """Points that make no polygon."""


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
    """Paths one behind the other.

    Attributes:
        points: their points, shape [points, 2].
        first: where each path begins among them, and the end; shape [paths + 1].
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
    steps[chains.first[1:] - 1] = 0.0  # from the end of a path to the start of the next
    return np.add.reduceat(steps, chains.first[:-1])


class ShapeSet:
    """Shapes packed for compiled tests.

    Args:
        shapes: the shapes.
    """

    def __init__(self, shapes: Sequence[Shape]):
        self.shapes = tuple(shapes)
        self._packed = join_chains([shape.vertices for shape in self.shapes])
        boxes = [np.concatenate(shape.box) for shape in self.shapes]
        self._boxes = np.array(boxes, np.float64).reshape(len(self.shapes), 4)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.shapes)

    def contain(self, points: Points) -> NDArray[np.bool_]:
        """Which shapes each point is in, shape [points, shapes]."""
        points = np.ascontiguousarray(np.asarray(points, np.float64)[:, :2])
        return _contain(points, *self._packed, self._boxes)

    def are_hit(self, chains: Chains) -> NDArray[np.bool_]:
        """Whether each path touches any shape, shape [paths]."""
        return _are_hit(*chains, *self._packed, self._boxes)

    def metres_inside(self, chains: Chains) -> NDArray[np.float64]:
        """How far each path runs through each shape, shape [paths, shapes]."""
        return _metres_inside(*chains, *self._packed, self._boxes)

    def count_crossings(self, chains: Chains) -> NDArray[np.int64]:
        """How often each path crosses the sides of each shape, shape [paths, shapes]."""
        return _count_crossings(*chains, *self._packed, self._boxes)

    def crossings(self, path: Points) -> list[tuple[float, int]]:
        """Where one path crosses sides, in order: the segment's number plus the part of it, and the shape's number."""
        path = np.ascontiguousarray(path[:, :2])
        found = [
            (segment + part, number)
            for segment in range(len(path) - 1)
            for number in range(len(self))
            for part in _crossing_parts(path[segment], path[segment + 1], *self._packed, number)
        ]
        return sorted(found)


@njit(cache=True, nogil=True)
def _contain(
    points: Points, vertices: Points, first: NDArray[np.int64], boxes: NDArray[np.float64]
) -> NDArray[np.bool_]:
    inside = np.zeros((len(points), len(boxes)), np.bool_)
    for i in range(len(points)):
        for shape in range(len(boxes)):
            inside[i, shape] = _is_inside(points[i, 0], points[i, 1], vertices, first, boxes, shape)
    return inside


@njit(cache=True, nogil=True)
def _is_inside(
    x: float, y: float, vertices: Points, first: NDArray[np.int64], boxes: NDArray[np.float64], shape: int
) -> bool:
    """Whether a ray to the right crosses an odd number of sides."""
    if x < boxes[shape, 0] or y < boxes[shape, 1] or x > boxes[shape, 2] or y > boxes[shape, 3]:
        return False
    inside = False
    j = first[shape + 1] - 1
    for i in range(first[shape], first[shape + 1]):
        one, other = vertices[i], vertices[j]
        if (one[1] > y) != (other[1] > y) and x < (other[0] - one[0]) * (y - one[1]) / (other[1] - one[1]) + one[0]:
            inside = not inside
        j = i
    return inside


@njit(cache=True, nogil=True)
def _misses_box(p: Points, q: Points, boxes: NDArray[np.float64], shape: int) -> bool:
    return (
        max(p[0], q[0]) < boxes[shape, 0]
        or max(p[1], q[1]) < boxes[shape, 1]
        or min(p[0], q[0]) > boxes[shape, 2]
        or min(p[1], q[1]) > boxes[shape, 3]
    )


@njit(cache=True, nogil=True)
def _crossing(p: Points, q: Points, one: Points, other: Points) -> float:
    """The part of p-q at which it crosses the side one-other, -1 if it does not.

    Ends count half open on both, so that a path that passes through a corner crosses once.
    """
    dx, dy = q[0] - p[0], q[1] - p[1]
    side_one = dx * (one[1] - p[1]) - dy * (one[0] - p[0])
    side_other = dx * (other[1] - p[1]) - dy * (other[0] - p[0])
    if (side_one > 0) == (side_other > 0):
        return -1.0
    sx, sy = other[0] - one[0], other[1] - one[1]
    across = dx * sy - dy * sx
    part = ((one[0] - p[0]) * sy - (one[1] - p[1]) * sx) / across
    return part if 0 <= part < 1 else -1.0


@njit(cache=True, nogil=True)
def _crossing_parts(
    p: Points, q: Points, vertices: Points, first: NDArray[np.int64], shape: int
) -> NDArray[np.float64]:
    """The parts of p-q at which it crosses sides of a shape, ascending."""
    parts = np.empty(first[shape + 1] - first[shape])
    count = 0
    j = first[shape + 1] - 1
    for i in range(first[shape], first[shape + 1]):
        part = _crossing(p, q, vertices[i], vertices[j])
        if part >= 0:
            parts[count] = part
            count += 1
        j = i
    return np.sort(parts[:count])


@njit(cache=True, nogil=True)
def _are_hit(
    points: Points, starts: NDArray[np.int64], vertices: Points, first: NDArray[np.int64], boxes: NDArray[np.float64]
) -> NDArray[np.bool_]:
    hit = np.zeros(len(starts) - 1, np.bool_)
    for path in range(len(starts) - 1):
        for at in range(starts[path], starts[path + 1]):
            p = points[at]
            q = points[min(at + 1, starts[path + 1] - 1)]
            for shape in range(len(boxes)):
                if _misses_box(p, q, boxes, shape):
                    continue
                if _is_inside(p[0], p[1], vertices, first, boxes, shape):
                    hit[path] = True
                    break
                j = first[shape + 1] - 1
                for i in range(first[shape], first[shape + 1]):
                    if _crossing(p, q, vertices[i], vertices[j]) >= 0:
                        hit[path] = True
                        break
                    j = i
                if hit[path]:
                    break
            if hit[path]:
                break
    return hit


@njit(cache=True, nogil=True)
def _metres_inside(
    points: Points, starts: NDArray[np.int64], vertices: Points, first: NDArray[np.int64], boxes: NDArray[np.float64]
) -> NDArray[np.float64]:
    metres = np.zeros((len(starts) - 1, len(boxes)))
    for path in range(len(starts) - 1):
        for at in range(starts[path], starts[path + 1] - 1):
            p, q = points[at], points[at + 1]
            length = math.hypot(q[0] - p[0], q[1] - p[1])
            for shape in range(len(boxes)):
                if _misses_box(p, q, boxes, shape):
                    continue
                inside = _is_inside(p[0], p[1], vertices, first, boxes, shape)
                since = 0.0
                for part in _crossing_parts(p, q, vertices, first, shape):
                    if inside:
                        metres[path, shape] += (part - since) * length
                    inside = not inside
                    since = part
                if inside:
                    metres[path, shape] += (1 - since) * length
    return metres


@njit(cache=True, nogil=True)
def _count_crossings(
    points: Points, starts: NDArray[np.int64], vertices: Points, first: NDArray[np.int64], boxes: NDArray[np.float64]
) -> NDArray[np.int64]:
    counts = np.zeros((len(starts) - 1, len(boxes)), np.int64)
    for path in range(len(starts) - 1):
        for at in range(starts[path], starts[path + 1] - 1):
            p, q = points[at], points[at + 1]
            for shape in range(len(boxes)):
                if not _misses_box(p, q, boxes, shape):
                    counts[path, shape] += len(_crossing_parts(p, q, vertices, first, shape))
    return counts
