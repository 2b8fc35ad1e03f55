"""wfairl: learn what a demonstrator was doing and what it cared about, and plan with both.

Public are the names below, each loaded when it is first used, and what a room (`wfairl.core.worlds`, ...)
or a module lists in its `__all__`. All else may change without notice.
"""

import _signal  # type: ignore[import-not-found] # built in, while `signal` imports others first
import sys

if (
    sys.orig_argv[1:3] == ["-m", "wfairl"] or any(name.endswith("/wfairl") for name in sys.orig_argv[1:2])
) and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    # This process is a command. It has nothing to clean up before `cli.main`: until then Ctrl-C just ends it.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

from typing import TYPE_CHECKING

from wfairl.core.support.imports import load_lazily
from wfairl.core.support.registry import offer
from wfairl.neighbours import OFFERS

if TYPE_CHECKING:  # what type checkers and editors see
    from wfairl.core.automata.rules import all_of, avoid, before, then, visit_all, visit_in_order
    from wfairl.core.automata.task_model import TaskModel
    from wfairl.core.demonstrations.demonstration import Dataset
    from wfairl.core.demonstrations.learners import find_learner
    from wfairl.core.planning.cost import unit_cost
    from wfairl.core.planning.plan import find_plan
    from wfairl.core.planning.policies import PlannedPolicy
    from wfairl.core.planning.product import build_product
    from wfairl.core.planning.rollout import roll_out
    from wfairl.core.rational.caution import CautiousPolicy, DoubtfulPlanError
    from wfairl.core.worlds.graph import GraphWorld
    from wfairl.core.worlds.rendering import Places, Rendering
    from wfairl.core.worlds.task import ModelTask, Task
    from wfairl.core.worlds.world import World
    from wfairl.core.worlds.world_laws import check_world
    from wfairl.runs.collection import collect
    from wfairl.runs.evaluation import evaluate
    from wfairl.runs.methods import load_policy, train
    from wfairl.runs.task_laws import check_task
    from wfairl.runs.task_registry import find_task, register_task

__version__ = "0.2.0"

__all__ = [
    "CautiousPolicy",
    "Dataset",
    "DoubtfulPlanError",
    "GraphWorld",
    "ModelTask",
    "Places",
    "PlannedPolicy",
    "Rendering",
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
    "core.worlds.world": ("World",),
    "core.worlds.world_laws": ("check_world",),
    "core.worlds.graph": ("GraphWorld",),
    "core.worlds.rendering": ("Places", "Rendering"),
    "core.worlds.task": ("ModelTask", "Task"),
    "core.automata.rules": ("all_of", "avoid", "before", "then", "visit_all", "visit_in_order"),
    "core.automata.task_model": ("TaskModel",),
    "core.demonstrations.learners": ("find_learner",),
    "core.rational.caution": ("CautiousPolicy", "DoubtfulPlanError"),
    "core.planning.product": ("build_product",),
    "core.planning.plan": ("find_plan",),
    "core.planning.cost": ("unit_cost",),
    "core.demonstrations.demonstration": ("Dataset",),
    "runs.methods": ("load_policy", "train"),
    "core.planning.policies": ("PlannedPolicy",),
    "core.planning.rollout": ("roll_out",),
    "runs.collection": ("collect",),
    "runs.evaluation": ("evaluate",),
    "runs.task_laws": ("check_task",),
    "runs.task_registry": ("find_task", "register_task"),
}

__getattr__, __dir__, _ = load_lazily(__name__, _MODULES)

for _noun, _entries in OFFERS.items():
    offer(_noun, _entries)
