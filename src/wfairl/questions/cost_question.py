"""The question about the cost that is worth most: some ways to do the task in one scene, which would you rather take?

The samples s of a learned cost disagree on the cost c_s of a path. In each scene, the plans that are best under some
sample are the candidates, and the agent takes the one of least mean cost. An answer weighs the samples by

    p_s(one of the ways) = exp(-c_s(one) / temperature_s) / sum over the ways of exp(-c_s(way) / temperature_s)

so that the agent may take other plans. The worth of a question is by how much that is expected to lower the mean cost
of a plan, in plain steps a scene, over all scenes, and a little for its information: the entropy of the answer minus
the mean entropy of each sample's answer, in nats. The best two ways of a scene are joined by others while that is worth
more: of two ways, an answer tells at most 0.69 nats, of four 1.39.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton
from wfairl.core.costs.feature_costs import SampledCost
from wfairl.core.planning.path import follow
from wfairl.core.planning.plan import UnsatisfiableTaskError, find_plan
from wfairl.core.planning.product import build_product, states_alone
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.worlds.task import Task
from wfairl.questions.question import CostQuestion, entropy

PLANNED_SAMPLES, WEIGHED_SAMPLES = 30, 200
"""Samples whose plans are candidates, and samples with which they are weighed."""

STEPS_OF_NAT = 0.1
"""What a nat is worth beyond the next plans, in plain steps a scene: some questions pay only together with others."""

MOST_WAYS = 4
"""What a person can still compare."""

LEAST_WORTH = 0.01
"""Plain steps a scene below which a question is not asked."""

Way = tuple[int, ...]
"""The controls of a candidate."""

Candidates = Mapping[Way, NDArray[np.float64]]
"""The candidates of a scene, and the cost of each under each sample, [samples]."""


def find_cost_question(
    cost: SampledCost, automaton: Automaton, task: Task, seeds: Sequence[int], n_jobs: int = 2
) -> CostQuestion | None:
    """The question that is worth most under a learned cost, or None if no answer would change a plan.

    All ways fulfil the automaton. The scenes of the seeds are those to choose from, and stand for those to come.
    """
    if len(cost.weights) == 1:
        return None
    found = map_in_threads(lambda seed: _candidates(cost, automaton, task, seed), seeds, n_jobs)
    scenes = {seed: one for seed, one in zip(seeds, found, strict=True) if one}
    costs = np.array([row for one in scenes.values() for row in one.values()])
    first = np.cumsum([0, *map(len, scenes.values())])[:-1]

    def mean_cost(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The least mean cost under weights of the samples, a mean over scenes; [samples, weights] -> [weights]."""
        return np.minimum.reduceat(costs @ weights, first).mean(axis=0)

    weigh = partial(_weigh, mean_cost, cost.temperatures[_spread(cost, WEIGHED_SAMPLES)])
    questions = [_most_telling(partial(weigh, seed, one), one) for seed, one in scenes.items() if len(one) > 1]
    best = max(questions, key=lambda one: one.worth, default=None)
    if best is None or best.worth < LEAST_WORTH:
        return None
    world = task.make_world(best.seed)
    return replace(best, labels=tuple(follow(world, controls, automaton).labels for controls in best.ways))


def _candidates(cost: SampledCost, automaton: Automaton, task: Task, seed: int) -> Candidates:
    """The plans that are best under some sample, or under the mean; none if the scene has no plan."""
    world = task.make_world(seed)
    product = build_product(world, automaton)
    models = (cost, *(cost.sample(i) for i in _spread(cost, PLANNED_SAMPLES)))
    try:
        plans = dict.fromkeys(tuple(find_plan(product, model(product)).path.controls) for model in models)
    except UnsatisfiableTaskError:
        return {}
    costs = {}
    for controls in plans:
        states = states_alone(world, follow(world, controls, automaton).states[:-1])
        row, under_samples = cost.under_samples(states)
        steps = row[np.arange(len(controls)) * len(world.controls) + np.array(controls)]
        costs[controls] = under_samples[steps][:, _spread(cost, WEIGHED_SAMPLES)].sum(axis=0)
    return costs


def _spread(cost: SampledCost, count: int) -> NDArray[np.int64]:
    """The numbers of some samples of a cost."""
    return np.linspace(0, len(cost.weights) - 1, count).astype(int)


def _most_telling(weigh: Callable[[tuple[Way, ...]], CostQuestion], candidates: Candidates) -> CostQuestion:
    """The best two candidates of a scene, joined by others while an answer is worth more with them."""
    best = max(map(weigh, combinations(candidates, 2)), key=lambda one: one.worth)
    while len(best.ways) < min(MOST_WAYS, len(candidates)):
        joined = (weigh((*best.ways, other)) for other in candidates if other not in best.ways)
        more = max(joined, key=lambda one: one.worth)
        if more.worth <= best.worth:
            break
        best = more
    return best


def _weigh(
    mean_cost: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    temperatures: NDArray[np.float64],
    seed: int,
    candidates: Candidates,
    ways: tuple[Way, ...],
) -> CostQuestion:
    """The question which of some candidates one would rather take, still without labels."""
    gains = -np.array([candidates[way] for way in ways]) / temperatures
    chances = np.exp(gains - gains.max(axis=0))
    chances /= chances.sum(axis=0)
    shares, samples = chances.mean(axis=1), len(temperatures)
    now = mean_cost(np.full((samples, 1), 1 / samples))[0]
    after = mean_cost(chances.T / samples).sum()  # weights that are not divided by their sum, the share
    information = float(entropy(shares) - entropy(chances).mean())
    worth = float(now - after) + STEPS_OF_NAT * information
    return CostQuestion(seed, ways, (), tuple(shares.tolist()), information, worth)
