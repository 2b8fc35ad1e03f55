"""What a learned cost says of itself: shown prices give the cost of every transition, with the names of the world."""

import numpy as np
import pytest
from corridors import Corridor
from hypothesis import given, settings
from hypothesis import strategies as st

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.costs.feature_costs import PricesCost, SampledCost
from wfairl.core.planning.product import Product, build_product
from wfairl.core.worlds.world import feature_names
from wfairl.networks.grid_costs import LocalCost
from wfairl.runs.planning_methods import cost_by_name
from wfairl.runs.task_registry import find_task

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
    costs, prices = model(product), cost_by_name(model, product.world)["prices"]
    told = model.sentences(product.world)[1:]
    assert told == [f"{name}: {price:.3g} a unit" for name, price in prices.items()]
    for node, control, features in transitions_of(product):
        expected = prices["one"] * features[0] + prices["enters mud"] * features[1]
        assert costs[node, control] == pytest.approx(expected)


class Fees(PricesCost):
    """As many amounts as the corridor has features, but others."""

    kind = "fees"

    @classmethod
    def features_of(cls, product):
        rows, features = product.features
        return rows, 2 * features


class NamedFees(Fees):
    kind = "named-fees"

    def names_of(self, world):
        return ["day", "night"]


@pytest.mark.parametrize(("kind", "names"), [(Fees, ["amount 0", "amount 1"]), (NamedFees, ["day", "night"])])
def test_amounts_of_ones_own_never_go_by_the_names_of_the_features(kind, names):
    model = kind.for_products([build_product(Corridor(), visit_in_order("parcel", "home"))])
    assert list(cost_by_name(model, Corridor())["prices"]) == names
    assert model.sentences(Corridor())[1:] == [f"{name}: 1 a unit" for name in names]


def test_the_terms_of_a_sampled_cost_stand_under_their_names_the_dearest_first():
    model = SampledCost(2, 3)
    assert cost_by_name(model, Corridor()) == {"plain_steps": {}}
    model.weights[:, 2:], model.extreme[2:] = (1.0, 2.0, 3.0), 1.0
    named = cost_by_name(model, Corridor())["plain_steps"]
    assert list(named.items()) == [
        (name, {"cost": cost, "low": cost, "high": cost})
        for name, cost in (("grab", 4.0), ("right", 3.0), ("left", 2.0))
    ]


def test_a_network_has_no_weights_to_show():
    assert cost_by_name(LocalCost(), find_task("doorkey").make_world(0)) == {}


def test_features_without_names_are_numbered():
    assert feature_names(object(), 2) == ("feature 0", "feature 1")
    assert feature_names(Corridor(), 2) == ("one", "enters mud")
    assert feature_names(Corridor(), 3) == ("feature 0", "feature 1", "feature 2")
