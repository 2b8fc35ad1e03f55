"""Policies run in simulators, and how well they did."""

from wfairl.evaluation.evaluate import Episode, Evaluation, evaluate
from wfairl.evaluation.policies import PlannedPolicy, Policy, RandomPolicy, expert_policy
from wfairl.evaluation.rollout import Trajectory, roll_out

__all__ = [
    "Episode",
    "Evaluation",
    "PlannedPolicy",
    "Policy",
    "RandomPolicy",
    "Trajectory",
    "evaluate",
    "expert_policy",
    "roll_out",
]
