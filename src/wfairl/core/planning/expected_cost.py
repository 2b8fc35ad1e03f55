"""Expected cost-to-go of every node of a product whose world slips: a stochastic shortest path.

With P(e | s, u) the chances of effect e under control u, T(s, e) the node after it and c(s, e) the cost of what
happened, equation (5) of the paper becomes

    Q(s, u) = sum over e of P(e | s, u) (c(s, e) + V(T(s, e))),     V(s) = min_u Q(s, u),     V = 0 once accepted,
    V(s) = D   where acceptance cannot be reached: the price of a failure, in the units of the costs.

A control that can only fail is never chosen, however cheap a failure is. Costs are above zero, so that never ending is
never the best: V is the only solution, and it is finite. As D grows, the best policy becomes the one of greatest
probability of success, and of least expected cost among those.

Bounds. Let L > 0 be a table whose residual is at most r, |min_u Q_L(s, u) - L(s)| <= r at every node, and let c_min be
the least cost. If r < c_min, then with e = r / (c_min - r)

    (1 - e) L <= V <= (1 + e) L.

Proof of the upper bound: U = (1 + e) L gives min_u Q_U <= (1 + e) (L + r) - e c_min <= U, so that repeating the step
from U only lowers it, towards the only solution. The lower bound is the same with signs reversed. So any iteration will
do, and its last residual states its error.

The iteration is Gauss-Seidel, in the order of the least cost-to-go of an agent that may choose among outcomes. Where
nothing slips that is the order of V, and one sweep finds it. The iteration begins above V: from below, a policy that
waits forever looks cheap, and each sweep raises its cost by no more than one step.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.planning.shortest_path import (
    NO_CONTROL,
    CostToGo,
    Floats,
    Nodes,
    ReversedGraph,
    check_costs,
    least_costs,
)
from wfairl.core.support.compiling import njit
from wfairl.core.support.errors import BadInputError, FailedRunError
from wfairl.core.worlds.chances import Chances

DEFAULT_PRICE = 1000.0
"""Price of a failure, in mean costs of a transition."""

TOLERANCE = 1e-9
"""The relative error of the expected cost-to-go."""

MOST_SWEEPS = 1_000_000

SWEEPS_PER_POLICY = 10
"""One sweep in so many looks for the best control of every node."""


class SlowConvergenceError(FailedRunError):
    """The expected cost-to-go was not found in `MOST_SWEEPS` sweeps."""


def expected_cost_to_go(
    graph: ReversedGraph,
    chances: Chances,
    costs: Floats,
    price: float = DEFAULT_PRICE,
    tolerance: float = TOLERANCE,
    failure: float | None = None,
) -> CostToGo:
    """Solve the equation above for every node and control, to a relative error. Releases the GIL.

    Args:
        graph: the effects, from `reverse_graph`.
        chances: of the effects of each node.
        costs: c(s, e), finite and above zero; shape [nodes, effects].
        price: of a failure, in mean costs.
        tolerance: the largest relative error.
        failure: its price in the units of the costs, used instead of `price` if given.
    """
    if not price >= 0:
        raise BadInputError(f"the price of a failure must not be below zero, and is {price}")
    costs, least = check_costs(costs, graph.successors.shape)
    if failure is None:
        failure = price * (float(costs.reshape(-1)[graph.transition].mean()) if len(graph.transition) else 1.0)
    optimistic, _ = least_costs(graph, costs)
    hopeful = np.flatnonzero(np.isfinite(optimistic))
    order = hopeful[np.argsort(optimistic[hopeful], kind="stable")]
    sweeps = _arrange(graph.successors, costs, chances.kind, order)
    V = np.append(np.full(len(order), failure + 2 * optimistic[order].max(initial=0.0)), [0.0, failure])
    residual, lotteries = tolerance * least / (1 + tolerance), Lotteries.of(chances)
    if len(order) and sweep_costs(*sweeps, lotteries, V, residual, SWEEPS_PER_POLICY) == MOST_SWEEPS:
        raise SlowConvergenceError(
            f"the expected cost-to-go was not found in {MOST_SWEEPS:,} sweeps: success hardly ever comes. Lower the"
            " price of a failure"
        )
    full = np.full(len(costs), np.inf)
    full[order] = V[:-2]
    Q, best = np.full((len(costs), chances.controls), np.inf), np.full(len(costs), NO_CONTROL, np.int32)
    _look_ahead(graph.successors, costs, chances.kind, lotteries, full, failure, Q, best)
    return CostToGo(full, Q, best, failure)


def success_probability(
    successors: Nodes, chances: Chances, solution: CostToGo, tolerance: float = TOLERANCE
) -> Floats:
    """The probability with which the best policy reaches acceptance from every node; shape [nodes].

    With pi the best control, p(s) = sum over e of P(e | s, pi(s)) p(T(s, e)), p = 1 once accepted and 0 where it cannot
    be. The iteration is as above, from 0; it ends where no node changes by more than the tolerance.
    """
    hopeful = np.flatnonzero(solution.best_control >= 0)
    order = hopeful[np.argsort(solution.cost_to_go[hopeful], kind="stable")]
    sweeps = _arrange(successors, np.zeros(successors.shape), chances.kind, order)
    p = np.append(np.zeros(len(order)), [1.0, 0.0])
    taken = sweeps.kind.astype(np.int64) * chances.controls + solution.best_control[order]
    _follow(sweeps.target, taken, Lotteries.of(chances), p, tolerance, MOST_SWEEPS)
    full = np.zeros(len(successors))
    full[order] = p[:-2]
    return full


class Lotteries(NamedTuple):
    """The lotteries of `Chances`, for the loops below."""

    controls: int
    first: NDArray[np.int64]
    effect: Nodes
    probability: Floats

    @classmethod
    def of(cls, chances: Chances) -> "Lotteries":
        return cls(chances.controls, chances.first, chances.effect, chances.probability)


class _Sweeps(NamedTuple):
    """The nodes from which acceptance can be reached, in the order of sweeps; acceptance and failure come last."""

    target: Nodes  # position after each effect, shape [positions, effects] of int32
    costs: Floats  # shape [positions, effects]
    kind: Nodes  # of the lotteries, shape [positions]


def _arrange(successors: Nodes, costs: Floats, kind: Nodes, order: NDArray[np.integer]) -> _Sweeps:
    count = len(order)
    position = np.full(len(successors) + 3, count + 1, np.int32)  # the last entries are those of negative numbers
    position[order] = np.arange(count, dtype=np.int32)
    position[ACCEPTED] = count
    return _Sweeps(position[successors[order]], np.ascontiguousarray(costs[order]), kind[order])


@njit(cache=True, nogil=True)
def _follow(
    target: Nodes, taken: NDArray[np.int64], lotteries: Lotteries, values: Floats, tolerance: float, most: int
) -> None:
    """Sweep a policy, given by the lottery that it takes at each position, until no value changes by more."""
    _, first, effect, probability = lotteries
    for _ in range(most):
        largest = 0.0
        for node in range(len(target)):
            total = 0.0
            for i in range(first[taken[node]], first[taken[node] + 1]):
                total += probability[i] * values[target[node, effect[i]]]
            largest = max(largest, abs(total - values[node]))
            values[node] = total
        if largest <= tolerance:
            return


@njit(cache=True, nogil=True)
def sweep_costs(
    target: Nodes, costs: Floats, kind: Nodes, lotteries: Lotteries, V: Floats, residual: float, sweeps_per_policy: int
) -> int:
    """Sweep until no node changes by more than `residual`; the number of sweeps.

    After a sweep over all controls come a few over the best controls alone, which cost a part of it. See `_Sweeps` for
    the arrays; the last two entries of V are 0 and the price of a failure.
    """
    controls, first, effect, probability = lotteries
    nodes, effects = target.shape
    ahead = np.empty(effects)
    lottery = np.empty(nodes, np.int64)  # of the best control
    for sweep in range(MOST_SWEEPS):
        largest = 0.0
        if sweep % sweeps_per_policy == 0:
            for node in range(nodes):
                for e in range(effects):
                    ahead[e] = costs[node, e] + V[target[node, e]]
                least = np.inf
                row = np.int64(kind[node]) * controls
                for u in range(row, row + controls):
                    begin, end = first[u], first[u + 1]
                    if begin < end:
                        q = 0.0
                        for i in range(begin, end):
                            q += probability[i] * ahead[effect[i]]
                        # Only what costs more than a failure can be a control that always fails.
                        if q < least and (q < V[-1] or (target[node][effect[begin:end]] != nodes + 1).any()):
                            least, lottery[node] = q, u
                largest = max(largest, abs(least - V[node]))
                V[node] = least
            if largest <= residual:
                return sweep + 1
        else:
            for node in range(nodes):
                q = 0.0
                for i in range(first[lottery[node]], first[lottery[node] + 1]):
                    q += probability[i] * (costs[node, effect[i]] + V[target[node, effect[i]]])
                V[node] = q
    return MOST_SWEEPS


@njit(cache=True, nogil=True)
def _look_ahead(
    successors: Nodes, costs: Floats, kind: Nodes, lotteries: Lotteries, V: Floats, failure: float, Q: Floats,
    best_control: Nodes,
) -> None:  # fmt: skip
    """Fill in Q and the best controls; a control that can only fail has Q = inf."""
    controls, first, effect, probability = lotteries
    for node in range(len(V)):
        if V[node] == np.inf:
            continue
        least = np.inf
        for u in range(controls):
            row = kind[node] * controls + u
            q, can_succeed = 0.0, False
            for i in range(first[row], first[row + 1]):
                after = successors[node, effect[i]]
                ahead = 0.0
                if after >= 0 and V[after] < np.inf:
                    ahead, can_succeed = V[after], True
                elif after == ACCEPTED:
                    can_succeed = True
                else:
                    ahead = failure
                q += probability[i] * (costs[node, effect[i]] + ahead)
            if can_succeed:
                Q[node, u] = q
                if q < least:
                    least = q
                    best_control[node] = u
