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

The iteration is modified policy iteration. One sweep finds the best control of every node, a few more follow these
controls, and so on. All are Gauss-Seidel sweeps in the order of the least cost-to-go of an agent that may choose among
outcomes: where nothing slips that is the order of V, and one sweep finds it. The iteration begins above V: from below,
a policy that waits forever looks cheap, and each sweep raises its cost by no more than one step.

Two things make sweeps cheap. What all controls of a state have in common is added up once (`Lotteries`). A policy's
lotteries are written as short rows: a node that stays where it is with probability p has V = (cost and V of all else) /
(1 - p).
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
    Ranks,
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

SWEEPS_PER_POLICY = 20
"""After each sweep over all controls, a policy is followed for at most so many sweeps."""

FINER = 0.03
"""A policy is followed until no cost-to-go changes by more than this part of the last change under all controls."""

FEW = 1e-3
"""A policy in which so small a part of the controls has changed is followed to the end: it is nearly the best."""

MOST_STAYING = 0.999
"""A control that stays where it is with a greater probability is followed as it is: a policy may wait for a while."""


ROUNDING = 1e-14
"""A policy keeps its control unless another one is better by more than this part of the cost-to-go. Changes of twice
this part are none: sweeps over all controls and over a policy round differently."""


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
        failure = price * _mean_cost(costs.reshape(-1), graph.transition)
    optimistic, highest = least_costs(graph, costs)
    order, lotteries = sweep_order(optimistic, highest, least), Lotteries.of(chances, costs.shape[1])
    sweeps = _arrange(graph.successors, costs, chances.kind, order)
    V = np.append(np.full(len(order), failure + 2 * highest), [0.0, failure])
    rows = PolicyRows.empty(*sweeps.target.shape)
    if len(order) and not sweep_costs(*sweeps, lotteries, V, tolerance * least / (1 + tolerance), rows):
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
    order = hopeful[np.argsort(solution.cost_to_go[hopeful], kind="stable")].astype(np.int32)
    sweeps = _arrange(successors, np.zeros(successors.shape), chances.kind, order)
    p = np.append(np.zeros(len(order)), [1.0, 0.0])
    taken = sweeps.kind.astype(np.int64) * chances.controls + solution.best_control[order]
    _follow(sweeps.target, taken, Lotteries.of(chances, successors.shape[1]), p, tolerance, MOST_SWEEPS)
    full = np.zeros(len(successors))
    full[order] = p[:-2]
    return full


@njit(cache=True, nogil=True)
def _mean_cost(costs: Floats, transition: Ranks) -> float:
    """The mean cost of some transitions, 1 if there are none."""
    total = 0.0
    for i in transition:
        total += costs[i]
    return total / len(transition) if len(transition) else 1.0


class Lotteries(NamedTuple):
    """The lotteries of `Chances`, for the loops below; and the same split into what is common and what is left.

    All controls of a kind that are available have each effect at least with its common probability. So a sum over
    effects is one over the common part, once, and one over the few entries that a control has left.
    """

    controls: int
    first: NDArray[np.int64]  # shape [kinds * controls + 1], as in `Chances`
    effect: Nodes
    probability: Floats
    common: Floats  # shape [kinds, effects]
    left_first: Ranks  # shape [kinds * controls + 1] of uint32
    left_effect: Ranks
    left_probability: Floats  # inf for the only entry of a control that is unavailable

    @classmethod
    def of(cls, chances: Chances, effects: int) -> "Lotteries":
        return split_lotteries(chances.controls, chances.first, chances.effect, chances.probability, effects)


