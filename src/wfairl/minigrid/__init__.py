"""MiniGrid and BabyAI: an exact, compiled model of their scenes, the real environment, and the paper's tasks."""

from wfairl.core.support.imports import load_lazily

_MODULES = {
    "physics": ("UnknownPhysicsError",),
    "propositions": ("AgentAt", "AgentOn", "AwayFromDoor", "Carrying", "DoorOpen", "Facing", "Proposition"),
    "tasks": ("MiniGridTask",),
    "world": ("MiniGridWorld",),
}

__getattr__, __dir__, __all__ = load_lazily(__name__, _MODULES)
