"""FloorPlan: a floor with bounds, obstacles, regions for labels, and zones with a price per metre.

    plan = FloorPlan(
        bounds=(0, 0, 24, 16),
        obstacles=(rectangle(4, 3, 8, 5), circle(15, 9, 1)),
        regions={"store": rectangle(0, 0, 2, 2), "dock": circle(22, 14, 1)},
        zones={"wet": polygon((10, 4), (14, 4), (12, 8))},
    )
    plan.is_free(path), plan.word(path), plan.metres(path)

The robot is a point: grow the obstacles by its radius. The word of a path is the regions that it is in, in the order in
which it enters and leaves them; its cost is linear in its metres in each zone and outside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
import shapely
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.words import Word, compress
from wfairl.core.support.errors import BadInputError
from wfairl.floors.shapes import Lines, Points, Shape, ShapeSet

OUTSIDE_ZONES = "floor"
"""The feature of the metres outside all zones."""


@dataclass(frozen=True, eq=False)
class FloorPlan:
    """A floor."""

    bounds: tuple[float, float, float, float]  # left, bottom, right and top, in metres
    obstacles: tuple[Shape, ...] = ()  # shapes that no path may touch
    regions: Mapping[str, Shape] = field(default_factory=dict)  # shapes by name, for labels; they may overlap
    # shapes by name, each with a price per metre; they may not overlap
    zones: Mapping[str, Shape] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "obstacles", tuple(self.obstacles))
        object.__setattr__(self, "regions", dict(self.regions))
        object.__setattr__(self, "zones", dict(self.zones))
        left, bottom, right, top = self.bounds
        if not (np.isfinite(self.bounds).all() and left < right and bottom < top):
            raise BadInputError("bounds are left, bottom, right and top, with left < right and bottom < top")
        if OUTSIDE_ZONES in self.zones:
            raise BadInputError(f"no zone may be called {OUTSIDE_ZONES!r}, the name of all outside the zones")
        for (one, first), (other, second) in combinations(self.zones.items(), 2):
            if first.intersection(second).area > 1e-9:
                raise BadInputError(f"the zones {one!r} and {other!r} overlap, and a metre has one price")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the entries of `metres`."""
        return (OUTSIDE_ZONES, *self.zones)

    @property
    def size(self) -> float:
        """The diagonal in metres."""
        left, bottom, right, top = self.bounds
        return float(np.hypot(right - left, top - bottom))

    def are_free(self, lines: Lines) -> NDArray[np.bool_]:
        """Whether each of some paths stays in bounds and touches no obstacle, shape [paths]."""
        reach = shapely.bounds(lines)
        within = (reach[:, :2] >= self.bounds[:2]).all(axis=1) & (reach[:, 2:] <= self.bounds[2:]).all(axis=1)
        return ~self.obstacle_set.are_hit(lines) & within

    def is_free(self, path: Points) -> bool:
        """Whether a path stays in bounds and touches no obstacle."""
        return bool(self.are_free(_line(path))[0])

    def all_metres(self, lines: Lines) -> NDArray[np.float64]:
        """The metres of each of some paths outside the zones, and in each of them; shape [paths, 1 + zones]."""
        inside = self.zone_set.metres_inside(lines)
        return np.column_stack([np.maximum(shapely.length(lines) - inside.sum(axis=1), 0), inside])

    def metres(self, path: Points) -> NDArray[np.float64]:
        """The metres of a path outside the zones, and in each of them; shape [1 + zones]."""
        return self.all_metres(_line(path))[0]

    def labels(self, points: Points) -> list[Label]:
        """The regions that each of some points is in."""
        names = tuple(self.regions)
        return [
            frozenset(name for name, inside in zip(names, row, strict=True) if inside)
            for row in self.region_set.contain(points)
        ]

    def word(self, path: Points) -> Word:
        """The regions that a path is in, from its first point on."""
        return compress(self.stretches(path)[0])

    def stretches(self, path: Points) -> tuple[list[Label], NDArray[np.float64]]:
        """The path cut where it meets outlines of regions.

        Returns:
            The regions that each stretch is in, and the metres from the start of the path to the start of each.
        """
        numbers, cuts = np.arange(len(path)), self.region_set.crossings(path)
        ends = np.concatenate([[0.0], cuts, [len(path) - 1.0]])
        middles = (ends[:-1] + ends[1:]) / 2
        points = np.stack([np.interp(middles, numbers, path[:, axis]) for axis in (0, 1)], axis=1)
        return self.labels(points), np.interp(ends[:-1], numbers, path_lengths(path))

    @cached_property
    def obstacle_set(self) -> ShapeSet:
        """The obstacles."""
        return ShapeSet(self.obstacles)

    @cached_property
    def region_set(self) -> ShapeSet:
        """The regions in their order."""
        return ShapeSet(tuple(self.regions.values()))

    @cached_property
    def zone_set(self) -> ShapeSet:
        """The zones in their order."""
        return ShapeSet(tuple(self.zones.values()))


def _line(path: Points) -> Lines:
    """One path, shape [1]."""
    return np.array([shapely.Point(path[0]) if len(path) == 1 else shapely.LineString(path)])


def path_lengths(path: Points) -> NDArray[np.float64]:
    """Metres from the start of a path to each of its points, shape [points]."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])


def resample(path: Points, spacing: float) -> Points:
    """The path with points added, so that no two are further apart than `spacing`."""
    metres = np.linalg.norm(np.diff(path, axis=0), axis=1)
    return subdivide(path, np.maximum(1, np.ceil(metres / spacing - 1e-9)).astype(np.int64))


def subdivide(path: Points, steps: NDArray[np.int64]) -> Points:
    """The path with each of its lines in so many equal steps; shape [1 + sum of steps, 2]."""
    parts = [path[:1]]
    for start, end, count in zip(path[:-1], path[1:], steps, strict=True):
        parts.append(start + (end - start) * (np.arange(1, count + 1) / count)[:, None])
    return np.concatenate(parts)
