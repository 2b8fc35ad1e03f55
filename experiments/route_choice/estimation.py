"""Maximum likelihood of a cost that is linear in named features, with a table of deviations where there are data.

    c(s, u) = phi(s, u) . w * exp(delta[entry(s, u)]) + FLOOR,     w >= 0

    maximise   log-likelihood(c)  -  (penalty / 2) sum delta^2

Without a table this is the linear cost of discrete choice models, with standard errors. With one, every entry (a
transition, a node, a control in a state of the automaton) has a cost of its own, which stays near the linear one
without data. The temperature needs no parameter: it is the unit in which w is measured.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.route_choice.choice_models import ChoiceModel, Information, NoSoftCostToGoError
from experiments.route_choice.choices import Choices
from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.costs.most_likely import most_likely
from wfairl.core.support.errors import BadInputError, FailedRunError
from wfairl.core.worlds.transitions import TransitionTable

FLOOR = 1e-6
"""Least cost of a transition, such as one whose features are all zero: shortest paths need costs above zero."""

LEAST_WEIGHT = 1e-6

MOST_ITERATIONS = 200

PARTS = 5
"""Into how many parts trips are split to hold one of them out."""

MAX_DEVIATION = 10.0
"""Bound of |delta|: a factor of 20,000 either way, so that the least cost still counts beside the largest."""

LEAST_CURVATURE = 1e-10
"""Of the log-likelihood, as a fraction of the greatest: below it, a direction of weights changes nothing."""


class NotIdentifiedError(FailedRunError):
    """The choices carry no evidence about some weights."""


@dataclass(frozen=True, eq=False)
class CostFamily:
    """What a cost may depend on."""

    features: NDArray[np.float64]  # phi, not negative; shape [nodes, controls, features]
    names: tuple[str, ...]  # of the features
    # which entry of the table a transition has, -1 for none; shape [nodes, controls]. None for no table
    entries: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if self.features.shape[-1] != len(self.names):
            raise BadInputError(f"{len(self.names)} names for {self.features.shape[-1]} features")
        if not (self.features >= 0).all():
            raise BadInputError("features of a cost must not be negative: costs are above zero")

    @classmethod
    def linear(cls, table: TransitionTable, entries: NDArray[np.int64] | None = None) -> "CostFamily":
        """Costs that are linear in the features of a world's transitions."""
        features = table.features[table.feature_index]
        features[table.successors == UNAVAILABLE] = 0.0
        return cls(features, table.feature_names, entries)

    @property
    def table_size(self) -> int:
        """The number of entries of the table."""
        return 0 if self.entries is None else int(self.entries.max(initial=-1)) + 1

    def costs(self, weights: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
        """c(s, u), shape [nodes, controls]."""
        return self.features @ weights * self._factors(table) + FLOOR

    def pull_back(
        self, gradient: NDArray[np.float64], weights: NDArray[np.float64], table: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """dL/dw and dL/ddelta for dL/dc, shape [nodes, controls]."""
        scaled = gradient * self._factors(table)
        by_weight = np.einsum("su,suk->k", scaled, self.features)
        if self.entries is None:
            return by_weight, np.zeros(0)
        by_transition, has_entry = scaled * (self.features @ weights), self.entries >= 0
        by_entry = np.bincount(self.entries[has_entry], by_transition[has_entry], self.table_size)
        return by_weight, by_entry.astype(np.float64, copy=False)

    def _factors(self, table: NDArray[np.float64]) -> NDArray[np.float64] | float:
        return 1.0 if self.entries is None else np.exp(np.append(table, 0.0)[self.entries])


@dataclass(frozen=True, eq=False)
class CostEstimate:
    """A fitted cost: w [features], delta [entries], the log-likelihood of the choices, and what the fit took."""

    family: CostFamily
    weights: NDArray[np.float64]
    table: NDArray[np.float64]
    log_likelihood: float = math.nan
    evaluations: int = 0
    seconds: float = 0.0

    @property
    def costs(self) -> NDArray[np.float64]:
        """c(s, u), shape [nodes, controls]."""
        return self.family.costs(self.weights, self.table)


def flat_estimate(family: CostFamily, weight: float = 1.0) -> CostEstimate:
    """The usual start of a fit: the same weight for all features, no deviations."""
    return CostEstimate(family, np.full(len(family.names), weight), np.zeros(family.table_size))


def fit(
    model: ChoiceModel,
    choices: Choices,
    start: CostEstimate,
    penalty: float = 1.0,
    tolerance: float = 1e-9,
) -> CostEstimate:
    """The most likely cost of the family of `start`, by L-BFGS-B on the exact gradient (a subgradient at ties).

    `penalty` is the inverse prior variance of the table's entries; `tolerance` ends it, in nats per step.
    """
    begun, family, features = time.process_time(), start.family, len(start.weights)
    evaluations = 0

    def objective(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        nonlocal evaluations
        evaluations += 1
        weights, table = point[:features], point[features:]
        try:
            likelihood = model.log_likelihood(choices, family.costs(weights, table))
        except NoSoftCostToGoError:
            if evaluations == 1:
                raise
            return math.inf, np.zeros(len(point))
        value = -likelihood.value + penalty / 2 * float(table @ table)
        by_weight, by_entry = family.pull_back(likelihood.gradient, weights, table)
        # Per step, so that tolerances mean the same for any number of choices.
        return value / len(choices), np.concatenate([-by_weight, penalty * table - by_entry]) / len(choices)

    bounds = [(LEAST_WEIGHT, None)] * features + [(-MAX_DEVIATION, MAX_DEVIATION)] * family.table_size
    best = most_likely(objective, np.concatenate([start.weights, start.table]), bounds, tolerance, MOST_ITERATIONS)
    weights, table = best[:features], best[features:]
    likelihood = model.log_likelihood(choices, family.costs(weights, table)).value
    return CostEstimate(family, weights, table, likelihood, evaluations, time.process_time() - begun)


@dataclass(frozen=True, eq=False)
class ChosenPenalty:
    """The penalty of a table, the log-likelihood per held-out step of all tried, and a start for the final fit."""

    penalty: float
    held_out: dict[float, float]
    estimate: CostEstimate


def choose_penalty(
    model: ChoiceModel,
    choices: Choices,
    start: CostEstimate,
    penalties: Sequence[float],
    rng: np.random.Generator,
    folds: int = 1,
    **settings: Any,
) -> ChosenPenalty:
    """The penalty under which held-out trips are most likely; `folds` fifths of the trips are held out in turn.

    Penalties are tried from the largest down, each fit starting at the previous one, until one is worse than the best.
    """
    parts = np.array_split(rng.permutation(np.unique(choices.trips)), PARTS)[:folds]
    trained = [choices.of_trips(np.setdiff1d(choices.trips, part)) for part in parts]
    tested = [choices.of_trips(part) for part in parts]
    estimates, held_out, best = [start] * folds, dict[float, float](), start
    for penalty in sorted(penalties, reverse=True):
        estimates = [
            fit(model, part, estimate, penalty, **settings) for part, estimate in zip(trained, estimates, strict=True)
        ]
        likelihoods = [
            model.log_probabilities(part, estimate.costs) for part, estimate in zip(tested, estimates, strict=True)
        ]
        held_out[penalty] = float(np.concatenate(likelihoods).mean())
        if held_out[penalty] < max(held_out.values()):
            break
        best = estimates[0]
    chosen = max(held_out, key=lambda one: held_out[one])
    return ChosenPenalty(chosen, held_out, best)


@dataclass(frozen=True)
class Parameter:
    """A weight as discrete choice models report it: of the utility, which is minus the cost.

    The standard error is from the inverse Hessian, the robust one from its sandwich with the scores of trips.
    """

    name: str
    estimate: float
    standard_error: float
    robust_error: float

    @property
    def t_test(self) -> float:
        """Robust t statistic against zero."""
        return self.estimate / self.robust_error


def parameters_of(model: ChoiceModel, choices: Choices, estimate: CostEstimate) -> tuple[Parameter, ...]:
    """The weights of a linear cost, without a table, with their standard errors; errors as in `covariances`."""
    information = model.information(choices, estimate.costs, estimate.family.features)
    covariance, sandwich = covariances(information)
    return tuple(
        Parameter(name, -float(weight), math.sqrt(covariance[k, k]), math.sqrt(sandwich[k, k]))
        for k, (name, weight) in enumerate(zip(estimate.family.names, estimate.weights, strict=True))
    )


def covariances(information: Information) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of the weights, shape [features, features]: the inverse of minus the Hessian, and the sandwich."""
    curvature = np.linalg.eigvalsh(-information.hessian)
    if not curvature[0] > LEAST_CURVATURE * curvature[-1]:
        raise NotIdentifiedError(
            "the choices do not tell the weights of the features apart, so that they have no standard errors: leave out"
            " a feature that is nearly a sum of others, or one that no choice depends on"
        )
    inverse = np.linalg.inv(-information.hessian).astype(np.float64, copy=False)
    return inverse, inverse @ (information.scores.T @ information.scores) @ inverse
