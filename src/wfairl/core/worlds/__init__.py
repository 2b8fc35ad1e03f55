"""Worlds: states, controls and labels; tasks, and their scenes."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "BrokenLawError": "world",
    "GraphWorld": "graph",
    "ModelSimulator": "simulator",
    "ModelTask": "task",
    "Observation": "simulator",
    "Places": "rendering",
    "Rendering": "rendering",
    "Simulator": "simulator",
    "slipping_task": "task",
    "Task": "task",
    "Tiles": "rendering",
    "TooManyNodesError": "compiled",
    "TransitionTable": "transitions",
    "World": "world",
    "all_tasks": "task_registry",
    "check_task": "task",
    "check_world": "world_laws",
    "explore_world": "graph",
    "find_task": "task_registry",
    "load_tasks": "task_registry",
    "register_task": "task_registry",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
