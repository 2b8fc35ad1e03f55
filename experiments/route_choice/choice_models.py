"""How likely choices are, given what transitions cost: the exact model and the soft one.

Both are Boltzmann policies at temperature 1, pi(u | s) = exp(-Q(s, u)) / sum_u' exp(-Q(s, u')), over

    exact   Q(s, u) = c(s, u) + V(T(s, u)),     V(s) = min_u Q(s, u)                  the paper's planner
    soft    Q(s, u) = c(s, u) + V(T(s, u)),     V(s) = -log sum_u exp(-Q(s, u))       MaxEnt IRL, recursive logit

with V = 0 at the goal. Temperature 1 is no restriction: costs in units of the temperature are learned together with it.

The soft one is the recursive logit of Fosgerau, Frejinger and Karlstrom (2013) with utilities -c. For z = exp(-V) its
equation is linear, z = M z with M(k, a) = sum of exp(-c) over the controls from k to a, and z = 1 at the goal. With
G = (I - M)^-1, the total weight of all paths, those that end in goal d when they first reach it weigh

    z_d(k) = G(k, d) / G(d, d),

so one sparse factorisation serves all goals.
"""

from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, eye_array
from scipy.sparse.linalg import SuperLU, splu

from experiments.route_choice.choices import Choices, Decisions, towards
from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.costs.gradient import OptimalPaths, trace_paths
from wfairl.core.planning.policy import log_probabilities
from wfairl.core.planning.shortest_path import ReversedGraph, cost_to_go, reverse_graph
from wfairl.core.support.errors import FailedRunError
from wfairl.core.support.parallel import map_in_threads


