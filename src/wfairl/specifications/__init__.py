"""Automata exchanged with other tools, compared, and explained."""

from wfairl.core.support.imports import load_lazily

_MODULES = {"symbolic": ("same_words",)}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
