"""Worlds: states, controls and labels; tasks, and their scenes."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "compiled": ("TooManyNodesError",),
    "graph": ("GraphWorld", "explore_world"),
    "rendering": ("Places", "Rendering", "Tiles"),
    "simulator": ("ModelSimulator", "Observation", "Simulator"),
    "task": ("ModelTask", "Task"),
    "transitions": ("TransitionTable",),
    "world": ("BrokenLawError", "World"),
    "world_laws": ("check_world",),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
