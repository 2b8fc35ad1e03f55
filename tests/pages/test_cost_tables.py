"""What a learned cost says of itself: shown weights give the cost of every transition, with the names of the world."""

import numpy as np
import pytest
from corridors import Corridor
from hypothesis import given, settings
from hypothesis import strategies as st

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.costs.feature_costs import PricesCost, SampledCost
from wfairl.core.planning.product import Product, build_product
from wfairl.core.worlds.task_registry import find_task
from wfairl.core.worlds.world import feature_names
from wfairl.networks.grid_costs import LocalCost
from wfairl.pages.cost_tables import cost_tables, weights_of

seeds = st.integers(0, 2**31)


def randomised(product: Product, seed: int) -> PricesCost:
    model = PricesCost.for_products([product])
    model.weight = np.random.default_rng(seed).normal(size=len(model.weight))
    return model


def transitions_of(product: Product):
    """State, control and features of every available transition."""
    world = product.world
    for node, control in np.argwhere(product.available).tolist():
        state = product.state(node)
        yield node, control, np.asarray(world.features(state, control, world.step(state, control)))


@given(seeds)
@settings(max_examples=20)
def test_the_cost_of_a_transition_is_the_sum_of_the_shown_prices_times_its_features(seed):
    product = build_product(Corridor(), visit_in_order("parcel", "home"))
    model = randomised(product, seed)
    (table,) = weights_of(model, product.world)
    costs, document = model(product), table.to_document()
    for node, control, features in transitions_of(product):
        expected = document["one"] * features[0] + document["enters mud"] * features[1]
        assert costs[node, control] == pytest.approx(expected)


@given(seeds)
@settings(max_examples=20)
def test_the_shown_costs_are_those_of_the_transitions_with_these_features(seed):
    product = build_product(Corridor(), visit_in_order("parcel", "home"))
    model = randomised(product, seed)
    shown = next(table for table in cost_tables(model, product.world) if table.name == "transition costs").to_document()
    costs = model(product)
    for node, control, (_, mud) in transitions_of(product):
        assert costs[node, control] == pytest.approx(shown["one, enters mud" if mud else "one"])


class IcyCorridor(Corridor):
    """To grab may fail, and a move may lead too far."""

    def outcomes(self, state, control):
        after = self.step(state, control)
        return ((0.2, state if control == 2 else self.step(after, control)), (0.8, after))


def test_the_costs_of_a_control_are_shown_as_its_own_where_the_world_slips():
    world, model = IcyCorridor(), SampledCost(2, 3)
    model.weight[2:] = 1.0, 2.0, 3.0
    table = next(table for table in cost_tables(model, world) if table.name == "transition costs").to_document()
    for row in table.values():
        assert row.items() <= {"left": 2.0, "right": 3.0, "grab": 4.0}.items()
    assert table["one"].keys() == {"left", "right", "grab"}


def test_a_network_has_no_weights_to_show():
    assert cost_tables(LocalCost(), find_task("doorkey").make_world(0)) == ()


class LongRoad(Corridor):
    """Steps from each cell have a length of their own."""

    feature_names = ("length",)

    def features(self, state, control, next_state):
        return [1.0 + state[0]]


def test_too_many_kinds_of_transitions_are_not_listed():
    (table,) = cost_tables(PricesCost(1), LongRoad(length=14))
    assert (table.name, table.rows) == ("prices", ("length",))


def test_features_without_names_are_numbered():
    assert feature_names(object(), 2) == ("feature 0", "feature 1")
    assert feature_names(Corridor(), 2) == ("one", "enters mud")
    assert feature_names(Corridor(), 3) == ("feature 0", "feature 1", "feature 2")
