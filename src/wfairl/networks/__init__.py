"""Costs as networks: the contract of a cost network, and its training by epochs of Adam."""

from importlib.util import find_spec

from wfairl.core.support.errors import MissingExtraError
from wfairl.core.support.imports import load_lazily

if find_spec("torch") is None:
    raise MissingExtraError("PyTorch", "networks")

_MODULES = {"cost_network": ("CostNetwork", "NodeInputs"), "grid_costs": ("LocalCost", "PaperCost")}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
