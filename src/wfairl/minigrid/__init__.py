"""MiniGrid and BabyAI: an exact, compiled model of their scenes, the real environment, and the paper's tasks."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "AgentAt": "propositions",
    "AgentOn": "propositions",
    "AwayFromDoor": "propositions",
    "Carrying": "propositions",
    "DoorOpen": "propositions",
    "Facing": "propositions",
    "LocalCost": "grid_costs",
    "MiniGridTask": "tasks",
    "MiniGridWorld": "world",
    "PaperCost": "grid_costs",
    "Proposition": "propositions",
    "UnknownPhysicsError": "physics",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
