"""Costs as networks: the contract of a cost network, and its training by epochs of Adam."""

from wfairl.core.support.imports import load_lazily

_MODULES = {"CostNetwork": "cost_network", "NodeInputs": "cost_network"}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
