"""The logic of a task from a few good demonstrations: the automaton under which the demonstrators look rational."""

from wfairl.logic.alternation import Explanation, learn_logic_and_cost
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
