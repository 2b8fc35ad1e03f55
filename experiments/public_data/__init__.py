"""Public data that others measured on, as worlds and demonstrations; the data are not part of the package."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "PublicSource": "source",
    "SourceFile": "source",
    "TrajectorySet": "trajectories",
    "from_routes": "trajectories",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
