"""The contract of a learnable cost c_theta(x, u): which transitions are alike to it, and one number for each kind.

A cost model defines how it is made and two things more (`PricesCost` is the shortest one):

    inputs_of(product)            the model's input for each transition; equal inputs share a row
    preactivation(inputs, rows)   one unbounded number z for each row, differentiably; or `costs`, the cost itself

The cost is bounded below, so that every transition costs something:

    c_theta = floor + softplus(z + b),   b such that z = 0 costs 1       (the safer default)
    c_theta = floor + relu(z + 1 - floor)                                (the paper's output)

Every model here starts with z = 0 everywhere: before training, all controls cost 1.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from wfairl.core.planning.cost import Cost, CostScope
from wfairl.core.planning.product import Product
from wfairl.core.support.errors import BadInputError

DEFAULT_FLOOR = 0.05
DEFAULT_ACTIVATION = "softplus"

DEFAULT_TRAINING_TEMPERATURE = 0.5
"""For demonstrations of temperature 0 or unknown: at 0 nothing can be learned, since the policy is constant almost
everywhere; at the initial costs of all models, 0.5 makes a detour of one step seven times less likely."""

Activation = Callable[[Tensor, float], Tensor]

ACTIVATIONS: dict[str, Activation] = {
    "softplus": lambda z, floor: floor + functional.softplus(z + math.log(math.expm1(1 - floor))),
    "relu": lambda z, floor: floor + functional.relu(z + 1 - floor),
}
"""From z and the floor to costs, by the name used in files and on the command line."""


class Estimator(Enum):
    """How a cost model is learned."""

    ADAM = "epochs of Adam, of which held-out demonstrations choose one"
    MOST_LIKELY = "the most likely weights, by L-BFGS on all demonstrations"
    POSTERIOR = "samples of the posterior"


class Inputs(Protocol):
    """The input of a cost model for the transitions of a product.

    Attributes:
        parts: tensors of the distinct rows; each model defines them.
    """

    @property
    def parts(self) -> tuple[Tensor, ...]: ...

    @property
    def numbers(self) -> NDArray[np.int32]:
        """The numbers that `rows` is computed from, for a digest."""
        ...

    def rows(self, transitions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each transition node * controls + control, shape [transitions]."""
        ...


