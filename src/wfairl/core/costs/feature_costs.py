"""Costs over the features of transitions, for any world.

    prices   c = sum_i p_i phi_i, the price p of a unit of each feature, above the floor
    auto     the mean of c over samples of the posterior of a few weights, of features and of controls

Both are estimated from all demonstrations at once. `CostOverFeatures` is the contract of such a cost.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from inspect import getattr_static
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from wfairl.core.costs.cost_model import FLOOR, CostModel
from wfairl.core.costs.gradient import step_losses
from wfairl.core.costs.most_likely import most_likely
from wfairl.core.costs.posterior import sample_costs
from wfairl.core.costs.scene import solve_scenes
from wfairl.core.costs.training import (
    CHECKPOINT,
    CostTraining,
    EpochMetrics,
    TrainingResult,
    write_checkpoint,
    write_metrics,
)
from wfairl.core.planning.product import Product
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.registry import Registry
from wfairl.core.support.safetensors_files import Arrays
from wfairl.core.worlds.world import World, feature_names

WEIGHT_SPREAD = 3.0
"""Standard deviation of the prior of a weight."""

PLANNED_WITH = 0.9
"""The probability of unit cost from which on nothing else is planned with. Below, the mean over the samples weighs a
preference by how likely it is, which costs next to nothing where there is none (`python -m experiments
learned-cost`)."""


ABOUT_PLAIN, CLEARLY = 1.1, 1.5
"""Costs that are about those of a plain step, and clearly other ones, as factors."""

LANGUAGES: Registry[Callable[["SampledCost", World[Any]], Sequence[str]]] = Registry("language of costs", {})
"""What puts a sampled cost into words; a neighbour offers it."""


class CostOverFeatures(CostModel):
    """A cost with few weights, estimated from all demonstrations."""

    array_names: ClassVar[tuple[str, ...]]

    def __init__(self, **sizes: int):
        self.settings = sizes

    @property
    def arrays(self) -> Arrays:
        return {name: getattr(self, name) for name in self.array_names}

    @classmethod
    def from_arrays(cls, arrays: Arrays, **settings: Any) -> Self:
        model = cls(**settings)
        shapes = [{name: array.shape for name, array in one.items()} for one in (model.arrays, arrays)]
        if shapes[0] != shapes[1]:
            raise ValueError(f"arrays of the shapes {shapes[1]}, not {shapes[0]}")
        for name, array in arrays.items():
            getattr(model, name)[:] = array
        return model

    @abstractmethod
    def estimate(self, training: CostTraining) -> Self:
        """A model that explains demonstrations."""

    @abstractmethod
    def sentences(self, world: World[Any]) -> Sequence[str]:
        """What was learned, for people."""

    @property
    def is_unit(self) -> bool:
        """Whether the cost is 1 everywhere, after it was learned."""
        return False

    def learn(self, training: CostTraining) -> TrainingResult:
        """See `CostModel`; a resumed run estimates again: the checkpoint only tells what from."""
        model, history = self, [EpochMetrics(0, 0.0, training.loss(self), None)]
        lines = [("cost", f"{self.kind}, 1 everywhere: not trained")]
        if training.settings.epochs:
            model = self.estimate(training)
            history.append(EpochMetrics(1, 0.0, training.loss(model), None))
            sentences = model.sentences(training.scenes[0].product.world)
            lines = [("" if i else "cost", text) for i, text in enumerate(sentences)]
            before, after = (metrics.train_loss for metrics in history)
            lines.append(("loss per step", f"{after:.4f} (at unit cost {before:.4f})"))
        chosen = 0 if model.is_unit else len(history) - 1
        if training.directory is not None:
            write_checkpoint(training.directory / CHECKPOINT, training.fingerprint)
            write_metrics(history, training.directory)
        return TrainingResult(model, chosen, tuple(history), lines)


class PricesCost(CostOverFeatures):
    """The amount of each feature in a transition, times the price of a unit of it.

    For features that are amounts, not below zero, such as metres on different ground: a transition of twice the length
    costs twice as much, so that the cost does not depend on where a path is cut into transitions. A price is

        p = floor + log(1 + exp(w + b)),   b such that w = 0 costs 1,

    and the most likely weights w under a normal prior are found by L-BFGS. A subclass may take other amounts, and
    name them.
    """

    kind = "prices"
    array_names, size_names = ("weight",), ("features",)

    def __init__(self, features: int):
        super().__init__(features=features)
        self.weight = np.zeros(features, np.float32)

    @classmethod
    def for_products(cls, products: Sequence[Product]) -> Self:
        return cls(cls.features_of(products[0])[1].shape[1])

    @classmethod
    def shapes(cls, **sizes: int) -> dict[str, tuple[int, ...]]:
        return {"weight": (sizes["features"],)}

    @classmethod
    def features_of(cls, product: Product) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The row of each transition, shape [nodes * controls], and the amounts of the rows, [rows, features]."""
        return product.features

    @property
    def prices(self) -> NDArray[np.float64]:
        """The price of a unit of each feature, shape [features]."""
        return self._prices(self.weight.astype(np.float64))[0]

    def names_of(self, world: World[Any]) -> Sequence[str]:
        """The names of the amounts, for people; a subclass that takes other amounts says here what they are."""
        own, inherited = (getattr_static(one, "features_of") for one in (type(self), PricesCost))
        if own is inherited:
            return feature_names(world, len(self.weight))
        return [f"amount {i}" for i in range(len(self.weight))]

    def sentences(self, world: World[Any]) -> Sequence[str]:
        named = zip(self.names_of(world), self.prices.tolist(), strict=True)
        return [f"{self.kind}, the most likely of its kind", *(f"{name}: {price:.3g} a unit" for name, price in named)]

    def inputs(self, product: Product) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """`features_of` a product, checked.

        Raises:
            BadInputError: a feature is below zero, all of a transition's are zero, or there are more or fewer.
        """
        rows, features = self.features_of(product)
        _check_width(features, len(self.weight))
        if not ((features >= 0).all() and features.any(axis=1).all()):
            raise BadInputError(
                f"a cost of the kind {self.kind!r} needs features that are amounts: none below zero, and in every"
                " transition one above"
            )
        return rows, features

    def __call__(self, product: Product) -> NDArray[np.float64]:
        rows, features = self.inputs(product)
        return np.where(product.available, (features @ self.prices)[rows].reshape(product.successors.shape), 1.0)

    def estimate(self, training: CostTraining) -> Self:
        best = most_likely(partial(self.objective, training), self.weight.astype(np.float64))
        return self.from_arrays({"weight": best}, **self.settings)

    def objective(self, training: CostTraining, weight: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss per step under some weights, less the log of their prior; and its gradient, shape [features]."""
        prices, slopes = self._prices(weight)
        tables = {
            product: (features @ prices)[rows].reshape(product.successors.shape)
            for product, (rows, features) in training.inputs.items()
        }
        loss, by_price, steps = 0.0, np.zeros(len(weight)), 0
        solved = solve_scenes(training.scenes, tables.__getitem__, training.n_jobs)
        for scene, paths in zip(training.scenes, solved, strict=True):
            rows, features = training.inputs[scene.product]
            losses, by_Q = step_losses(paths.control_cost_to_go, scene.controls, training.temperature)
            loss, steps = loss + losses.sum(), steps + len(losses)
            by_price += paths.weights(by_Q) @ features[rows[paths.transitions]]
            if (failures := float((by_Q * paths.failures).sum())) != 0:
                by_price += failures * features[rows[scene.product.graph.transition]].mean(axis=0)
        precision = 1 / (WEIGHT_SPREAD**2 * steps)
        value = loss / steps + precision / 2 * float(weight @ weight)
        return value, by_price * slopes / steps + precision * weight

    def _prices(self, weight: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The prices of some weights, and their derivatives."""
        shifted = weight + math.log(math.expm1(1 - FLOOR))
        return FLOOR + np.logaddexp(0.0, shifted), np.exp(-np.logaddexp(0.0, -shifted))


class SampledCost(CostOverFeatures):
    """The mean cost over samples of weights of features and controls, most of which are zero: see `posterior`.

    A plan of least mean cost is the best one under what is known. Before training, one sample costs 1 everywhere.

    Attributes:
        constant, weight: the mean of samples, shapes [1] and [features + controls].
        weights: shape [samples, features + controls].
        temperatures: of the demonstrators, shape [samples].
        unit: the posterior probability that all transitions cost the same, shape [1].
        plain, extreme: what each feature and control is in plain transitions, and what differs most from that in the
            demonstrated scenes; shape [features + controls].
        bound: where the demonstrations bound the cost of a feature or control from below alone, that bound; where
            from above alone, minus the bound; else 0. Shape [features + controls].
    """

    kind = "auto"
    array_names = ("constant", "weights", "temperatures", "unit", "weight", "plain", "extreme", "bound")
    size_names = ("features", "controls", "samples")

    def __init__(self, features: int, controls: int, samples: int = 1):
        super().__init__(features=features, controls=controls, samples=samples)
        self.features, self.controls, width = features, controls, features + controls
        self.constant, self.unit, self.temperatures = np.ones(1), np.ones(1), np.ones(samples)
        self.weights = np.zeros((samples, width))
        self.weight, self.plain, self.extreme, self.bound = np.zeros((4, width))

    @classmethod
    def for_products(cls, products: Sequence[Product]) -> Self:
        return cls(products[0].features[1].shape[1], len(products[0].world.controls))

    @classmethod
    def shapes(cls, **sizes: int) -> dict[str, tuple[int, ...]]:
        width = sizes["features"] + sizes["controls"]
        return {"weights": (sizes["samples"], width), "temperatures": (sizes["samples"],)}

    @property
    def is_unit(self) -> bool:
        return not self.weights.any()

    def sentences(self, world: World[Any]) -> Sequence[str]:
        return LANGUAGES["English"](self, world)

    def inputs(self, product: Product) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The row of each transition's features, shape [nodes * effects], and the rows [rows, features]."""
        rows, features = product.features
        _check_width(features, self.features)
        controls = len(product.world.controls)
        if controls != self.controls:
            raise BadInputError(f"this cost is for {self.controls} controls, but the world has {controls}")
        return rows, features

    def __call__(self, product: Product) -> NDArray[np.float64]:
        row, costs = self._costs(product, self.constant, self.weight[None])
        return np.where(product.available, costs[row, 0].reshape(product.successors.shape), 1.0)

    def under_samples(self, product: Product) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The row of each transition, shape [nodes * controls], and its cost under each sample, [rows, samples]."""
        return self._costs(product, 1.0 - self.weights @ self.plain, self.weights)

    def is_known(self, product: Product) -> NDArray[np.bool_]:
        """Whether the samples agree that a transition is plain, dearer or cheaper; shape [nodes, controls]."""
        row, costs = self.under_samples(product)
        low, high = np.quantile(costs, (0.05, 0.95), axis=1)
        is_open = (low < ABOUT_PLAIN) & (high > CLEARLY) | (high > 1 / ABOUT_PLAIN) & (low < 1 / CLEARLY)
        return ~(is_open[row].reshape(product.successors.shape) & product.available)

    def sample(self, number: int) -> "SampledCost":
        """The cost of one sample."""
        model = SampledCost(self.features, self.controls)
        model.weight[:] = self.weights[number]
        model.constant[:] = 1.0 - self.weights[number] @ self.plain
        return model

    def estimate(self, training: CostTraining) -> Self:
        """Samples of the posterior, or unit cost if that is next to sure."""
        settings, rng = training.settings, np.random.default_rng(training.settings.seed)
        samples = sample_costs(training.scenes, settings.temperature, rng, training.n_jobs, training.comparisons)
        unit = (samples["weights"] == 0).all(axis=1).mean(keepdims=True)
        if unit[0] >= PLANNED_WITH:
            samples = {**type(self)(self.features, self.controls).arrays, "temperatures": samples["temperatures"][:1]}
        sizes = {**self.settings, "samples": len(samples["weights"])}
        return self.from_arrays({**samples, "unit": unit}, **sizes)

    def _costs(
        self, product: Product, constants: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """See `under_samples`; row = number of the features * controls + control."""
        numbers, features = self.inputs(product)
        by_feature, by_control = weights[:, : self.features].T, weights[:, self.features :].T
        costs = np.maximum((constants + features @ by_feature)[:, None] + by_control, FLOOR)
        row = numbers.astype(np.int64) * self.controls + product.control_of_transition
        return row, costs.reshape(-1, len(weights))


def _check_width(features: NDArray[np.float64], width: int) -> None:
    if features.shape[1] != width:
        raise BadInputError(f"this cost is over {width} features, but the world has {features.shape[1]}")
