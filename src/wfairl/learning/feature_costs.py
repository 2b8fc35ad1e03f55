"""Costs over `world.features`, for a user's own world.

linear    raw = phi(x) . w_u + b_u
tabular   raw = one number for each distinct phi(x) met in training and each control, 0 for others
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfairl.errors import BadInputError
from wfairl.learning.cost_model import DEFAULT_ACTIVATION, DEFAULT_FLOOR, CostModel, Looks
from wfairl.planning.product import Product


class LinearCost(CostModel):
    """Linear in the features of the state, with weights of its own for every control. Looks: the features."""

    kind = "linear"

    def __init__(
        self, features: int, controls: int, floor: float = DEFAULT_FLOOR, activation: str = DEFAULT_ACTIVATION
    ):
        super().__init__(floor, activation)
        self.settings |= {"features": features, "controls": controls}
        self.weight = nn.Parameter(torch.zeros(features, controls))
        self.bias = nn.Parameter(torch.zeros(controls))

    @classmethod
    def for_products(cls, products: Sequence[Product], **settings: Any) -> Self:
        """See `CostModel`."""
        world = products[0].world
        return cls(len(world.features(world.initial_state)), len(world.controls), **settings)

    @classmethod
    def shapes(cls, **sizes: int) -> dict[str, tuple[int, ...]]:
        """See `CostModel`."""
        return {"weight": (sizes["features"], sizes["controls"])}

    def observe(self, product: Product) -> Looks:
        """See `CostModel`."""
        of_node, features = distinct_features(product)
        if features.shape[1] != len(self.weight):
            raise BadInputError(f"this cost is over {len(self.weight)} features, and the world has {features.shape[1]}")
        return Looks(of_node, (torch.from_numpy(features),))

    def raw(self, looks: Looks, rows: Tensor) -> Tensor:
        """See `CostModel`."""
        (features,) = looks.parts
        scores = features.to(self.weight.dtype) @ self.weight + self.bias
        return scores.reshape(-1)[rows]


class TabularCost(CostModel):
    """One cost for each distinct vector of features and each control. Looks: number of the vector, or one past the end.

    Attributes:
        known: the vectors of features that it has entries for, shape [entries, features].
    """

    kind = "tabular"
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
        """A table with an entry for everything that can be met in these products."""
        met = np.unique(np.concatenate([distinct_features(product)[1] for product in products]), axis=0)
        entries, features = met.shape
        model = cls(entries, features, len(products[0].world.controls), **settings)
        model.known.copy_(torch.from_numpy(met))
        return model

    @classmethod
    def shapes(cls, **sizes: int) -> dict[str, tuple[int, ...]]:
        """See `CostModel`."""
        entries = sizes["entries"]
        return {"known": (entries, sizes["features"]), "entries": (entries, sizes["controls"])}

    def observe(self, product: Product) -> Looks:
        """See `CostModel`."""
        of_node, features = distinct_features(product)
        if features.shape[1] != self.known.shape[1]:
            raise BadInputError(
                f"this cost is over {self.known.shape[1]} features, and the world has {features.shape[1]}"
            )
        # Adding zero turns -0 into 0: equal vectors have equal bytes.
        numbers = {row.tobytes(): number for number, row in enumerate(self.known.double().numpy() + 0.0)}
        found = [numbers.get(row.tobytes(), len(numbers)) for row in features + 0.0]
        return Looks(of_node, (torch.tensor(found),))

    def raw(self, looks: Looks, rows: Tensor) -> Tensor:
        """See `CostModel`."""
        (numbers,) = looks.parts
        controls = self.entries.shape[1]
        unknown = self.entries.new_zeros(1, controls)
        return torch.cat([self.entries, unknown])[numbers[rows // controls], rows % controls]


def distinct_features(product: Product) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The number of each node's features among the distinct ones, and those, shape [distinct, features]."""
    if isinstance(product.states, tuple):
        numbers: dict[Any, int] = {}
        state_of_node = np.array([numbers.setdefault(state, len(numbers)) for state in product.states])
        states = list(numbers)
    else:
        _, first, state_of_node = np.unique(product.states, axis=0, return_index=True, return_inverse=True)
        states = [product.state(int(node)) for node in first]
    features = np.array([product.world.features(state) for state in states], np.float64)
    distinct, of_state = np.unique(features, axis=0, return_inverse=True)
    return of_state.reshape(-1)[state_of_node.reshape(-1)].astype(np.int32), distinct
