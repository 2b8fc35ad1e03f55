"""Costs over the features of transitions, for any world.

linear          z = phi(x, u, x') . w_u + b_u      weights of its own for every control
shared-linear   z = phi(x, u, x') . w + b          the same weights whatever the control
prices          c = sum_i p_i phi_i                the price p of a unit of each feature, above the floor
tabular         z = one number for each distinct phi of the training worlds and each control, 0 for others
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfairl.core.costs.cost_model import (
    ACTIVATIONS,
    DEFAULT_ACTIVATION,
    DEFAULT_FLOOR,
    CostModel,
    Inputs,
    TransitionInputs,
    output_formula,
)
from wfairl.core.costs.named_table import NamedTable
from wfairl.core.planning.product import Product, states_alone
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.world import World, available_controls, feature_names

MOST_KINDS, MOST_STATES = 12, 2_000
"""Distinct features up to which the costs of transitions are listed, and states among whose transitions they are."""


class FeatureCost(CostModel):
    """A cost that depends on the features of a transition, and perhaps on the control."""

    def explain(self, world: World[Any]) -> tuple[NamedTable, ...]:
        """What transitions cost, if they are of few kinds, and the weights if it has any."""
        return (*transition_costs(self, world), *self.weights(world))

    def weights(self, world: World[Any]) -> tuple[NamedTable, ...]:  # noqa: ARG002 - for models with weights
        """The learned weights by the names of a world's features and controls; none if it has no weights."""
        return ()

    def _weights(self, names: Sequence[str], columns: Sequence[str], weight: Tensor, bias: Tensor) -> NamedTable:
        """Weights of z."""
        meaning = (
            f"A transition costs {output_formula(self.floor, self.activation)}, where z is the constant plus the sum of"
            " its features times their weights. Before training all weights are 0."
        )
        values = torch.cat([weight, bias[None]]).detach().double().numpy()
        return NamedTable("weights", meaning, "feature", (*names, "constant"), tuple(columns), values)


class LinearCost(FeatureCost):
    """Linear in the features of the transition, with weights of its own for every control.

    Inputs: the features [rows, features] and the control [rows] of each row.
    """

    kind = "linear"
    learning_rate = 0.2

    def __init__(
        self, features: int, controls: int, floor: float = DEFAULT_FLOOR, activation: str = DEFAULT_ACTIVATION
    ):
        super().__init__(floor, activation)
        self.settings |= {"features": features, "controls": controls}
        self.weight = nn.Parameter(torch.zeros(features, controls))
        self.bias = nn.Parameter(torch.zeros(controls))

    @classmethod
    def for_products(cls, products: Sequence[Product], **settings: Any) -> Self:
        return cls(_width(products[0]), len(products[0].world.controls), **settings)

    @classmethod
    def shapes(cls, **sizes: int) -> dict[str, tuple[int, ...]]:
        return {"weight": (sizes["features"], sizes["controls"])}

    def inputs_of(self, product: Product) -> TransitionInputs:
        return _features_by_control(product, *self.weight.shape)

    def preactivation(self, inputs: Inputs, rows: Tensor) -> Tensor:
        features, control = (part[rows] for part in inputs.parts)
        return (features.to(self.weight.dtype) * self.weight.T[control]).sum(dim=1) + self.bias[control]

    def weights(self, world: World[Any]) -> tuple[NamedTable, ...]:
        names = feature_names(world, len(self.weight))
        return (self._weights(names, world.controls, self.weight, self.bias),)


class _FeatureWeightsCost(FeatureCost):
    """One weight per feature, whatever the control. Inputs: the features, shape [rows, features]."""

    def __init__(self, features: int, floor: float = DEFAULT_FLOOR, activation: str = DEFAULT_ACTIVATION):
        super().__init__(floor, activation)
        self.settings |= {"features": features}
        self.weight = nn.Parameter(torch.zeros(features))

    @classmethod
    def for_products(cls, products: Sequence[Product], **settings: Any) -> Self:
        return cls(_width(products[0]), **settings)

    @classmethod
    def shapes(cls, **sizes: int) -> dict[str, tuple[int, ...]]:
        return {"weight": (sizes["features"],)}

    def inputs_of(self, product: Product) -> TransitionInputs:
        numbers, features = _distinct_features(product, len(self.weight))
        return TransitionInputs(numbers, (torch.from_numpy(features),))


