"""Compiled loops: the cost-to-go on the product of a world and an automaton given as a table.

A node is q * states + s, and the search runs backwards from acceptance. `planning.shortest_path` solves a product that
was built; here it never is, because thousands of automata are tried in the same worlds.
"""

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED
from wfairl.compiling import njit
from wfairl.logic.packed_world import PackedWorld

SLACK = 10.0
"""Steps by which the breadth-first search goes on after it has met every state of a demonstration: controls that lose
more than this are taken to lead nowhere."""


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
