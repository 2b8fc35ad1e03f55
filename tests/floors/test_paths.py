"""Paths snapped to a roadmap, and plans refined in the plane."""

from itertools import pairwise

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from strategies_continuous import FLOOR, SEEDS, dense_word, random_walk, small_roadmap

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning import build_product, find_plan
from wfairl.core.planning.cost import feature_cost
from wfairl.core.support.errors import BadInputError
from wfairl.floors.floor_plan import FloorPlan, path_lengths, resample
from wfairl.floors.refining import refine_path
from wfairl.floors.roadmap import draw_roadmap
from wfairl.floors.shapes import rectangle

PRICES = np.array([1.0, 5.0])


@settings(max_examples=25)
@given(SEEDS)
def test_a_walk_is_snapped_to_itself(seed):
    roadmap = small_roadmap()
    walk = random_walk(roadmap, 10, seed)
    scene, path = roadmap.world(walk[0]).source, roadmap.path(walk)
    assume(scene.recorded_word(path) == FLOOR.word(path))  # it leaves no region only to come back at once
    match = scene.match_path(path, walk[0])
    assert match.states == tuple(walk)
    assert match.mean_error == pytest.approx(0, abs=1e-9)
    assert match.largest_error == pytest.approx(0, abs=1e-9)
    assert [roadmap.table.successors[a, u] for a, u in zip(walk, match.controls, strict=False)] == walk[1:]


@settings(max_examples=15)
@given(SEEDS)
def test_a_disturbed_walk_is_snapped_no_further_than_it_was_moved(seed):
    roadmap = small_roadmap()
    walk = random_walk(roadmap, 8, seed)
    moved = resample(roadmap.path(walk), 0.2) + np.random.default_rng(seed).uniform(-0.02, 0.02, 2)
    scene = roadmap.world(walk[0]).source
    assume(scene.recorded_word(moved) == FLOOR.word(roadmap.path(walk)))  # another word is another demonstration
    match = scene.match_path(moved, walk[0])
    assert match.mean_error <= 0.03
    assert FLOOR.word(roadmap.path(match.states)) == scene.recorded_word(moved)


@settings(max_examples=10)
@given(SEEDS)
def test_a_snapped_path_makes_no_detours(seed):
    roadmap, rng = small_roadmap(), np.random.default_rng(seed)
    straight = np.linspace((0.7, 3.0), (3.5, 5.5), 40)
    start = roadmap.nearest(straight[0])
    straight[0] = roadmap.places[start]
    match = roadmap.world(start).source.match_path(straight + rng.normal(size=straight.shape) * 0.02, start)
    walked = path_lengths(roadmap.path(match.states))[-1]
    assert walked <= 1.25 * path_lengths(straight)[-1]


def test_the_largest_error_bounds_the_frechet_distance():
    roadmap = small_roadmap()
    for seed in range(10):
        path = np.random.default_rng(seed).uniform((0.5, 0.5), (3.5, 7.5), (4, 2))
        start = roadmap.nearest(path[0])
        path[0] = roadmap.places[start]
        match = roadmap.world(start).source.match_path(path, start)
        walked, recorded = (shapely.LineString(resample(one, 0.02)) for one in (roadmap.path(match.states), path))
        assert shapely.frechet_distance(recorded, walked) <= match.largest_error + 0.05


def test_a_gap_at_the_edge_of_a_region_is_not_a_second_visit():
    roadmap = small_roadmap()
    start = roadmap.nearest(np.array([3.5, 1.5]))
    path = np.array([[3.5, 1.5], [2.25, 1.5], [2.35, 1.52], [2.2, 1.55], [1.5, 1.5]])
    scene = roadmap.world(start).source
    assert len(FLOOR.word(path)) == 4
    match = scene.match_path(path, start)
    assert FLOOR.word(roadmap.path(match.states)) == (frozenset(), frozenset({"a"}))


