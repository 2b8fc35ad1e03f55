"""Automata exchanged with other tools, compared, and explained."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "same_words": "symbolic",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