class SharedLinearCost(_FeatureWeightsCost):
    """Linear in the features of the transition, whatever the control."""

    kind = "shared-linear"
    learning_rate = 0.2

    def __init__(self, features: int, floor: float = DEFAULT_FLOOR, activation: str = DEFAULT_ACTIVATION):
        super().__init__(features, floor, activation)
        self.bias = nn.Parameter(torch.zeros(()))

    def preactivation(self, inputs: Inputs, rows: Tensor) -> Tensor:
        (features,) = inputs.parts
        return features[rows].to(self.weight.dtype) @ self.weight + self.bias

    def weights(self, world: World[Any]) -> tuple[NamedTable, ...]:
        names = feature_names(world, len(self.weight))
        return (self._weights(names, ("weight",), self.weight[:, None], self.bias[None]),)


class PricesCost(_FeatureWeightsCost):
    """The amount of each feature in a transition, times the price of a unit of it; whatever the control.

    For features that are amounts, not below zero, such as metres on different ground: a transition of twice the length
    costs twice as much, so that the cost does not depend on where a path is cut into transitions. Every price starts
    at 1.
    """

    kind = "prices"
    learning_rate = 0.2

    @property
    def prices(self) -> NDArray[np.float64]:
        """The price of a unit of each feature, shape [features]."""
        return self._prices().detach().double().numpy()

    def inputs_of(self, product: Product) -> TransitionInputs:
        """See `CostModel`.

        Raises:
            BadInputError: a feature is below zero, or all of a transition's are zero.
        """
        inputs = super().inputs_of(product)
        (features,) = inputs.parts
        if not ((features >= 0).all() and features.any(dim=1).all()):
            raise BadInputError(
                f"a cost of the kind {self.kind!r} needs features that are amounts: none below zero, and in every"
                " transition one above"
            )
        return inputs

    def costs(self, inputs: Inputs, rows: Tensor) -> Tensor:
        (features,) = inputs.parts
        return features[rows].to(self.weight.dtype) @ self._prices()

    def weights(self, world: World[Any]) -> tuple[NamedTable, ...]:
        meaning = "A transition costs the sum of its features times their prices. Before training all prices are 1."
        names = feature_names(world, len(self.weight))
        return (NamedTable("prices", meaning, "feature", names, ("price of a unit",), self.prices[:, None]),)

    def _prices(self) -> Tensor:
        return ACTIVATIONS[self.activation](self.weight, self.floor)


class TabularCost(FeatureCost):
    """One cost for each distinct vector of features and each control.

    Inputs: the number of the vector, or one past the end for an unknown one, and the control; shape [rows] each.

    Attributes:
        known: the vectors of features that it has entries for, shape [entries, features].
    """

    kind = "tabular"
    learning_rate = 0.2
    known: Tensor

    def __init__(
        self,
        entries: int,
        features: int,
        controls: int,
        floor: float = DEFAULT_FLOOR,
        activation: str = DEFAULT_ACTIVATION,
    ):
        super().__init__(floor, activation)
        self.settings |= {"entries": entries, "features": features, "controls": controls}
        self.register_buffer("known", torch.zeros(entries, features, dtype=torch.float64))
        self.entries = nn.Parameter(torch.zeros(entries, controls))

    @classmethod
    def for_products(cls, products: Sequence[Product], **settings: Any) -> Self:
        """A table with an entry for every transition of these products."""
        width = _width(products[0])
        distinct = np.unique(np.concatenate([_distinct_features(product, width)[1] for product in products]), axis=0)
        model = cls(len(distinct), width, len(products[0].world.controls), **settings)
        model.known.copy_(torch.from_numpy(distinct))
        return model

    @classmethod
    def shapes(cls, **sizes: int) -> dict[str, tuple[int, ...]]:
        entries = sizes["entries"]
        return {"known": (entries, sizes["features"]), "entries": (entries, sizes["controls"])}

    def inputs_of(self, product: Product) -> TransitionInputs:
        inputs = _features_by_control(product, self.known.shape[1], self.entries.shape[1])
        features, control = inputs.parts
        # Adding zero turns -0 into 0: equal vectors have equal bytes.
        numbers = {row.tobytes(): number for number, row in enumerate(self.known.double().numpy() + 0.0)}
        entries = [numbers.get(row.tobytes(), len(numbers)) for row in features.numpy() + 0.0]
        return TransitionInputs(inputs.numbers, (torch.tensor(entries, dtype=torch.int64), control))

    def preactivation(self, inputs: Inputs, rows: Tensor) -> Tensor:
        number, control = (part[rows] for part in inputs.parts)
        unknown = self.entries.new_zeros(1, self.entries.shape[1])
        return torch.cat([self.entries, unknown])[number, control]