def test_a_path_of_another_scene_is_refused():
    roadmap = draw_roadmap(FloorPlan((0, 0, 30, 4), (), {"far": rectangle(28, 1, 29, 2)}), 60)
    scene = roadmap.world(0, {"far": "far"}).source
    left = roadmap.nearest(np.array([1.0, 1.0]))
    with pytest.raises(BadInputError, match="shows - far; is it of another scene"):
        scene.match_path(np.array([[28.5, 1.5], [28.6, 1.5]]), left)


def planned(roadmap, start, meanings, rule):
    world = roadmap.world(roadmap.nearest(np.array(start)), meanings)
    product = build_product(world, rule)
    return world, find_plan(product, feature_cost(lambda features: features @ PRICES)(product))


@pytest.mark.parametrize("start", [(1.0, 4.0), (6.0, 7.5), (11.0, 7.0)])
def test_a_refined_plan_is_free_cheaper_and_shows_the_same(start):
    roadmap = small_roadmap()
    world, plan = planned(roadmap, start, None, visit_in_order("a", "b"))
    refined = refine_path(world.source, roadmap.places[list(plan.path.states)], PRICES, rounds=8)
    assert refined.cost <= plan.cost + 1e-9
    assert FLOOR.is_free(refined.path)
    assert refined.cost == pytest.approx(FLOOR.metres(refined.path) @ PRICES)
    before = FLOOR.word(roadmap.path(plan.path.states))
    assert refined.word == FLOOR.word(refined.path) == before
    assert dense_word(FLOOR, refined.path, 2e-4) == before
    assert (refined.path[0] == roadmap.places[plan.path.states[0]]).all()


def test_on_an_empty_floor_the_refined_plan_is_the_straight_line():
    plan = FloorPlan((0, 0, 12, 8), (), {"goal": rectangle(10, 0, 12, 8)}, {"wet": rectangle(20, 20, 21, 21)})
    roadmap = draw_roadmap(plan, 80)
    world, found = planned(roadmap, (1.0, 4.0), None, visit_in_order("goal"))
    refined = refine_path(world.source, roadmap.places[list(found.path.states)], PRICES)
    assert refined.cost == pytest.approx(10 - roadmap.places[found.path.states[0]][0], rel=2e-3)


def test_on_two_grounds_the_refined_plan_obeys_snells_law():
    """From (0, 0) to a point across a boundary at x = 5 beyond which a metre costs three: sin 1 = 3 sin 2."""
    plan = FloorPlan((0, 0, 10, 10), (), {"goal": rectangle(9.9, 9.0, 10, 9.1)}, {"wet": rectangle(5, -1, 11, 11)})
    roadmap = draw_roadmap(plan, 150, places=np.array([[0.0, 0.0]]))
    world = roadmap.world(0)
    product = build_product(world, visit_in_order("goal"))
    prices = np.array([1.0, 3.0])
    found = find_plan(product, feature_cost(lambda features: features @ prices)(product))
    refined = refine_path(world.source, roadmap.places[list(found.path.states)], prices)
    heights = np.linspace(0, 9.1, 100_001)
    best = min(np.hypot(5, heights) + 3 * np.hypot(4.9, 9.0 - heights))
    assert refined.cost == pytest.approx(best, rel=5e-3)


def test_prices_that_do_not_fit_are_refused():
    roadmap = small_roadmap()
    scene = roadmap.world(0).source
    for prices in (np.ones(3), np.array([1.0, 0.0])):
        with pytest.raises(BadInputError, match="one above zero for each of floor, wet"):
            refine_path(scene, roadmap.places[:2], prices)


def test_a_way_through_vertices_passes_them():
    roadmap = small_roadmap()
    walk = random_walk(roadmap, 5, 1)
    path = roadmap.path(walk)
    assert all((roadmap.places[vertex] == point).all() for vertex, point in zip(walk, path, strict=True))
    assert all(FLOOR.is_free(np.array(pair)) for pair in pairwise(path))
