"""A* over a product that is built while it is searched, compiled. Each search sharpens the bounds for the next.

A search runs from a start node to acceptance, or to a node from which a path to acceptance is known. Every node s has

    h(s) <= V(s) <= U(s),     U(s) the cost of the best known path, inf without one; V is proven where h = U,

and the open list is ordered by g + w h, with g the cost so far. With w = 1 the first path that reaches the top is
optimal. With w > 1 (*weighted A**, Pohl) a path reaches the top sooner and costs at most w times the optimum. If the
optimum from the start is at least C, then

    V(s) >= C - g(s)

at every node that it reached (*adaptive A**, Koenig and Likhachev), which sharpens the bounds of the next search. Where
the bounds are not consistent, nodes are expanded again.
"""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.planning.shortest_path import NO_CONTROL
from wfairl.core.support.compiling import inner, njit
from wfairl.minigrid.product_nodes import NOT_EXPANDED

PATH_FOUND, NEEDS_SUCCESSORS, NO_PATH, NO_ROOM, STOPPED = range(5)
"""Why a search pauses or ends. `NEEDS_SUCCESSORS` asks for those of the first entry of the open list, `NO_ROOM` for a
larger open list. `STOPPED` means that the expansion limit is reached."""


class Graph(NamedTuple):
    """The part of a product that is built."""

    # node after each control, the first `NOT_EXPANDED` where there are none yet; shape [nodes, controls]
    successors: NDArray[np.int32]
    situations: NDArray[np.int32]  # row of `costs` of each node, shape [nodes]
    costs: NDArray[np.float64]  # c, shape [situations, controls]


class NodeTable(NamedTuple):
    """The knowledge of searches about each node; every array has the shape [capacity]."""

    lower_bounds: NDArray[np.float64]  # h
    upper_bounds: NDArray[np.float64]  # U
    estimates: NDArray[np.float64]  # what weighted searches use instead of h; they are no bounds
    cost_so_far: NDArray[np.float64]  # g in the last search that reached the node
    best_control: NDArray[np.int32]  # the first control of the best known path to acceptance, or `NO_CONTROL`
    search_number: NDArray[np.int64]  # the last search that reached the node
    parents: NDArray[np.int64]  # the transition, node * controls + control, by which that search reached the node

    @classmethod
    def with_room(cls, capacity: int) -> "NodeTable":
        """A table of nodes that are not initialised."""
        floats, integers = np.empty((4, capacity)), np.empty((2, capacity), np.int64)
        return cls._make([*floats, np.empty(capacity, np.int32), *integers])

    def initialise(self, first: int, end: int) -> None:
        """Note that nothing is known of the nodes from `first` to `end`."""
        self.lower_bounds[first:end], self.upper_bounds[first:end] = 0.0, np.inf
        self.best_control[first:end], self.search_number[first:end] = NO_CONTROL, 0


class OpenList(NamedTuple):
    """The open list of a search as a binary heap; every array has one shape.

    The first entry has the least priority and, among equal ones, the largest cost so far. An entry is a node, or -1 - t
    for a path that ends with the transition t.
    """

    priorities: NDArray[np.float64]
    cost_so_far: NDArray[np.float64]
    entries: NDArray[np.int64]

    @classmethod
    def with_room(cls, capacity: int) -> "OpenList":
        """An open list for at most `capacity` entries."""
        return cls(np.empty(capacity), np.empty(capacity), np.empty(capacity, np.int64))


GrowingArrays = TypeVar("GrowingArrays", NodeTable, OpenList)


def grow(arrays: GrowingArrays, capacity: int) -> GrowingArrays:
    """Copies of the arrays with the shape [capacity]; the new room is not initialised."""
    return type(arrays)._make(np.resize(array, capacity) for array in arrays)


class SearchSettings(NamedTuple):
    """The settings of a search."""

    number: int  # the number of the search, from 1 on
    weight: float  # w
    cost_limit: float  # search only for paths that cost less
    expansion_limit: int  # nodes to expand at most


class SearchProgress(NamedTuple):
    """The state of a search that has paused or ended."""

    outcome: int  # why it has paused or ended
    least_priority: float  # the least priority in the open list; with w = 1, the optimum is at least this
    size: int  # the number of entries in the open list
    expansions: int  # the number of nodes that were expanded
    transition: int  # with `PATH_FOUND`, the one that ends in acceptance or in a node with a known path


