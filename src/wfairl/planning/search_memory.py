"""The arrays of searches, which grow: what is known of nodes, and the heap of one search."""

from typing import TypeVar

import numpy as np

from wfairl.planning.shortest_path import NO_CONTROL


class NodeRecords:
    """What searches know of nodes; see `search_kernel.run`."""

    def __init__(self, nodes: int) -> None:
        self.bounds, self.known, self.guide = np.empty(nodes), np.empty(nodes), np.empty(nodes)
        self.paid = np.empty(nodes)
        self.best = np.full(nodes, NO_CONTROL, np.int32)
        self.seen_by, self.parents = np.zeros(nodes, np.int64), np.empty(nodes, np.int64)

    def grown(self, nodes: int) -> "NodeRecords":
        """The same with room for at least so many nodes."""
        return _copied(self, NodeRecords(max(nodes, 2 * len(self.bounds))))


class Heap:
    """The heap of a search, and the nodes that it has expanded."""

    def __init__(self, entries: int) -> None:
        self.keys, self.paid = np.empty(entries), np.empty(entries)
        self.nodes, self.closed = np.empty(entries, np.int64), np.empty(entries, np.int64)

    def grown(self) -> "Heap":
        """The same with twice the room."""
        return _copied(self, Heap(2 * len(self.keys)))


Arrays = TypeVar("Arrays", NodeRecords, Heap)


def _copied(arrays: Arrays, larger: Arrays) -> Arrays:
    for name, array in vars(arrays).items():
        getattr(larger, name)[: len(array)] = array
    return larger
