"""MiniGrid and BabyAI: an exact, compiled model of their scenes, the real environment, and the paper's tasks."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "AgentAt": "propositions",
    "AgentOn": "propositions",
    "AwayFromDoor": "propositions",
    "Carrying": "propositions",
    "DoorOpen": "propositions",
    "Facing": "propositions",
    "MiniGridTask": "tasks",
    "MiniGridWorld": "world",
    "Proposition": "propositions",
    "UnknownPhysicsError": "physics",
}

__all__ = [*_MODULES]
__getattr__, __dir__ = load_lazily(__name__, _MODULES)
