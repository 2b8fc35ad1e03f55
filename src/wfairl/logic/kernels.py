"""Compiled loops: how likely demonstrations are under an automaton, and how it reads words.

The scenes lie one after another in flat arrays, so that one call evaluates an automaton in all of them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, DEAD
from wfairl.compiling import njit
from wfairl.logic.packed_world import PackedWorld
from wfairl.logic.table_cost_to_go import general_cost_to_go, sources_by_target, unit_cost_to_go

TABULATED = 32
"""Where all costs are 1, exp(-gap / eta) is looked up for gaps below this."""

LARGE = 1e250
"""Partition functions are multiplied up to this number before their logarithm is taken."""


class Steps(NamedTuple):
    """The demonstrations of all scenes, step by step.

    Attributes:
        first: the steps of scene i are those from first[i] to first[i + 1]; [scenes + 1] of int64.
        successor: state after each control, or -1; [steps, controls] of int32.
        label: index of its label, [steps, controls] of int16.
        cost: [steps, controls] of float64.
        visited: the state in which the step begins, [steps] of int32.
        word: index of the label that was read, [steps] of int32.
        control: the demonstrated control, [steps] of int32.
    """

    first: NDArray[np.int64]
    successor: NDArray[np.int32]
    label: NDArray[np.int16]
    cost: NDArray[np.float64]
    visited: NDArray[np.int32]
    word: NDArray[np.int32]
    control: NDArray[np.int32]


@njit(cache=True, nogil=True)
def read_word(table: NDArray[np.int32], word: NDArray[np.int32]) -> int:
    """Number of labels read until acceptance, 0 if the word never comes to it."""
    state = 0
    for step in range(len(word)):
        state = table[state, word[step]]
        if state == ACCEPTED:
            return step + 1
        if state == DEAD:
            return 0
    return 0


@njit(cache=True, nogil=True)
def visits(table: NDArray[np.int32], first: NDArray[np.int64], word: NDArray[np.int32]) -> NDArray[np.int64]:
    """How many words read a label in a state, [states, labels]; word i lies from first[i] to first[i + 1]."""
    counts = np.zeros(table.shape, np.int64)
    last = np.full(table.shape, -1, np.int64)
    for i in range(len(first) - 1):
        q = 0
        for t in range(first[i], first[i + 1]):
            if last[q, word[t]] != i:
                last[q, word[t]] = i
                counts[q, word[t]] += 1
            q = table[q, word[t]]
            if q < 0:
                break
    return counts


@njit(cache=True, nogil=True)
def log_likelihoods(
    table: NDArray[np.int32],
    V: NDArray[np.float64],
    states: int,
    steps: Steps,
    begin: int,
    end: int,
    temperatures: NDArray[np.float64],
    weight: NDArray[np.float64],
    unit: bool,
    result: NDArray[np.float64],
) -> None:
    """Fill `result` [temperatures] with sum_t log pi(u_t | s_t) over the steps from begin to end.

    log pi(u_t | s_t) = -(Q(u_t) - min Q) / eta - log sum_u exp(-(Q(u) - min Q) / eta): the gaps are added up, and the
    sums are multiplied before their logarithm is taken. `weight` [gap, temperatures] has the exponentials of gaps.
    """
    number = steps.successor.shape[1]
    Q = np.empty(number)
    number_of_temperatures = len(temperatures)
    gap_sum, partition = np.zeros(number_of_temperatures), np.ones(number_of_temperatures)
    result[:] = 0.0
    q = 0
    for t in range(begin, end):
        least = np.inf
        for u in range(number):
            Q[u] = np.inf
            if steps.successor[t, u] >= 0:
                after = table[q, steps.label[t, u]]
                if after == ACCEPTED:
                    Q[u] = steps.cost[t, u]
                elif after >= 0:
                    Q[u] = steps.cost[t, u] + V[after * states + steps.successor[t, u]]
            least = min(least, Q[u])
        if Q[steps.control[t]] == np.inf:
            result[:] = -np.inf
            return
        for k in range(number_of_temperatures):
            total = 0.0
            for u in range(number):
                gap = Q[u] - least
                if unit and gap < TABULATED:
                    total += weight[int(gap), k]
                elif gap < np.inf:
                    total += np.exp(-gap / temperatures[k])
            gap_sum[k] += Q[steps.control[t]] - least
            partition[k] *= total
            if partition[k] > LARGE:
                result[k] -= np.log(partition[k])
                partition[k] = 1.0
        q = table[q, steps.word[t]]
    for k in range(number_of_temperatures):
        result[k] -= gap_sum[k] / temperatures[k] + np.log(partition[k])


@njit(cache=True, nogil=True)
def evaluate(
    table: NDArray[np.int32],
    worlds: PackedWorld,
    state_first: NDArray[np.int64],
    unit: NDArray[np.bool_],
    steps: Steps,
    temperatures: NDArray[np.float64],
    log_follows: float,
    log_outlier: NDArray[np.float64],
    needed: float,
    result: NDArray[np.float64],
) -> bool:
    """Fill `result` [scenes, temperatures] with the log evidence of every scene; false if it was given up.

    It is given up as soon as the mean over temperatures of the total evidence must stay below `needed`. That is exact:
    a scene that is still to be planned counts with 0, and no probability has a larger logarithm.

    Args:
        table: the automaton, [states, labels].
        worlds: of all scenes, one after another; each has its own end in `first` and `label_first`.
        state_first: the states of scene i are those from state_first[i] to state_first[i + 1]; [scenes + 1].
        unit: whether all transitions of a scene cost 1, [scenes].
        steps: the demonstrations.
        temperatures: eta, [temperatures].
        log_follows: log(1 - e).
        log_outlier: log of e times the probability of an outlier, [scenes].
        needed: see above.
        result: is written to.
    """
    scenes, number = result.shape
    labels = table.shape[1]
    total = np.zeros(number)
    accepted = np.zeros(scenes, np.bool_)
    for i in range(scenes):
        begin, end = steps.first[i], steps.first[i + 1]
        accepted[i] = read_word(table, steps.word[begin:end]) == end - begin
        for k in range(number):
            result[i, k] = 0.0 if accepted[i] else log_outlier[i]
            total[k] += result[i, k]
    if log_mean(total) < needed:
        return False
    into_first, into_source = sources_by_target(table)
    room = 0
    for i in range(scenes):
        room = max(room, table.shape[0] * (state_first[i + 1] - state_first[i]))
    V, queue = np.empty(room), np.empty(room, np.int32)
    weight = np.empty((TABULATED, number))
    for gap in range(TABULATED):
        for k in range(number):
            weight[gap, k] = np.exp(-gap / temperatures[k])
    follows = np.empty(number)
    for i in range(scenes):
        if not accepted[i]:
            continue
        begin, end, states = steps.first[i], steps.first[i + 1], state_first[i + 1] - state_first[i]
        world = PackedWorld(
            worlds.first[state_first[i] + i : state_first[i + 1] + i + 1],
            worlds.source,
            worlds.label,
            worlds.cost,
            worlds.label_first[i * (labels + 1) : (i + 1) * (labels + 1)],
            worlds.label_source,
            worlds.label_cost,
        )
        if unit[i]:
            asked = _nodes(table, steps.visited[begin:end], steps.word[begin:end], states)
            unit_cost_to_go(table, into_first, into_source, world, asked, V, queue)
        else:
            general_cost_to_go(table, into_first, into_source, world, V)
        log_likelihoods(table, V, states, steps, begin, end, temperatures, weight, unit[i], follows)
        for k in range(number):
            total[k] -= result[i, k]
            high = max(log_follows + follows[k], log_outlier[i])
            low = min(log_follows + follows[k], log_outlier[i])
            result[i, k] = high + np.log1p(np.exp(low - high))
            total[k] += result[i, k]
        if log_mean(total) < needed:
            return False
    return True


@njit(cache=True, nogil=True)
def _nodes(
    table: NDArray[np.int32], visited: NDArray[np.int32], word: NDArray[np.int32], states: int
) -> NDArray[np.int64]:
    """The nodes q * states + s through which a demonstration goes, shape [steps]."""
    nodes = np.empty(len(word), np.int64)
    q = 0
    for t in range(len(word)):
        nodes[t] = q * states + visited[t]
        q = table[q, word[t]]
    return nodes


@njit(cache=True, nogil=True)
def log_mean(values: NDArray[np.float64]) -> float:
    """log of the mean of exp(values), shape [temperatures]."""
    high, total = -np.inf, 0.0
    for value in values:
        high = max(high, value)
    for value in values:
        total += np.exp(value - high)
    return high + np.log(total / len(values))
