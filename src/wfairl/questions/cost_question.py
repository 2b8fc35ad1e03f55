"""The question about the cost that is worth most: some ways to do the task in one scene, which would you rather take?

The samples s of a learned cost disagree on the cost c_s of a path. In each scene, the plans that are best under some
sample are the candidates, and the agent takes the one of least mean cost. An answer weighs the samples by

    p_s(one of the ways) = exp(-c_s(one) / temperature_s) / sum over the ways of exp(-c_s(way) / temperature_s)

so that the agent may take other plans. The worth of a question is by how much that is expected to lower the mean cost
of a plan, in plain steps a scene, over all scenes, and a little for its information: the entropy of the answer minus
the mean entropy of each sample's answer, in nats. The best two ways of a scene are joined by others while that is worth
more: of two ways, an answer tells at most 0.69 nats, of four 1.39.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton
from wfairl.core.costs.feature_costs import SampledCost
from wfairl.core.planning.path import follow
from wfairl.core.planning.plan import UnsatisfiableTaskError, find_plan
from wfairl.core.planning.product import build_product, states_alone
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.worlds.task import Task
from wfairl.questions.question import CostQuestion

PLANNED_SAMPLES, WEIGHED_SAMPLES = 30, 200
"""Samples whose plans are candidates, and samples with which they are weighed."""

STEPS_OF_NAT = 0.1
"""What a nat is worth beyond the next plans, in plain steps a scene: some questions pay only together with others."""

MOST_WAYS = 4
"""What a person can still compare."""

LEAST_WORTH = 0.01
"""Plain steps a scene below which a question is not asked."""


class _Ways(NamedTuple):
    """The candidates of a scene: controls of each, and costs under each sample, shape [candidates, samples]."""

    seed: int
    controls: tuple[tuple[int, ...], ...]
    costs: NDArray[np.float64]


class _Choice(NamedTuple):
    """Some candidates of a scene to choose from, what the answer is worth, and how likely each is to be chosen."""

    worth: float
    information: float
    numbers: tuple[int, ...]
    shares: NDArray[np.float64]
    among: _Ways


def find_cost_question(
    cost: SampledCost, automaton: Automaton, task: Task, seeds: Sequence[int], n_jobs: int = 2
) -> CostQuestion | None:
    """The question that is worth most under a learned cost, or None if no answer would change a plan.

    All ways fulfil the automaton. The scenes of the seeds are those to choose from, and stand for those to come.
    """
    if len(cost.weights) == 1:
        return None
    ways = [one for one in map_in_threads(lambda seed: _ways(cost, automaton, task, seed), seeds, n_jobs) if one]
    kept = np.linspace(0, len(cost.weights) - 1, WEIGHED_SAMPLES).astype(int)
    weigh = partial(_weigh, _Scenes(ways), cost.temperatures[kept])
    choices = [_most_telling(weigh, one) for one in ways if len(one.controls) > 1]
    best = max(choices, key=lambda one: one.worth, default=None)
    if best is None or best.worth < LEAST_WORTH:
        return None
    world = task.make_world(best.among.seed)
    asked = tuple(best.among.controls[number] for number in best.numbers)
    labels = tuple(follow(world, controls, automaton).labels for controls in asked)
    shares = tuple(best.shares.tolist())
    return CostQuestion(best.among.seed, asked, labels, shares, best.information, best.worth)


def _most_telling(weigh: Callable[[_Ways, tuple[int, ...]], _Choice], among: _Ways) -> _Choice:
    """The best two candidates of a scene, joined by others while an answer is worth more with them."""
    numbers = range(len(among.controls))
    best = max((weigh(among, pair) for pair in combinations(numbers, 2)), key=lambda one: one.worth)
    while len(best.numbers) < min(MOST_WAYS, len(numbers)):
        joined = (weigh(among, (*best.numbers, other)) for other in numbers if other not in best.numbers)
        more = max(joined, key=lambda one: one.worth)
        if more.worth <= best.worth:
            break
        best = more
    return best


class _Scenes:
    """The candidates of all scenes, and the least mean cost of one in each scene, summed over scenes.

    Attributes:
        costs: shape [candidates of all scenes, samples].
        first: the first candidate of each scene.
    """

    def __init__(self, ways: Sequence[_Ways]):
        self.costs = np.concatenate([one.costs for one in ways])
        self.first = np.cumsum([0, *(len(one.costs) for one in ways[:-1])])

    def least_means(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Under some weights of the samples; [samples, weights] -> [weights]."""
        return np.minimum.reduceat(self.costs @ weights, self.first).sum(axis=0)


def _weigh(scenes: _Scenes, temperatures: NDArray[np.float64], among: _Ways, numbers: tuple[int, ...]) -> _Choice:
    """What it is worth to ask which of some candidates one would rather take."""
    gains = -among.costs[list(numbers)] / temperatures
    chances = np.exp(gains - gains.max(axis=0))
    chances /= chances.sum(axis=0)
    shares, samples = chances.mean(axis=1), len(temperatures)
    now = scenes.least_means(np.full((samples, 1), 1 / samples))[0]
    after = scenes.least_means(chances.T / samples).sum()  # weights that are not divided by their sum, the share
    information = float(_entropy(shares) - _entropy(chances).mean())
    worth = float(now - after) / len(scenes.first) + STEPS_OF_NAT * information
    return _Choice(worth, information, numbers, shares, among)


def _ways(cost: SampledCost, automaton: Automaton, task: Task, seed: int) -> _Ways | None:
    """The plans that are best under some sample, or under the mean."""
    world = task.make_world(seed)
    product = build_product(world, automaton)
    plans: dict[tuple[int, ...], None] = {}
    samples = np.linspace(0, len(cost.weights) - 1, PLANNED_SAMPLES).astype(int)
    try:
        for model in (cost, *(cost.sample(i) for i in samples)):
            plans.setdefault(tuple(find_plan(product, model(product)).path.controls))
    except UnsatisfiableTaskError:
        return None
    costs = []
    kept = np.linspace(0, len(cost.weights) - 1, WEIGHED_SAMPLES).astype(int)
    for controls in plans:
        states = states_alone(world, follow(world, controls, automaton).states[:-1])
        row, under_samples = cost.under_samples(states)
        steps = row[np.arange(len(controls)) * len(world.controls) + np.array(controls)]
        costs.append(under_samples[steps][:, kept].sum(axis=0))
    return _Ways(seed, tuple(plans), np.array(costs))


def _entropy(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each column of chances."""
    return -(chances * np.log(np.maximum(chances, 1e-300))).sum(axis=0)
