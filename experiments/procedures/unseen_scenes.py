"""What the experiments of this room share: a policy tested in unseen scenes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from wfairl.core.planning import Policy, expert_policy
from wfairl.core.worlds.task import Task
from wfairl.runs.evaluation import Evaluation, evaluate

FIRST_TEST_SCENE, TEST_SCENES, FEWER_SCENES = 5000, 64, 8
"""The scenes of tests, from a seed on: all of them, and those of a quick look."""


def scenes(quick: bool, most: int = TEST_SCENES) -> range:
    """The test scenes."""
    return range(FIRST_TEST_SCENE, FIRST_TEST_SCENE + min(most, FEWER_SCENES if quick else TEST_SCENES))


def measure_policy(
    task: Task, policy: Policy, seeds: Sequence[int], optimal: Evaluation | None = None
) -> dict[str, Any]:
    """Fractions of the scenes in which the true rule was kept, there was no plan, or the rule was not kept in time.

    `regret` is the true cost of an episode that keeps the rule over the least of its scene, minus 1, or None.
    """
    optimal = optimal or evaluate(task, expert_policy(task, 0.0), seeds, n_jobs=1)
    found = evaluate(task, policy, seeds, n_jobs=1)
    least = {one.seed: one.cost for one in optimal.episodes if one.success}
    ratios = [one.cost / least[one.seed] - 1 for one in found.episodes if one.success and one.seed in least]
    no_plan = float(np.mean([one.outcome == "unsatisfiable" and not one.success for one in found.episodes]))
    return {
        "kept": found.success_rate,
        "no plan": no_plan,
        "broken": 1 - found.success_rate - no_plan,
        "regret": float(np.mean(ratios)) if ratios else None,
        "return": found.mean_return,
        "optimal return": optimal.mean_return,
    }
