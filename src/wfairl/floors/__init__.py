"""Continuous floors: plans of rooms, roadmaps over them, recorded paths matched to them, plans refined in the plane."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "FloorPlan": "floor_plan",
    "FloorScene": "roadmap",
    "RefinedPath": "refining",
    "Roadmap": "roadmap",
    "circle": "shapes",
    "draw_roadmap": "roadmap",
    "polygon": "shapes",
    "rectangle": "shapes",
    "refine_path": "refining",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
