"""Two policies in the same scenes: the difference between them, with confidence intervals.

The figures are those of Agarwal et al., *Deep reinforcement learning at the edge of the statistical precipice* (NeurIPS
2021; their library is rliable). Scores of a policy in a task are a matrix [training seeds, scenes].

    interquartile mean           of all scores, without the lowest and the highest quarter
    difference                   mean over scenes of (ours - others) in the same scene
    probability of improvement   that ours beats others in a scene, over all pairs of training seeds; half for a tie

All have 95 % percentile intervals of a stratified bootstrap: within each task, scenes and training seeds are drawn
again with replacement, the same scenes for both policies.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import trim_mean

from wfairl.core.runs.evaluation import Evaluation
from wfairl.core.support.errors import BadInputError

RESAMPLES = 2_000
QUARTER = 0.25
TAILS = (2.5, 97.5)

Scores = NDArray[np.float64]
"""Of one policy in one task, shape [training seeds, scenes]."""


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


@dataclass(frozen=True)
class Comparison:
    """Ours beside another policy in the same scenes; see the module."""

    difference: Estimate
    improvement: Estimate


def interquartile_mean(tasks: Sequence[Scores], resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """The interquartile mean of a policy's scores over tasks, each of which is a stratum."""
    rng, strata = np.random.default_rng(seed), [np.asarray(scores, float) for scores in tasks]
    value = _interquartile_means([scores[None] for scores in strata])
    return _interval(
        float(value[0]), _interquartile_means([_draw(one, *_indices(one, resamples, rng)) for one in strata])
    )


def compare_scores(
    ours: Sequence[Scores], others: Sequence[Scores], resamples: int = RESAMPLES, seed: int = 0
) -> Comparison:
    """Two policies in the same tasks and scenes.

    Args:
        ours, others: their scores in each task, the same scenes in both; training seeds may differ in number.
        resamples: of the bootstrap.
        seed: of its draws.

    Raises:
        BadInputError: the tasks or scenes are not the same.
    """
    rng = np.random.default_rng(seed)
    pairs = [(np.asarray(one, float), np.asarray(other, float)) for one, other in zip(ours, others, strict=True)]
    if any(one.shape[1:] != other.shape[1:] for one, other in pairs):
        raise BadInputError("policies can only be compared in the same scenes")
    exact, drawn = [], []
    for one, other in pairs:
        seeds, scenes = _indices(one, resamples, rng)
        other_seeds, _ = _indices(other, resamples, rng)
        exact.append(_by_scene(one[None], other[None]))
        drawn.append(_by_scene(_draw(one, seeds, scenes), _draw(other, other_seeds, scenes)))
    values, spreads = (np.concatenate(parts, axis=2).mean(axis=2) for parts in (exact, drawn))
    return Comparison(*(_interval(float(value[0]), spread) for value, spread in zip(values, spreads, strict=True)))


def compare_evaluations(ours: Evaluation, others: Evaluation) -> Comparison:
    """The returns of two policies that were evaluated in the same scenes.

    Raises:
        BadInputError: the scenes are not the same.
    """
    by_seed = [{episode.seed: episode.episode_return for episode in one.episodes} for one in (ours, others)]
    if by_seed[0].keys() != by_seed[1].keys():
        raise BadInputError(
            f"{ours.policy} and {others.policy} were evaluated in different scenes and cannot be compared"
        )
    one, other = (np.array([[returns[seed] for seed in sorted(returns)]]) for returns in by_seed)
    return compare_scores([one], [other])


def compare_costs(ours: Evaluation, others: Evaluation) -> Estimate | None:
    """The difference of true costs in the scenes in which both policies succeed; None if there are none."""
    by_seed = [{episode.seed: episode.cost for episode in one.episodes if episode.success} for one in (ours, others)]
    scenes = sorted(by_seed[0].keys() & by_seed[1].keys())
    if not scenes:
        return None
    one, other = (np.array([[costs[seed] for seed in scenes]]) for costs in by_seed)
    return compare_scores([one], [other]).difference


def regret_of(evaluation: Evaluation, optimal: Evaluation) -> Estimate | None:
    """How much more a policy pays than the optimal one where both succeed, as a fraction of what that pays."""
    more, least = compare_costs(evaluation, optimal), optimal.mean_cost
    return None if more is None or not least else Estimate(more.value / least, more.low / least, more.high / least)


def _indices(scores: Scores, resamples: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Training seeds and scenes drawn again, [resamples, seeds] and [resamples, scenes]."""
    seeds, scenes = scores.shape
    return rng.integers(seeds, size=(resamples, seeds)), rng.integers(scenes, size=(resamples, scenes))


def _draw(scores: Scores, seeds: NDArray[np.int64], scenes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The scores of every resample, [resamples, seeds, scenes]."""
    return scores[seeds[:, :, None], scenes[:, None, :]]


def _by_scene(ours: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Difference of the means, and fraction of the pairs in which ours is better; shape [2, resamples, scenes]."""
    gap = ours[:, :, None] - others[:, None]
    return np.stack([gap.mean(axis=(1, 2)), ((gap > 0) + 0.5 * (gap == 0)).mean(axis=(1, 2))])


def _interquartile_means(strata: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The interquartile mean of each resample of all strata together, [resamples]."""
    flat = np.concatenate([scores.reshape(len(scores), -1) for scores in strata], axis=1)
    return np.asarray(trim_mean(flat, QUARTER, axis=1))


def _interval(value: float, spread: NDArray[np.float64]) -> Estimate:
    low, high = np.percentile(spread, TAILS)
    return Estimate(value, float(low), float(high))
