"""The logic of a task from a few good demonstrations: the automaton under which the demonstrators look rational."""

from wfairl.automata.automaton import DEAD, Guard
from wfairl.automata.guarded import Edge, GuardedAutomaton
from wfairl.logic.cost import LogicAndCost, learn_logic_and_cost
from wfairl.logic.evidence import BadSceneError, Scene
from wfairl.logic.plan import ArrayWorld, NoPlanError, Plan, cautious_plan, plan, untested_steps
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
    "DEAD",
    "Alternative",
    "ArrayWorld",
    "BadSceneError",
    "Edge",
    "Guard",
    "GuardedAutomaton",
    "LogicAndCost",
    "NoPlanError",
    "NothingExplainedError",
    "Plan",
    "RationalLearner",
    "RationalResult",
    "RationalSettings",
    "Scene",
    "SearchSettings",
    "Support",
    "cautious_plan",
    "learn_logic_and_cost",
    "plan",
    "untested_steps",
]
