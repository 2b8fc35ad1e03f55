"""Compiled loops: the cost-to-go on the product of a scene and an automaton, and the likelihood of a demonstration.

The scenes lie one after another in flat arrays, so that one call evaluates an automaton in all of them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.compiling import njit

DEAD = -1
ACCEPTED = -2

SLACK = 10.0
"""Steps by which the breadth-first search goes on after it has met every state of a demonstration: controls that lose
more than this are taken to lead nowhere."""

TABULATED = 32
"""Where all costs are 1, exp(-gap / eta) is looked up for gaps below this."""

LARGE = 1e250
"""Partition functions are multiplied up to this number before their logarithm is taken."""


class PackedWorld(NamedTuple):
    """The transitions of a world twice: sorted by where they lead, and by their label.

    Attributes:
        first: transitions into state s are those from first[s] to first[s + 1]; [states + 1] of int64.
        source: state from which a transition leads, [transitions] of int32.
        label: index of its label, [transitions] of int16.
        cost: [transitions] of float64.
        label_first: transitions with label a are those from label_first[a] to label_first[a + 1]; [labels + 1].
        label_source: state from which these lead, [transitions] of int32.
        label_cost: [transitions] of float64.
    """

    first: NDArray[np.int64]
    source: NDArray[np.int32]
    label: NDArray[np.int16]
    cost: NDArray[np.float64]
    label_first: NDArray[np.int64]
    label_source: NDArray[np.int32]
    label_cost: NDArray[np.float64]


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
def sources_by_target(table: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The table turned round: states that read label l into state q are those from first[q, l] on."""
    states, labels = table.shape
    first = np.zeros(states * labels + 1, np.int32)
    for q in range(states):
        for label in range(labels):
            if table[q, label] >= 0:
                first[table[q, label] * labels + label + 1] += 1
    for i in range(states * labels):
        first[i + 1] += first[i]
    free = first[:-1].copy()
    source = np.empty(first[-1], np.int32)
    for q in range(states):
        for label in range(labels):
            if table[q, label] >= 0:
                i = table[q, label] * labels + label
                source[free[i]] = q
                free[i] += 1
    return first, source


@njit(cache=True, nogil=True)
def unit_cost_to_go(
    table: NDArray[np.int32],
    into_first: NDArray[np.int32],
    into_source: NDArray[np.int32],
    world: PackedWorld,
    asked: NDArray[np.int64],
    V: NDArray[np.float64],
    queue: NDArray[np.int32],
) -> None:
    """Breadth first from acceptance: V of node q * states + s, where every transition costs 1.

    The search ends `SLACK` steps after the last of the asked nodes was met, or when there are no more nodes.
    """
    modes, labels = table.shape
    states = len(world.first) - 1
    V[: modes * states] = np.inf
    filled = 0
    for q in range(modes):
        for a in range(labels):
            if table[q, a] == ACCEPTED:
                for i in range(world.label_first[a], world.label_first[a + 1]):
                    node = q * states + world.label_source[i]
                    if V[node] == np.inf:
                        V[node] = 1.0
                        queue[filled] = node
                        filled += 1
    scanned, level, last, missing = 0, 0.0, np.inf, 0
    while scanned < filled:
        node = queue[scanned]
        scanned += 1
        q, s = node // states, node % states
        through = V[node] + 1.0
        if V[node] > level:
            level = V[node]
            while missing < len(asked) and V[asked[missing]] < np.inf:
                missing += 1
            if missing == len(asked) and last == np.inf:
                last = level + SLACK
            if level >= last:
                return
        for i in range(world.first[s], world.first[s + 1]):
            entry = q * labels + world.label[i]
            for j in range(into_first[entry], into_first[entry + 1]):
                before = into_source[j] * states + world.source[i]
                if V[before] == np.inf:
                    V[before] = through
                    queue[filled] = before
                    filled += 1


@njit(cache=True, nogil=True)
def general_cost_to_go(
    table: NDArray[np.int32],
    into_first: NDArray[np.int32],
    into_source: NDArray[np.int32],
    world: PackedWorld,
    V: NDArray[np.float64],
) -> None:
    """Dijkstra's algorithm from acceptance: V of node q * states + s."""
    modes, labels = table.shape
    states = len(world.first) - 1
    V[: modes * states] = np.inf
    heap_cost, heap_node = np.empty(1024), np.empty(1024, np.int64)
    size = 0
    for q in range(modes):
        for a in range(labels):
            if table[q, a] == ACCEPTED:
                for i in range(world.label_first[a], world.label_first[a + 1]):
                    node = q * states + world.label_source[i]
                    through = world.label_cost[i]
                    if through < V[node]:
                        V[node] = through
                        heap_cost, heap_node, size = _push(heap_cost, heap_node, size, through, node)
    while size > 0:
        value, node = heap_cost[0], heap_node[0]
        size = _pop(heap_cost, heap_node, size)
        if value > V[node]:
            continue
        q, s = node // states, node % states
        for i in range(world.first[s], world.first[s + 1]):
            entry = q * labels + world.label[i]
            for j in range(into_first[entry], into_first[entry + 1]):
                before = into_source[j] * states + world.source[i]
                through = value + world.cost[i]
                if through < V[before]:
                    V[before] = through
                    heap_cost, heap_node, size = _push(heap_cost, heap_node, size, through, before)


