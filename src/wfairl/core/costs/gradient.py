"""The subgradient of Proposition 1: the planner's cost-to-go, differentiated with respect to the costs.

The cost-to-go of control u at node s is the sum of the costs along an optimal path tau(s, u),

    Q(s, u) = sum over (x, u') in tau(s, u) of c(x, u'),     so     dQ(s, u) / dc(x, u') = 1 on the path, else 0,

which is the gradient where the optimal path is unique and a subgradient where it is not. All paths end in one
tree: after the first control they follow the best control of every node. So a weight dL/dQ(s, u) flows from
T(s, u) down the tree to acceptance, and one backward pass adds up the weight that passes each node.

The paper's equation (6) is misprinted; with pi proportional to exp(-Q / eta),

    d log pi(u_t | s_t) / dQ(s_t, u') = -(1 / eta) (1[u' = u_t] - pi(u' | s_t)),

`step_losses` gives its negative, since the loss is -log pi; `Paths.weights` does the rest. Prices and networks are
learned so. The default cost (`posterior`) needs no gradient: it adds up terms along the same paths (`Paths.sums`).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.planning.shortest_path import CostToGo
from wfairl.core.support.compiling import njit

END = -1
"""In the tree of optimal paths: acceptance comes next, or there is no path."""


@dataclass(frozen=True, eq=False)
class Paths(ABC):
    """The optimal paths from some nodes under every control, expected where the world slips (`expected_paths`).

    Attributes:
        transitions: node * controls + control of everything on the paths, where one may occur twice.
        control_cost_to_go: Q of the start nodes, shape [starts, controls].
    """

    transitions: NDArray[np.int64]
    control_cost_to_go: NDArray[np.float64]

    @property
    def failures(self) -> NDArray[np.float64]:
        """The expected price of failures in mean costs of the product's transitions, shape [starts, controls]."""
        return np.zeros(self.control_cost_to_go.shape)

    @abstractmethod
    def weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """dL/dc of `transitions`, for dL/dQ of the start nodes, 0 where Q is inf; shape [starts, controls]."""

    @abstractmethod
    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of values of `transitions`, [transitions, columns], along the paths; costs add up to Q less failures.

        Shape [starts, controls, columns]; for a control that leads nowhere, its own values.
        """


@dataclass(frozen=True, eq=False)
class OptimalPaths(Paths):
    """A tree of paths: every control of every start node in turn, then the best control of every node of the tree.

    Attributes:
        entry: node of the tree at which each of the first transitions arrives, or `END`; shape [starts * controls].
        following: next node of the tree, which always has a lower number, or `END`; shape [tree].
    """

    entry: NDArray[np.int64]
    following: NDArray[np.int64]

    def weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        first = np.ascontiguousarray(weights, np.float64).reshape(-1)
        return np.concatenate([first, _accumulate_weights(first, self.entry, self.following)])

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        starts, controls = self.control_cost_to_go.shape
        tree = _accumulate_sums(values[starts * controls :], self.following)
        padded = np.append(tree, np.zeros_like(values[:1]), axis=0)
        beyond = np.where(self.entry[:, None] == END, 0.0, padded[self.entry])
        return (values[: starts * controls] + beyond).reshape(starts, controls, -1)


def trace_paths(successors: NDArray[np.int32], solution: CostToGo, nodes: NDArray[np.int64]) -> OptimalPaths:
    """The optimal paths from some nodes under every control.

    Args:
        successors: of the product, shape [nodes, controls].
        solution: its cost-to-go.
        nodes: where the paths start, shape [starts].
    """
    return trace_best(successors, solution.best_control, nodes, solution.control_cost_to_go[nodes])


def trace_best(
    successors: NDArray[np.int32], best: NDArray[np.int32], nodes: NDArray[np.int64], Q: NDArray[np.float64]
) -> OptimalPaths:
    """The paths along the best controls; arguments as in `trace_paths`, Q of shape [starts, controls]."""
    controls = successors.shape[1]
    entry, tree, following = _trace(successors, best, nodes)
    first = (nodes[:, None] * controls + np.arange(controls)).reshape(-1)
    return OptimalPaths(np.concatenate([first, tree * controls + best[tree]]), Q, entry, following)


def step_losses(
    Q: NDArray[np.float64], controls: NDArray[np.int64], temperature: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """-log pi(u_t | s_t) under the Boltzmann policy of equation (3), and its derivative by Q(s_t, u').

    Args:
        Q: control cost-to-go, shape [steps, controls].
        controls: the demonstrated u_t, none of which has Q = inf; shape [steps].
        temperature: eta, above zero: at zero there is nothing to differentiate.

    Returns:
        Shapes [steps] and [steps, controls].
    """
    above_best = (Q - Q.min(axis=1, keepdims=True)) / temperature
    policy = np.exp(-above_best)
    mass = policy.sum(axis=1, keepdims=True)
    is_chosen = np.arange(Q.shape[1]) == controls[:, None]
    return above_best[is_chosen] + np.log(mass[:, 0]), (is_chosen - policy / mass) / temperature


@njit(cache=True, nogil=True, exact=True)
def _trace(
    successors: NDArray[np.int32], best_control: NDArray[np.int32], nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Follow the best controls from every successor, each node once.

    A stretch of new nodes is numbered from its far end, so that the next node has a lower number.
    """
    controls = successors.shape[1]
    number = np.full(len(successors), END, np.int64)
    tree, following = np.empty(len(successors), np.int64), np.empty(len(successors), np.int64)
    stretch = np.empty(len(successors), np.int64)
    entry = np.full(len(nodes) * controls, END, np.int64)
    count = 0
    for i in range(len(entry)):
        start = successors[nodes[i // controls], i % controls]
        if start < 0 or best_control[start] < 0:
            continue
        length, node = 0, start
        while node != ACCEPTED and number[node] == END:
            stretch[length] = node
            length += 1
            node = successors[node, best_control[node]]
        after = END if node == ACCEPTED else number[node]
        for back in range(length - 1, -1, -1):
            node = stretch[back]
            number[node], tree[count], following[count] = count, node, after
            after = count
            count += 1
        entry[i] = number[start]
    return entry, tree[:count].copy(), following[:count].copy()


@njit(cache=True, nogil=True)
def _accumulate_weights(
    weights: NDArray[np.float64], entry: NDArray[np.int64], following: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The weight that passes through every node of the tree."""
    passing = np.zeros(len(following))
    for i in range(len(entry)):
        if entry[i] != END:
            passing[entry[i]] += weights[i]
    for node in range(len(following) - 1, -1, -1):
        if following[node] != END:
            passing[following[node]] += passing[node]
    return passing


@njit(cache=True, nogil=True, exact=True)
def _accumulate_sums(values: NDArray[np.float64], following: NDArray[np.int64]) -> NDArray[np.float64]:
    """The sum of values from every node of the tree to acceptance, shape [tree, features]."""
    sums = values.copy()
    for node in range(len(following)):  # the next node has a lower number
        if following[node] != END:
            for feature in range(sums.shape[1]):  # to compile an assignment of rows takes a second
                sums[node, feature] += sums[following[node], feature]
    return sums
