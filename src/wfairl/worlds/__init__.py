"""What can happen: states, controls and labels."""

from wfairl.worlds.minigrid import MiniGridWorld
from wfairl.worlds.minigrid_environment import UnknownPhysicsError
from wfairl.worlds.tasks import Rule, Task, all_tasks, find_task, register_task
from wfairl.worlds.world import ACCEPTED, DEAD, BrokenLawError, Label, TooManyNodesError, World, check_world

__all__ = [
    "ACCEPTED",
    "DEAD",
    "BrokenLawError",
    "Label",
    "MiniGridWorld",
    "Rule",
    "Task",
    "TooManyNodesError",
    "UnknownPhysicsError",
    "World",
    "all_tasks",
    "check_world",
    "find_task",
    "register_task",
]