class NoSoftCostToGoError(FailedRunError):
    """Costs so low, relative to the temperature, that cycles weigh more than paths to the goal."""

    def __init__(self) -> None:
        super().__init__(
            "the soft cost-to-go does not exist: the costs are so low that cycles weigh more than paths to the goal."
            " Raise the costs"
        )


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The sum over steps of log pi(u_t | s_t), and its gradient by c(s, u), shape [nodes, controls]."""

    value: float
    gradient: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Information:
    """Of the weights of a linear cost: scores of trips [trips, features], and the Hessian [features, features]."""

    scores: NDArray[np.float64]
    hessian: NDArray[np.float64]


class ChoiceModel(Protocol):
    """From costs c(s, u), shape [nodes, controls], to how likely choices are."""

    def log_likelihood(self, choices: Choices, costs: NDArray[np.float64]) -> Likelihood:
        """The log-likelihood of all choices and its gradient."""
        ...

    def log_probabilities(self, choices: Choices, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """log pi of each choice, shape [steps]."""
        ...

    def control_cost_to_go(
        self, successors: NDArray[np.int32], costs: NDArray[np.float64], goal: int
    ) -> NDArray[np.float64]:
        """Q of every node towards a goal, shape [nodes, controls]."""
        ...

    def information(self, choices: Choices, costs: NDArray[np.float64], features: NDArray[np.float64]) -> Information:
        """Scores and Hessian for costs that are linear in features [nodes, controls, features]."""
        ...


@dataclass(frozen=True)
class ExactChoice:
    """Boltzmann policy over the exact cost-to-go.

    Q is piecewise linear in the costs: where no optimal path changes, the model is a multinomial logit whose
    alternatives have the features of their optimal paths. Gradient and Hessian are those of that logit. `n_jobs` goals
    are planned for at once.
    """

    n_jobs: int = 2
    name: str = "exact"

    def log_likelihood(self, choices: Choices, costs: NDArray[np.float64]) -> Likelihood:
        planned = self._plan(choices, costs)
        log_policy = log_probabilities(np.concatenate([paths.control_cost_to_go for paths in planned]), 1.0)
        first = np.cumsum([len(nodes) for _, nodes in choices.searches])[:-1]
        by_Q = np.split(_q_gradient(choices.decisions, log_policy), first)
        weights = [paths.weights(weight) for paths, weight in zip(planned, by_Q, strict=True)]
        transitions = np.concatenate([paths.transitions for paths in planned])
        gradient = np.bincount(transitions, np.concatenate(weights), costs.size).astype(np.float64, copy=False)
        return Likelihood(_total(choices.decisions, log_policy), gradient.reshape(costs.shape))

    def log_probabilities(self, choices: Choices, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        Q = np.concatenate([paths.control_cost_to_go for paths in self._plan(choices, costs)])
        return log_probabilities(Q, 1.0)[choices.decisions.of_step, choices.controls]

    def control_cost_to_go(
        self, successors: NDArray[np.int32], costs: NDArray[np.float64], goal: int
    ) -> NDArray[np.float64]:
        return cost_to_go(reverse_graph(towards(successors, goal)), costs).control_cost_to_go

    def information(self, choices: Choices, costs: NDArray[np.float64], features: NDArray[np.float64]) -> Information:
        planned, flat = self._plan(choices, costs), features.reshape(-1, features.shape[-1])
        policy = np.exp(log_probabilities(np.concatenate([paths.control_cost_to_go for paths in planned]), 1.0))
        sums = [paths.sums(flat[paths.transitions]) for paths in planned]
        excess = _excess(policy, np.concatenate(sums))  # of dQ(s, u) / dw
        visits = choices.decisions.counts.sum(axis=1)
        hessian = -np.einsum("s,su,sui,suj->ij", visits, policy, excess, excess)
        return Information(_scores(choices, excess), hessian)

    def _plan(self, choices: Choices, costs: NDArray[np.float64]) -> list[OptimalPaths]:
        return list(map_in_threads(partial(_optimal_paths, costs), choices.searches, self.n_jobs))


def _optimal_paths(costs: NDArray[np.float64], search: tuple[ReversedGraph, NDArray[np.int64]]) -> OptimalPaths:
    graph, nodes = search
    return trace_paths(graph.successors, cost_to_go(graph, costs), nodes)


@dataclass(frozen=True)
class SoftChoice:
    """MaxEnt IRL and the recursive logit: the soft cost-to-go, all goals from one factorisation."""

    name: str = "soft"

    def log_likelihood(self, choices: Choices, costs: NDArray[np.float64]) -> Likelihood:
        decisions = choices.decisions
        paths = _PathWeights.towards(choices.successors, decisions.goals, costs)
        log_policy = log_probabilities(paths.control_cost_to_go(decisions), 1.0)
        by_Q, gradient = _q_gradient(decisions, log_policy), np.zeros(costs.shape)
        np.add.at(gradient, decisions.nodes, by_Q)  # dQ/dc = 1 of the transition itself
        by_V = np.zeros(paths.cost_to_go.shape)  # dL/dV, shape [nodes, goals]
        next_node, goal = choices.successors[decisions.nodes], np.broadcast_to(decisions.goal[:, None], by_Q.shape)
        continues = (next_node != UNAVAILABLE) & (next_node != decisions.goals[goal])
        np.add.at(by_V, (next_node[continues], goal[continues]), by_Q[continues])
        return Likelihood(_total(decisions, log_policy), gradient + paths.pull_back(by_V))

    def log_probabilities(self, choices: Choices, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        paths = _PathWeights.towards(choices.successors, choices.decisions.goals, costs)
        Q = paths.control_cost_to_go(choices.decisions)
        return log_probabilities(Q, 1.0)[choices.decisions.of_step, choices.controls]

    def control_cost_to_go(
        self, successors: NDArray[np.int32], costs: NDArray[np.float64], goal: int
    ) -> NDArray[np.float64]:
        V = _PathWeights.towards(successors, np.array([goal]), costs).cost_to_go[:, 0]
        return costs + np.where(successors == UNAVAILABLE, np.inf, V[successors])

    def information(self, choices: Choices, costs: NDArray[np.float64], features: NDArray[np.float64]) -> Information:
        """See `ChoiceModel`; the Hessian is by central differences of the gradient."""
        decisions = choices.decisions
        paths = _PathWeights.towards(choices.successors, decisions.goals, costs)
        policy = np.exp(log_probabilities(paths.control_cost_to_go(decisions), 1.0))
        next_node = choices.successors[decisions.nodes]
        slopes = paths.slopes(features)[next_node, decisions.goal[:, None]]  # dV / dw
        slopes = features[decisions.nodes] + np.where((next_node != UNAVAILABLE)[:, :, None], slopes, 0.0)  # dQ / dw
        return Information(_scores(choices, _excess(policy, slopes)), self._hessian(choices, costs, features))

    def _hessian(
        self, choices: Choices, costs: NDArray[np.float64], features: NDArray[np.float64], step: float = 1e-5
    ) -> NDArray[np.float64]:
        rows = []
        for k in range(features.shape[-1]):
            after, before = (
                np.einsum("su,suk->k", self.log_likelihood(choices, costs + sign * features[..., k]).gradient, features)
                for sign in (step, -step)
            )
            rows.append((after - before) / (2 * step))
        return (np.array(rows) + np.array(rows).T) / 2


@dataclass(frozen=True, eq=False)
class _PathWeights:
    """The total weights of paths on a graph to some goals."""

    successors: NDArray[np.int32]
    costs: NDArray[np.float64]
    goals: NDArray[np.int64]
    factors: SuperLU  # of I - M
    weights: NDArray[np.float64]  # G(k, d), shape [nodes, goals]
    cost_to_go: NDArray[np.float64]  # V, inf where the goal cannot be reached; shape [nodes, goals]

    @classmethod
    def towards(
        cls, successors: NDArray[np.int32], goals: NDArray[np.int64], costs: NDArray[np.float64]
    ) -> "_PathWeights":
        """Factorise once, solve for all goals."""
        nodes = len(successors)
        node, control = np.nonzero(successors != UNAVAILABLE)
        links = coo_array((np.exp(-costs[node, control]), (node, successors[node, control])), (nodes, nodes))
        system = (eye_array(nodes) - links).tocsc()
        try:
            # On the diagonal of such a matrix, elimination never subtracts: small weights keep all of their digits.
            factors = splu(system, diag_pivot_thresh=0.0)
        except RuntimeError:
            raise NoSoftCostToGoError from None
        ends = np.zeros((nodes, len(goals) + 1))
        ends[goals, np.arange(len(goals))] = 1.0
        ends[:, -1] = 1.0  # the weight of all paths from a node: at least 1 where the sum converges
        weights = factors.solve(ends)
        if not (weights[:, -1] >= 1 - 1e-9).all() or not (weights >= 0).all():
            raise NoSoftCostToGoError
        weights = weights[:, :-1]
        with np.errstate(divide="ignore"):
            V = np.log(weights[goals, np.arange(len(goals))]) - np.log(weights)
        return cls(successors, costs, goals, factors, weights, V)

    def control_cost_to_go(self, decisions: Decisions) -> NDArray[np.float64]:
        """Q of each decision, shape [decisions, controls]."""
        next_node = self.successors[decisions.nodes]
        next_V = self.cost_to_go[next_node, decisions.goal[:, None]]
        return self.costs[decisions.nodes] + np.where(next_node == UNAVAILABLE, np.inf, next_V)

    def pull_back(self, by_V: NDArray[np.float64]) -> NDArray[np.float64]:
        """dL/dc through the cost-to-go [nodes, controls], for dL/dV of nodes other than the goal [nodes, goals].

        V_d(k) = log G(d, d) - log G(k, d) and dG = G dM G, so that dL/dM(k, a) = sum_d Lambda(k, d) G(a, d) with
        Lambda = G^T dL/dG, and dM(k, a) / dc = -exp(-c).
        """
        columns = np.arange(len(self.goals))
        with np.errstate(divide="ignore", invalid="ignore"):
            by_G = np.where(by_V != 0, -by_V / self.weights, 0.0)
        by_G[self.goals, columns] += by_V.sum(axis=0) / self.weights[self.goals, columns]
        flow = self.factors.solve(by_G, trans="T")  # Lambda
        gradient = np.zeros(self.costs.shape)
        for control, next_node in enumerate(self.successors.T):
            node = np.flatnonzero(next_node != UNAVAILABLE)
            by_M = np.einsum("kd,kd->k", flow[node], self.weights[next_node[node]])
            gradient[node, control] = -np.exp(-self.costs[node, control]) * by_M
        return gradient

    def slopes(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """dV/dw for costs that are linear in features; 0 where the goal cannot be reached, [nodes, goals, features]."""
        nodes, columns = len(self.successors), np.arange(len(self.goals))
        node, control = np.nonzero(self.successors != UNAVAILABLE)
        next_node, links = self.successors[node, control], np.exp(-self.costs[node, control])
        slopes = []
        for k in range(features.shape[-1]):
            dM = coo_array((-links * features[node, control, k], (node, next_node)), (nodes, nodes)).tocsr()
            dG = self.factors.solve(dM @ self.weights)
            with np.errstate(divide="ignore", invalid="ignore"):
                relative = np.where(self.weights > 0, dG / self.weights, 0.0)
            slopes.append(relative[self.goals, columns] - relative)
        return np.stack(slopes, axis=-1)


def _total(decisions: Decisions, log_policy: NDArray[np.float64]) -> float:
    chosen = decisions.counts > 0
    return float(decisions.counts[chosen] @ log_policy[chosen])


def _q_gradient(decisions: Decisions, log_policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """dL/dQ: how often the policy would choose a control, minus how often it was chosen; [decisions, controls]."""
    return decisions.counts.sum(axis=1, keepdims=True) * np.exp(log_policy) - decisions.counts


def _excess(policy: NDArray[np.float64], slopes: NDArray[np.float64]) -> NDArray[np.float64]:
    """dQ(s, u) / dw less its mean under the policy, shape [decisions, controls, features]."""
    return slopes - (policy[:, :, None] * slopes).sum(axis=1, keepdims=True)


def _scores(choices: Choices, excess: NDArray[np.float64]) -> NDArray[np.float64]:
    """d log-likelihood of each trip / dw, shape [trips, features]: d log pi(u | s) / dw is minus the excess."""
    trips, trip_of_step = np.unique(choices.trips, return_inverse=True)
    scores = np.zeros((len(trips), excess.shape[2]))
    np.add.at(scores, trip_of_step, -excess[choices.decisions.of_step, choices.controls])
    return scores
