"""wfairl: learn what a demonstrator was doing and what it cared about, and plan with both.

Public are the names below, each loaded when it is first used, and what a room (`wfairl.worlds`, `wfairl.automata`, ...)
or a module lists in its `__all__`. All else may change without notice.
"""

from typing import TYPE_CHECKING

from wfairl.lazy_names import load_lazily

if TYPE_CHECKING:  # what type checkers and editors see
    from wfairl.automata.rules import all_of, avoid, before, then, visit_all, visit_in_order
    from wfairl.automata.task_model import TaskModel
    from wfairl.demonstrations.collection import collect
    from wfairl.demonstrations.demonstration import Dataset
    from wfairl.evaluation.evaluate import evaluate
    from wfairl.evaluation.policies import PlannedPolicy
    from wfairl.evaluation.rollout import roll_out
    from wfairl.logic.caution import CautiousPolicy
    from wfairl.logic.learners import find_learner
    from wfairl.methods import load_policy, train
    from wfairl.planning.cost import unit_cost
    from wfairl.planning.plan import find_plan
    from wfairl.planning.product import build_product
    from wfairl.worlds.graph import GraphWorld
    from wfairl.worlds.registry import find_task, register_task
    from wfairl.worlds.task import ModelTask, Task, check_task
    from wfairl.worlds.world import World, check_world

__version__ = "0.2.0"

__all__ = [
    "CautiousPolicy",
    "Dataset",
    "GraphWorld",
    "ModelTask",
    "PlannedPolicy",
    "Task",
    "TaskModel",
    "World",
    "__version__",
    "all_of",
    "avoid",
    "before",
    "build_product",
    "check_task",
    "check_world",
    "collect",
    "evaluate",
    "find_learner",
    "find_plan",
    "find_task",
    "load_policy",
    "register_task",
    "roll_out",
    "then",
    "train",
    "unit_cost",
    "visit_all",
    "visit_in_order",
]

_MODULES = {
    "World": "worlds.world",
    "check_world": "worlds.world",
    "GraphWorld": "worlds.graph",
    "Task": "worlds.task",
    "ModelTask": "worlds.task",
    "check_task": "worlds.task",
    "find_task": "worlds.registry",
    "register_task": "worlds.registry",
    "visit_in_order": "automata.rules",
    "visit_all": "automata.rules",
    "avoid": "automata.rules",
    "before": "automata.rules",
    "all_of": "automata.rules",
    "then": "automata.rules",
    "TaskModel": "automata.task_model",
    "find_learner": "logic.learners",
    "CautiousPolicy": "logic.caution",
    "build_product": "planning.product",
    "find_plan": "planning.plan",
    "unit_cost": "planning.cost",
    "Dataset": "demonstrations.demonstration",
    "collect": "demonstrations.collection",
    "train": "methods",
    "load_policy": "methods",
    "PlannedPolicy": "evaluation.policies",
    "roll_out": "evaluation.rollout",
    "evaluate": "evaluation.evaluate",
}

__getattr__, __dir__ = load_lazily(__name__, _MODULES)
