"""Sweeps of modified policy iteration over a world that slips: the loops of `expected_cost`.

One sweep finds the best control of every node, a few more follow these controls, and so on. All are Gauss-Seidel
sweeps: a node uses what the nodes before it have become.

Two things make sweeps cheap. What all controls of a state have in common is added up once (`Lotteries`). A policy's
lotteries are written as short rows: a node that stays where it is with probability p has V = (cost and V of all else) /
(1 - p).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.planning.shortest_path import Floats, Nodes, Ranks
from wfairl.core.support.compiling import inner, njit
from wfairl.core.worlds.chances import Chances

MOST_SWEEPS = 1_000_000

SWEEPS_PER_POLICY = 20
"""After each sweep over all controls, a policy is followed for at most so many sweeps."""

FINER = 0.2
"""A policy is followed until no cost-to-go changes by more than this part of the last change under all controls."""

LEAST_LEAVING = 1e-9
"""The probability to stay is divided out as if a node were left at least with this one: a policy that is not yet the
best may stay for ever."""

ROUNDING = 1e-14
"""A policy keeps its control unless another one is better by more than this part of the cost-to-go. A change of twice
this part counts as no change: sweeps over all controls and sweeps over a policy round differently."""


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
    left_first: Ranks  # shape [kinds * controls + 1]
    left_effect: Ranks
    left_probability: Floats

    @classmethod
    def of(cls, chances: Chances, effects: int) -> "Lotteries":
        """The lotteries over so many effects."""
        controls, first, effect, probability = chances.controls, chances.first, chances.effect, chances.probability
        entries = np.diff(first)
        is_available = (entries > 0).reshape(-1, controls, 1)
        table = np.zeros((len(entries), effects))
        table[np.repeat(np.arange(len(entries)), entries), effect] = probability
        common = table.reshape(-1, controls, effects).min(axis=1, where=is_available, initial=1.0)
        common[is_available.sum(axis=(1, 2)) < 2] = 0.0
        left = np.where(entries[:, None] > 0, table - np.repeat(common, controls, axis=0), 0.0)
        row, own = (left > 0).nonzero()
        left_first = np.searchsorted(row, np.arange(len(left) + 1)).astype(np.uint32)
        return cls(controls, first, effect, probability, common, left_first, own.astype(np.uint32), left[row, own])


class PolicyRows(NamedTuple):
    """The lotteries of a policy: V(s) = base(s) + sum over entries of s of probability times V(target).

    A node has as many entries as effects that lead elsewhere; entries that its control does not need have probability
    0. So the loop over a policy reads memory in order, and little of it.
    """

    lottery: NDArray[np.int64]  # of the control that is taken, shape [positions]
    base: Floats  # shape [positions]
    first: Ranks  # the entries of a position are those from first[position] to the next, shape [positions + 1]
    target: Nodes  # shape [entries]
    probability: Floats  # shape [entries]


@inner
def _room_for_policy(target: Nodes) -> PolicyRows:
    """Room for any policy; the targets are those of `_Sweeps`."""
    nodes, effects = target.shape
    first, count = np.empty(nodes + 1, np.uint32), np.uint32(0)
    for node in range(nodes):
        first[node] = count
        for e in range(effects):
            if target[node, e] < nodes and target[node, e] != node:
                count += np.uint32(1)
    first[nodes] = count
    return PolicyRows(np.full(nodes, -1), np.empty(nodes), first, np.empty(count, np.int32), np.empty(count))


@njit(cache=True, nogil=True)
def sweep_costs(
    target: Nodes, costs: Floats, kind: Nodes, lotteries: Lotteries, V: Floats, residual: float
) -> tuple[bool, Floats]:
    """Sweep until no node changes by more than `residual`.

    Returns whether that was reached, and Q, shape [positions, controls]: inf for a control that can only fail.
    See `_Sweeps` for the arrays; the last two entries of V are 0 and the price of a failure.
    """
    Q, rows = np.empty((len(target), lotteries.controls)), _room_for_policy(target)
    sweeps = 0
    while sweeps < MOST_SWEEPS:
        largest = _improve(target, costs, kind, lotteries, V, Q, rows)
        sweeps += 1
        if largest <= residual:
            return True, Q
        for _ in range(SWEEPS_PER_POLICY):
            sweeps += 1
            if _follow_rows(rows, V) <= max(FINER * largest, 0.1 * residual):
                break
    return False, Q


@njit(cache=True, nogil=True)
def follow_policy(
    target: Nodes, costs: Floats, lotteries: Lotteries, V: Floats, residual: float, taken: NDArray[np.int64]
) -> None:
    """Sweep one policy, which takes one lottery at each position, until no node changes by more; as `sweep_costs`."""
    rows = _room_for_policy(target)
    for node in range(len(target)):
        _write_row(target, costs, lotteries, V[-1], node, taken[node], rows)
    for _ in range(MOST_SWEEPS):
        if _follow_rows(rows, V) <= residual:
            return


# Unsigned indices below are for speed: with them Numba leaves out the test for negative ones.
@inner
def _improve(
    target: Nodes, costs: Floats, kind: Nodes, lotteries: Lotteries, V: Floats, Q: Floats, rows: PolicyRows
) -> float:
    """One sweep over all controls, which fills in Q; the largest change of V. The rows become those of the best."""
    nodes, effects = target.shape
    controls, common, begins = lotteries.controls, lotteries.common, lotteries.first
    first, effect, probability = lotteries.left_first, lotteries.left_effect, lotteries.left_probability
    ahead, failure, one, lottery = np.empty(effects), V[-1], np.uint64(1), rows.lottery
    largest = 0.0
    for node in range(nodes):
        may_fail, shared, k = False, 0.0, np.uint32(kind[node])
        for e in range(effects):
            ahead[e] = costs[node, e] + V[np.uint32(target[node, e])]
            shared += common[k, e] * ahead[e]
            may_fail |= target[node, e] > nodes
        least, best = np.inf, np.int64(-1)
        row = np.uint64(k) * np.uint64(controls)
        i = np.uint64(first[row])
        for u in range(controls):
            after = row + np.uint64(u) + one
            q, end = shared, np.uint64(first[after])
            while i < end:
                q += probability[i] * ahead[effect[i]]
                i += one
            if begins[after - one] == begins[after] or (
                may_fail and _only_fails(target, node, lotteries, np.int64(row) + u)
            ):
                q = np.inf
            Q[node, u] = q
            best = np.int64(row) + u if q < least else best  # no branch: it would be mispredicted half of the time
            least = min(q, least)
        largest = max(largest, abs(least - V[node]) - 2 * ROUNDING * least)
        V[node] = least
        before = lottery[node]
        if best != before and (before < 0 or Q[node, before - np.int64(row)] > least + ROUNDING * least):
            _write_row(target, costs, lotteries, failure, node, best, rows)
    return largest


@inner
def _only_fails(target: Nodes, node: int, lotteries: Lotteries, lottery: int) -> bool:
    """Whether acceptance cannot be reached after any effect of a lottery."""
    for i in range(lotteries.first[lottery], lotteries.first[lottery + 1]):
        if target[node, lotteries.effect[i]] <= len(target):
            return False
    return True


@inner
def _write_row(
    target: Nodes, costs: Floats, lotteries: Lotteries, failure: float, node: int, lottery: int, rows: PolicyRows
) -> None:
    nodes, base, stays = len(target), 0.0, 0.0
    first, end = np.int64(rows.first[node]), np.int64(rows.first[node + 1])
    count = first
    for i in range(lotteries.first[lottery], lotteries.first[lottery + 1]):
        p, e = lotteries.probability[i], np.uint32(lotteries.effect[i])
        after = target[node, e]
        base += p * costs[node, e]
        if after == node:
            stays += p
        elif after == nodes + 1:
            base += p * failure
        elif after < nodes:
            rows.target[count], rows.probability[count] = after, p
            count += 1
    for entry in range(count, end):
        rows.target[entry], rows.probability[entry] = node, 0.0
    scale = 1 / max(1 - stays, LEAST_LEAVING)
    for entry in range(first, count):
        rows.probability[entry] *= scale
    rows.base[node], rows.lottery[node] = base * scale, lottery


@inner
def _follow_rows(rows: PolicyRows, V: Floats) -> float:
    """One sweep over a policy; the largest change."""
    _, base, first, target, probability = rows
    largest, entry, one = 0.0, np.uint64(0), np.uint64(1)
    for node in range(len(base)):
        q, end = base[node], np.uint64(first[node + 1])
        while entry < end:
            q += probability[entry] * V[np.uint32(target[entry])]
            entry += one
        largest = max(largest, abs(q - V[node]))
        V[node] = q
    return largest
