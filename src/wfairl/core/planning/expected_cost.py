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

The iteration is modified policy iteration (`policy_sweeps`), in the order of the least cost-to-go of an agent that may
choose among outcomes: where nothing slips that is the order of V, and one sweep finds it. It begins above V: from
below, a policy that waits forever looks cheap, and each sweep raises its cost by no more than one step.
"""

from typing import NamedTuple

import numpy as np

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.planning.policy_sweeps import MOST_SWEEPS, Lotteries, follow_policy, sweep_costs
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


def expected_cost_to_go(
    graph: ReversedGraph,
    chances: Chances,
    costs: Floats,
    price: float = DEFAULT_PRICE,
    tolerance: float = TOLERANCE,
) -> CostToGo:
    """Solve the equation above for every node and control, to a relative error. Releases the GIL.

    Args:
        graph: the effects, from `reverse_graph`.
        chances: of the effects of each node.
        costs: c(s, e), finite and above zero; shape [nodes, effects].
        price: of a failure, in mean costs.
        tolerance: the largest relative error.
    """
    if not 0 <= price < np.inf:
        raise BadInputError(f"the price of a failure must be finite and not below zero, and is {price}")
    costs, least = check_costs(costs, graph.successors.shape)
    failure = price * float(costs.ravel()[graph.transition].mean() if len(graph.transition) else 1.0)
    optimistic, highest = least_costs(graph, costs)
    order, lotteries = sweep_order(optimistic, highest, least), Lotteries.of(chances, costs.shape[1])
    sweeps = _arrange(graph.successors, costs, chances.kind, order)
    V = np.append(np.full(len(order), failure + 2 * highest), [0.0, failure])
    is_solved, swept = sweep_costs(*sweeps, lotteries, V, tolerance * least / (1 + tolerance))
    if not is_solved:
        raise FailedRunError(
            f"the expected cost-to-go was not found in {MOST_SWEEPS:,} sweeps: success hardly ever comes. Lower the"
            " price of a failure"
        )
    full, Q = np.full(len(costs), np.inf), np.full((len(costs), chances.controls), np.inf)
    best = np.full(len(costs), NO_CONTROL, np.int32)
    full[order], Q[order], best[order] = V[:-2], swept, swept.argmin(axis=1)
    return CostToGo(full, Q, best, failure)


def success_probability(successors: Nodes, chances: Chances, solution: CostToGo) -> Floats:
    """The probability with which the best policy reaches acceptance from every node; shape [nodes].

    With pi the best control, p(s) = sum over e of P(e | s, pi(s)) p(T(s, e)), p = 1 once accepted and 0 where it cannot
    be. The iteration is as above, from 0; it ends where no node changes by more than `TOLERANCE`.
    """
    hopeful = np.flatnonzero(solution.best_control >= 0)
    order = hopeful[np.argsort(solution.cost_to_go[hopeful], kind="stable")].astype(np.int32)
    target, gains, kind = _arrange(successors, (successors == ACCEPTED).astype(float), chances.kind, order)
    taken = kind.astype(np.int64) * chances.controls + solution.best_control[order]
    p = np.zeros(len(order) + 2)  # what is gained until acceptance, which is worth nothing more
    follow_policy(target, gains, Lotteries.of(chances, successors.shape[1]), p, TOLERANCE, taken)
    full = np.zeros(len(successors))
    full[order] = p[:-2]
    return full


@njit(cache=True, nogil=True)
def sweep_order(optimistic: Floats, highest: float, least: float) -> Nodes:
    """The nodes of finite cost in the order of this cost, up to half of the least cost of a transition.

    That is enough for the sweeps, and it takes a tenth of the time of an exact sort.
    """
    count = 0
    for cost in optimistic:
        count += cost < np.inf
    width = max(least / 2, highest / (4 * count + 1))
    first = np.zeros(int(highest / width) + 2, np.int64) if count else np.zeros(2, np.int64)
    for cost in optimistic:
        if cost < np.inf:
            first[int(cost / width) + 1] += 1
    for i in range(len(first) - 1):
        first[i + 1] += first[i]
    order = np.empty(count, np.int32)
    for node in range(len(optimistic)):
        if optimistic[node] < np.inf:
            pile = int(optimistic[node] / width)
            order[first[pile]] = node
            first[pile] += 1
    return order


class _Sweeps(NamedTuple):
    """The nodes from which acceptance can be reached, in the order of sweeps; acceptance and failure come last."""

    target: Nodes  # position after each effect, shape [positions, effects] of int32
    costs: Floats  # shape [positions, effects]
    kind: Nodes  # of the lotteries, shape [positions]


def _arrange(successors: Nodes, costs: Floats, kind: Nodes, order: Nodes) -> _Sweeps:
    count = len(order)
    position = np.full(len(successors) + 3, count + 1, np.int32)  # its last entries are those of negative successors
    position[order], position[ACCEPTED] = np.arange(count), count
    return _Sweeps(position.take(successors.take(order, 0), mode="wrap"), costs.take(order, 0), kind[order])
