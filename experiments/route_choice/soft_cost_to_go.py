"""The soft cost-to-go: MaxEnt planning, with a soft minimum in place of the hard one.

    Q(s, u) = c(s, u) + V(T(s, u)),     V(s) = -eta log sum_u exp(-Q(s, u) / eta),     V = 0 once the task is accepted.

The Boltzmann policy at eta over this Q draws whole paths with probability proportional to exp(-cost / eta). As eta
falls to 0, V rises to the exact cost-to-go V*. For x = exp((V* - V) / eta), at least 1 wherever V* is finite, the
equation is linear,

    x(s) = sum_u exp(-(c(s, u) + V*(T(s, u)) - V*(s)) / eta) x(T(s, u)),     x = 1 once the task is accepted,

and all coefficients lie between 0 and 1: however long the paths, nothing underflows.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, eye_array
from scipy.sparse.linalg import splu

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.planning.shortest_path import CostToGo, ReversedGraph, cost_to_go
from wfairl.core.support.errors import BadInputError, FailedRunError


class NoSoftCostToGoError(FailedRunError):
    """Costs so low, relative to the temperature, that cycles weigh more than paths to acceptance."""

    def __init__(self) -> None:
        super().__init__(
            "the soft cost-to-go does not exist: relative to this temperature the costs are so low that cycles weigh"
            " more than paths to acceptance. Raise the costs, or lower the temperature"
        )


def soft_cost_to_go(graph: ReversedGraph, costs: NDArray[np.float64], temperature: float) -> CostToGo:
    """Solve the soft equation for every node and control at temperature eta; see `cost_to_go`.

    Raises:
        NoSoftCostToGoError: there is no solution.
    """
    if not 0 < temperature < np.inf:
        raise BadInputError(f"the temperature of a soft cost-to-go must be above zero and finite, not {temperature}")
    exact = cost_to_go(graph, costs)
    live = np.isfinite(exact.control_cost_to_go)
    node, control = np.nonzero(live)
    ahead = graph.successors[node, control]
    factor = np.exp(-(exact.control_cost_to_go[node, control] - exact.cost_to_go[node]) / temperature)
    accepted = ahead == ACCEPTED
    nodes = len(costs)
    links = coo_array((factor[~accepted], (node[~accepted], ahead[~accepted])), (nodes, nodes))
    arrivals = np.bincount(node[accepted], factor[accepted], nodes) + ~live.any(axis=1)
    try:
        x = splu((eye_array(nodes) - links).tocsc(), diag_pivot_thresh=0.0).solve(arrivals)
    except RuntimeError:
        raise NoSoftCostToGoError from None
    if not (np.isfinite(x).all() and (x >= 1 - 1e-9).all()):
        raise NoSoftCostToGoError
    V = exact.cost_to_go - temperature * np.log(x)
    beyond = np.where(accepted, 0.0, V[np.maximum(ahead, 0)])
    Q = np.full(costs.shape, np.inf)
    Q[node, control] = costs[node, control] + beyond
    best = np.where(live.any(axis=1), Q.argmin(axis=1), exact.best_control).astype(np.int32)
    return CostToGo(V, Q, best)
