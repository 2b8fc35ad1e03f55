"""The posterior of a cost over terms, sampled: which terms matter, by how much, and how sure that is.

A hypothesis is a set M of terms (`terms`) with a weight each, and the temperature of the demonstrators:

    c(x, u) = 1 + sum over k in M of w_k term_k(x, u),   at least the floor for all transitions of the scenes

The empty set is unit cost. Prior: sets of m terms together have a probability proportional to `ANOTHER_TERM`^m, of
which each has the same share, but less by `ALONE_ODDS` for each term of a control alone or of a state alone; the
logarithm of 1 + w_k, the cost where term k is 1, is normal; the logarithm of the temperature is Cauchy around the
stated one. Only costs relative to the temperature are identified: a plain transition costs 1, and the temperature is
free. The likelihood is that of the trainer, the Boltzmann policy on the product of each scene.

A chain of Metropolis-Hastings runs on the paths that are known. Searches at samples of the chain add paths, round after
round, until they change no likelihood; paths that are the best nowhere near the samples are left out. A state of the
chain is the logarithm of each term's cost, 0 for terms outside the set, and the logarithm of the temperature, relative
to the stated one.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfairl.core.costs.cost_model import FLOOR
from wfairl.core.costs.scene import Comparison, TrainingScene
from wfairl.core.costs.settings import DEFAULT_TRAINING_TEMPERATURE
from wfairl.core.costs.terms import Decisions, Ints, KnownPaths, Terms
from wfairl.core.planning.shortest_path import Floats
from wfairl.core.support.compiling import inner, njit

MEAN, SPREAD = 0.7, 1.5
"""Mean and standard deviation of the logarithm of a cost: half lie between 0.7 and 5.5, and two in three above 1."""

ANOTHER_TERM = 0.8
"""How much less likely a set of one more term is."""

STATED, UNKNOWN, OPTIMAL, LEAST_TEMPERATURE = 0.3, 1.0, 0.05, 0.02
"""Scale of the logarithm of the temperature if it is stated, and if it is not; the temperature of demonstrators who are
said to be optimal, or nearly; and the least one: below it, all demonstrators are alike."""

ALONE_ODDS = 0.25
"""How much less likely it is that a control matters in any state, or a state under any control, than both together.
What is ahead or underfoot goes with each step onto dear floor, and a few demonstrations do not tell them apart."""

LARGEST = 6.0
"""Of the logarithm of a cost; what costs more is never chosen."""

UNDECIDED_NATS = 1.35
"""By how much less likely the end of a one-sided interval of 95 % is, half of the 90 % quantile of chi-squared."""

LIKELIEST = 20
"""Samples from which the end of an interval is sought."""

FIRST_SEARCHES = 64
"""Searches of scenes before the first chain, at least one for each term in each scene."""

MOST_ROUNDS, SEARCHES, KNOWN_NATS = 6, 3, 0.1
"""Chains before the last one, each followed by searches at so many of its samples; the change of log likelihood below
which all paths that matter are known."""

LEAST_STEPS, MOST_STEPS, WORK, WORK_OF_PAIR = 8_000, 80_000, 240_000_000, 16
"""Of the last chain. Few demonstrations leave much open, and a step is fast: its work is that of a path for each path
and of some more for each pair of a step and a control."""

PARTS, SETTLED = 8, 0.02
"""Parts of the last chain, and the relative error of all mean costs below which it ends; other chains are a part."""

NEARLY = 5.0
"""By how many nats a state may miss being taken for its paths to be kept."""

NEGLIGIBLE = 30.0
"""Temperatures that a control costs more than the best one, above which it counts as never chosen: one in 10^13."""

NEVER = 1e100
"""The same of a control that leads nowhere: infinity times a count of 0 is no number."""

THIRD = 1 / 3

KEPT = 200
"""Samples that are kept."""


def sample_costs(
    scenes: Sequence[TrainingScene],
    temperature: float | None,
    rng: np.random.Generator,
    n_jobs: int = 2,
    comparisons: Sequence[Comparison] = (),
) -> dict[str, Floats]:
    """Samples of the cost of the demonstrators: the arrays of a `SampledCost` but for `unit`.

    Args:
        scenes, comparisons: what the demonstrators did, and would rather do.
        temperature: of the demonstrators, as stated; 0 for optimal ones, None if unknown.
        rng: draws the samples.
        n_jobs: scenes to search at once; it changes nothing in the result.
    """
    terms = Terms([*(one.product for one in scenes), *(one.product for one in comparisons)])
    paths = KnownPaths(scenes, terms, n_jobs, comparisons)
    signs = rng.choice([-1.0, 1.0], (max(FIRST_SEARCHES // len(scenes), len(terms)), len(terms)))
    paths.search([np.zeros(len(terms)), *np.expm1(SPREAD * signs)])
    chain = _Chain(terms, paths, temperature, rng)
    for _ in range(MOST_ROUNDS if len(terms) else 0):
        chain.run()
        if chain.search() < KNOWN_NATS:
            break
    states, log_likelihoods = chain.settle()
    kept = np.linspace(0, len(states) - 1, KEPT).astype(int)
    constant, weight = terms.to_features(np.expm1(states[:, :-1]).mean(axis=0, keepdims=True))
    return {
        "constant": constant,
        "weight": weight[0],
        "weights": terms.to_features(np.expm1(states[kept, :-1]))[1],
        "temperatures": chain.temperature * np.exp(states[kept, -1]),
        "plain": terms.spread(terms.shifts),
        "extreme": terms.spread(terms.shifts + terms.scales),
        "bound": terms.spread(chain.bounds(states, log_likelihoods, kept)),
    }


class _Chain:
    """Metropolis-Hastings over sets, costs and temperature; it goes on where it stood, with all paths known by then.

    Attributes:
        states, log_likelihoods: of the last run, shapes [steps, terms + 1] and [steps].
        parts: both of all runs since paths were lacking, but for the first run, which begins at unit cost.
        decisions: on the paths that are known and useful.
    """

    def __init__(self, terms: Terms, paths: KnownPaths, temperature: float | None, rng: np.random.Generator):
        self.terms, self.paths, self.rng, self.decisions = terms, paths, rng, paths.decisions()
        self.temperature = DEFAULT_TRAINING_TEMPERATURE if temperature is None else max(temperature, OPTIMAL)
        self.spread = UNKNOWN if temperature is None else STATED
        self.states, self.log_likelihoods = np.zeros((1, len(terms) + 1)), np.zeros(1)
        self.parts: list[tuple[Floats, Floats]] = []
        self.log_odds = np.where(terms.is_alone, math.log(ALONE_ODDS), 0.0)
        # Coefficients of prod (x + odds): the sums over all sets of each size.
        sets = np.atleast_1d(np.poly(-np.exp(self.log_odds)))
        self.log_prior = np.arange(len(terms) + 1) * math.log(ANOTHER_TERM) - np.log(sets)

    def run(self) -> None:
        """Go on for a part of a whole chain."""
        decisions = self.decisions
        kinds = np.ascontiguousarray(self.terms.kinds.T)
        work = decisions.sums.shape[1] + WORK_OF_PAIR * decisions.counts.size
        steps = min(max(WORK // work, LEAST_STEPS), MOST_STEPS) // PARTS
        before, self.states, self.log_likelihoods = self.states, np.empty((steps, len(kinds) + 1)), np.empty(steps)
        prior = self.log_odds, self.log_prior, self.temperature, self.spread
        Q, now = np.full((2, *decisions.counts.shape), np.inf), np.stack([before[-1], before[-1]])
        paths, (controls, number) = decisions.sums.shape[1], decisions.counts.shape
        room = np.empty(max(paths, kinds.shape[1])), np.empty((controls + 3, number))
        self.is_used = np.zeros(paths, np.bool_)
        filled = self.is_used, self.states, self.log_likelihoods
        _walk(*decisions, kinds, *prior, before, self.rng, *Q, *now, *room, *filled)
        if len(before) > 1:
            self.parts.append((self.states, self.log_likelihoods))

    def settle(self) -> tuple[Floats, Floats]:
        """Go on until the mean costs are known well, at most for a whole chain; both arrays but for a first share."""
        while len(self.parts) < PARTS and not _are_settled([states for states, _ in self.parts]):
            self.run()
        states, log_likelihoods = map(np.concatenate, zip(*self.parts, strict=True))
        return states[len(states) // 5 :], log_likelihoods[len(states) // 5 :]

    def search(self) -> float:
        """Forget the paths that are the best nowhere near the states of the last run, and add those at samples of it.

        Returns:
            The largest change of the samples' log likelihoods.
        """
        self.paths.forget(self.is_used)
        number = self.rng.choice(np.arange(len(self.states) // 2, len(self.states)), SEARCHES)
        samples, before = self.states[number], self.log_likelihoods[number]
        self.paths.search(list(np.expm1(samples[:, :-1])))
        self.decisions = self.paths.decisions()
        change = float(np.abs(self._log_likelihoods(self.decisions, samples) - before).max())
        if change >= KNOWN_NATS:
            self.parts.clear()
        return change

    def bounds(self, states: Floats, log_likelihoods: Floats, kept: Ints) -> Floats:
        """The least cost of terms that may as well cost any amount more, minus the greatest for next to nothing, or 0.

        Both are the ends of states that are about as likely as the likeliest, by the likelihood alone: a quantile would
        follow the prior, into which a bound says nothing more. The cost of a term has no end if some of the samples
        that are kept remain so likely with that cost at its limit.
        """
        bounds, limits = np.zeros(len(self.terms)), {1.0: LARGEST, -1.0: math.log(FLOOR)}
        about_as_likely = states[log_likelihoods > log_likelihoods.max() - UNDECIDED_NATS, :-1]
        states, log_likelihoods = states[kept], log_likelihoods[kept]
        costs = states[:, :-1]
        asked = [
            (term, 1.0 if (costs[:, term] > 0).mean() >= 0.5 else -1.0)
            for term in np.flatnonzero((costs != 0).mean(axis=0) >= 0.5).tolist()
        ]
        columns = np.arange(states.shape[1])
        changed = [np.where(columns == term, limits[end], states) for term, end in asked]
        self.paths.search([np.expm1(np.median(one[:, :-1], axis=0)) for one in changed])
        decisions, kinds = self.paths.decisions(everything=True), self.terms.kinds
        likely = np.argsort(-log_likelihoods)[:LIKELIEST]
        for (term, end), one in zip(asked, changed, strict=True):
            is_positive = (1.0 + kinds @ np.expm1(one[likely, :-1]).T).min(axis=0) >= FLOOR - 1e-9
            reached = self._log_likelihoods(decisions, one[likely[is_positive]])
            if reached.max(initial=-math.inf) > log_likelihoods.max() - UNDECIDED_NATS:
                bounds[term] = end * math.exp(end * (end * about_as_likely[:, term]).min())
        return bounds

    def _log_likelihoods(self, decisions: Decisions, states: Floats) -> Floats:
        """Of the decisions, under each state."""
        temperatures = self.temperature * np.exp(states[:, -1])
        return np.array([log_likelihood_of(decisions, *one) for one in zip(states[:, :-1], temperatures, strict=True)])


def _are_settled(parts: Sequence[Floats]) -> bool:
    """Whether the standard errors of mean costs are small, by the states of parts of a chain."""
    if len(parts) < 3:
        return False
    means = np.array([np.exp(states[:, :-1]).mean(axis=0) for states in parts])
    errors = means.std(axis=0, ddof=1) / math.sqrt(len(means))
    return bool((errors < SETTLED * means.mean(axis=0)).all())


def log_likelihood_of(decisions: Decisions, log_costs: Floats, temperature: float) -> float:
    """Of demonstrated steps and comparisons, under costs of terms."""
    Q, costs = np.full(decisions.counts.shape, np.inf), np.empty(decisions.sums.shape[1])
    room = np.empty((len(Q) + 3, len(Q[0])))
    _cost_to_go(decisions.sums, decisions.first, decisions.pairs, log_costs, costs, Q)
    return float(_log_likelihood(Q, decisions.counts, temperature, room))


@njit(cache=True, nogil=True)
def _walk(
    counts: Floats, pairs: Ints, first: Ints, sums: Floats, kinds: Floats, log_odds: Floats, log_prior: Floats,
    temperature: float, spread: float, before: Floats, rng: np.random.Generator, Q: Floats, after_Q: Floats,
    now: Floats, after: Floats, costs: Floats, room: Floats, is_used: NDArray[np.bool_], states: Floats,
    log_likelihoods: Floats,
) -> None:  # fmt: skip
    """Fill the last three arrays with a chain that goes on from the last of the states before.

    Arrays are made in Python, and rows are copied number by number: to compile either takes a second.

    Args:
        counts, pairs, first, sums: see `Decisions`.
        kinds: of transitions, shape [terms, kinds].
        log_odds: of each term against a feature, shape [terms].
        log_prior: of a set of each size, shape [terms + 1].
        temperature: as stated.
        spread: scale of the logarithm of the temperature.
        before: states of an earlier chain, whose differences are proposed; shape [states, terms + 1].
        Q, after_Q: inf where no path is known, shape [steps, controls].
        costs, room: room for the costs of paths, or of kinds, and for a likelihood.
        now, after: the last of the states before.
        is_used: whether a path was the best one of its pair at a state of the second half, or at one that was nearly
            taken; False before, shape [paths].
    """
    now_density, now_likelihood, width = 0.0, -np.inf, len(now)
    for step in range(len(states)):
        for i in range(width):
            after[i] = now[i]
        ratio, is_new = (_propose(after, before, rng) if step else 0.0), step == 0
        for i in range(width - 1):
            is_new = is_new or after[i] != now[i]
        density = ratio + _log_prior(after, log_odds, log_prior, temperature, spread)
        if density > -np.inf and is_new:
            if _is_positive(kinds, after, costs):
                _cost_to_go(sums, first, pairs, after, costs, after_Q)
            else:
                density = -np.inf
        if density > -np.inf:
            likelihood = _log_likelihood(after_Q if is_new else Q, counts, temperature * np.exp(after[-1]), room)
            gain = likelihood + density - now_likelihood - now_density
            if is_new and gain > -NEARLY and 2 * step >= len(states):
                _mark_best(costs, first, pairs, after_Q, is_used)
            if math.log(rng.random()) < gain:
                now_likelihood, now_density = likelihood, density - ratio
                for i in range(width):
                    now[i] = after[i]
                if is_new:
                    Q, after_Q = after_Q, Q
        for i in range(width):
            states[step, i] = now[i]
        log_likelihoods[step] = now_likelihood
    _cost_to_go(sums, first, pairs, now, costs, Q)
    _mark_best(costs, first, pairs, Q, is_used)


@inner
def _mark_best(costs: Floats, first: Ints, pairs: Ints, Q: Floats, is_used: NDArray[np.bool_]) -> None:
    """Mark the path of each pair that Q is the cost of."""
    of_pairs = Q.reshape(-1)
    for i in range(len(pairs)):
        path = first[i]
        while costs[path] > of_pairs[pairs[i]]:
            path += 1
        is_used[path] = True


@inner
def _log_prior(state: Floats, log_odds: Floats, log_prior: Floats, temperature: float, spread: float) -> float:
    """The logarithm of the prior of a state, up to a constant."""
    if temperature * math.exp(state[-1]) < LEAST_TEMPERATURE:
        return -np.inf
    total, size = -math.log1p((state[-1] / spread) ** 2), 0
    for term in range(len(log_odds)):
        if state[term] != 0.0:
            size += 1
            total += log_odds[term] + _density(state[term])
    return total + log_prior[size]


@inner
def _density(log_cost: float) -> float:
    """The logarithm of the prior density of a term's cost."""
    if log_cost > LARGEST:
        return -np.inf
    return -((log_cost - MEAN) ** 2) / (2 * SPREAD**2) - math.log(SPREAD * math.sqrt(2 * math.pi))


