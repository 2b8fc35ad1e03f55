"""The contract of a cost network: which transitions are alike to it, and one number for each kind.

A network defines how it is made and two things more:

    inputs_of(product)            its input for each node; equal inputs share a row
    preactivation(inputs, rows)   one unbounded number z for each row, differentiably

The cost is bounded below, so that every transition costs something:

    c_theta = floor + softplus(z + b),   b such that z = 0 costs 1

The paper has relu instead, under which a cost at the floor has no gradient and stays there. A network starts with z = 0
everywhere: before training, all controls cost 1.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from wfairl.core.costs.cost_model import FLOOR, CostModel
from wfairl.core.costs.settings import CostSettings
from wfairl.core.costs.training import CostTraining, TrainingResult
from wfairl.core.planning.product import Product
from wfairl.core.support.safetensors_files import Arrays
from wfairl.networks.epochs import one_torch_thread


@dataclass(frozen=True, eq=False)
class NodeInputs:
    """The input of a network for the transitions of a product: row = number of the node * controls + control.

    Attributes:
        numbers: the number of each node, the same for equal inputs; shape [nodes] of int32.
        controls: how many there are.
        parts: tensors with one row for each number; each network defines them.
    """

    numbers: NDArray[np.int32]
    controls: int
    parts: tuple[Tensor, ...]

    def rows(self, transitions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each transition node * controls + control, shape [transitions]."""
        return self.numbers[transitions // self.controls].astype(np.int64) * self.controls + transitions % self.controls


class CostNetwork(nn.Module, CostModel):
    """A cost that torch differentiates by its parameters."""

    def __init__(self, **sizes: int):
        super().__init__()
        self.settings = sizes

    @abstractmethod
    def inputs_of(self, product: Product) -> NodeInputs:
        """The input for the transitions of a product; a `BadInputError` if the network does not apply to its world."""

    @abstractmethod
    def preactivation(self, inputs: NodeInputs, rows: Tensor) -> Tensor:
        """z of each row, unbounded, shape [rows]; 0 means a cost of 1."""

    @classmethod
    def untrained(cls, products: Sequence[Product], settings: CostSettings) -> Self:
        with torch.random.fork_rng(devices=[]):  # leaves torch's global generator as it is
            torch.manual_seed(settings.seed)
            return super().untrained(products, settings)

    @classmethod
    def from_arrays(cls, arrays: Arrays, **settings: Any) -> Self:
        with torch.random.fork_rng(devices=[]):  # for the initial parameters, which are then replaced
            model = cls(**settings)
        model.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()}, strict=True)
        return model

    @property
    def arrays(self) -> Arrays:
        return {name: tensor.detach().numpy() for name, tensor in self.state_dict().items()}

    def inputs(self, product: Product) -> tuple[NDArray[Any], ...]:
        inputs = self.inputs_of(product)
        return inputs.numbers, *(part.numpy() for part in inputs.parts)

    def learn(self, training: CostTraining) -> TrainingResult:
        from wfairl.networks.cost_training import train_network

        return train_network(self, training)

    def __call__(self, product: Product) -> NDArray[np.float64]:
        with one_torch_thread():
            return self.table(self.inputs_of(product), np.flatnonzero(product.available))

    def costs(self, inputs: NodeInputs, transitions: NDArray[np.int64]) -> Tensor:
        """The cost of each transition node * controls + control, differentiably; shape [transitions]."""
        rows, row_of = distinct(inputs.rows(transitions))
        return costs_of(self.preactivation(inputs, rows))[row_of]

    @torch.no_grad()
    def table(self, inputs: NodeInputs, transitions: NDArray[np.int64]) -> NDArray[np.float64]:
        """The costs of some transitions for a search, shape [nodes, controls]; 1 for all others."""
        table = np.ones((len(inputs.numbers), inputs.controls))
        table.reshape(-1)[transitions] = self.costs(inputs, transitions).double().numpy()
        return table


def costs_of(z: Tensor) -> Tensor:
    """The cost of each z, as above."""
    return FLOOR + functional.softplus(z + math.log(math.expm1(1 - FLOOR)))


def distinct(numbers: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
    """The distinct numbers in ascending order, and the index of each number among them; without sorting."""
    occurs = np.zeros(numbers.max(initial=-1) + 1, bool)
    occurs[numbers] = True
    return torch.from_numpy(np.flatnonzero(occurs)), torch.from_numpy((np.cumsum(occurs) - 1)[numbers])