@dataclass(frozen=True, eq=False)
class NodeInputs:
    """Inputs that depend on the node, and on the control by itself: row = number of the node * controls + control.

    Attributes:
        numbers: the number of each node, the same for equal inputs; shape [nodes] of int32.
        controls: how many there are.
        parts: see `Inputs`; one row for each number.
    """

    numbers: NDArray[np.int32]
    controls: int
    parts: tuple[Tensor, ...]

    def rows(self, transitions: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.numbers[transitions // self.controls].astype(np.int64) * self.controls + transitions % self.controls


@dataclass(frozen=True, eq=False)
class TransitionInputs:
    """Inputs of every transition by itself.

    Attributes:
        numbers: the row of each transition, shape [nodes * controls] of int32.
        parts: see `Inputs`; one row for each number.
    """

    numbers: NDArray[np.int32]
    parts: tuple[Tensor, ...]

    def rows(self, transitions: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.numbers[transitions].astype(np.int64)


@dataclass(frozen=True, eq=False)
class View:
    """A product as input of a cost model, and the transitions whose cost a search needs. Made once, used often.

    Attributes:
        inputs: of the model.
        shape: nodes and controls of the product.
        transitions: node * controls + control of what a search needs, shape [transitions] of int32.
        rows: the distinct rows among them, shape [rows] of int64.
        row_of: index into `rows`, shape [transitions] of int32.
    """

    inputs: Inputs
    shape: tuple[int, int]
    transitions: NDArray[np.int32]
    rows: Tensor
    row_of: NDArray[np.int32]


class CostModel(nn.Module, ABC):
    """A cost c_theta(x, u) of at least `floor`.

    Attributes:
        estimator: how it is learned, see `trainer`: most models are networks, which are learned by Adam.
        scope: what it depends on.
        kind: its name in files and on the command line.
        settings: the arguments that make an untrained model of the same shape, as plain JSON.
    """

    estimator: ClassVar[Estimator] = Estimator.ADAM
    scope: ClassVar[CostScope] = CostScope.LOCAL
    kind: ClassVar[str]
    settings: dict[str, Any]

    def __init__(self, floor: float = DEFAULT_FLOOR, activation: str = DEFAULT_ACTIVATION):
        super().__init__()
        check_output(floor, activation)
        self.floor, self.activation = floor, activation
        self.settings = {"floor": floor, "activation": activation}

    @classmethod
    @abstractmethod
    def for_products(cls, products: Sequence[Product], **settings: Any) -> Self:
        """An untrained model that fits some products; the rest of the settings as the constructor has them."""

    @classmethod
    def shapes(cls, **sizes: int) -> dict[str, tuple[int, ...]]:  # noqa: ARG003 - for models that have sizes
        """The shapes of the tensors that grow with the sizes among the settings, by name.

        A file is checked against them before a model of that size is allocated.
        """
        return {}

    @abstractmethod
    def inputs_of(self, product: Product) -> Inputs:
        """The model's input for the transitions of a product.

        Raises:
            BadInputError: the model does not apply to this kind of world.
        """

    def preactivation(self, inputs: Inputs, rows: Tensor) -> Tensor:
        """z of each row, unbounded, shape [rows]; 0 means a cost of 1."""
        raise NotImplementedError(f"{type(self).__name__} has neither `preactivation` nor `costs`")

    def costs(self, inputs: Inputs, rows: Tensor) -> Tensor:
        """The cost of each row, above zero; shape [rows]."""
        return ACTIVATIONS[self.activation](self.preactivation(inputs, rows), self.floor)

    def view(self, product: Product, transitions: NDArray[np.int64] | None = None) -> View:
        """What `table` and `forward` need of a product.

        Args:
            product: world and automaton.
            transitions: node * controls + control of those whose cost `table` gives; all available ones if None.
        """
        inputs = self.inputs_of(product)
        if transitions is None:
            transitions = np.flatnonzero(product.available)
        rows, row_of = _distinct(inputs.rows(transitions))
        # A run keeps the views of all its scenes: half the bytes matter.
        small = transitions.astype(np.int32), torch.from_numpy(rows), row_of.astype(np.int32)
        return View(inputs, product.successors.shape, *small)

    def forward(self, view: View, transitions: NDArray[np.int64]) -> Tensor:
        """The cost of these transitions, differentiably; shape [transitions]."""
        rows, row_of = _distinct(view.inputs.rows(transitions))
        return self.costs(view.inputs, torch.from_numpy(rows))[torch.from_numpy(row_of)]

    @torch.no_grad()
    def table(self, view: View) -> NDArray[np.float64]:
        """The costs for a search, shape [nodes, controls]; 1 for transitions that are not in the view."""
        costs = self.costs(view.inputs, view.rows).double().numpy()
        table = np.ones(view.shape)
        table.reshape(-1)[view.transitions] = costs[view.row_of]
        return table

    def as_cost(self) -> Cost:
        """The model as the planner takes a cost."""
        return ModelCost(self)


@dataclass(frozen=True)
class ModelCost:
    """See `CostModel.as_cost`."""

    model: CostModel

    @property
    def scope(self) -> CostScope:
        return self.model.scope

    def __call__(self, product: Product) -> NDArray[np.float64]:
        return self.model.table(self.model.view(product))


def check_output(floor: float, activation: str) -> None:
    """Refuse a floor or an activation that no cost can have, with a `BadInputError`."""
    if not 0 < floor < 1:
        raise BadInputError(f"the floor of a cost must lie between 0 and 1, not {floor}")
    if activation not in ACTIVATIONS:
        raise BadInputError(f"unknown activation {activation!r} of a cost; known are {', '.join(ACTIVATIONS)}")


def _distinct(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows in ascending order, and the index of each row among them; without sorting."""
    occurs = np.zeros(rows.max(initial=-1) + 1, bool)
    occurs[rows] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[rows]
