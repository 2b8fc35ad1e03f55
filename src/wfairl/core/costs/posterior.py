"""The posterior of a cost over named terms, sampled: which terms matter, by how much, and how sure that is.

A term is a feature of a transition or a control. A hypothesis is a set M of terms with a weight w each:

    c(x, u) = floor + softplus(b + sum over k in M of w_k term_k(x, u)),   b such that no term costs 1

The empty set is unit cost. Prior: a set of m of K terms has probability 2^-(m + 1) / (K choose m), the logarithm of the
cost of a transition with term k alone is normal with standard deviation `SPREAD`, and so is that of the temperature
around the stated one. Only costs relative to the temperature are identified: a transition without terms costs 1, and
the temperature is free. The likelihood is that of the trainer, the Boltzmann policy on the product of each scene.

Sampling needs thousands of likelihoods, and a likelihood needs a search of every scene. But Q is the least of the sums
of costs along paths, and few paths are ever the best ones:

    Q(s, u) = min over paths from (s, u) of  n . c        n counts the rows, the kinds of transitions, along a path

So the paths of every search are kept, Q is the least over the paths so far (an upper bound), and a chain of
Metropolis-Hastings runs on that. Searches at samples of the chain add paths, round after round.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from wfairl.core.costs.cost_model import DEFAULT_FLOOR
from wfairl.core.costs.gradient import OptimalPaths, sums_along_paths
from wfairl.core.costs.scene import TrainingScene
from wfairl.core.planning.product import Product
from wfairl.core.support.compiling import njit
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.parallel import map_in_threads

SPREAD = 1.5
"""Standard deviation of the logarithm of a cost: nine in ten lie within a factor of 12 either way."""

TEMPERATURE_SPREAD = 1.0
ROUNDS, SEARCHES = 4, 6
"""Chains, each after searches at so many samples of the one before."""

STEPS, KEPT = 1_500, 200
"""Of the last chain, and how many of its samples are kept."""

WORTH_THREADS = 200_000
"""Transitions of all scenes from which on threads save more time than they cost."""

MOST_ROWS = 1_000
"""Kinds of transitions up to which paths are kept as counts."""


class TooManyRowsError(BadInputError):
    """The transitions are of too many kinds to count them along paths, such as by a feature of real numbers."""


class Terms:
    """The terms of some scenes, and the kinds of transitions that they tell apart.

    Attributes:
        design: of each row, scaled so that what is farthest from zero is 1; shape [rows, terms].
        columns: which of the features, followed by the controls, each term is; shape [terms].
        scales: what the columns were divided by; shape [terms].
        row_of: of each product, the row of each transition node * controls + control.
    """

    def __init__(self, products: Sequence[Product]):
        rows: dict[bytes, int] = {}
        distinct: list[NDArray[np.float64]] = []
        self.row_of: dict[Product, NDArray[np.int32]] = {}
        for product in dict.fromkeys(products):
            transitions = np.flatnonzero(product.available)
            numbers, features = product.transition_features(transitions)
            check_features(features)
            for one in features + 0.0:
                if rows.setdefault(one.tobytes(), len(rows)) == len(distinct):
                    distinct.append(one)
            number = np.array([rows[one.tobytes()] for one in features + 0.0])
            controls = product.successors.shape[1]
            row_of = np.zeros(product.successors.size, np.int32)
            row_of[transitions] = number[numbers] * controls + transitions % controls
            self.row_of[product] = row_of
        kinds = np.repeat(np.array(distinct), controls, axis=0)
        table = np.concatenate([kinds, np.tile(np.eye(controls), (len(distinct), 1))], axis=1)
        self.columns = _informative(table)
        self.scales = _extremes(table[:, self.columns])
        self.design = table[:, self.columns] / self.scales
        self.width = table.shape[1]


def check_features(features: NDArray[np.float64]) -> None:
    """Refuse features that no cost can be learned over, with a `BadInputError`."""
    bad = np.argwhere(~np.isfinite(features))
    if len(bad):
        raise BadInputError(
            f"feature {bad[0, 1]} of a transition is {features[tuple(bad[0])]}: a cost is learned over finite numbers"
        )


def _informative(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """The columns that are not constant, the first of those that are the same up to scale."""
    kept: dict[bytes, int] = {}
    for column, values in enumerate(table.T):
        if np.ptp(values) > 1e-9 * np.abs(values).max(initial=0.0):
            kept.setdefault((np.round(values / _extremes(values[:, None]), 9) + 0.0).tobytes(), column)
    return np.array(list(kept.values()), np.int64)


def _extremes(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The number of each column that is farthest from zero, with its sign; shape [columns]."""
    return table[np.abs(table).argmax(axis=0), np.arange(table.shape[1])]


