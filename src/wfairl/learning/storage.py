"""A cost model in one safetensors file: its parameters, and in the header what it is. It can run no code."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from wfairl.errors import BadInputError
from wfairl.files import read_bytes, write_atomically
from wfairl.learning.cost_model import CostModel
from wfairl.learning.feature_costs import LinearCost, TabularCost
from wfairl.learning.grid_costs import LocalCost, PaperCost

FORMAT = "wfairl-cost"
VERSION = "1"

COST_MODELS: dict[str, type[CostModel]] = {
    model.kind: model for model in (PaperCost, LocalCost, LinearCost, TabularCost)
}
"""The kinds of cost models, by the name that files and the command line have for them."""


class BrokenCostError(BadInputError):
    """A file is not a cost model, or one that was cut or changed."""


def find_cost_model(kind: str) -> type[CostModel]:
    """The cost model of a name.

    Raises:
        BadInputError: there is none.
    """
    if kind not in COST_MODELS:
        raise BadInputError(f"unknown cost model {kind!r}; known are {', '.join(COST_MODELS)}")
    return COST_MODELS[kind]


def save_cost(model: CostModel, path: Path) -> None:
    """Write a cost model, atomically."""
    metadata = {"format": FORMAT, "version": VERSION, "kind": model.kind, "settings": json.dumps(model.settings)}
    write_atomically(path, to_bytes(model.state_dict(), metadata))


def load_cost(path: Path) -> CostModel:
    """Read a cost model.

    Raises:
        BrokenCostError: names the file and what is wrong with it.
    """
    tensors, metadata = read_tensors(path, BrokenCostError)
    if metadata.get("format") != FORMAT:
        raise BrokenCostError(f"{path}: not a cost model; `wfairl train` writes one")
    if metadata.get("version") != VERSION:
        raise BrokenCostError(f"{path}: format version {metadata.get('version')}, and this wfairl reads {VERSION}")
    try:
        kind = find_cost_model(metadata["kind"])
        with torch.device("meta"):  # shapes only: a broken header must not allocate anything
            model = kind(**json.loads(metadata["settings"]))
        model.load_state_dict(tensors, strict=True, assign=True)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise BrokenCostError(f"{path}: a broken cost model ({reason}); train it again") from None
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise BrokenCostError(f"{path}: {name} holds numbers that are not finite; train it again")
    return model


def read_tensors(path: Path, error: type[BadInputError]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the metadata of a safetensors file.

    Raises:
        BadInputError: the file is missing; or, as the given error, cut short or damaged.
    """
    read_bytes(path)  # a missing or unreadable file is named here
    try:
        with safe_open(path, framework="pt") as file:
            # Cloned into torch's own aligned memory: kernels round differently where memory is not aligned.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 - not a mapping
            return tensors, file.metadata() or {}
    except SafetensorError as problem:
        raise error(f"{path}: cut short, damaged, or not a safetensors file ({problem})") from None
