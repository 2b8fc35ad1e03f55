"""Worlds: states, controls and labels; tasks, and their scenes."""

from wfairl.worlds.compiled import TooManyNodesError
from wfairl.worlds.exploring import explore_world
from wfairl.worlds.graph import GraphWorld
from wfairl.worlds.registry import all_tasks, find_task, load_tasks, register_task
from wfairl.worlds.simulator import ModelSimulator, Observation, Simulator
from wfairl.worlds.task import ModelTask, Task, check_task
from wfairl.worlds.transitions import TransitionTable
from wfairl.worlds.world import BrokenLawError, World, check_world

__all__ = [
    "BrokenLawError",
    "GraphWorld",
    "ModelSimulator",
    "ModelTask",
    "Observation",
    "Simulator",
    "Task",
    "TooManyNodesError",
    "TransitionTable",
    "World",
    "all_tasks",
    "check_task",
    "check_world",
    "explore_world",
    "find_task",
    "load_tasks",
    "register_task",
]
