"""The contract of a learnable cost c_theta(x, u), the cost models by name, and their files.

A cost model is a cost as planners take it: called with a product, it gives the cost of every transition, each at least
the floor. It brings its own estimator: `learn` takes demonstrations on their products and returns a learned model.
Before training, all controls cost 1. A file holds the arrays of a model, and in its header the kind and the settings.

To add a cost model, subclass one of these and call `register_cost_model`:

    CostModel            any cost
    CostOverFeatures     a few weights that are estimated from all demonstrations at once (`feature_costs`)
    PricesCost           prices of amounts of your own (`feature_costs`)

`wfairl train --cost KIND` and `wfairl run --cost KIND` then find it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from wfairl.core.planning.cost import CostScope
from wfairl.core.planning.product import Product
from wfairl.core.support.bounds import Whole
from wfairl.core.support.documents import parse
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.registry import Registry
from wfairl.core.support.safetensors_files import Arrays, read_arrays, write_arrays

if TYPE_CHECKING:
    from wfairl.core.costs.settings import CostSettings
    from wfairl.core.costs.training import CostTraining, TrainingResult

FLOOR = 0.05
"""The least cost of a transition."""

FORMAT, VERSION = "wfairl-cost", 1


class BrokenCostError(BadInputError):
    """A file is not a cost model, or a truncated or changed one, or of a kind that is not registered."""


class CostModel(ABC):
    """A cost c_theta(x, u) of at least a floor.

    Attributes:
        scope: what it depends on.
        kind: its name in files and on the command line.
        settings: the arguments that make an untrained model of the same shape: numbers and texts.
        size_names: those settings that are sizes. A file in which one is below 0, or above the number of array
            elements, is refused.
    """

    scope: ClassVar[CostScope] = CostScope.LOCAL
    kind: ClassVar[str]
    size_names: ClassVar[tuple[str, ...]] = ()
    settings: dict[str, Any]

    @classmethod
    @abstractmethod
    def for_products(cls, products: Sequence[Product]) -> Self:
        """An untrained model that fits some products."""

    @classmethod
    def untrained(cls, products: Sequence[Product], settings: "CostSettings") -> Self:  # noqa: ARG003 - for networks
        """An untrained model that fits some products, the same for the same settings."""
        return cls.for_products(products)

    @classmethod
    def shapes(cls, **sizes: int) -> dict[str, tuple[int, ...]]:  # noqa: ARG003 - for models that have sizes
        """The shapes of the arrays that grow with the sizes, by name.

        A file is checked against them before a model of that size is allocated.
        """
        return {}

    @abstractmethod
    def __call__(self, product: Product) -> NDArray[np.float64]:
        """The costs of a product, shape [nodes, controls], or [nodes, effects] where the world slips.

        A transition that is not available costs 1: it counts in the mean cost of a step (`caution`).

        Raises:
            BadInputError: the model does not apply to this kind of world.
        """

    @abstractmethod
    def learn(self, training: "CostTraining") -> "TrainingResult":
        """A model of the same kind that explains demonstrations; this one stays as it is."""

    @property
    @abstractmethod
    def arrays(self) -> Arrays:
        """What was learned, by name, for a file."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Arrays, **settings: Any) -> Self:
        """The model of a file; arrays of other names or shapes are a KeyError, ValueError or RuntimeError."""

    @abstractmethod
    def inputs(self, product: Product) -> Sequence[NDArray[Any]]:
        """What it sees of a product, for a digest."""


COST_MODELS: Registry[type[CostModel]] = Registry(
    "cost model",
    {"auto": "wfairl.core.costs.feature_costs:SampledCost", "prices": "wfairl.core.costs.feature_costs:PricesCost"},
)


def register_cost_model(model: type[CostModel]) -> type[CostModel]:
    """Register a cost model of your own; a kind that is taken is a `BadInputError`."""
    return COST_MODELS.register(model.kind, model)


@dataclass(frozen=True)
class _Header:
    """The header of a file."""

    kind: str
    settings: dict[str, Whole | float | str]


def save_cost(model: CostModel, path: Path) -> None:
    """Write a cost model, atomically."""
    write_arrays(path, FORMAT, VERSION, {"kind": model.kind, "settings": model.settings}, model.arrays)


def load_cost(path: Path) -> CostModel:
    """Read a cost model.

    Raises:
        BrokenCostError: names the file and what is wrong with it.
    """
    header, arrays = read_arrays(path, FORMAT, VERSION, BrokenCostError)
    try:
        parsed: _Header = parse(_Header, header)
        if parsed.kind not in COST_MODELS:
            raise BrokenCostError(
                f"{path}: made with the cost model {parsed.kind!r}, which is not registered; name the file that"
                " registers it: wfairl --tasks FILE ..."
            )
        kind, settings = COST_MODELS[parsed.kind], dict[str, Any](parsed.settings)
        _check_sizes(kind, settings, arrays)
        model = kind.from_arrays(arrays, **settings)
    except BrokenCostError:
        raise
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise BrokenCostError(f"{path}: a broken cost model ({reason}); train it again") from None
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise BrokenCostError(f"{path}: {name} holds numbers that are not finite; train it again")
    return model


def _check_sizes(kind: type[CostModel], settings: dict[str, Any], arrays: Arrays) -> None:
    """Refuse a damaged header that declares more than the file holds, before anything is allocated for it."""
    elements = sum(array.size for array in arrays.values())
    sizes = {name: settings[name] for name in kind.size_names}
    for name, value in sizes.items():
        if not isinstance(value, int) or not 0 <= value <= elements:
            raise ValueError(f"{name} cannot be {value}")
    for name, shape in kind.shapes(**sizes).items():
        if name not in arrays:
            raise ValueError(f"{name} is missing")
        if arrays[name].shape != shape:
            raise ValueError(f"{name} has the shape {arrays[name].shape} where its settings ask for {shape}")
        if 0 in shape:
            raise ValueError(f"{name} is empty")