@njit(cache=True, nogil=True)
def _push(
    heap_cost: NDArray[np.float64], heap_node: NDArray[np.int64], size: int, value: float, node: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    if size == len(heap_cost):
        heap_cost = np.concatenate((heap_cost, np.empty_like(heap_cost)))
        heap_node = np.concatenate((heap_node, np.empty_like(heap_node)))
    i = size
    while i > 0 and heap_cost[(i - 1) // 2] > value:
        heap_cost[i], heap_node[i] = heap_cost[(i - 1) // 2], heap_node[(i - 1) // 2]
        i = (i - 1) // 2
    heap_cost[i], heap_node[i] = value, node
    return heap_cost, heap_node, size + 1


@njit(cache=True, nogil=True)
def _pop(heap_cost: NDArray[np.float64], heap_node: NDArray[np.int64], size: int) -> int:
    """Remove the least entry; the last one sinks from the top to its place."""
    size -= 1
    value, node = heap_cost[size], heap_node[size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and heap_cost[child + 1] < heap_cost[child]:
            child += 1
        if heap_cost[child] >= value:
            break
        heap_cost[i], heap_node[i] = heap_cost[child], heap_node[child]
        i = child
    heap_cost[i], heap_node[i] = value, node
    return size


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
    optimistic: NDArray[np.float64],
    needed: float,
    result: NDArray[np.float64],
) -> bool:
    """Fill `result` [scenes, temperatures] with the log evidence of every scene; false if it was given up.

    It is given up as soon as the mean over temperatures of the total evidence must stay below `needed`, where the
    scenes that are still to come count with their optimistic evidence.

    Args:
        table: the automaton, [states, labels].
        worlds: of all scenes, one after another; each has its own end in `first` and `label_first`.
        state_first: the states of scene i are those from state_first[i] to state_first[i + 1]; [scenes + 1].
        unit: whether all transitions of a scene cost 1, [scenes].
        steps: the demonstrations.
        temperatures: eta, [temperatures].
        log_follows: log(1 - e).
        log_outlier: log of e times the probability of an outlier, [scenes].
        optimistic: [scenes, temperatures].
        needed: see above.
        result: is written to.
    """
    scenes, number = optimistic.shape
    labels = table.shape[1]
    total = np.zeros(number)
    accepted = np.zeros(scenes, np.bool_)
    for i in range(scenes):
        begin, end = steps.first[i], steps.first[i + 1]
        accepted[i] = read_word(table, steps.word[begin:end]) == end - begin
        for k in range(number):
            result[i, k] = optimistic[i, k] if accepted[i] else log_outlier[i]
            total[k] += result[i, k]
    if _log_mean(total) < needed:
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
        if _log_mean(total) < needed:
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
def _log_mean(values: NDArray[np.float64]) -> float:
    """log of the mean of exp(values)."""
    high, total = -np.inf, 0.0
    for value in values:
        high = max(high, value)
    for value in values:
        total += np.exp(value - high)
    return high + np.log(total / len(values))


@njit(cache=True, nogil=True)
def distances(successors: NDArray[np.int32], starts: NDArray[np.int32], most: int) -> tuple[NDArray[np.int32], int]:
    """States in the order of their distance from the starts, [found], and how many of them are kept.

    Whole distances are kept, as long as these are not more than `most` states in all.
    """
    states, controls = successors.shape
    seen = np.zeros(states, np.bool_)
    queue = np.empty(states, np.int32)
    filled = 0
    for start in starts:
        if not seen[start]:
            seen[start] = True
            queue[filled] = start
            filled += 1
    scanned, kept = 0, filled
    while scanned < filled:
        if scanned == kept:
            if filled > most:
                break
            kept = filled
        state = queue[scanned]
        scanned += 1
        for u in range(controls):
            after = successors[state, u]
            if after >= 0 and not seen[after]:
                seen[after] = True
                queue[filled] = after
                filled += 1
    if scanned == filled:
        kept = filled
    return queue[:filled].copy(), kept


@njit(cache=True, nogil=True)
def sort_transitions(
    successors: NDArray[np.int32], label_index: NDArray[np.int16], costs: NDArray[np.float64], labels: int
) -> PackedWorld:
    """Sort the transitions of a world; of several controls that do the same the cheapest counts."""
    states, controls = successors.shape
    counts = np.zeros((states, controls), np.bool_)
    first, label_first = np.zeros(states + 1, np.int64), np.zeros(labels + 1, np.int64)
    for s in range(states):
        for u in range(controls):
            if successors[s, u] < 0:
                continue
            counts[s, u] = True
            for v in range(controls):
                same = v != u and successors[s, v] == successors[s, u] and label_index[s, v] == label_index[s, u]
                if same and (costs[s, v] < costs[s, u] or (costs[s, v] == costs[s, u] and v < u)):
                    counts[s, u] = False
                    break
            if counts[s, u]:
                first[successors[s, u] + 1] += 1
                label_first[label_index[s, u] + 1] += 1
    for s in range(states):
        first[s + 1] += first[s]
    for a in range(labels):
        label_first[a + 1] += label_first[a]
    free, label_free = first[:-1].copy(), label_first[:-1].copy()
    source, label, cost = np.empty(first[-1], np.int32), np.empty(first[-1], np.int16), np.empty(first[-1])
    label_source, label_cost = np.empty(first[-1], np.int32), np.empty(first[-1])
    for s in range(states):
        for u in range(controls):
            if counts[s, u]:
                i = free[successors[s, u]]
                source[i], label[i], cost[i] = s, label_index[s, u], costs[s, u]
                free[successors[s, u]] += 1
                j = label_free[label_index[s, u]]
                label_source[j], label_cost[j] = s, costs[s, u]
                label_free[label_index[s, u]] += 1
    return PackedWorld(first, source, label, cost, label_first, label_source, label_cost)
