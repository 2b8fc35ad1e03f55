"""Public data that others measured on, as worlds and demonstrations; the data are not part of the package."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "source": ("PublicSource", "SourceFile"),
    "trajectories": ("TrajectorySet", "from_routes"),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
