"""The regret of a policy, for the benchmarks of task learners."""

import numpy as np

from wfairl.core.runs import Evaluation


def mean_regret(tested: Evaluation, optimal: Evaluation) -> float | None:
    """The mean over successful episodes of their cost over the optimal one, minus 1; None without any."""
    least = {one.seed: one.cost for one in optimal.episodes if one.success}
    ratios = [one.cost / least[one.seed] - 1 for one in tested.episodes if one.success and one.seed in least]
    return float(np.mean(ratios)) if ratios else None
