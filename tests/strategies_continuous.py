"""Random shapes, paths and floors, and what Shapely, which shares no code with ours, says of them."""

import math
from functools import cache

import numpy as np
import shapely
from hypothesis import strategies as st

from wfairl.floors.floor_plan import FloorPlan, resample
from wfairl.floors.roadmap import draw_roadmap
from wfairl.floors.shapes import Shape, circle, polygon, rectangle

SEEDS = st.integers(0, 2**32 - 1)


def random_shape(rng, size=10.0):
    """A star-shaped polygon, often not convex."""
    corners = int(rng.integers(3, 9))
    angles = np.sort(rng.uniform(0, 2 * math.pi, corners)) + 1e-3 * np.arange(corners)
    radii = rng.uniform(0.2, 0.4, corners) * size
    middle = rng.uniform(0.2 * size, 0.8 * size, 2)
    points = middle + radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return Shape(points) if shapely.Polygon(points).is_valid and shapely.Polygon(points).area > 0.1 else circle(5, 5, 1)


def random_path(rng, size=10.0):
    return rng.uniform(0, size, (int(rng.integers(2, 8)), 2))


def to_shapely(shape):
    return shapely.Polygon(shape.vertices)


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
    """The regions along a path, looked at every centimetre by Shapely."""
    points = shapely.points(resample(path, step))
    rows = np.stack([shapely.contains(to_shapely(region), points) for region in plan.regions.values()], axis=1)
    changed = np.append(True, (rows[1:] != rows[:-1]).any(axis=1))
    names = np.array(list(plan.regions))
    return tuple(frozenset(names[row].tolist()) for row in rows[changed])
