"""A roadmap is free, shows what it runs through, and its scenes are worlds that share one table."""

from dataclasses import replace
from itertools import pairwise

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies_continuous import (
    FLOOR,
    SEEDS,
    are_inside,
    dense_metres,
    dense_word,
    random_walk,
    sides_crossed,
    small_roadmap,
)

from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.automata.words import compress
from wfairl.core.planning import build_product, find_plan
from wfairl.core.planning.cost import feature_cost, nominal_cost, true_cost
from wfairl.core.planning.path import follow
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds import check_world
from wfairl.floors.floor_plan import resample
from wfairl.floors.roadmap import VERTICES_OF_A_REGION, draw_roadmap
from wfairl.floors.shapes import rectangle
from wfairl.floors.workshop import (
    PRICES,
    WORKSHOP,
    start_places,
    workshop,
    workshop_plan,
    workshop_roadmap,
)
from wfairl.runs.task_laws import check_task


def edges_of(roadmap):
    one, control = np.nonzero(roadmap.table.successors != UNAVAILABLE)
    return one, control, roadmap.table.successors[one, control]


@settings(max_examples=5)
@given(st.integers(0, 50))
def test_edges_are_free_and_priced_as_one_sees_by_looking_along_them(seed):
    roadmap = small_roadmap(seed=seed)
    one, control, other = edges_of(roadmap)
    lines = np.stack([roadmap.places[one], roadmap.places[other]], axis=1)
    features = roadmap.table.features[roadmap.table.feature_index[one, control]]
    lengths = np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1)
    assert features.sum(axis=1) == pytest.approx(lengths, abs=1e-9)
    for line, metres in zip(lines[::10], features[::10], strict=True):
        assert not any(are_inside(obstacle, resample(line, 0.02)).any() for obstacle in FLOOR.obstacles)
        assert not any(sides_crossed(obstacle, line) for obstacle in FLOOR.obstacles)
        assert metres[1] == pytest.approx(dense_metres(FLOOR.zones["wet"], line), abs=0.003)


@settings(max_examples=15)
@given(SEEDS)
def test_the_word_of_a_walk_is_what_it_runs_through(seed):
    roadmap = small_roadmap()
    walk = random_walk(roadmap, 12, seed)
    world = roadmap.world(walk[0])
    controls = [int(np.flatnonzero(roadmap.table.successors[a] == b)[0]) for a, b in pairwise(walk)]
    path = follow(world, controls, visit_in_order("a"), (walk[0], 0))
    (start,) = FLOOR.labels(roadmap.places[walk[:1]])
    word = compress([start, *path.labels])
    assert FLOOR.word(roadmap.path(walk)) == word
    assert dense_word(FLOOR, roadmap.path(walk), 5e-3) == word


def test_every_vertex_reaches_every_other_and_every_region_has_vertices():
    roadmap = small_roadmap()
    one, _, other = edges_of(roadmap)
    graph = networkx.DiGraph(zip(one.tolist(), other.tolist(), strict=True))
    assert networkx.is_strongly_connected(graph)
    assert len(graph) == len(roadmap.places)
    assert (roadmap.regions_of_vertices.sum(axis=0) >= VERTICES_OF_A_REGION / 2).all()


def test_straight_roadmaps_have_the_edges_of_k_prm_star():
    plan = replace(FLOOR, obstacles=(), regions={}, zones={})
    roadmap = draw_roadmap(plan, 200)
    k = int(np.ceil(np.e * 1.5 * np.log(200)))
    places = roadmap.places
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    near = {(i, int(j)) for i in range(200) for j in np.argsort(distance[i])[1 : k + 1]}
    one, _, other = edges_of(roadmap)
    assert set(zip(one.tolist(), other.tolist(), strict=True)) == near | {(j, i) for i, j in near}


def test_scenes_share_the_table_and_obey_the_laws_of_worlds():
    roadmap = small_roadmap()
    first, second = roadmap.world(0, {"a": "home"}), roadmap.world(1, {"b": "home"})
    assert first.table is second.table
    assert check_world(first, 50) == 50
    assert set(first.marks) == set(np.flatnonzero(roadmap.regions_of_vertices[:, 0]))
    assert set(first.marks.values()) == {frozenset({"home"})}


