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

FEW = 1e-3
"""A policy in which so small a part of the controls has changed is followed to the end: it is nearly the best."""

HARDLY_ANY = 1e-4
"""A policy in which so small a part of the controls has changed is the best, unless a look ahead tells otherwise."""

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

    @classmethod
    def room_for(cls, target: Nodes) -> "PolicyRows":
        """Room for any policy; the targets are those of `_Sweeps`."""
        nodes, first = len(target), first_entries(target)
        entries = np.empty(first[-1], np.int32), np.empty(first[-1])
        return cls(np.empty(nodes, np.int64), np.empty(nodes), first, *entries)


@njit(cache=True, nogil=True)
def first_entries(target: Nodes) -> Ranks:
    """The first entry of each position in the rows of a policy, and the number of all; shape [positions + 1]."""
    nodes, effects = target.shape
    first, count = np.empty(nodes + 1, np.uint32), np.uint32(0)
    for node in range(nodes):
        first[node] = count
        for e in range(effects):
            if target[node, e] < nodes and target[node, e] != node:
                count += np.uint32(1)
    first[nodes] = count
    return first


@njit(cache=True, nogil=True)
def sweep_costs(
    target: Nodes, costs: Floats, kind: Nodes, lotteries: Lotteries, V: Floats, residual: float, rows: PolicyRows,
    may_guess: bool = False,
) -> bool:  # fmt: skip
    """Sweep until no node changes by more than `residual`, or probably none does; whether that was reached.

    See `_Sweeps` for the arrays; the last two entries of V are 0 and the price of a failure. `rows` is room for the
    policy, with whatever is in it. A guess saves a sweep: who looks ahead afterwards sees whether it is right.
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
                if may_guess and changes <= HARDLY_ANY * len(target):
                    return True
                break
    return False


@njit(cache=True, nogil=True)
def follow_policy(
    target: Nodes, costs: Floats, lotteries: Lotteries, V: Floats, residual: float, rows: PolicyRows,
    taken: NDArray[np.int64],
) -> None:  # fmt: skip
    """Sweep one policy, which takes one lottery at each position, until no node changes by more; as `sweep_costs`."""
    for node in range(len(target)):
        _write_row(target, costs, lotteries, V[-1], node, taken[node], rows)
    for _ in range(MOST_SWEEPS):
        if _follow_rows(rows, V) <= residual:
            return


# Unsigned indices below are for speed: with them Numba leaves out the test for negative ones.
@inner
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
            best = np.int64(row) + u if q < least else best  # no branch: it would be mispredicted half of the time
            least = min(q, least)
        if least >= failure:  # only what costs more than a failure can be a control that always fails
            least, best = _least_hopeful(target, node, lotteries, np.int64(row), ahead)
        largest = max(largest, abs(least - V[node]) - 2 * ROUNDING * least)
        V[node] = least
        if best != lottery[node] and (
            lottery[node] < 0 or _mean_ahead(lotteries, lottery[node], ahead) > least + ROUNDING * least
        ):
            _write_row(target, costs, lotteries, failure, node, best, rows)
            changes += 1
    return largest, changes


@inner
def _least_hopeful(target: Nodes, node: int, lotteries: Lotteries, row: int, ahead: Floats) -> tuple[float, int]:
    """The least cost of a control that can succeed, and its lottery; the first lottery of the node is given."""
    least, best = np.inf, -1
    for lottery in range(row, row + lotteries.controls):
        if _can_succeed(target, node, lotteries, lottery):
            q = _mean_ahead(lotteries, lottery, ahead)
            best = lottery if q < least else best
            least = min(q, least)
    return least, best


@inner
def _can_succeed(target: Nodes, node: int, lotteries: Lotteries, lottery: int) -> bool:
    """Whether a lottery has an effect that is no failure."""
    for i in range(lotteries.first[lottery], lotteries.first[lottery + 1]):
        if target[node, lotteries.effect[i]] != len(target) + 1:
            return True
    return False


@inner
def _mean_ahead(lotteries: Lotteries, lottery: int, ahead: Floats) -> float:
    """The mean of what comes after effects, [effects]."""
    total = 0.0
    for i in range(lotteries.first[lottery], lotteries.first[lottery + 1]):
        total += lotteries.probability[i] * ahead[lotteries.effect[i]]
    return total


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
