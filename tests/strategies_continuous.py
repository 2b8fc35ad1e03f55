"""Random shapes, paths and floors, and slow oracles of how they meet, which share no code with Shapely."""

import math
from functools import cache
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from matplotlib.path import Path as Outline

from wfairl.core.support.errors import BadInputError
from wfairl.floors.floor_plan import FloorPlan, resample
from wfairl.floors.roadmap import draw_roadmap
from wfairl.floors.shapes import circle, corners_of, polygon, rectangle

SEEDS = st.integers(0, 2**32 - 1)


def random_shape(rng, size=10.0):
    """A star-shaped polygon, often not convex."""
    corners = int(rng.integers(3, 9))
    angles = np.sort(rng.uniform(0, 2 * math.pi, corners)) + 1e-3 * np.arange(corners)
    radii = rng.uniform(0.2, 0.4, corners) * size
    middle = rng.uniform(0.2 * size, 0.8 * size, 2)
    points = middle + radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    try:
        shape = polygon(*points.tolist())
    except BadInputError:
        return circle(5, 5, 1)
    return shape if shape.area > 0.1 else circle(5, 5, 1)


def random_path(rng, size=10.0):
    return rng.uniform(0, size, (int(rng.integers(2, 8)), 2))


def are_inside(shape, points):
    """Which points a shape contains, by Matplotlib."""
    return Outline(corners_of(shape)).contains_points(points)


def sides_crossed(shape, path):
    """How many sides of a shape the segments of a path cross, pair by pair: each separates the ends of the other."""
    corners = corners_of(shape)
    return sum(
        _are_separated(one, other, start, end) and _are_separated(start, end, one, other)
        for one, other in pairwise(path)
        for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True)
    )


def _are_separated(one, other, start, end):
    sides = [(end[0] - start[0]) * (p[1] - start[1]) - (end[1] - start[1]) * (p[0] - start[0]) for p in (one, other)]
    return (sides[0] > 0) != (sides[1] > 0)


def dense_metres(shape, path, step=0.001):
    """Metres of a path in a shape, by looking every millimetre."""
    points = resample(path, step)
    middles, lengths = (points[1:] + points[:-1]) / 2, np.linalg.norm(np.diff(points, axis=0), axis=1)
    return float(lengths[are_inside(shape, middles)].sum())


FLOOR = FloorPlan(
    bounds=(0, 0, 12, 8),
    obstacles=(rectangle(4, 2, 5, 5), polygon((8, 5), (10, 5), (9, 7)), circle(8.5, 2.5, 0.6)),
    regions={"a": circle(1.5, 1.5, 0.8), "b": rectangle(10, 1, 11.5, 2), "c": polygon((2, 6), (4, 6), (3, 7.5))},
    zones={"wet": rectangle(5.5, 1, 7.5, 6)},
)


@cache
def small_roadmap(samples=120, seed=0):
    return draw_roadmap(FLOOR, samples, seed)


def random_walk(roadmap, steps, seed):
    """Vertices of a random walk over a roadmap."""
    rng, successors = np.random.default_rng(seed), roadmap.table.successors
    walk = [int(rng.integers(len(successors)))]
    for _ in range(steps):
        ways = successors[walk[-1]]
        walk.append(int(rng.choice(ways[ways >= 0])))
    return walk


def dense_word(plan, path, step=0.01):
    """The regions along a path, by looking every centimetre."""
    points = resample(path, step)
    rows = np.stack([are_inside(region, points) for region in plan.regions.values()], axis=1)
    changed = np.append(True, (rows[1:] != rows[:-1]).any(axis=1))
    names = np.array(list(plan.regions))
    return tuple(frozenset(names[row].tolist()) for row in rows[changed])
