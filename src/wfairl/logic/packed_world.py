"""Worlds as arrays that are searched backwards: the transitions sorted by where they lead, and by their label."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.compiling import njit


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
