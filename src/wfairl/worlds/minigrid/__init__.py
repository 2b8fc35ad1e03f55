"""MiniGrid and BabyAI: an exact, compiled model of their scenes, the real environment, and the paper's tasks."""

from wfairl.worlds.minigrid.environment import UnknownPhysicsError
from wfairl.worlds.minigrid.propositions import AgentAt, AgentOn, AwayFromDoor, Carrying, DoorOpen, Facing, Proposition
from wfairl.worlds.minigrid.tasks import MiniGridTask
from wfairl.worlds.minigrid.world import MiniGridWorld

__all__ = [
    "AgentAt",
    "AgentOn",
    "AwayFromDoor",
    "Carrying",
    "DoorOpen",
    "Facing",
    "MiniGridTask",
    "MiniGridWorld",
    "Proposition",
    "UnknownPhysicsError",
]