@inner
def _propose(state: Floats, before: Floats, rng: np.random.Generator) -> float:
    """Change the state; the logarithm of the chance of the way back over that of the way there."""
    count = len(state) - 1
    size = 0
    for term in range(count):
        size += state[term] != 0.0
    move = rng.random()
    if move < 0.05 or count == 0:
        state[-1] += 0.3 * rng.normal()
        return 0.0
    if move < 0.3:  # a term joins, with a cost of the prior, or leaves
        term = int(rng.random() * count)
        left, state[term] = state[term], 0.0 if state[term] != 0.0 else MEAN + SPREAD * rng.normal()
        return _density(left) if left != 0.0 else -_density(state[term])
    if size == 0:
        return -np.inf
    if move < 0.38 and size < count:  # another term takes the place of one, as dear or as cheap
        leaving, joining = _draw(state, True, size, rng), _draw(state, False, count - size, rng)
        state[joining], state[leaving] = state[leaving] if rng.random() < 0.5 else -state[leaving], 0.0
        return 0.0
    if move < 0.45:
        return _rescale(state, 0.5 * rng.normal())
    if move < 0.55 or len(before) == 1:
        state[_draw(state, True, size, rng)] += (0.15 if rng.random() < 0.5 else 0.6) * rng.normal()
        state[-1] += 0.05 * rng.normal()
        return 0.0
    # As two earlier states differ, which knows the scale of each cost and how costs go together (ter Braak 2006).
    one, other = before[int(rng.random() * len(before))], before[int(rng.random() * len(before))]
    factor = 1.0 if rng.random() < 0.1 else 2.38 / math.sqrt(2.0 * (size + 1))
    for i in range(count + 1):
        if i == count or (state[i] != 0.0 and one[i] != 0.0 and other[i] != 0.0):
            state[i] += factor * (one[i] - other[i]) + 0.01 * rng.normal()
    return 0.0


