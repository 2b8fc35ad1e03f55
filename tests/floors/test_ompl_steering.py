"""Curves of OMPL; skipped without the extra `ompl`."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies_continuous import FLOOR, are_inside, sides_crossed

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning import build_product, find_plan
from wfairl.core.planning.cost import feature_cost
from wfairl.core.support.errors import BadInputError, MissingExtraError
from wfairl.floors.floor_plan import path_lengths
from wfairl.floors.ompl_steering import CHORD, dubins, reeds_shepp
from wfairl.floors.refining import Band, refine_path
from wfairl.floors.roadmap import draw_roadmap

base = pytest.importorskip("ompl.base", reason="OMPL is not installed: pip install 'wfairl[ompl]'")

PLACE = st.tuples(st.floats(0, 10), st.floats(0, 10), st.floats(-3.1, 3.1))
SPACES = {dubins: base.DubinsStateSpace, reeds_shepp: base.ReedsSheppStateSpace}


@pytest.mark.parametrize("kind", [dubins, reeds_shepp])
@given(one=PLACE, other=PLACE, radius=st.floats(0.3, 2))
@settings(max_examples=40)
def test_curves_are_as_long_as_ompl_says_and_turn_no_tighter_than_their_radius(kind, one, other, radius):
    steering = kind(radius)
    start, end = np.array(one), np.array(other)
    space = SPACES[kind](radius)
    states = [space.allocState() for _ in range(2)]
    for state, (x, y, heading) in zip(states, (one, other), strict=True):
        state.setX(x)
        state.setY(y)
        state.setYaw(heading)
    length = space.distance(*states)
    assert steering.lengths(start[None], end[None])[0] == pytest.approx(length)
    assert length >= np.hypot(*(end - start)[:2]) - 1e-9
    path = steering.path(start, end)
    assert (path[0] == start).all()
    assert (path[-1] == end).all()
    assert path_lengths(path)[-1] <= length + 1e-9
    assert path_lengths(path)[-1] >= 0.98 * length - 3 * CHORD  # where it turns back, a chord cuts the tip off
    turns = np.abs((np.diff(path[:, 2]) + np.pi) % (2 * np.pi) - np.pi)
    assert (turns <= length / max(1, len(path) - 1) / radius + 1e-6).all()


def test_a_car_that_goes_straight_ahead_goes_straight():
    path = dubins(0.7).path(np.array([1.0, 1.0, 0.0]), np.array([4.0, 1.0, 0.0]))
    assert path[:, 1] == pytest.approx(np.ones(len(path)))
    assert dubins(1.0).lengths(np.array([[0.0, 0, 0]]), np.array([[0.0, 0, np.pi]]))[0] == pytest.approx(7 * np.pi / 3)


@pytest.mark.parametrize("kind", [dubins, reeds_shepp])
def test_the_roadmap_of_a_car_is_free_and_a_plan_on_it_shows_what_it_runs_through(kind):
    steering = kind(0.5)
    plan = replace(FLOOR, regions={name: FLOOR.regions[name] for name in ("a", "b")})
    roadmap = draw_roadmap(plan, 150, 0, steering)
    world = roadmap.world(roadmap.nearest(np.array([6.0, 7.5])))
    product = build_product(world, visit_in_order("a", "b"))
    found = find_plan(product, feature_cost(lambda features: features.sum(axis=1))(product))
    path = roadmap.path(found.path.states)
    for obstacle in plan.obstacles:
        assert not are_inside(obstacle, path[:, :2]).any()
        assert not sides_crossed(obstacle, path[:, :2])
    assert plan.word(path)[-1] == frozenset({"b"})
    places = roadmap.configurations[list(found.path.states)]
    assert found.cost == pytest.approx(steering.lengths(places[:-1], places[1:]).sum())
    refined = refine_path(world.source, places, np.ones(2), Band(rounds=2, stations=16, around=2, reach=3))
    assert refined.cost <= found.cost + 1e-9
    assert plan.is_free(refined.path)
    assert refined.word == plan.word(path)


def test_a_turning_radius_is_above_zero():
    with pytest.raises(BadInputError, match="turning radius"):
        dubins(0.0)


def test_without_ompl_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ompl", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'wfairl\[ompl\]'"):
        dubins(1.0)
