"""Maps of a cost over the places of a scene."""

import numpy as np
import pytest
import torch
from corridors import MUD, Corridor, DrawnCorridor, corridor_task, muddy_cost
from matplotlib.collections import PolyCollection

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning.cost import true_cost, unit_cost
from wfairl.core.planning.product import build_product
from wfairl.networks.grid_costs import LocalCost
from wfairl.pages.cost_maps import draw_cost_maps, map_costs
from wfairl.pages.world_drawing import NoRendererError
from wfairl.runs.task_registry import find_task

DOORKEY = find_task("doorkey")
SEED = 5_003
CELL = 32


def _noisy_cost(seed=0):
    model = LocalCost()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.from_numpy(np.random.default_rng(seed).normal(size=parameter.shape)) * 0.5)
    return model


def test_triangles_are_the_costs_of_the_planner_for_an_agent_there():
    """The oracle goes through all nodes of the product one by one, by what MiniGrid itself would show of them."""
    automaton = visit_in_order("key", "door", "goal")
    cost = _noisy_cost()
    drawn = draw_cost_maps(DOORKEY, SEED, automaton, cost)
    automaton_state = map_costs(DOORKEY, SEED, automaton, cost).automaton_state
    world = DOORKEY.make_world(SEED)
    product = build_product(world, automaton)
    table = cost(product)
    expected = {}
    for node in np.flatnonzero(product.automaton_states == automaton_state):
        scene = world.encode(product.state(node))
        expected.setdefault((*scene.position, scene.direction), []).append(table[node])
    for number, control in enumerate(world.controls):
        (collection,) = _collections(drawn.figure, f"costs-{control}")
        shown = {}
        for path, value in zip(collection.get_paths(), collection.get_array(), strict=True):
            centre = path.vertices[:3].mean(axis=0) / CELL - 0.5
            x, y = np.round(centre).astype(int)
            dx, dy = centre - (x, y)
            direction = (0 if dx > 0 else 2) if abs(dx) > abs(dy) else (1 if dy > 0 else 3)
            shown[int(x), int(y), direction] = value
        means = {place: float(np.mean([costs[number] for costs in found])) for place, found in expected.items()}
        assert shown == pytest.approx(means)


def test_squares_are_the_costs_at_the_places_of_a_world_of_ones_own():
    task = corridor_task(DrawnCorridor, true_cost=muddy_cost)
    drawn = draw_cost_maps(task, SEED, task.rule, true_cost(task))
    length = 5 + SEED % 4
    shown = {}
    for name in ("arriving", "left", "right", "grab"):
        (collection,) = _collections(drawn.figure, f"costs-{name}")
        cells = [round(float(path.vertices[:4, 0].mean()) / CELL - 0.5) for path in collection.get_paths()]
        shown[name] = dict(zip(cells, np.asarray(collection.get_array()).tolist(), strict=True))
    mud = length - 2
    assert shown["arriving"] == {cell: 1 + MUD if cell == mud else 1 for cell in range(length)}
    # Nothing is done at home: with the parcel, the task is over there.
    assert shown["right"] == {cell: 1 + MUD if cell == mud - 1 else 1 for cell in range(1, length)}
    assert shown["left"] == {cell: 1 + MUD if cell == mud + 1 else 1 for cell in range(1, length)}
    assert set(shown["grab"].values()) == {1}
    assert "what it costs to get to a place" in drawn.caption


def test_a_world_that_does_not_say_where_the_agent_is_has_no_cost_maps():
    task = corridor_task(Corridor)
    with pytest.raises(NoRendererError, match="the world Corridor has no renderer"):
        draw_cost_maps(task, SEED, task.rule, unit_cost)


def test_all_maps_have_one_scale_that_holds_every_cost():
    automaton = visit_in_order("key", "door", "goal")
    drawn = draw_cost_maps(DOORKEY, SEED, automaton, _noisy_cost())
    maps = map_costs(DOORKEY, SEED, automaton, _noisy_cost())
    scales = [collection.norm for collection in _collections(drawn.figure, "costs-")]
    assert len(scales) == len(maps.names)
    assert {(scale.vmin, scale.vmax) for scale in scales} == {(np.nanmin(maps.costs), np.nanmax(maps.costs))}


def _collections(figure, name):
    return [
        collection
        for axes in figure.axes
        for collection in axes.collections
        if isinstance(collection, PolyCollection) and str(collection.get_label()).startswith(name)
    ]


def test_places_whose_cost_is_unknown_are_grey_and_not_on_the_scale():
    task = find_task("terrain")
    maps = map_costs(task, SEED, task.rule, true_cost(task))
    partly = map_costs(task, SEED, task.rule, true_cost(task), is_known=lambda product: true_cost(task)(product) < 5)
    expensive = maps.costs > 5
    assert (partly.unknown & np.isfinite(maps.costs)).any()
    assert partly.unknown[expensive].mean() > 0.9
    assert np.isnan(partly.costs[partly.unknown]).all()
    assert np.nanmax(partly.costs) < np.nanmax(maps.costs)
    drawn = draw_cost_maps(task, SEED, task.rule, true_cost(task), is_known=lambda product: ~product.available)
    assert "Grey: the demonstrations leave open" in drawn.caption