@njit(cache=True, nogil=True)
def split_lotteries(
    controls: int, first: NDArray[np.int64], effect: Nodes, probability: Floats, effects: int
) -> Lotteries:
    """The lotteries of kinds and controls, split as above."""
    kinds = (len(first) - 1) // controls
    common, times = np.full((kinds, effects), np.inf), np.zeros((kinds, effects), np.int64)
    available = np.zeros(kinds, np.int64)
    for row in range(len(first) - 1):
        kind = row // controls
        available[kind] += first[row] < first[row + 1]
        for i in range(first[row], first[row + 1]):
            common[kind, effect[i]] = min(common[kind, effect[i]], probability[i])
            times[kind, effect[i]] += 1
    for kind in range(kinds):
        for e in range(effects):
            if times[kind, e] < max(available[kind], 2):
                common[kind, e] = 0.0
    left_first = np.zeros(len(first), np.uint32)
    left_effect, left_probability = np.zeros(len(effect) + len(first), np.uint32), np.empty(len(effect) + len(first))
    left = 0
    for row in range(len(first) - 1):
        if first[row] == first[row + 1]:
            left_probability[left] = np.inf
            left += 1
        for i in range(first[row], first[row + 1]):
            rest = probability[i] - common[row // controls, effect[i]]
            if rest > 0:
                left_effect[left], left_probability[left] = effect[i], rest
                left += 1
        left_first[row + 1] = left
    return Lotteries(controls, first, effect, probability, common, left_first, left_effect, left_probability)


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
    target, arranged = np.empty((len(order), costs.shape[1]), np.int32), np.empty((len(order), costs.shape[1]))
    _fill_sweeps(successors, costs, order, target, arranged)
    return _Sweeps(target, arranged, kind[order])


@njit(cache=True, nogil=True)
def _fill_sweeps(successors: Nodes, costs: Floats, order: Nodes, target: Nodes, arranged: Floats) -> None:
    count = len(order)
    position = np.full(len(successors), count + 1, np.int32)
    for i in range(count):
        position[order[i]] = i
    for i in range(count):
        node = order[i]
        for e in range(successors.shape[1]):
            after = successors[node, e]
            arranged[i, e] = costs[node, e]
            target[i, e] = position[after] if after >= 0 else count if after == ACCEPTED else count + 1


@njit(cache=True, nogil=True)
def _follow(
    target: Nodes, taken: NDArray[np.int64], lotteries: Lotteries, values: Floats, tolerance: float, most: int
) -> None:
    """Sweep a policy, given by the lottery that it takes at each position, until no value changes by more."""
    first, effect, probability = lotteries.first, lotteries.effect, lotteries.probability
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


class PolicyRows(NamedTuple):
    """The lotteries of a policy: V(s) = base(s) + sum over the entries of s of probability times V(target)."""

    lottery: NDArray[np.int64]  # of the control that is taken, shape [positions]
    base: Floats  # shape [positions]
    entries: Nodes  # how many, shape [positions]
    target: Nodes  # shape [positions, effects]
    probability: Floats  # shape [positions, effects]

    @classmethod
    def empty(cls, nodes: int, effects: int) -> "PolicyRows":
        return cls(
            np.empty(nodes, np.int64), np.empty(nodes), np.empty(nodes, np.int32),
            np.empty((nodes, effects), np.int32), np.empty((nodes, effects)),
        )  # fmt: skip


@njit(cache=True, nogil=True)
def sweep_costs(
    target: Nodes, costs: Floats, kind: Nodes, lotteries: Lotteries, V: Floats, residual: float, rows: PolicyRows
) -> bool:
    """Sweep until no node changes by more than `residual`; whether that was reached.

    See `_Sweeps` for the arrays; the last two entries of V are 0 and the price of a failure. `rows` is room for the
    policy, with whatever is in it.
    """
    rows.lottery[:] = -1
    sweeps = 0
    while sweeps < MOST_SWEEPS:
        largest, changes = _improve(target, costs, kind, lotteries, V, rows)
        sweeps += 1
        if largest <= residual:
            return True
        enough = 0.1 * residual
        if changes > FEW * len(target):
            enough = max(FINER * largest, enough)
        for _ in range(SWEEPS_PER_POLICY):
            sweeps += 1
            if _follow_rows(rows, V) <= enough:
                break
    return False


# Unsigned indices below are for speed: with them Numba leaves out the test for negative ones.
@njit(cache=True, nogil=True)
def _improve(
    target: Nodes, costs: Floats, kind: Nodes, lotteries: Lotteries, V: Floats, rows: PolicyRows
) -> tuple[float, int]:
    """One sweep over all controls. The rows become those of the best controls.

    Returns:
        The largest change of V, and the number of nodes whose control has changed.
    """
    nodes, effects = target.shape
    controls, common, lottery = lotteries.controls, lotteries.common, rows.lottery
    first, effect, probability = lotteries.left_first, lotteries.left_effect, lotteries.left_probability
    ahead, failure, one = np.empty(effects), V[-1], np.uint64(1)
    largest, changes = 0.0, 0
    for node in range(nodes):
        shared, k = 0.0, np.uint32(kind[node])
        for e in range(effects):
            ahead[e] = costs[node, e] + V[np.uint32(target[node, e])]
            shared += common[k, e] * ahead[e]
        least, best = np.inf, np.int64(-1)
        row = np.uint64(k) * np.uint64(controls)
        i = np.uint64(first[row])
        for u in range(controls):
            q, end = shared, np.uint64(first[row + np.uint64(u) + one])
            while i < end:
                q += probability[i] * ahead[effect[i]]
                i += one
            # Only what costs more than a failure can be a control that always fails.
            if q >= failure and not _can_succeed(target, node, lotteries, np.int64(row) + u):
                q = np.inf
            best = np.int64(row) + u if q < least else best  # no branch: it would be mispredicted half of the time
            least = min(q, least)
        largest = max(largest, abs(least - V[node]) - 2 * ROUNDING * least)
        V[node] = least
        if best != lottery[node] and (
            lottery[node] < 0 or _mean_ahead(lotteries, lottery[node], ahead) > least + ROUNDING * least
        ):
            _write_row(target, costs, lotteries, failure, node, best, rows)
            changes += 1
    return largest, changes


@njit(cache=True, nogil=True)
def _can_succeed(target: Nodes, node: int, lotteries: Lotteries, lottery: int) -> bool:
    """Whether a lottery has an effect that is no failure."""
    for i in range(lotteries.first[lottery], lotteries.first[lottery + 1]):
        if target[node, lotteries.effect[i]] != len(target) + 1:
            return True
    return False


@njit(cache=True, nogil=True)
def _mean_ahead(lotteries: Lotteries, lottery: int, ahead: Floats) -> float:
    """The mean of what comes after effects, [effects]."""
    total = 0.0
    for i in range(lotteries.first[lottery], lotteries.first[lottery + 1]):
        total += lotteries.probability[i] * ahead[lotteries.effect[i]]
    return total


@njit(cache=True, nogil=True)
def _write_row(
    target: Nodes, costs: Floats, lotteries: Lotteries, failure: float, node: int, lottery: int, rows: PolicyRows
) -> None:
    nodes, base, stays, count = len(target), 0.0, 0.0, 0
    for i in range(lotteries.first[lottery], lotteries.first[lottery + 1]):
        p, e = lotteries.probability[i], np.uint32(lotteries.effect[i])
        after = target[node, e]
        base += p * costs[node, e]
        if after == node:
            stays += p
        elif after == nodes + 1:
            base += p * failure
        elif after < nodes:
            rows.target[node, count], rows.probability[node, count] = after, p
            count += 1
    if stays > MOST_STAYING:
        rows.target[node, count], rows.probability[node, count] = node, stays
        count, stays = count + 1, 0.0
    scale = 1 / (1 - stays)
    for entry in range(count):
        rows.probability[node, entry] *= scale
    rows.base[node], rows.entries[node], rows.lottery[node] = base * scale, count, lottery


@njit(cache=True, nogil=True)
def _follow_rows(rows: PolicyRows, V: Floats) -> float:
    """One sweep over a policy; the largest change."""
    _, base, entries, target, probability = rows
    largest = 0.0
    for node in range(len(base)):
        q = base[node]
        for entry in range(entries[node]):
            q += probability[node, entry] * V[np.uint32(target[node, entry])]
        largest = max(largest, abs(q - V[node]))
        V[node] = q
    return largest


@njit(cache=True, nogil=True)
def _look_ahead(
    successors: Nodes, costs: Floats, kind: Nodes, lotteries: Lotteries, V: Floats, failure: float, Q: Floats,
    best_control: Nodes,
) -> None:  # fmt: skip
    """Fill in Q and the best controls; a control that can only fail has Q = inf."""
    effects, controls, common = successors.shape[1], lotteries.controls, lotteries.common
    first, effect, probability = lotteries.left_first, lotteries.left_effect, lotteries.left_probability
    ahead, one = np.empty(effects), np.uint64(1)
    for node in range(len(V)):
        if V[node] == np.inf:
            continue
        shared, fails, k = 0.0, False, np.uint32(kind[node])
        for e in range(effects):
            after = successors[node, e]
            value = 0.0 if after == ACCEPTED else V[np.uint32(after)] if after >= 0 else np.inf
            fails = fails or value == np.inf
            ahead[e] = costs[node, e] + (value if value < np.inf else failure)
            shared += common[k, e] * ahead[e]
        least, best = np.inf, NO_CONTROL
        row = np.uint64(k) * np.uint64(controls)
        i = np.uint64(first[row])
        for u in range(controls):
            q, end = shared, np.uint64(first[row + np.uint64(u) + one])
            while i < end:
                q += probability[i] * ahead[effect[i]]
                i += one
            if fails and _only_fails(successors, node, lotteries, np.int64(row) + u, V):
                q = np.inf
            Q[node, u] = q
            best = u if q < least else best
            least = min(q, least)
        best_control[node] = best


@njit(cache=True, nogil=True)
def _only_fails(successors: Nodes, node: int, lotteries: Lotteries, lottery: int, V: Floats) -> bool:
    """Whether acceptance cannot be reached after any effect of a lottery."""
    for i in range(lotteries.first[lottery], lotteries.first[lottery + 1]):
        after = successors[node, lotteries.effect[i]]
        if after == ACCEPTED or (after >= 0 and V[after] < np.inf):
            return False
    return True