@inner
def _rescale(state: Floats, change: float) -> float:
    """Change the temperature and what costs differ from 1 by the same factor: see `_propose`."""
    ratio = 0.0
    state[-1] += change
    for term in range(len(state) - 1):
        if state[term] != 0.0:
            rest = math.expm1(state[term]) * math.exp(change)
            if rest <= -1.0:
                return -np.inf
            before, state[term] = state[term], math.log1p(rest)
            ratio += before + change - state[term]  # the logarithm of the derivative of the new by the old one
    return ratio


@inner
def _draw(state: Floats, is_inside: bool, count: int, rng: np.random.Generator) -> int:
    """One of the terms inside the set, or outside, of which there are so many."""
    left = int(rng.random() * count)
    for term in range(len(state) - 1):
        if (state[term] != 0.0) == is_inside:
            if left == 0:
                return term
            left -= 1
    return -1


@inner
def _is_positive(kinds: Floats, log_costs: Floats, costs: Floats) -> bool:
    """Whether all transitions cost at least the floor; `costs` has room for those of the kinds."""
    number = kinds.shape[1]
    for kind in range(number):
        costs[kind] = 1.0
    for term in range(len(kinds)):
        if log_costs[term] != 0.0:
            more = math.expm1(log_costs[term])
            for kind in range(number):
                costs[kind] += more * kinds[term, kind]
    least = np.inf
    for kind in range(number):
        least = min(least, costs[kind])
    return least >= FLOOR


