"""Two policies in the same scenes: the mean difference between them, with a confidence interval.

The 95 % percentile intervals are those of a bootstrap, which draws the scenes again with replacement.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.errors import BadInputError
from wfairl.runs.evaluation import Evaluation


@dataclass(frozen=True)
class Estimate:
    """A figure and its 95 % interval."""

    value: float
    low: float
    high: float

    def text(self, digits: int = 3, sign: str = "") -> str:
        """The figure for people, with its interval where there is one: `0.795 [0.785, 0.804]`; `sign` as in formats."""
        value, low, high = (
            f"{round(number, digits) + 0.0:{sign}.{digits}f}" for number in (self.value, self.low, self.high)
        )
        return value if low == high == value else f"{value} [{low}, {high}]"


def compare_returns(ours: Evaluation, others: Evaluation) -> Estimate:
    """The difference of returns. Raises `BadInputError` if the scenes of the policies are not the same."""
    one, other = ({episode.seed: episode.episode_return for episode in each.episodes} for each in (ours, others))
    if one.keys() != other.keys():
        raise BadInputError(
            f"{ours.policy} and {others.policy} were evaluated in different scenes and cannot be compared"
        )
    return mean_with_interval(_gaps(one, other))


def compare_costs(ours: Evaluation, others: Evaluation) -> Estimate | None:
    """The difference of true costs in the scenes in which both policies succeed; None if there are none."""
    one, other = (
        {episode.seed: episode.cost for episode in each.episodes if episode.success} for each in (ours, others)
    )
    gaps = _gaps(one, other)
    return mean_with_interval(gaps) if len(gaps) else None


def regret_of(evaluation: Evaluation, optimal: Evaluation) -> Estimate | None:
    """How much more a policy pays than the optimal one where both succeed, as a fraction of what that pays."""
    more, least = compare_costs(evaluation, optimal), optimal.mean_cost
    return None if more is None or not least else Estimate(more.value / least, more.low / least, more.high / least)


def _gaps(ours: Mapping[int, float], others: Mapping[int, float]) -> NDArray[np.float64]:
    """The differences in the scenes that both have, shape [scenes]."""
    return np.array([ours[seed] - others[seed] for seed in sorted(ours.keys() & others.keys())], np.float64)


def mean_with_interval(values: NDArray[np.float64], resamples: int = 2_000) -> Estimate:
    """The mean of values, one of each scene, with the interval of the bootstrap."""
    drawn = np.random.default_rng(0).integers(len(values), size=(resamples, len(values)))
    low, high = np.percentile(values[drawn].mean(axis=1), (2.5, 97.5))
    return Estimate(float(values.mean()), float(low), float(high))