def test_a_plan_avoids_a_region_at_the_least_cost():
    roadmap = small_roadmap()
    start = roadmap.nearest(np.array([1.0, 7.0]))
    world = roadmap.world(start, {"b": "goal", "c": "trap", "a": "trap"})
    rule = all_of(visit_in_order("goal"), avoid("trap"))
    product = build_product(world, rule)
    plan = find_plan(product, feature_cost(lambda features: features @ [1.0, 5.0])(product))
    one, control, other = edges_of(roadmap)
    costs = roadmap.table.features[roadmap.table.feature_index[one, control]] @ [1.0, 5.0]
    traps = roadmap.regions_of_vertices[:, [0, 2]].any(axis=1)
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from(
        (a, b, c) for a, b, c in zip(one.tolist(), other.tolist(), costs, strict=True) if not traps[b]
    )
    reached = networkx.single_source_dijkstra_path_length(graph, start)
    goals = np.flatnonzero(roadmap.regions_of_vertices[:, 1])
    assert plan.cost == pytest.approx(min(reached[goal] for goal in goals.tolist() if goal in reached))
    assert "c" not in frozenset().union(*dense_word(FLOOR, roadmap.path(plan.path.states), 0.01))


def test_the_same_seed_draws_the_same_roadmap():
    one, other = draw_roadmap(FLOOR, 60, 3), draw_roadmap(FLOOR, 60, 3)
    assert (one.places == other.places).all()
    assert (one.table.successors == other.table.successors).all()
    assert not np.array_equal(one.places[:50], draw_roadmap(FLOOR, 60, 4).places[:50])


@pytest.mark.parametrize(
    ("changes", "samples", "message"),
    [
        ({"obstacles": (rectangle(-1, -1, 13, 9),)}, 20, "hardly any free space in the floor"),
        ({"obstacles": (rectangle(0.5, 0.5, 2.6, 2.6),)}, 50, "hardly any free space in the region 'a'"),
        (
            {"obstacles": (rectangle(9, 0, 9.5, 3), rectangle(9, 2.8, 12, 3.2))},
            100,
            "the region 'b' cannot be entered",
        ),
    ],
)
def test_a_floor_that_cannot_be_walked_is_refused(changes, samples, message):
    with pytest.raises(BadInputError, match=message):
        draw_roadmap(replace(FLOOR, **changes), samples)


def test_bad_arguments_are_refused():
    with pytest.raises(BadInputError, match="at least two samples"):
        draw_roadmap(FLOOR, 1)
    with pytest.raises(BadInputError, match="no region 'z'"):
        small_roadmap().world(0, {"z": "home"})


def test_the_workshop_is_a_task_whose_scenes_can_be_done():
    check_task(WORKSHOP)
    for seed in range(20):
        world = workshop(seed)
        assert world.table is workshop_roadmap().table
        assert world.marks.keys().isdisjoint({world.initial_state})
        product = build_product(world, WORKSHOP.rule)
        assert find_plan(product, true_cost(WORKSHOP)(product)).path.is_accepted


def test_the_nominal_cost_of_the_workshop_is_its_metres():
    product = build_product(workshop(0), WORKSHOP.rule)
    table = workshop_roadmap().table
    one, control, other = edges_of(workshop_roadmap())
    places = workshop_roadmap().places
    at = np.flatnonzero(one == workshop(0).initial_state)
    lengths = np.linalg.norm(places[one[at]] - places[other[at]], axis=1)
    assert nominal_cost(WORKSHOP)(product)[0, control[at]] == pytest.approx(lengths)
    assert true_cost(WORKSHOP)(product)[0, control[at]] == pytest.approx(
        table.features[table.feature_index[one[at], control[at]]] @ PRICES
    )


def test_starts_are_free_and_outside_of_regions():
    plan = workshop_plan()
    for shape in (*plan.obstacles, *plan.regions.values()):
        assert not are_inside(shape, start_places()).any()


def test_a_scene_is_drawn_where_it_is():
    scene = workshop(1)
    image = scene.rendering.render(scene.initial_state)
    x, y = scene.rendering.places.locate(scene.initial_state)
    assert image.shape[2] == 3
    assert image[round(y), round(x)] == pytest.approx([0xD5, 0x5E, 0x00], abs=30)
    corner = scene.source.drawing.pixels(np.array([[5.0, 3.5]]))[0]  # in the middle of a machine
    assert image[round(corner[1]), round(corner[0])] == pytest.approx([0x4B, 0x52, 0x5B], abs=10)