@dataclass(frozen=True, eq=False)
class CostSamples:
    """Samples of the posterior.

    Attributes:
        weights: of the features and controls, 0 for those outside the set; shape [samples, features + controls].
        temperatures: shape [samples].
        log_likelihoods: of the demonstrations, per sample; shape [samples].
        searches: of all scenes.
    """

    weights: NDArray[np.float64]
    temperatures: NDArray[np.float64]
    log_likelihoods: NDArray[np.float64]
    searches: int

    @cached_property
    def unit_probability(self) -> float:
        """The posterior probability that all transitions cost the same."""
        return float((self.weights == 0).all(axis=1).mean())


def sample_costs(
    scenes: Sequence[TrainingScene], temperature: float, rng: np.random.Generator, n_jobs: int = 2
) -> CostSamples:
    """Samples of the cost of the demonstrators.

    Args:
        scenes: the demonstrations on their products.
        temperature: of the demonstrators, as far as it is known.
        rng: draws the samples.
        n_jobs: scenes to search at once; it changes nothing in the result.

    Raises:
        TooManyRowsError: features take too many values.
    """
    terms = Terms([scene.product for scene in scenes])
    if len(terms.design) > MOST_ROWS:
        raise TooManyRowsError(f"{len(terms.design)} kinds of transitions, more than {MOST_ROWS}")
    paths = _KnownPaths(scenes, terms, n_jobs)
    paths.search(np.ones(len(terms.design)))
    chain = _Chain(terms, paths, temperature, rng)
    if len(terms.columns):
        for weights in np.concatenate([np.eye(len(terms.columns)) * _weight_of(one) for one in (SPREAD, -SPREAD)]):
            paths.search(terms_cost(terms.design, weights))
        chain.restart()
        for _ in range(ROUNDS - 1):
            states = chain.run(STEPS // ROUNDS)
            for i in rng.choice(len(states), SEARCHES):
                paths.search(terms_cost(terms.design, states[i].weights))
            chain.restart()
    states = chain.run(STEPS)[STEPS // 5 :]
    states = [states[i] for i in np.linspace(0, len(states) - 1, KEPT).astype(int)]
    weights = np.zeros((KEPT, terms.width))
    weights[:, terms.columns] = np.array([one.weights for one in states]) / terms.scales
    temperatures = temperature * np.exp([one.log_temperature for one in states])
    return CostSamples(weights, temperatures, np.array([one.log_likelihood for one in states]), paths.searches)


def terms_cost(design: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cost of rows of terms; weights of shape [terms] or [terms, samples]."""
    return DEFAULT_FLOOR + np.logaddexp(0.0, design @ weights + _OFFSET)


_OFFSET = math.log(math.expm1(1 - DEFAULT_FLOOR))


def _weight_of(log_cost: float) -> float:
    """The weight with which a term alone costs so much."""
    rest = min(max(math.exp(log_cost) - DEFAULT_FLOOR, 1e-3), 200.0)
    return rest + math.log(-math.expm1(-rest)) - _OFFSET


class _KnownPaths:
    """The paths of all searches so far, as counts of rows."""

    def __init__(self, scenes: Sequence[TrainingScene], terms: Terms, n_jobs: int):
        self.terms, self.searches = terms, 0
        groups: dict[Product, list[TrainingScene]] = {}
        for scene in scenes:
            groups.setdefault(scene.product, []).append(scene)
        self.groups = list(groups.values())
        self.n_jobs = n_jobs if sum(product.successors.size for product in groups) >= WORTH_THREADS else 1
        scenes = [scene for group in self.groups for scene in group]
        self.width = scenes[0].product.successors.shape[1]
        self.controls = np.concatenate([scene.controls for scene in scenes])
        self.pairs: list[NDArray[np.int64]] = []  # step * controls + control of each path
        self.counts: list[csr_array] = []  # of each path, shape [paths, rows]; a path has few kinds of transitions
        self.known: set[tuple[int, float]] = set()
        # Sums of whole numbers below 2^40 are exact, and tell paths of other counts apart.
        self.prints = np.random.default_rng(0).integers(2**40, size=(len(terms.design), 1)).astype(np.float64)

    def search(self, costs: NDArray[np.float64]) -> None:
        """Add the best paths of all scenes under some costs of rows."""
        self.searches += 1
        self.__dict__.pop("sorted", None)
        first = 0
        for solved in map_in_threads(partial(self._solve, costs), self.groups, self.n_jobs):
            for rows, paths in solved:
                finite = np.flatnonzero(np.isfinite(paths.control_cost_to_go))
                prints = sums_along_paths(paths, self.prints[rows]).reshape(-1)[finite]
                keys = list(zip((first + finite).tolist(), prints.tolist(), strict=True))
                first += paths.control_cost_to_go.size
                new = [i for i, key in enumerate(keys) if key not in self.known]
                if new:
                    self.known.update(keys)
                    self.pairs.append(np.array([keys[i][0] for i in new]))
                    counts = sums_along_paths(paths, np.eye(len(costs))[rows]).reshape(-1, len(costs))
                    self.counts.append(csr_array(counts[finite[new]]))

    def _solve(
        self, costs: NDArray[np.float64], scenes: Sequence[TrainingScene]
    ) -> list[tuple[NDArray[np.int32], OptimalPaths]]:
        """The best paths of the scenes of a product, each with the rows of its transitions."""
        product = scenes[0].product
        row_of = self.terms.row_of[product]
        solved = scenes[0].solver.solve(costs[row_of].reshape(product.successors.shape), scenes)
        return [(row_of[paths.transitions], paths) for paths in solved]

    @cached_property
    def sorted(self) -> tuple[csr_array, NDArray[np.int64], NDArray[np.int64]]:
        """Counts of the paths in the order of their pairs, the first path of each pair and one past the last, pairs."""
        pairs = np.concatenate(self.pairs)
        order = np.argsort(pairs, kind="stable")
        first = np.flatnonzero(np.diff(pairs[order], prepend=-1))
        return vstack(self.counts, format="csr")[order], np.append(first, len(order)), pairs[order][first]

    def cost_to_go(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Q of every step and control; shape [steps, controls]."""
        counts, first, pairs = self.sorted
        Q = np.full((len(self.controls), self.width), np.inf)
        _least_sums(counts.indptr, counts.indices, counts.data, first, pairs, costs, Q.reshape(-1))
        return Q

    def log_likelihood(self, Q: NDArray[np.float64], temperature: float) -> float:
        """Of the demonstrated controls."""
        return float(_log_likelihood(Q, self.controls, temperature))


@njit(cache=True, nogil=True)
def _least_sums(
    indptr: NDArray[np.int32],
    rows: NDArray[np.int32],
    counts: NDArray[np.float64],
    first: NDArray[np.int64],
    pairs: NDArray[np.int64],
    costs: NDArray[np.float64],
    Q: NDArray[np.float64],
) -> None:
    """Set Q of each pair to the least n . c of its paths."""
    for i in range(len(pairs)):
        least = np.inf
        for path in range(first[i], first[i + 1]):
            total = 0.0
            for entry in range(indptr[path], indptr[path + 1]):
                total += counts[entry] * costs[rows[entry]]
            least = min(least, total)
        Q[pairs[i]] = least


@njit(cache=True, nogil=True)
def _log_likelihood(Q: NDArray[np.float64], controls: NDArray[np.int64], temperature: float) -> float:
    """The sum of log pi(u_t | s_t), pi proportional to exp(-Q / temperature)."""
    total = 0.0
    for step in range(len(Q)):
        least = Q[step].min()
        mass = 0.0
        for control in range(Q.shape[1]):
            mass += np.exp((least - Q[step, control]) / temperature)
        total += (least - Q[step, controls[step]]) / temperature - np.log(mass)
    return total


@dataclass(frozen=True, eq=False)
class _State:
    """A state of the chain: logarithms of costs by term, 0 and not `chosen` for those outside the set."""

    chosen: NDArray[np.bool_]
    log_costs: NDArray[np.float64]
    log_temperature: float
    log_likelihood: float
    Q: NDArray[np.float64]

    @property
    def weights(self) -> NDArray[np.float64]:
        return np.array(
            [_weight_of(one) if chosen else 0.0 for one, chosen in zip(self.log_costs, self.chosen, strict=True)]
        )


class _Chain:
    """Metropolis-Hastings over sets, costs and temperature."""

    def __init__(self, terms: Terms, paths: _KnownPaths, temperature: float, rng: np.random.Generator):
        self.terms, self.paths, self.temperature, self.rng = terms, paths, temperature, rng
        count = len(terms.columns)
        self.state = self._at(np.zeros(count, bool), np.zeros(count), 0.0)

    def restart(self) -> None:
        """Evaluate the state again, with paths that were found since."""
        self.state = self._at(self.state.chosen, self.state.log_costs, self.state.log_temperature)

    def _at(self, chosen: NDArray[np.bool_], log_costs: NDArray[np.float64], log_temperature: float) -> _State:
        weights = np.array([_weight_of(one) for one in log_costs[chosen]])
        Q = self.paths.cost_to_go(terms_cost(self.terms.design[:, chosen], weights))
        return self._with_temperature(chosen, log_costs, log_temperature, Q)

    def _with_temperature(
        self, chosen: NDArray[np.bool_], log_costs: NDArray[np.float64], log_temperature: float, Q: NDArray[np.float64]
    ) -> _State:
        likelihood = self.paths.log_likelihood(Q, self.temperature * math.exp(log_temperature))
        return _State(chosen, log_costs, log_temperature, likelihood, Q)

    def run(self, steps: int) -> list[_State]:
        states = []
        for _ in range(steps):
            proposal, log_ratio = self._propose()
            gain = proposal.log_likelihood - self.state.log_likelihood + log_ratio
            if math.log(self.rng.random()) < gain:
                self.state = proposal
            states.append(self.state)
        return states

    def _propose(self) -> tuple[_State, float]:
        """Another state, and the logarithm of its ratio of prior times proposal to the current one."""
        rng, now = self.rng, self.state
        inside, outside = np.flatnonzero(now.chosen), np.flatnonzero(~now.chosen)
        chosen, log_costs, log_temperature = now.chosen.copy(), now.log_costs.copy(), now.log_temperature
        move = rng.random()
        if move < 0.1 or not len(chosen):
            log_temperature += 0.2 * rng.normal()
            return self._with_temperature(chosen, log_costs, log_temperature, now.Q), self._temperature_ratio(
                log_temperature
            )
        if move < 0.45:  # a term joins, with a cost of the prior, or leaves
            term = rng.integers(len(chosen))
            chosen[term] = not chosen[term]
            log_costs[term] = SPREAD * rng.normal() if chosen[term] else 0.0
            ratio = self._log_prior(chosen.sum()) - self._log_prior(len(inside))
        elif not len(inside):
            return now, 0.0
        elif move < 0.6 and len(outside):  # another term takes its place, as dear or as cheap
            leaving, joining = rng.choice(inside), rng.choice(outside)
            chosen[leaving], chosen[joining] = False, True
            log_costs[joining], log_costs[leaving] = log_costs[leaving] * rng.choice([-1, 1]), 0.0
            ratio = 0.0
        else:
            term = rng.choice(inside)
            log_costs[term] += rng.choice([0.15, 0.6]) * rng.normal()
            log_temperature += 0.05 * rng.normal()
            ratio = (now.log_costs[term] ** 2 - log_costs[term] ** 2) / (2 * SPREAD**2)
            ratio += self._temperature_ratio(log_temperature)
        return self._at(chosen, log_costs, log_temperature), float(ratio)

    def _temperature_ratio(self, log_temperature: float) -> float:
        return (self.state.log_temperature**2 - log_temperature**2) / (2 * TEMPERATURE_SPREAD**2)

    def _log_prior(self, size: int) -> float:
        """Of a set of so many terms."""
        count = len(self.terms.columns)
        sets = math.lgamma(count + 1) - math.lgamma(size + 1) - math.lgamma(count - size + 1)
        return -(size + 1) * math.log(2) - sets
