"""A* over a product that is built where it looks, compiled; what it learns serves the next search of the same scene.

A search goes from one node to acceptance, or to a node from which a way is known. Of every node it knows an interval

    h(s) <= V(s) <= U(s),     U(s) the cost of the best way that is known, inf without one; V is known where h = U,

and nodes are put off by g + w h. With w = 1 the first way that comes up is a cheapest one. With w > 1 (*weighted A**,
Pohl) it comes up sooner and costs at most w times the optimum. If the optimum from the start is at least C, then

    V(s) >= C - g(s)

at every node that was met with g(s) paid (*adaptive A**, Koenig and Likhachev), which makes the bounds of the next
search sharper. Where the bounds are not consistent, nodes are expanded again.
"""

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED
from wfairl.compiling import njit
from wfairl.worlds.lazy_world import UNEXPANDED

FOUND, LOOK, NO_WAY, NO_ROOM, STOPPED = range(5)
"""Why a search stopped: it is over, nodes must be expanded first, nothing is left, the heap is full, it takes long."""


@njit(cache=True, nogil=True)
def run(
    successors: NDArray[np.int32],
    situations: NDArray[np.int32],
    costs: NDArray[np.float64],
    bounds: NDArray[np.float64],
    known: NDArray[np.float64],
    guide: NDArray[np.float64],
    paid: NDArray[np.float64],
    seen_by: NDArray[np.int64],
    parents: NDArray[np.int64],
    number: int,
    weight: float,
    below: float,
    most: int,
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
        bounds, known: h and U; shape [nodes] each.
        guide: what nodes are put off by instead of h; shape [nodes].
        paid, seen_by, parents: g of each node, the search that it is of, and the transition before it; shape [nodes].
        number: of this search.
        weight: w.
        below: only ways that cost less are of interest.
        most: stop when so many nodes were expanded.
        keys, heap_paid, heap: g + w h, g and node of a heap's entries; the end of a way is -1 - its last transition.
        size: of the heap.
        closed, done: the nodes that were expanded, and how many.
        look: becomes the nodes that must be expanded first, the best ones.

    Returns:
        Why it stopped, the transition after which the way on is known, the least key, the size of the heap, how many
        nodes were expanded, and how many there are to look at.
    """
    controls = successors.shape[1]
    while size > 0:
        if size + 2 * controls > keys.size or done >= closed.size:
            return NO_ROOM, 0, keys[0], size, done, 0
        g, node = heap_paid[0], heap[0]
        if node < 0:
            return FOUND, -1 - node, keys[0], size, done, 0
        if seen_by[node] != number or g > paid[node]:
            size = _pop(keys, heap_paid, heap, size)
            continue
        if done >= most:
            return STOPPED, 0, keys[0], size, done, 0
        if successors[node, 0] == UNEXPANDED:
            wanted, least = min(look.size, 1 + done // 8), keys[0]
            size, found = _gather(successors, paid, seen_by, number, keys, heap_paid, heap, size, look[:wanted])
            for i in range(found):
                key = paid[look[i]] + weight * guide[look[i]]
                size = _push(keys, heap_paid, heap, size, key, paid[look[i]], look[i])
            return LOOK, 0, least, size, done, found
        size = _pop(keys, heap_paid, heap, size)
        closed[done] = node
        done += 1
        row = situations[node]
        for control in range(controls):
            after = successors[node, control]
            total, transition = g + costs[row, control], node * controls + control
            if after == ACCEPTED:
                if total < below:
                    size = _push(keys, heap_paid, heap, size, total, total, -1 - transition)
            elif after >= 0 and total + bounds[after] < below and (seen_by[after] != number or total < paid[after]):
                seen_by[after], paid[after], parents[after] = number, total, transition
                if total + known[after] < below:
                    size = _push(keys, heap_paid, heap, size, total + known[after], total, -1 - transition)
                if bounds[after] < known[after]:
                    size = _push(keys, heap_paid, heap, size, total + weight * guide[after], total, after)
    return NO_WAY, 0, below, 0, done, 0


@njit(cache=True, nogil=True)
def learn_bounds(
    bounds: NDArray[np.float64],
    known: NDArray[np.float64],
    paid: NDArray[np.float64],
    optimum: float,
    closed: NDArray[np.int64],
) -> None:
    """Take in that the optimum from the start is at least this; `closed` are the nodes that were expanded."""
    for node in closed:
        bounds[node] = min(known[node], max(bounds[node], optimum - paid[node]))


@njit(cache=True, nogil=True)
def learn_way(
    successors: NDArray[np.int32],
    situations: NDArray[np.int32],
    costs: NDArray[np.float64],
    known: NDArray[np.float64],
    best: NDArray[np.int32],
    parents: NDArray[np.int64],
    start: int,
    transition: int,
) -> None:
    """Take in a way that ends with a transition; `best` is the control with which the best known way begins.

    A node that knows a better way keeps it, so that U falls along every way and none is a circle.
    """
    controls = costs.shape[1]
    after = successors[transition // controls, transition % controls]
    ahead = 0.0 if after == ACCEPTED else known[after]
    while True:
        node, control = transition // controls, transition % controls
        ahead += costs[situations[node], control]
        if ahead < known[node]:
            known[node], best[node] = ahead, control
        ahead = known[node]
        if node == start:
            return
        transition = parents[node]


@njit(cache=True, nogil=True)
def prove_way(
    successors: NDArray[np.int32],
    bounds: NDArray[np.float64],
    known: NDArray[np.float64],
    best: NDArray[np.int32],
    start: int,
) -> None:
    """Take in that the way that is known from a node is a cheapest one: so it is from every node along it."""
    node = start
    while node != ACCEPTED and (node == start or bounds[node] < known[node]):
        bounds[node] = known[node]
        node = successors[node, best[node]]


@njit(cache=True, nogil=True)
def _gather(
    successors: NDArray[np.int32],
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
            if successors[node, 0] != UNEXPANDED:
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
