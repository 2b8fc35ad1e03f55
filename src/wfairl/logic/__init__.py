"""The logic of a task from a few good demonstrations: the automaton under which the demonstrators look rational."""

from typing import Any

from wfairl.logic.caution import CautiousPolicy
from wfairl.logic.evidence import BadSceneError, Scene
from wfairl.logic.learners import TaskLearner, find_learner, register_learner
from wfairl.logic.rational import (
    Alternative,
    NothingExplainedError,
    RationalLearner,
    RationalResult,
    RationalSettings,
)
from wfairl.logic.search import SearchSettings
from wfairl.logic.support import Support

__all__ = [
    "Alternative",
    "BadSceneError",
    "CautiousPolicy",
    "Explanation",
    "NothingExplainedError",
    "RationalLearner",
    "RationalResult",
    "RationalSettings",
    "Scene",
    "SearchSettings",
    "Support",
    "TaskLearner",
    "find_learner",
    "learn_logic_and_cost",
    "register_learner",
]


def __getattr__(name: str) -> Any:
    if name in ("Explanation", "learn_logic_and_cost"):
        from wfairl.logic import alternation  # torch is slow to import, and most of this room does without it

        return getattr(alternation, name)
    raise AttributeError(f"module 'wfairl.logic' has no attribute {name!r}")
