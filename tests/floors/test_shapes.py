"""Shapes and floors against Shapely."""

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from strategies_continuous import FLOOR, SEEDS, dense_word, random_path, random_shape, to_shapely

from wfairl.floors.floor_plan import BrokenFloorPlanError, FloorPlan, path_lengths
from wfairl.floors.shapes import (
    BrokenShapeError,
    Shape,
    ShapeSet,
    chain_lengths,
    circle,
    join_chains,
    rectangle,
)


@given(SEEDS)
def test_points_are_inside_as_shapely_says(seed):
    rng = np.random.default_rng(seed)
    shapes, points = [random_shape(rng) for _ in range(3)], rng.uniform(0, 10, (50, 2))
    expected = np.stack([shapely.contains_xy(to_shapely(shape), *points.T) for shape in shapes], axis=1)
    assert (ShapeSet(shapes).contain(points) == expected).all()


@given(SEEDS)
def test_paths_hit_run_through_and_cross_shapes_as_shapely_says(seed):
    rng = np.random.default_rng(seed)
    shapes, paths = [random_shape(rng) for _ in range(2)], [random_path(rng) for _ in range(8)]
    chains, found = join_chains(paths), ShapeSet(shapes)
    lines, areas = [shapely.LineString(path) for path in paths], [to_shapely(shape) for shape in shapes]
    assert found.are_hit(chains).tolist() == [any(line.intersects(area) for area in areas) for line in lines]
    assert found.metres_inside(chains) == pytest.approx(
        np.array([[line.intersection(area).length for area in areas] for line in lines]), abs=1e-6
    )
    assert chain_lengths(chains) == pytest.approx([line.length for line in lines])
    crossings = [
        [
            sum(
                shapely.LineString(path[i : i + 2]).intersects(shapely.LineString(side))
                for i in range(len(path) - 1)
                for side in zip(shape.vertices, np.roll(shape.vertices, -1, axis=0), strict=True)
            )
            for shape in shapes
        ]
        for path in paths
    ]
    assert found.count_crossings(chains).tolist() == crossings


@given(SEEDS)
@settings(max_examples=25)
def test_the_word_of_a_path_is_what_it_runs_through(seed):
    path = np.random.default_rng(seed).uniform((0, 0), (12, 8), (4, 2))
    places = [place for place, _ in FLOOR.region_set.crossings(path)]
    along = np.interp(places, np.arange(len(path)), path_lengths(path))
    assume((np.diff(along) > 0.02).all())  # what is shorter can be missed by looking every centimetre
    assert FLOOR.word(path) == dense_word(FLOOR, path)


@given(SEEDS)
def test_metres_in_zones_and_outside_are_the_length(seed):
    path = np.random.default_rng(seed).uniform((0, 0), (12, 8), (6, 2))
    wet = shapely.LineString(path).intersection(to_shapely(FLOOR.zones["wet"])).length
    assert FLOOR.metres(path) == pytest.approx([path_lengths(path)[-1] - wet, wet], abs=1e-9)


@given(SEEDS)
def test_a_path_is_free_within_bounds_and_clear_of_obstacles(seed):
    path = np.random.default_rng(seed).uniform((-0.5, -0.5), (12.5, 8.5), (2, 2))
    line = shapely.LineString(path)
    is_free = shapely.box(*FLOOR.bounds).covers(line) and not any(
        line.intersects(to_shapely(one)) for one in FLOOR.obstacles
    )
    assert FLOOR.is_free(path) == is_free


def test_a_circle_lies_in_its_polygon():
    angles = np.linspace(0, 2 * np.pi, 500)
    on_circle = np.stack([3 + 2 * np.cos(angles), 1 + 2 * np.sin(angles)], axis=1)
    assert ShapeSet([circle(3, 1, 2 * (1 + 1e-9))]).contain(on_circle).all()
    assert circle(3, 1, 2).area == pytest.approx(4 * np.pi, rel=0.01)


@pytest.mark.parametrize("corners", [[(0, 0), (1, 0)], [(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 0), (0, np.nan)]])
def test_what_is_no_polygon_is_refused(corners):
    with pytest.raises(BrokenShapeError):
        Shape(np.array(corners, float))


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
    with pytest.raises(BrokenFloorPlanError, match=message):
        FloorPlan(**settings)