@njit(cache=True, nogil=True)
def _cost_to_go(sums: Floats, first: Ints, pairs: Ints, log_costs: Floats, costs: Floats, Q: Floats) -> None:
    """Set Q of each pair to the least cost of its paths, for which `costs` has room."""
    for path in range(sums.shape[1]):
        costs[path] = sums[0, path]
    for term in range(len(sums) - 1):
        if log_costs[term] != 0.0:
            more = math.expm1(log_costs[term])
            for path in range(sums.shape[1]):
                costs[path] += more * sums[1 + term, path]
    of_pairs = Q.reshape(-1)  # an index of two numbers would take a division for each pair
    for i in range(len(pairs)):
        least = costs[first[i]]
        for path in range(first[i] + 1, first[i + 1]):
            least = min(least, costs[path])
        of_pairs[pairs[i]] = least


@njit(cache=True, nogil=True)
def _log_likelihood(Q: Floats, counts: Floats, temperature: float, room: Floats) -> float:
    """The sum of log pi(u_t | s_t), pi proportional to exp(-Q / temperature).

    `room` has a row for each control, whose chances it gets, and three more. All but the last loop work on vectors.
    """
    controls, number = Q.shape
    least, chosen, times, total, coldness = controls, controls + 1, controls + 2, 0.0, 1 / temperature
    for i in range(number):
        room[least, i], room[chosen, i], room[times, i] = Q[0, i], 0.0, counts[0, i]
    for control in range(1, controls):
        for i in range(number):
            room[least, i] = min(room[least, i], Q[control, i])
            room[times, i] += counts[control, i]
    for control in range(controls):
        for i in range(number):
            gain = max((room[least, i] - Q[control, i]) * coldness, -NEVER)
            room[chosen, i] += counts[control, i] * gain
            room[control, i] = max(gain, -NEGLIGIBLE)
    chances = room.reshape(-1)
    for i in range(controls * number):  # exp(x) = exp(x / 1024)^1024; it is wrong by less than 10^-11
        x = chances[i] / 1024
        power = 1 + x * (1 + x / 2 * (1 + x * THIRD * (1 + x / 4)))
        for _ in range(10):
            power *= power
        chances[i] = power
    for control in range(1, controls):
        for i in range(number):
            room[0, i] += room[control, i]
    for i in range(number):
        total += room[chosen, i] - room[times, i] * np.log(room[0, i])
    return total
