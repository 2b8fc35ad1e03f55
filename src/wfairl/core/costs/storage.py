"""A cost model in one safetensors file: its parameters, and in the header its kind and settings. It can run no code."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from wfairl.core.costs.cost_model import CostModel
from wfairl.core.costs.feature_costs import PricesCost, SampledCost
from wfairl.core.support.bounds import Whole
from wfairl.core.support.documents import parse
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.registry import Registry
from wfairl.core.support.safetensors_files import read_tensors, write_tensors

FORMAT = "wfairl-cost"

COST_MODELS: Registry[type[CostModel]] = Registry(
    "cost model", {model.kind: model for model in (SampledCost, PricesCost)}
)


class BrokenCostError(BadInputError):
    """A file is not a cost model, or a truncated or changed one."""


@dataclass(frozen=True)
class _Header:
    """The header of a file."""

    kind: str
    settings: dict[str, Whole | float | str]


def find_cost_model(kind: str) -> type[CostModel]:
    """The cost model of a name; an unknown name is a `BadInputError`."""
    return COST_MODELS.find(kind)


def register_cost_model(model: type[CostModel]) -> type[CostModel]:
    """Register a cost model of your own; a kind that is taken is a `BadInputError`."""
    return COST_MODELS.register(model.kind, model)


def save_cost(model: CostModel, path: Path) -> None:
    """Write a cost model, atomically."""
    write_tensors(path, FORMAT, model.state_dict(), {"kind": model.kind, "settings": model.settings})


def load_cost(path: Path) -> CostModel:
    """Read a cost model.

    Raises:
        BrokenCostError: names the file and what is wrong with it.
    """
    tensors, header = read_tensors(path, FORMAT, BrokenCostError)
    try:
        parsed: _Header = parse(_Header, header)
        kind, settings = find_cost_model(parsed.kind), dict[str, Any](parsed.settings)
        _check_sizes(kind, settings, tensors)
        with torch.random.fork_rng(devices=[]):  # for the initial parameters, which are then replaced
            model = kind(**settings)
        model.load_state_dict(tensors, strict=True)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise BrokenCostError(f"{path}: a broken cost model ({reason}); train it again") from None
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise BrokenCostError(f"{path}: {name} holds numbers that are not finite; train it again")
    return model


def _check_sizes(kind: type[CostModel], settings: dict[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Refuse a damaged header that declares more than the file holds, before anything is allocated for it."""
    elements = sum(tensor.numel() for tensor in tensors.values())
    sizes = {name: value for name, value in settings.items() if isinstance(value, int)}
    for name, value in sizes.items():
        if not 0 < value <= elements:
            raise ValueError(f"{name} cannot be {value}")
    # Not by making the model on torch's "meta" device and looking: that imports two seconds of torch's compiler.
    for name, shape in kind.shapes(**sizes).items():
        if name not in tensors:
            raise ValueError(f"{name} is missing")
        if tuple(tensors[name].shape) != shape:
            raise ValueError(f"{name} has the shape {tuple(tensors[name].shape)} where its settings ask for {shape}")
