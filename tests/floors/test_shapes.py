"""Shapes and floors against slow oracles, and against Matplotlib."""

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from strategies_continuous import (
    FLOOR,
    SEEDS,
    are_inside,
    dense_metres,
    dense_word,
    random_path,
    random_shape,
    sides_crossed,
)

from wfairl.core.support.errors import BadInputError
from wfairl.floors.floor_plan import FloorPlan, path_lengths
from wfairl.floors.shapes import (
    ShapeSet,
    circle,
    polygon,
    rectangle,
)


@given(SEEDS)
def test_points_are_inside_as_matplotlib_says(seed):
    rng = np.random.default_rng(seed)
    shapes, points = [random_shape(rng) for _ in range(3)], rng.uniform(0, 10, (50, 2))
    expected = np.stack([are_inside(shape, points) for shape in shapes], axis=1)
    assert (ShapeSet(shapes).contain(points) == expected).all()


@given(SEEDS)
@settings(max_examples=50)
def test_paths_hit_run_through_and_cross_shapes(seed):
    rng = np.random.default_rng(seed)
    shapes, paths = [random_shape(rng) for _ in range(2)], [random_path(rng) for _ in range(8)]
    lines, found = np.array([shapely.LineString(path) for path in paths]), ShapeSet(shapes)
    crossed = [[sides_crossed(shape, path) for shape in shapes] for path in paths]
    assert found.count_crossings(lines).tolist() == crossed
    inside = [[are_inside(shape, path).any() for shape in shapes] for path in paths]
    assert found.are_hit(lines).tolist() == (np.array(inside) | np.array(crossed, bool)).any(axis=1).tolist()
    metres = [[dense_metres(shape, path) for shape in shapes] for path in paths]
    assert found.metres_inside(lines) == pytest.approx(np.array(metres), abs=1e-3 * (1 + np.max(crossed)))


@given(SEEDS)
@settings(max_examples=25)
def test_the_word_of_a_path_is_what_it_runs_through(seed):
    path = np.random.default_rng(seed).uniform((0, 0), (12, 8), (4, 2))
    along = np.interp(FLOOR.region_set.crossings(path), np.arange(len(path)), path_lengths(path))
    assume((np.diff(along) > 0.02).all())  # what is shorter can be missed by looking every centimetre
    assert FLOOR.word(path) == dense_word(FLOOR, path)


@given(SEEDS)
def test_metres_in_zones_and_outside_are_the_length(seed):
    path = np.random.default_rng(seed).uniform((0, 0), (12, 8), (6, 2))
    wet = dense_metres(FLOOR.zones["wet"], path)
    assert FLOOR.metres(path) == pytest.approx([path_lengths(path)[-1] - wet, wet], abs=0.01)
    assert FLOOR.metres(path).sum() == pytest.approx(path_lengths(path)[-1], abs=1e-9)


@given(SEEDS)
def test_a_path_is_free_within_bounds_and_clear_of_obstacles(seed):
    path = np.random.default_rng(seed).uniform((-0.5, -0.5), (12.5, 8.5), (2, 2))
    left, bottom, right, top = FLOOR.bounds
    is_within = ((path >= (left, bottom)) & (path <= (right, top))).all()
    is_hit = any(are_inside(one, path).any() or sides_crossed(one, path) for one in FLOOR.obstacles)
    assert FLOOR.is_free(path) == (is_within and not is_hit)


def test_a_circle_lies_in_its_polygon():
    angles = np.linspace(0, 2 * np.pi, 500)
    on_circle = np.stack([3 + 2 * np.cos(angles), 1 + 2 * np.sin(angles)], axis=1)
    assert ShapeSet([circle(3, 1, 2 * (1 + 1e-9))]).contain(on_circle).all()
    assert circle(3, 1, 2).area == pytest.approx(4 * np.pi, rel=0.01)


@pytest.mark.parametrize(
    "corners",
    [
        [(0, 0), (1, 0)],
        [(0, 0), (1, 1), (2, 2)],
        [(0, 0), (1, 0), (0, np.nan)],
        [(0, 0), (1, 1), (1, 0), (0, 1)],
    ],
)
def test_what_is_no_polygon_is_refused(corners):
    with pytest.raises(BadInputError):
        polygon(*corners)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bounds": (0, 0, 0, 1)}, "bounds are left, bottom"),
        ({"bounds": (0, 0, 9, 9), "zones": {"floor": rectangle(1, 1, 2, 2)}}, "no zone may be called 'floor'"),
        (
            {"bounds": (0, 0, 9, 9), "zones": {"wet": rectangle(1, 1, 3, 3), "oil": rectangle(2, 2, 4, 4)}},
            "'wet' and 'oil' overlap",
        ),
    ],
)
def test_a_floor_that_contradicts_itself_is_refused(settings, message):
    with pytest.raises(BadInputError, match=message):
        FloorPlan(**settings)
