"""Planning in scenes too large to enumerate."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "FocusedPlanner": "planner",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
