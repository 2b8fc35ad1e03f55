"""The gradient of Proposition 1 where the world slips: expected uses instead of a path.

With pi the best controls, the expected cost-to-go is the sum of costs by how often they are met,

    Q(s, u) = sum over (x, e) of N(s, u; x, e) c(x, e) + price P(failure) (mean of c)

with N the expected number of times that effect e happens in node x after u in s and pi from then on. So N is the
derivative of Q by c(x, e), but for failures: these add price P(failure) times the derivative of the mean (`failures`).
Let P_pi be the transitions under pi between nodes. A weight dL/dQ(s, u) is spread over the effects of u by their
chances, enters the nodes after them, and flows on:

    y = y_0 + P_pi^T y,     dL/dc(x, e) = (weight of e in the start x) + y(x) P(e | x, pi(x)),

one sparse system of equations for all starts. Sums of other things than costs solve the transposed system. Where
nothing slips, N is 1 along a path and 0 elsewhere (`gradient`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.costs.gradient import Paths
from wfairl.core.planning.expected_cost import DEFAULT_PRICE
from wfairl.core.planning.shortest_path import CostToGo
from wfairl.core.worlds.chances import Chances


@dataclass(frozen=True, eq=False)
class ExpectedPaths(Paths):
    """What the best policy does: the effects of every start node in turn, then those of every node it can come to.

    Attributes:
        lotteries: P(e | x, u) of the start nodes, 0 where Q is inf; shape [starts, controls, effects].
        entry: which node an effect of a start leads to, sparse, shape [starts * effects, nodes].
        policy: P(e | x, pi(x)), shape [nodes, effects].
        system: factors of I - P_pi, shape [nodes, nodes]; None if there are no nodes.
        fails: which of `transitions` fail.
    """

    lotteries: NDArray[np.float64]
    entry: Any
    policy: NDArray[np.float64]
    system: Any
    fails: NDArray[np.bool_]

    def weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        first = np.einsum("su,sue->se", weights, self.lotteries).reshape(-1)
        if self.system is None:
            return first
        passing = self.system.solve(self.entry.T @ first, "T")
        return np.concatenate([first, (passing[:, None] * self.policy).reshape(-1)])

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        starts, _, effects = self.lotteries.shape
        ahead = values[: starts * effects]
        if self.system is not None:
            of_nodes = values[starts * effects :].reshape(*self.policy.shape, -1)
            ahead = ahead + self.entry @ self.system.solve(np.einsum("ne,nec->nc", self.policy, of_nodes))
        return np.einsum("sue,sec->suc", self.lotteries, ahead.reshape(starts, effects, -1))

    @property
    def failures(self) -> NDArray[np.float64]:
        return DEFAULT_PRICE * self.sums(self.fails[:, None].astype(np.float64))[:, :, 0]


def expect_paths(
    successors: NDArray[np.int32], chances: Chances, solution: CostToGo, nodes: NDArray[np.int64]
) -> ExpectedPaths:
    """The best policy from some nodes under every control; arguments as in `trace_paths`."""
    from scipy.sparse import csc_matrix, csr_matrix, eye
    from scipy.sparse.linalg import splu

    dense, best = chances.dense(successors.shape[1]), solution.best_control
    Q = solution.control_cost_to_go[nodes]
    lotteries = np.where(np.isfinite(Q)[:, :, None], dense[chances.kind[nodes]], 0.0)
    met = _met_nodes(successors, dense, chances.kind, best, nodes)
    policy = dense[chances.kind[met], best[met]]
    number = np.full(len(successors), -1)
    number[met] = np.arange(len(met))
    targets = successors[np.concatenate([nodes, met])]
    is_node = (targets >= 0) & (best[np.maximum(targets, 0)] >= 0)
    inside = np.where(is_node, number[np.maximum(targets, 0)], -1)
    first = inside[: len(nodes)].reshape(-1)
    rows = np.flatnonzero(first >= 0)
    entry = csr_matrix((np.ones(len(rows)), (rows, first[rows])), (len(first), len(met)))
    system = None
    if len(met):
        at, effect = np.nonzero((inside[len(nodes) :] >= 0) & (policy > 0))
        flow = csc_matrix((policy[at, effect], (at, inside[len(nodes) + at, effect])), (len(met), len(met)))
        system = splu((eye(len(met), format="csc") - flow).tocsc())
    effects = np.arange(successors.shape[1])
    transitions = (np.concatenate([nodes, met])[:, None] * successors.shape[1] + effects).reshape(-1)
    fails = ~is_node & (targets != ACCEPTED)
    return ExpectedPaths(transitions, Q, lotteries, entry, policy, system, fails.reshape(-1))


def _met_nodes(
    successors: NDArray[np.int32],
    dense: NDArray[np.float64],
    kind: NDArray[np.int32],
    best: NDArray[np.int32],
    starts: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The nodes that can be met after any control of a start and the best controls from then on."""
    is_met = np.zeros(len(successors), bool)
    front = np.unique(successors[starts])
    while len(front := front[(front >= 0)]) and len(front := front[~is_met[front] & (best[front] >= 0)]):
        is_met[front] = True
        front = np.unique(successors[front][dense[kind[front], best[front]] > 0])
    return np.flatnonzero(is_met)
