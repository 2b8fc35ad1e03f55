"""wfairl: learn what a demonstrator was doing and what it cared about, and plan with both.

The names below are the public surface, each loaded when it is first used; what is not among them, or not in the
documentation of one of them, may change without notice.
"""

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

_PUBLIC = {
    "World": "worlds.world",
    "check_world": "worlds.world",
    "GraphWorld": "worlds.graph",
    "explore_world": "worlds.exploring",
    "Task": "worlds.task",
    "ModelTask": "worlds.task",
    "check_task": "worlds.task",
    "find_task": "worlds.registry",
    "register_task": "worlds.registry",
    "MiniGridTask": "worlds.minigrid.tasks",
    "MiniGridWorld": "worlds.minigrid.world",
    "Simulator": "worlds.simulator",
    "Automaton": "automata.automaton",
    "visit_in_order": "automata.rules",
    "visit_all": "automata.rules",
    "avoid": "automata.rules",
    "before": "automata.rules",
    "all_of": "automata.rules",
    "then": "automata.rules",
    "TaskModel": "automata.task_model",
    "fit_task_model": "automata.task_model",
    "TaskLearner": "logic.learners",
    "find_learner": "logic.learners",
    "CautiousPolicy": "logic.caution",
    "Planner": "planning.planner",
    "build_product": "planning.product",
    "find_plan": "planning.plan",
    "unit_cost": "planning.cost",
    "Demonstration": "demonstrations.demonstration",
    "Dataset": "demonstrations.demonstration",
    "collect": "demonstrations.collection",
    "CostModel": "learning.cost_model",
    "Method": "methods.method",
    "train": "methods",
    "load_policy": "methods",
    "PlannedPolicy": "evaluation.policies",
    "roll_out": "evaluation.rollout",
    "evaluate": "evaluation.evaluate",
    "Suite": "suites.suite",
}
"""The public names, and the module of this package that defines each."""

__all__ = [*_PUBLIC, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'wfairl' has no attribute {name!r}")
    return getattr(import_module(f"wfairl.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