@njit(cache=True, nogil=True)
def continue_search(
    graph: Graph,
    nodes: NodeTable,
    open_list: OpenList,
    search: SearchSettings,
    progress: SearchProgress,
) -> SearchProgress:
    """Search on from where it has paused."""
    successors, situations, costs = graph
    controls = successors.shape[1]
    heuristic = nodes.lower_bounds if search.weight == 1.0 else nodes.estimates
    size, expansions = progress.size, progress.expansions
    while size > 0:
        least = open_list.priorities[0]
        if size + 2 * controls > open_list.entries.size:
            return SearchProgress(NO_ROOM, least, size, expansions, 0)
        g, node = open_list.cost_so_far[0], open_list.entries[0]
        if node < 0:
            return SearchProgress(PATH_FOUND, least, size, expansions, -1 - node)
        if nodes.search_number[node] != search.number or g > nodes.cost_so_far[node]:
            size = _pop(open_list, size)
            continue
        if expansions >= search.expansion_limit:
            return SearchProgress(STOPPED, least, size, expansions, 0)
        if successors[node, 0] == NOT_EXPANDED:
            return SearchProgress(NEEDS_SUCCESSORS, least, size, expansions, 0)
        size = _pop(open_list, size)
        expansions += 1
        for control in range(controls):
            after = successors[node, control]
            total, transition = g + costs[situations[node], control], node * controls + control
            if after == ACCEPTED:
                if total < search.cost_limit:
                    size = _push(open_list, size, total, total, -1 - transition)
            elif (
                after >= 0
                and total + nodes.lower_bounds[after] < search.cost_limit
                and (nodes.search_number[after] != search.number or total < nodes.cost_so_far[after])
            ):
                nodes.cost_so_far[after], nodes.search_number[after] = total, search.number
                nodes.parents[after] = transition
                if total + nodes.upper_bounds[after] < search.cost_limit:
                    size = _push(open_list, size, total + nodes.upper_bounds[after], total, -1 - transition)
                if nodes.lower_bounds[after] < nodes.upper_bounds[after]:
                    size = _push(open_list, size, total + search.weight * heuristic[after], total, after)
    return SearchProgress(NO_PATH, search.cost_limit, 0, expansions, 0)


@inner
def _push(open_list: OpenList, size: int, priority: float, g: float, entry: int) -> int:
    """Add an entry to the open list; its new size."""
    priorities, cost_so_far, entries = open_list
    i = size
    while i > 0:
        up = (i - 1) >> 1
        if priorities[up] < priority or (priorities[up] == priority and cost_so_far[up] >= g):
            break
        priorities[i], cost_so_far[i], entries[i] = priorities[up], cost_so_far[up], entries[up]
        i = up
    priorities[i], cost_so_far[i], entries[i] = priority, g, entry
    return size + 1


@inner
def _pop(open_list: OpenList, size: int) -> int:
    """Remove the first entry of the open list; its new size."""
    priorities, cost_so_far, entries = open_list
    size -= 1
    priority, g, entry = priorities[size], cost_so_far[size], entries[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            priorities[right] < priorities[child]
            or (priorities[right] == priorities[child] and cost_so_far[right] > cost_so_far[child])
        ):
            child = right
        if priorities[child] > priority or (priorities[child] == priority and cost_so_far[child] <= g):
            break
        priorities[i], cost_so_far[i], entries[i] = priorities[child], cost_so_far[child], entries[child]
        i = child
    priorities[i], cost_so_far[i], entries[i] = priority, g, entry
    return size


@njit(cache=True, nogil=True)
def lower_upper_bounds(graph: Graph, nodes: NodeTable, start: int, transition: int) -> None:
    """Lower U along the path from the start that ends with a transition.

    A node with a better known path keeps it, so that U falls along every path and none is a cycle.
    """
    controls = graph.costs.shape[1]
    after = graph.successors[transition // controls, transition % controls]
    ahead = 0.0 if after == ACCEPTED else nodes.upper_bounds[after]
    while True:
        node, control = transition // controls, transition % controls
        ahead += graph.costs[graph.situations[node], control]
        if ahead < nodes.upper_bounds[node]:
            nodes.upper_bounds[node], nodes.best_control[node] = ahead, control
        ahead = nodes.upper_bounds[node]
        if node == start:
            return
        transition = nodes.parents[node]


@njit(cache=True, nogil=True)
def prove_best_path(successors: NDArray[np.int32], nodes: NodeTable, start: int) -> None:
    """Set h = U along the best known path from a node; this path must be optimal."""
    node = start
    while node != ACCEPTED and (node == start or nodes.lower_bounds[node] < nodes.upper_bounds[node]):
        nodes.lower_bounds[node] = nodes.upper_bounds[node]
        node = successors[node, nodes.best_control[node]]
