"""Logic and cost together, for demonstrators whose cost is not the same everywhere.

The cost of a transition is c(x, u) = sum_j w_j phi_j(x, u) with features phi >= 0 and weights w > 0, of which the
first is 1: a common factor of cost and temperature changes nothing. Automaton and weights are improved in turn,

    A <- argmax_A log posterior(A | w),        w <- argmax_w log evidence(w | A),

until the posterior no longer rises.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from wfairl.automata.automaton import Label
from wfairl.automata.guarded import GuardedAutomaton
from wfairl.logic.evidence import Evidence, Scene, log_mean
from wfairl.logic.rational import RationalLearner, RationalResult
from wfairl.logic.tables import to_table

MOST_ROUNDS = 5
LEAST_RISE = 0.5
"""Nats by which a round must raise the posterior for another one to follow."""

LARGEST_LOG_WEIGHT = 6.0


@dataclass(frozen=True, eq=False)
class LogicAndCost:
    """What was learned of both.

    Attributes:
        logic: the automaton, under the learned cost.
        weights: of the features, the first is 1; [features].
        margin: nats of log evidence that are lost when a weight is halved or doubled, whichever loses less; where it
            is below 1 the demonstrations do not tell this weight; [features - 1].
    """

    logic: RationalResult
    weights: NDArray[np.float64]
    margin: NDArray[np.float64]


def learn_logic_and_cost(
    labels: Sequence[Label],
    scenes: Sequence[Scene],
    features: Sequence[NDArray[np.float64]],
    learner: RationalLearner,
) -> LogicAndCost:
    """Alternate between automaton and weights.

    Args:
        labels: what the label indices of the scenes mean.
        scenes: demonstrations with their worlds; their costs are not used.
        features: phi of each scene, [states, controls, features]; the first must be above zero everywhere.
        learner: of the automaton.
    """
    weights = np.concatenate([[1.0], np.full(features[0].shape[-1] - 1, 0.1)])
    best: RationalResult | None = None
    for _ in range(MOST_ROUNDS):
        result = learner.fit(labels, _priced(scenes, features, weights))
        if best is not None and result.log_posterior < best.log_posterior + LEAST_RISE:
            break
        best = result
        weights = _fit_weights(labels, scenes, features, result, weights, learner)
    assert best is not None
    final = learner.fit(labels, _priced(scenes, features, weights))
    return LogicAndCost(final, weights, _margin(labels, scenes, features, final, weights, learner))


def _priced(
    scenes: Sequence[Scene], features: Sequence[NDArray[np.float64]], weights: NDArray[np.float64]
) -> list[Scene]:
    """The scenes with the costs that the weights give."""
    return [replace(scene, costs=phi @ weights) for scene, phi in zip(scenes, features, strict=True)]


def _fit_weights(
    labels: Sequence[Label],
    scenes: Sequence[Scene],
    features: Sequence[NDArray[np.float64]],
    result: RationalResult,
    weights: NDArray[np.float64],
    learner: RationalLearner,
) -> NDArray[np.float64]:
    """The weights of highest evidence for an automaton."""

    def loss(logs: NDArray[np.float64]) -> float:
        return -_log_evidence(labels, scenes, features, result.automaton, _weights(logs), learner)

    starts = [np.log(weights[1:]), np.zeros(len(weights) - 1)]
    found = [minimize(loss, start, method="Nelder-Mead", options={"xatol": 0.02, "fatol": 0.05}) for start in starts]
    return _weights(min(found, key=lambda solution: solution.fun).x)


def _weights(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([[1.0], np.exp(np.clip(logs, -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT))])


def _log_evidence(
    labels: Sequence[Label],
    scenes: Sequence[Scene],
    features: Sequence[NDArray[np.float64]],
    automaton: GuardedAutomaton,
    weights: NDArray[np.float64],
    learner: RationalLearner,
) -> float:
    """Of the demonstrations, under an automaton and weights, averaged over temperatures."""
    priced = _priced(scenes, features, weights)
    settings = learner.settings
    evidence = Evidence(
        labels, priced, learner.temperatures(priced), settings.outlier_probability, settings.max_world_states
    )
    return log_mean(evidence.evaluate_all(to_table(automaton, labels)[:-1].copy()).sum(axis=0))


def _margin(
    labels: Sequence[Label],
    scenes: Sequence[Scene],
    features: Sequence[NDArray[np.float64]],
    result: RationalResult,
    weights: NDArray[np.float64],
    learner: RationalLearner,
) -> NDArray[np.float64]:
    """Nats lost when a weight is halved or doubled, whichever loses less; [features - 1]."""
    here = _log_evidence(labels, scenes, features, result.automaton, weights, learner)
    losses = []
    for j in range(1, len(weights)):
        changed = [weights * np.where(np.arange(len(weights)) == j, factor, 1.0) for factor in (0.5, 2.0)]
        losses.append(
            min(here - _log_evidence(labels, scenes, features, result.automaton, w, learner) for w in changed)
        )
    return np.array(losses)
