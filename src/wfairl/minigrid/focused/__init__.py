"""Planning in scenes too large to enumerate."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "planner": ("FocusedPlanner",),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