def transition_costs(model: FeatureCost, world: World[Any]) -> tuple[NamedTable, ...]:
    """What the transitions near the start of a world cost, the cheapest first, if they have few distinct features.

    By control, if transitions of the same features cost different amounts.
    """
    product = states_alone(world, _first_states(world, MOST_STATES))
    transitions = np.flatnonzero(product.available)
    numbers, features = product.transition_features(transitions)
    kinds, kind = np.unique(numbers, return_inverse=True)
    if len(kinds) > MOST_KINDS:
        return ()
    columns = tuple(world.controls)
    values = np.full((len(kinds), len(columns)), np.nan)
    values[kind, transitions % len(columns)] = model.as_cost()(product).reshape(-1)[transitions]
    least, largest = np.nanmin(values, axis=1), np.nanmax(values, axis=1)
    if np.allclose(least, largest, rtol=1e-6):
        columns, values = ("cost",), least[:, None]
    order = np.lexsort((largest, least))
    names = feature_names(world, features.shape[1])
    rows = tuple(_describe(names, features[kinds[i]]) for i in order)
    meaning = "The cost of transitions with these features; a feature without a number is 1, and those left out are 0."
    return (NamedTable("transition costs", meaning, "transition", rows, columns, values[order]),)


def _first_states(world: World[Any], most: int) -> list[Any]:
    """The states that are reached first from the initial one, breadth first."""
    reached = {world.initial_state: None}
    for state in (queue := [world.initial_state]):
        for control in np.flatnonzero(available_controls(world, state)).tolist():
            next_state = world.step(state, control)
            if len(reached) == most:
                return queue
            if next_state not in reached:
                reached[next_state] = None
                queue.append(next_state)
    return queue


def _describe(names: Sequence[str], features: NDArray[np.float64]) -> str:
    present = [
        name if amount == 1 else f"{name} {amount:.4g}" for name, amount in zip(names, features, strict=True) if amount
    ]
    return ", ".join(present) or "no feature"


def _width(product: Product) -> int:
    _, features = product.transition_features(np.flatnonzero(product.available)[:1])
    return features.shape[1]


def _distinct_features(product: Product, width: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The number of each transition's features, shape [nodes * controls], and the distinct ones [rows, features].

    Raises:
        BadInputError: the world has another number of features than the cost was made for.
    """
    transitions = np.flatnonzero(product.available)
    feature_numbers, features = product.transition_features(transitions)
    if features.shape[1] != width:
        raise BadInputError(f"this cost is over {width} features, but the world has {features.shape[1]}")
    numbers = np.zeros(product.successors.size, np.int32)
    numbers[transitions] = feature_numbers
    return numbers, features


def _features_by_control(product: Product, width: int, controls: int) -> TransitionInputs:
    """Rows for pairs of distinct features and a control: row = number of the features * controls + control."""
    numbers, features = _distinct_features(product, width)
    if product.successors.shape[1] != controls:
        raise BadInputError(f"this cost is for {controls} controls, but the world has {product.successors.shape[1]}")
    control = np.arange(len(numbers)) % controls
    parts = torch.from_numpy(np.repeat(features, controls, axis=0)), torch.arange(len(features) * controls) % controls
    return TransitionInputs((numbers * controls + control).astype(np.int32), parts)
