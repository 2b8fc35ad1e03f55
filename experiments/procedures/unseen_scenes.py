"""What the experiments of this room share: a policy tested in unseen scenes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from wfairl.core.planning import Policy, expert_policy
from wfairl.core.worlds.task import Task
from wfairl.runs.collection import FIRST_TEST_SEED
from wfairl.runs.evaluation import Evaluation, evaluate

TEST_SCENES, FEWER_SCENES = 64, 8
"""The scenes of tests: all of them, and those of a quick look."""


def scenes(quick: bool, most: int = TEST_SCENES) -> range:
    """The test scenes."""
    return range(FIRST_TEST_SEED, FIRST_TEST_SEED + min(most, FEWER_SCENES if quick else TEST_SCENES))


def measure_policy(
    task: Task, policy: Policy, seeds: Sequence[int], optimal: Evaluation | None = None
) -> dict[str, Any]:
    """The share of scenes in which the true rule was kept, and the regret of these episodes, None without one.

    The regret is the true cost of an episode over the least of its scene, minus 1.
    """
    optimal = optimal or evaluate(task, expert_policy(task, 0.0), seeds, n_jobs=1)
    found = evaluate(task, policy, seeds, n_jobs=1)
    least = {one.seed: one.cost for one in optimal.episodes if one.success}
    ratios = [one.cost / least[one.seed] - 1 for one in found.episodes if one.success and one.seed in least]
    return {"kept": found.success_rate, "regret": float(np.mean(ratios)) if ratios else None}
