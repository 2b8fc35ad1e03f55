"""The contract of a learnable cost c_theta(x, u): what it looks at, and one number for each look and control.

A cost model says two things, and everything else follows:

    observe(product)   what the nodes look like to it; many nodes look the same
    raw(looks, rows)   one unbounded number for each row = look * controls + control, differentiably

The cost itself is bounded below, so that every path that goes on costs something:

    c_theta = floor + softplus(raw + b),   b such that raw = 0 costs 1       (the safer default)
    c_theta = floor + relu(raw + 1 - floor)                                  (the paper's output)

Every model here starts with raw = 0 everywhere: until the data say otherwise, all controls cost 1.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from wfairl.errors import BadInputError
from wfairl.planning.cost import Cost
from wfairl.planning.product import Product

DEFAULT_FLOOR = 0.05
DEFAULT_ACTIVATION = "softplus"

Activation = Callable[[Tensor, float], Tensor]

ACTIVATIONS: dict[str, Activation] = {
    "softplus": lambda raw, floor: floor + functional.softplus(raw + math.log(math.expm1(1 - floor))),
    "relu": lambda raw, floor: floor + functional.relu(raw + 1 - floor),
}
"""From raw numbers and the floor to costs, by the name that files and the command line have for it."""


@dataclass(frozen=True, eq=False)
class Looks:
    """What the nodes of a product look like to one cost model.

    Attributes:
        of_node: number of the look of each node, shape [nodes] of int32.
        parts: what the model made of the distinct looks; each model says what they are.
    """

    of_node: NDArray[np.int32]
    parts: tuple[Tensor, ...]


@dataclass(frozen=True, eq=False)
class View:
    """A product as a cost model sees it, and the transitions whose cost a search asks for. Made once, used often.

    Attributes:
        looks: what the nodes look like.
        shape: nodes and controls of the product.
        transitions: node * controls + control of what a search asks for, shape [transitions] of int32.
        rows: the distinct look * controls + control among them, shape [rows] of int64.
        row_of: which row each transition has, shape [transitions] of int32.
    """

    looks: Looks
    shape: tuple[int, int]
    transitions: NDArray[np.int32]
    rows: Tensor
    row_of: NDArray[np.int32]


class CostModel(nn.Module, ABC):
    """A cost c_theta(x, u) of at least `floor`.

    Attributes:
        kind: what files and the command line call this kind of model.
        settings: the arguments that make an untrained model of the same shape, as plain JSON.
    """

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
        """The shapes of the tensors that grow with the sizes among the settings, by name; none if nothing does.

        A file that declares a model is held against them before a model of that size is made.
        """
        return {}

    @abstractmethod
    def observe(self, product: Product) -> Looks:
        """What the nodes of a product look like.

        Raises:
            BadInputError: the model cannot look at this kind of world.
        """

    @abstractmethod
    def raw(self, looks: Looks, rows: Tensor) -> Tensor:
        """One unbounded number for each row = look * controls + control, shape [rows]; 0 stands for a cost of 1."""

    def view(self, product: Product, transitions: NDArray[np.int64] | None = None) -> View:
        """What `table` and `forward` need of a product.

        Args:
            product: world and automaton.
            transitions: node * controls + control of those that `table` shall give; all of them if None.
        """
        looks = self.observe(product)
        nodes, controls = product.successors.shape
        if transitions is None:
            transitions = np.arange(nodes * controls)
        rows, row_of = _distinct(_rows(looks, transitions, controls))
        # A run keeps the views of all its scenes: half the bytes matter.
        asked = transitions.astype(np.int32), torch.from_numpy(rows), row_of.astype(np.int32)
        return View(looks, (nodes, controls), *asked)

    def forward(self, view: View, transitions: NDArray[np.int64]) -> Tensor:
        """The cost of these transitions, differentiably; shape [transitions]."""
        rows, row_of = _distinct(_rows(view.looks, transitions, view.shape[1]))
        return self._costs(view.looks, torch.from_numpy(rows))[torch.from_numpy(row_of)]

    @torch.no_grad()
    def table(self, view: View) -> NDArray[np.float64]:
        """The costs for a search, shape [nodes, controls]; 1 for transitions that the view does not ask for."""
        costs = self._costs(view.looks, view.rows).double().numpy()
        table = np.ones(view.shape)
        table.reshape(-1)[view.transitions] = costs[view.row_of]
        return table

    def as_cost(self) -> Cost:
        """The model as the planner takes a cost."""
        return lambda product: self.table(self.view(product))

    def _costs(self, looks: Looks, rows: Tensor) -> Tensor:
        return ACTIVATIONS[self.activation](self.raw(looks, rows), self.floor)


def check_output(floor: float, activation: str) -> None:
    """Refuse a floor or an activation that no cost can have.

    Raises:
        BadInputError: says which is known or possible.
    """
    if not 0 < floor < 1:
        raise BadInputError(f"the floor of a cost must lie between 0 and 1, not {floor}")
    if activation not in ACTIVATIONS:
        raise BadInputError(f"unknown activation {activation!r} of a cost; known are {', '.join(ACTIVATIONS)}")


def _rows(looks: Looks, transitions: NDArray[np.int64], controls: int) -> NDArray[np.int64]:
    return looks.of_node[transitions // controls].astype(np.int64) * controls + transitions % controls


def _distinct(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows in ascending order, and the place of each row among them; without sorting."""
    occurs = np.zeros(rows.max(initial=-1) + 1, bool)
    occurs[rows] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[rows]
