"""Costs over the features of transitions, for any world.

prices   c = sum_i p_i phi_i, the price p of a unit of each feature, above the floor
auto     the mean of c over samples of the posterior of a few weights, of features and of controls
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
    Estimator,
    Inputs,
    TransitionInputs,
)
from wfairl.core.costs.posterior import CostSamples
from wfairl.core.planning.product import Product
from wfairl.core.support.errors import BadInputError


class PricesCost(CostModel):
    """The amount of each feature in a transition, times the price of a unit of it; whatever the control.

    For features that are amounts, not below zero, such as metres on different ground: a transition of twice the length
    costs twice as much, so that the cost does not depend on where a path is cut into transitions. Every price starts
    at 1. Inputs: the features, shape [rows, features].
    """

    kind = "prices"
    estimator = Estimator.MOST_LIKELY

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

    @property
    def prices(self) -> NDArray[np.float64]:
        """The price of a unit of each feature, shape [features]."""
        return self._prices().detach().double().numpy()

    def inputs_of(self, product: Product) -> TransitionInputs:
        """See `CostModel`.

        Raises:
            BadInputError: a feature is below zero, or all of a transition's are zero.
        """
        numbers, features = _distinct_features(product, len(self.weight))
        if not ((features >= 0).all() and features.any(axis=1).all()):
            raise BadInputError(
                f"a cost of the kind {self.kind!r} needs features that are amounts: none below zero, and in every"
                " transition one above"
            )
        return TransitionInputs(numbers, (torch.from_numpy(features),))

    def costs(self, inputs: Inputs, rows: Tensor) -> Tensor:
        (features,) = inputs.parts
        return features[rows].to(self.weight.dtype) @ self._prices()

    def _prices(self) -> Tensor:
        return ACTIVATIONS[self.activation](self.weight, self.floor)


ABOUT_PLAIN, CLEARLY = 1.1, 1.5
"""Costs that are about those of a plain step, and clearly other ones, as factors."""


class SampledCost(CostModel):
    """The mean cost over samples of weights of features and controls, most of which are zero: see `posterior`.

    A plan of least mean cost is the best one under what is known. Before training, one sample costs 1 everywhere.

    Attributes:
        constant, weight: the mean of samples, shapes [1] and [features + controls].
        weights: shape [samples, features + controls].
        temperatures: of the demonstrators, shape [samples].
        unit: the posterior probability that all transitions cost the same, shape [1].
        plain, extreme: what each feature and control is in plain transitions, and what differs most from that in the
            demonstrated scenes; shape [features + controls].
        open_end: 1 where the demonstrations bound the cost of a feature or control from below alone, -1 where from
            above alone, else 0; shape [features + controls].
    """

    kind = "auto"
    estimator = Estimator.POSTERIOR
    constant: Tensor
    weight: Tensor
    weights: Tensor
    temperatures: Tensor
    unit: Tensor
    plain: Tensor
    extreme: Tensor
    open_end: Tensor

    def __init__(
        self,
        features: int,
        controls: int,
        samples: int = 1,
        floor: float = DEFAULT_FLOOR,
        activation: str = DEFAULT_ACTIVATION,
    ):
        super().__init__(floor, activation)
        if (floor, activation) != (DEFAULT_FLOOR, DEFAULT_ACTIVATION):
            raise BadInputError(
                f"a cost of the kind {self.kind!r} has the default floor and activation; leave them out"
            )
        self.settings |= {"features": features, "controls": controls, "samples": samples}
        self.register_buffer("constant", torch.ones(1, dtype=torch.float64))
        self.register_buffer("weights", torch.zeros(samples, features + controls, dtype=torch.float64))
        self.register_buffer("temperatures", torch.ones(samples, dtype=torch.float64))
        self.register_buffer("unit", torch.ones(1, dtype=torch.float64))
        for name in ("weight", "plain", "extreme", "open_end"):
            self.register_buffer(name, torch.zeros(features + controls, dtype=torch.float64))

    @classmethod
    def for_products(cls, products: Sequence[Product], **settings: Any) -> Self:
        return cls(_width(products[0]), products[0].successors.shape[1], **settings)

    @classmethod
    def shapes(cls, **sizes: int) -> dict[str, tuple[int, ...]]:
        samples = (sizes["samples"],)
        return {
            "weights": (*samples, sizes["features"] + sizes["controls"]),
            "temperatures": samples,
        }

    def with_samples(self, samples: CostSamples, planned_with: float) -> "SampledCost":
        """A model of these samples; of unit cost alone if that has at least the given probability."""
        unit = samples.unit_probability
        count = len(samples.weights) if unit < planned_with else 1
        model = SampledCost(self.settings["features"], self.settings["controls"], count)
        if count > 1:
            for name in ("constant", "weight", "weights", "plain", "extreme", "open_end"):
                getattr(model, name).copy_(torch.from_numpy(getattr(samples, name)))
        model.temperatures.copy_(torch.from_numpy(samples.temperatures[:count]))
        model.unit.fill_(unit)
        return model

    def inputs_of(self, product: Product) -> TransitionInputs:
        return _features_by_control(product, self.settings["features"], self.settings["controls"])

    def costs(self, inputs: Inputs, rows: Tensor) -> Tensor:
        return self._costs(inputs, rows, self.constant, self.weight[None])[:, 0]

    def sampled_costs(self, inputs: Inputs, rows: Tensor) -> Tensor:
        """The cost of each row under each sample, shape [rows, samples]."""
        return self._costs(inputs, rows, 1.0 - self.weights @ self.plain, self.weights)

    def is_known(self, product: Product) -> NDArray[np.bool_]:
        """Whether the samples agree that a transition is plain, dearer or cheaper; shape [nodes, controls]."""
        view = self.view(product)
        low, high = torch.quantile(
            self.sampled_costs(view.inputs, view.rows), torch.tensor([0.05, 0.95], dtype=torch.float64), dim=1
        )
        is_open = (low < ABOUT_PLAIN) & (high > CLEARLY) | (high > 1 / ABOUT_PLAIN) & (low < 1 / CLEARLY)
        table = np.ones(view.shape, bool)
        table.reshape(-1)[view.transitions] = ~is_open.numpy()[view.row_of]
        return table

    def sample(self, number: int) -> "SampledCost":
        """The cost of one sample."""
        model = SampledCost(self.settings["features"], self.settings["controls"])
        model.weight.copy_(self.weights[number])
        model.constant.copy_(1.0 - self.weights[number] @ self.plain)
        return model

    def _costs(self, inputs: Inputs, rows: Tensor, constants: Tensor, weights: Tensor) -> Tensor:
        features, control = (part[rows] for part in inputs.parts)
        by_feature, by_control = weights.split([self.settings["features"], self.settings["controls"]], dim=1)
        return (constants + features.double() @ by_feature.T + by_control.T[control]).clamp_min(self.floor)


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
