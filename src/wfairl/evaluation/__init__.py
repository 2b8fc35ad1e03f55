"""Agents run in the real environment, and how well they did."""

from wfairl.evaluation.evaluate import Episode, Evaluation, evaluate, run_episode
from wfairl.evaluation.policies import PlannedPolicy, Policy, RandomPolicy, expert_policy

__all__ = [
    "Episode",
    "Evaluation",
    "PlannedPolicy",
    "Policy",
    "RandomPolicy",
    "evaluate",
    "expert_policy",
    "run_episode",
]
