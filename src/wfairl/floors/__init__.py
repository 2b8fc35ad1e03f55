"""Continuous floors: plans of rooms, roadmaps over them, recorded paths matched to them, plans refined in the plane."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "floor_plan": ("FloorPlan",),
    "refining": ("RefinedPath", "refine_path"),
    "roadmap": ("FloorScene", "Roadmap", "draw_roadmap"),
    "shapes": ("circle", "polygon", "rectangle"),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
