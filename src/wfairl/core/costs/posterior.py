"""The posterior of a cost over terms, sampled: which terms matter, by how much, and how sure that is.

A hypothesis is a set M of terms (`terms`) with a weight each, and the temperature of the demonstrators:

    c(x, u) = 1 + sum over k in M of w_k term_k(x, u),   at least the floor for all transitions of the scenes

The empty set is unit cost. Prior: sets of m terms together have a probability proportional to `ANOTHER_TERM`^m, of
which each has the same share, but less for controls by `CONTROL_ODDS` each; the logarithm of 1 + w_k, the cost where
term k is 1, is normal; the logarithm of the temperature is Cauchy around the stated one. Only costs relative to the
temperature are identified: a plain transition costs 1, and the temperature is free. The likelihood is that of the
trainer, the Boltzmann policy on the product of each scene.

A chain of Metropolis-Hastings runs on the paths that are known. Searches at samples of the chain add paths, round after
round.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfairl.core.costs.comparisons import Comparison
from wfairl.core.costs.cost_model import DEFAULT_FLOOR
from wfairl.core.costs.scene import TrainingScene
from wfairl.core.costs.terms import KnownPaths, Terms
from wfairl.core.support.compiling import njit

MEAN, SPREAD = 0.7, 1.5
"""Mean and standard deviation of the logarithm of a cost: half lie between 0.7 and 5.5, and two in three above 1."""

ANOTHER_TERM = 0.8
"""How much less likely a set of one more term is."""

TEMPERATURE_SPREAD = 0.3
"""Scale of the logarithm of the temperature."""

CONTROL_ODDS = 0.25
"""How much less likely it is that a control matters than that a feature does, which somebody named on purpose."""

LARGEST = 6.0
"""Of the logarithm of a cost; what costs more is never chosen."""

UNDECIDED_NATS = 1.35
"""By how much less likely the end of a one-sided interval of 95 % is, half of the 90 % quantile of chi-squared."""

RESCALED = 0.9
"""Moves of the chain above this number change the temperature along with all costs."""

LIKELIEST = 20
"""Samples from which the end of an interval is sought."""

ROUNDS, SEARCHES = 4, 6
"""Chains, each after searches at so many samples of the one before."""

LEAST_STEPS, MOST_STEPS, WORK, WORK_OF_PAIR = 3_000, 40_000, 60_000_000, 8
"""Of the last chain. Few demonstrations leave much open, and a step is fast: its work is that of a path for each path
and of some more for each pair of a step and a control."""

KEPT = 200
"""Samples that are kept."""


@dataclass(frozen=True, eq=False)
class CostSamples:
    """Samples of the posterior.

    Attributes:
        constant, weight: the posterior mean of a cost's constant, and of the weights of features and controls; shapes
            [1] and [features + controls].
        weights: of the features and controls, 0 for those outside the set; shape [samples, features + controls].
        temperatures: shape [samples].
        plain, extreme, open_end: see `SampledCost`; shape [features + controls].
        searches: of all scenes.
    """

    constant: NDArray[np.float64]
    weight: NDArray[np.float64]
    weights: NDArray[np.float64]
    temperatures: NDArray[np.float64]
    plain: NDArray[np.float64]
    extreme: NDArray[np.float64]
    open_end: NDArray[np.float64]
    searches: int

    @cached_property
    def unit_probability(self) -> float:
        """The posterior probability that all transitions cost the same."""
        return float((self.weights == 0).all(axis=1).mean())


def sample_costs(
    scenes: Sequence[TrainingScene],
    temperature: float,
    rng: np.random.Generator,
    n_jobs: int = 2,
    comparisons: Sequence[Comparison] = (),
) -> CostSamples:
    """Samples of the cost of the demonstrators.

    Args:
        scenes: the demonstrations on their products.
        temperature: of the demonstrators, as far as it is known.
        rng: draws the samples.
        n_jobs: scenes to search at once; it changes nothing in the result.
        comparisons: of paths, by the demonstrators.
    """
    terms = Terms([*(one.product for one in scenes), *(one.product for one in comparisons)])
    paths = KnownPaths(scenes, terms, n_jobs, comparisons)
    chain = _Chain(terms, paths, temperature, rng)
    alone = np.eye(len(terms))
    paths.search([np.zeros(len(terms)), *alone * math.expm1(SPREAD), *alone * math.expm1(-SPREAD)])
    for _ in range(ROUNDS - 1 if len(terms) else 0):
        weights = chain.run(1 / ROUNDS)[0]
        paths.search(list(weights[rng.choice(len(weights), SEARCHES)]))
    states = [one[len(one) // 5 :] for one in chain.run(1.0)]
    weights, log_temperatures, log_likelihoods = (one[np.linspace(0, len(one) - 1, KEPT).astype(int)] for one in states)
    constant, weight = terms.to_features(states[0].mean(axis=0, keepdims=True))
    return CostSamples(
        constant,
        weight[0],
        terms.to_features(weights)[1],
        temperature * np.exp(log_temperatures),
        terms.spread(terms.shifts),
        terms.spread(terms.shifts + terms.scales),
        terms.spread(chain.open_ends(weights, log_temperatures, log_likelihoods)),
        paths.searches,
    )


class _Chain:
    """Metropolis-Hastings over sets, costs and temperature; it goes on where it stood, with all paths known by then."""

    def __init__(self, terms: Terms, paths: KnownPaths, temperature: float, rng: np.random.Generator):
        self.terms, self.paths, self.temperature, self.rng = terms, paths, temperature, rng
        self.log_costs = np.zeros(len(terms))  # 0 for terms outside the set
        self.log_temperature = np.zeros(1)
        self.log_odds = np.where(terms.is_control, math.log(CONTROL_ODDS), 0.0)
        # Coefficients of prod (x + odds): the sums over all sets of each size.
        sets = np.poly(-np.exp(self.log_odds))[: len(terms) + 1]
        self.log_prior = np.arange(len(terms) + 1) * math.log(ANOTHER_TERM) - np.log(sets)

    def run(self, share: float) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Weights of terms, logarithms of temperatures and log likelihoods of states, a share of a whole chain."""
        decisions = self.paths.decisions()
        work = decisions.sums.shape[1] + WORK_OF_PAIR * decisions.counts.size
        steps = int(share * min(max(WORK // work, LEAST_STEPS), MOST_STEPS))
        record = np.empty((steps, len(self.terms))), np.empty(steps), np.empty(steps)
        _walk(
            *decisions,
            np.ascontiguousarray(self.terms.kinds.T),
            self.temperature,
            self.log_odds,
            self.log_prior,
            self.log_costs,
            self.log_temperature,
            self.rng,
            *record,
        )
        return record

    def open_ends(
        self, weights: NDArray[np.float64], log_temperatures: NDArray[np.float64], log_likelihoods: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """1 for terms that may as well cost any amount more, by the likelihood alone, -1 for next to nothing, else 0.

        The cost of a term has no end if samples remain about as likely as the likeliest with that cost at its limit.
        """
        ends, limits = np.zeros(len(self.terms)), {1.0: math.expm1(LARGEST), -1.0: DEFAULT_FLOOR - 1.0}
        asked = [
            (term, 1.0 if (weights[:, term] > 0).mean() >= 0.5 else -1.0)
            for term in np.flatnonzero((weights != 0).mean(axis=0) >= 0.5).tolist()
        ]
        changed = [_replaced(weights, term, limits[end]) for term, end in asked]
        self.paths.search([np.median(one, axis=0) for one in changed])
        decisions, kinds = self.paths.decisions(), self.terms.kinds
        for (term, end), one in zip(asked, changed, strict=True):
            likely = np.argsort(-log_likelihoods)[:LIKELIEST]
            reached = [
                _log_likelihood_of(*decisions, np.log1p(one[i]), self.temperature * math.exp(log_temperatures[i]))
                for i in likely[(1.0 + kinds @ one[likely].T).min(axis=0) >= DEFAULT_FLOOR - 1e-9]
            ]
            ends[term] = end * (max(reached, default=-math.inf) > log_likelihoods.max() - UNDECIDED_NATS)
        return ends


def _replaced(weights: NDArray[np.float64], term: int, weight: float) -> NDArray[np.float64]:
    replaced = weights.copy()
    replaced[:, term] = weight
    return replaced


@njit(cache=True, nogil=True)
def _walk(
    counts: NDArray[np.float64],
    pairs: NDArray[np.int64],
    first: NDArray[np.int64],
    sums: NDArray[np.float64],
    kinds: NDArray[np.float64],
    temperature: float,
    log_odds: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    log_costs: NDArray[np.float64],
    log_temperature: NDArray[np.float64],
    rng: np.random.Generator,
    weights: NDArray[np.float64],
    log_temperatures: NDArray[np.float64],
    log_likelihoods: NDArray[np.float64],
) -> None:
    """Fill the last three arrays with states of the chain, and leave its state in `log_costs`, `log_temperature`.

    Args:
        counts, pairs, first, sums: see `Decisions`.
        kinds: of transitions, shape [terms, kinds].
        temperature: as stated.
        log_odds: of each term against a feature, shape [terms].
        log_prior: of a set of each size, shape [terms + 1].
    """
    Q = np.full(counts.shape, np.inf)
    count = len(log_costs)
    after, after_Q = log_costs.copy(), Q.copy()
    now_likelihood = -np.inf
    for step in range(len(weights)):
        if step == 0:
            t, ratio, is_new = log_temperature[0], 0.0, True
        else:
            after[:] = log_costs
            t, ratio, is_new = _propose(after, log_temperature[0], log_odds, log_prior, rng)
        if ratio > -np.inf and is_new:
            if _is_positive(kinds, after):
                _cost_to_go(sums, first, pairs, after, after_Q)
            else:
                ratio = -np.inf
        elif not is_new:
            after_Q[:] = Q
        if ratio > -np.inf:
            likelihood = _log_likelihood(after_Q, counts, temperature * np.exp(t))
            if math.log(rng.random()) < likelihood - now_likelihood + ratio:
                log_costs[:], log_temperature[0], now_likelihood = after, t, likelihood
                Q[:] = after_Q
        for term in range(count):
            weights[step, term] = math.expm1(log_costs[term])
        log_temperatures[step], log_likelihoods[step] = log_temperature[0], now_likelihood


@njit(cache=True, nogil=True)
def _propose(
    log_costs: NDArray[np.float64],
    log_temperature: float,
    log_odds: NDArray[np.float64],
    log_prior: NDArray[np.float64],
    rng: np.random.Generator,
) -> tuple[float, float, bool]:
    """Change the state; the temperature, log ratio of prior times proposal, whether costs have changed."""
    count = len(log_costs)
    size = 0
    for term in range(count):
        size += log_costs[term] != 0.0
    move = rng.random()
    if move < 0.1 or count == 0:
        t = log_temperature + 0.3 * rng.normal()
        return t, _temperature_density(t) - _temperature_density(log_temperature), False
    if move < 0.45:  # a term joins, with a cost of the prior, or leaves
        term = int(rng.random() * count)
        if log_costs[term] == 0.0:
            log_costs[term] = MEAN + SPREAD * rng.normal()
            return log_temperature, log_prior[size + 1] - log_prior[size] + log_odds[term], True
        log_costs[term] = 0.0
        return log_temperature, log_prior[size - 1] - log_prior[size] - log_odds[term], True
    if size == 0:
        return log_temperature, -np.inf, False
    if move > RESCALED:  # all differences of costs and the temperature change by the same factor
        change = 0.5 * rng.normal()
        ratio = _temperature_density(log_temperature + change) - _temperature_density(log_temperature)
        for term in range(count):
            if log_costs[term] != 0.0:
                rest = math.expm1(log_costs[term]) * math.exp(change)
                if rest <= -1.0:
                    return log_temperature, -np.inf, False
                before, log_costs[term] = log_costs[term], math.log1p(rest)
                # the last part is the logarithm of the derivative of the new cost by the old one
                ratio += _density(log_costs[term]) - _density(before) + before + change - log_costs[term]
        return log_temperature + change, ratio, True
    term = _draw(log_costs, True, size, rng)
    if move < 0.6 and size < count:  # another term takes its place, as dear or as cheap
        joining = _draw(log_costs, False, count - size, rng)
        sign = 1.0 if rng.random() < 0.5 else -1.0
        log_costs[joining], ratio = sign * log_costs[term], log_odds[joining] - log_odds[term]
        ratio += _density(log_costs[joining]) - _density(log_costs[term])
        log_costs[term] = 0.0
        return log_temperature, ratio, True
    before = log_costs[term]
    log_costs[term] += (0.15 if rng.random() < 0.5 else 0.6) * rng.normal()
    t = log_temperature + 0.05 * rng.normal()
    ratio = _density(log_costs[term]) - _density(before)
    return t, ratio + _temperature_density(t) - _temperature_density(log_temperature), True


@njit(cache=True, nogil=True)
def _draw(log_costs: NDArray[np.float64], is_inside: bool, count: int, rng: np.random.Generator) -> int:
    """One of the terms inside the set, or outside, of which there are so many."""
    left = int(rng.random() * count)
    for term in range(len(log_costs)):
        if (log_costs[term] != 0.0) == is_inside:
            if left == 0:
                return term
            left -= 1
    return -1


@njit(cache=True, nogil=True)
def _density(log_cost: float) -> float:
    """The logarithm of the prior of a term's cost, up to a constant."""
    return -np.inf if log_cost > LARGEST else -((log_cost - MEAN) ** 2) / (2 * SPREAD**2)


@njit(cache=True, nogil=True)
def _temperature_density(log_temperature: float) -> float:
    """The logarithm of the prior of the temperature, up to a constant."""
    return -math.log1p((log_temperature / TEMPERATURE_SPREAD) ** 2)


@njit(cache=True, nogil=True)
def _is_positive(kinds: NDArray[np.float64], log_costs: NDArray[np.float64]) -> bool:
    """Whether all transitions cost at least the floor."""
    costs = np.ones(kinds.shape[1])
    for term in range(len(log_costs)):
        if log_costs[term] != 0.0:
            costs += math.expm1(log_costs[term]) * kinds[term]
    return costs.min() >= DEFAULT_FLOOR


@njit(cache=True, nogil=True)
def _cost_to_go(
    sums: NDArray[np.float64],
    first: NDArray[np.int64],
    pairs: NDArray[np.int64],
    log_costs: NDArray[np.float64],
    Q: NDArray[np.float64],
) -> None:
    """Set Q of each pair to the least cost of its paths."""
    costs = sums[0].copy()
    for term in range(len(log_costs)):
        if log_costs[term] != 0.0:
            costs += math.expm1(log_costs[term]) * sums[1 + term]
    flat = Q.reshape(-1)
    for i in range(len(pairs)):
        least = costs[first[i]]
        for path in range(first[i] + 1, first[i + 1]):
            least = min(least, costs[path])
        flat[pairs[i]] = least


@njit(cache=True, nogil=True)
def _log_likelihood_of(
    counts: NDArray[np.float64],
    pairs: NDArray[np.int64],
    first: NDArray[np.int64],
    sums: NDArray[np.float64],
    log_costs: NDArray[np.float64],
    temperature: float,
) -> float:
    """Of `Decisions` under costs of terms."""
    Q = np.full(counts.shape, np.inf)
    _cost_to_go(sums, first, pairs, log_costs, Q)
    return _log_likelihood(Q, counts, temperature)


@njit(cache=True, nogil=True)
def _log_likelihood(Q: NDArray[np.float64], counts: NDArray[np.float64], temperature: float) -> float:
    """The sum of log pi(u_t | s_t), pi proportional to exp(-Q / temperature)."""
    total = 0.0
    for one in range(len(Q)):
        least = Q[one].min()
        mass = 0.0
        for control in range(Q.shape[1]):
            mass += np.exp((least - Q[one, control]) / temperature)
        log_mass = np.log(mass)
        for control in range(Q.shape[1]):
            if counts[one, control] > 0:
                total += counts[one, control] * ((least - Q[one, control]) / temperature - log_mass)
    return total
