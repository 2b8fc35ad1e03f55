"""A* over a product that is built where it looks, compiled; what it learns serves the next search of the same scene.

A search goes from one node to acceptance, or to a node whose cost-to-go V is known from an earlier search. Nodes are
put off by g + h with h a lower bound on V. After a search of total cost C (*adaptive A**, Koenig and Likhachev),

    V(s) = C - g(s)     on the path that was found,
    V(s) >= C - g(s)    at every other node that was expanded,

which makes the bounds of the next search sharper. Where the bounds are not consistent, nodes are expanded again.
"""

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED
from wfairl.compiling import njit
from wfairl.planning.shortest_path import NO_CONTROL
from wfairl.worlds.lazy_world import UNEXPANDED

FOUND, LOOK, NO_WAY, NO_ROOM = range(4)
"""Why a search stopped: it is over, nodes must be expanded first, nothing is left, the heap is full."""


@njit(cache=True, nogil=True)
def run(
    successors: NDArray[np.int32],
    situations: NDArray[np.int32],
    costs: NDArray[np.float64],
    bounds: NDArray[np.float64],
    best: NDArray[np.int32],
    paid: NDArray[np.float64],
    seen_by: NDArray[np.int64],
    parents: NDArray[np.int64],
    number: int,
    keys: NDArray[np.float64],
    heap_paid: NDArray[np.float64],
    heap: NDArray[np.int64],
    size: int,
    closed: NDArray[np.int64],
    done: int,
    look: NDArray[np.int64],
) -> tuple[int, int, float, int, int, int]:
    """Go on with a search.

    Args:
        successors: as far as they are known, shape [nodes, controls].
        situations: row of `costs` of each node, shape [nodes].
        costs: c, shape [situations, controls].
        bounds: h, or V where it is known; shape [nodes].
        best: the best control of a node whose V is known, else `NO_CONTROL`; shape [nodes].
        paid, seen_by, parents: g of each node, the search that it is of, and the transition before it; shape [nodes].
        number: of this search.
        keys, heap_paid, heap: g + h, g and node of a heap's entries; acceptance is -1 - transition.
        size: of the heap.
        closed, done: the nodes that were expanded, and how many.
        look: becomes the nodes that must be expanded first, the best ones.

    Returns:
        Why it stopped, the node at which V is known or -1 - the last transition, the total cost, the size of the
        heap, how many nodes were expanded, and how many there are to look at.
    """
    controls = successors.shape[1]
    while size > 0:
        if size + controls > keys.size or done >= closed.size:
            return NO_ROOM, 0, 0.0, size, done, 0
        g, node = heap_paid[0], heap[0]
        if node < 0:
            return FOUND, node, keys[0], size, done, 0
        if seen_by[node] != number or g > paid[node]:
            size = _pop(keys, heap_paid, heap, size)
            continue
        if best[node] != NO_CONTROL:
            return FOUND, node, keys[0], size, done, 0
        if successors[node, 0] == UNEXPANDED:
            wanted = min(look.size, 1 + done // 8)
            size, found = _gather(successors, best, paid, seen_by, number, keys, heap_paid, heap, size, look[:wanted])
            for i in range(found):
                size = _push(keys, heap_paid, heap, size, paid[look[i]] + bounds[look[i]], paid[look[i]], look[i])
            return LOOK, 0, 0.0, size, done, found
        size = _pop(keys, heap_paid, heap, size)
        closed[done] = node
        done += 1
        row = situations[node]
        for control in range(controls):
            after = successors[node, control]
            total = g + costs[row, control]
            if after == ACCEPTED:
                size = _push(keys, heap_paid, heap, size, total, total, -1 - (node * controls + control))
            elif after >= 0 and bounds[after] < np.inf and (seen_by[after] != number or total < paid[after]):
                seen_by[after], paid[after], parents[after] = number, total, node * controls + control
                size = _push(keys, heap_paid, heap, size, total + bounds[after], total, after)
    return NO_WAY, 0, np.inf, 0, done, 0


@njit(cache=True, nogil=True)
def learn(
    situations: NDArray[np.int32],
    costs: NDArray[np.float64],
    bounds: NDArray[np.float64],
    best: NDArray[np.int32],
    paid: NDArray[np.float64],
    parents: NDArray[np.int64],
    start: int,
    end: int,
    total: float,
    closed: NDArray[np.int64],
) -> None:
    """Take in what a search has found; arguments as in `run`, `closed` being the nodes that were expanded."""
    controls = costs.shape[1]
    for node in closed:
        if best[node] == NO_CONTROL:
            bounds[node] = max(bounds[node], total - paid[node])
    if total == np.inf or end == start:
        return
    value = bounds[end] if end >= 0 else 0.0
    transition = parents[end] if end >= 0 else -1 - end
    while True:
        node, control = transition // controls, transition % controls
        value += costs[situations[node], control]
        bounds[node], best[node] = value, control
        if node == start:
            return
        transition = parents[node]


@njit(cache=True, nogil=True)
def _gather(
    successors: NDArray[np.int32],
    best: NDArray[np.int32],
    paid: NDArray[np.float64],
    seen_by: NDArray[np.int64],
    number: int,
    keys: NDArray[np.float64],
    heap_paid: NDArray[np.float64],
    heap: NDArray[np.int64],
    size: int,
    look: NDArray[np.int64],
) -> tuple[int, int]:
    """Take nodes that are not expanded from the top of the heap, until another comes; its size, and how many."""
    found = 0
    while size > 0 and found < look.size:
        node = heap[0]
        if node < 0:
            break
        if seen_by[node] == number and heap_paid[0] <= paid[node]:
            if best[node] != NO_CONTROL or successors[node, 0] != UNEXPANDED:
                break
            look[found] = node
            found += 1
        size = _pop(keys, heap_paid, heap, size)
    return size, found


@njit(cache=True, nogil=True)
def _push(
    keys: NDArray[np.float64],
    heap_paid: NDArray[np.float64],
    heap: NDArray[np.int64],
    size: int,
    key: float,
    g: float,
    node: int,
) -> int:
    """Put an entry into the heap, whose first has the least key and among equal keys the largest g; its new size."""
    i = size
    while i > 0:
        up = (i - 1) >> 1
        if keys[up] < key or (keys[up] == key and heap_paid[up] >= g):
            break
        keys[i], heap_paid[i], heap[i] = keys[up], heap_paid[up], heap[up]
        i = up
    keys[i], heap_paid[i], heap[i] = key, g, node
    return size + 1


@njit(cache=True, nogil=True)
def _pop(keys: NDArray[np.float64], heap_paid: NDArray[np.float64], heap: NDArray[np.int64], size: int) -> int:
    """Remove the first entry; the new size."""
    size -= 1
    key, g, node = keys[size], heap_paid[size], heap[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            keys[right] < keys[child] or (keys[right] == keys[child] and heap_paid[right] > heap_paid[child])
        ):
            child = right
        if keys[child] > key or (keys[child] == key and heap_paid[child] <= g):
            break
        keys[i], heap_paid[i], heap[i] = keys[child], heap_paid[child], heap[child]
        i = child
    keys[i], heap_paid[i], heap[i] = key, g, node
    return size
