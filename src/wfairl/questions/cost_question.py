"""The question about the cost that is worth most: two ways to do the task in one scene, which would you rather take?

The samples s of a learned cost disagree on the cost c_s of a path. In each scene, the plans that are best under some
sample are the candidates, and the agent takes the one of least mean cost. An answer weighs the samples by

    p_s = 1 / (1 + exp((c_s(one) - c_s(other)) / temperature_s))

so that the agent may take other plans. The worth of a question is by how much that is expected to lower the mean cost
of a plan, in plain steps a scene, over all scenes, and a little for its information: the entropy of the answer minus
the mean entropy of each sample's answer, in nats.
"""

from collections.abc import Sequence
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

LEAST_WORTH = 0.01
"""Plain steps a scene below which a question is not asked."""


class _Ways(NamedTuple):
    """The candidates of a scene: controls of each, and costs under each sample, shape [candidates, samples]."""

    seed: int
    controls: tuple[tuple[int, ...], ...]
    costs: NDArray[np.float64]


def find_cost_question(
    cost: SampledCost, automaton: Automaton, task: Task, seeds: Sequence[int], n_jobs: int = 2
) -> CostQuestion | None:
    """The question that is worth most under a learned cost, or None if no answer would change a plan.

    Both ways fulfil the automaton. The scenes of the seeds are those to choose from, and stand for those to come.
    """
    if len(cost.weights) == 1:
        return None
    ways = [one for one in map_in_threads(lambda seed: _ways(cost, automaton, task, seed), seeds, n_jobs) if one]
    kept = np.linspace(0, len(cost.weights) - 1, WEIGHED_SAMPLES).astype(int)
    temperatures = cost.temperatures[kept]
    now = _least_mean(ways, np.full(len(kept), 1 / len(kept)))
    best: tuple[float, float, float, _Ways, int, int] | None = None
    for one in ways:
        for i, j in combinations(range(len(one.controls)), 2):
            prefers = 1 / (1 + np.exp(np.clip((one.costs[i] - one.costs[j]) / temperatures, -500, 500)))
            share = float(prefers.mean())
            if 0 < share < 1:
                after = [_least_mean(ways, weight / weight.sum()) for weight in (prefers, 1 - prefers)]
                worth = (now - share * after[0] - (1 - share) * after[1]) / len(ways)
                information = float(_entropy(share) - _entropy(prefers).mean())
                worth += STEPS_OF_NAT * information
                if best is None or worth > best[0]:
                    best = worth, information, share, one, i, j
    if best is None or best[0] < LEAST_WORTH:
        return None
    worth, information, share, one, i, j = best
    world = task.make_world(one.seed)
    first, second = one.controls[i], one.controls[j]
    labels = follow(world, first, automaton).labels, follow(world, second, automaton).labels
    return CostQuestion(one.seed, first, second, labels, share, information, worth)


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


def _least_mean(ways: Sequence[_Ways], weight: NDArray[np.float64]) -> float:
    """The sum over scenes of the least mean cost of a candidate, the samples weighed."""
    return float(sum((one.costs @ weight).min() for one in ways))


def _entropy(probability: NDArray[np.float64] | float) -> NDArray[np.float64]:
    p = np.clip(probability, 1e-12, 1 - 1e-12)
    return np.asarray(-p * np.log(p) - (1 - p) * np.log(1 - p))
