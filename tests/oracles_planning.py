"""Slow and obvious versions of what the planning room does; they share no code with it."""

import heapq

import networkx
import numpy as np
from numpy.typing import NDArray

DEAD, ACCEPTED = -1, -2


def dijkstra_with_heap(successors: NDArray[np.int32], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cost-to-go of every node, by the textbook: settle the nearest node, relax what leads to it."""
    nodes, controls = successors.shape
    arriving: list[list[tuple[int, float]]] = [[] for _ in range(nodes + 1)]
    for node in range(nodes):
        for control in range(controls):
            target = successors[node, control]
            if target != DEAD:
                arriving[nodes if target == ACCEPTED else target].append((node, costs[node, control]))
    cost_to_go = np.full(nodes + 1, np.inf)
    heap = [(0.0, nodes)]
    while heap:
        distance, target = heapq.heappop(heap)
        if distance >= cost_to_go[target]:
            continue
        cost_to_go[target] = distance
        for node, cost in arriving[target]:
            if distance + cost < cost_to_go[node]:
                heapq.heappush(heap, (distance + cost, node))
    return cost_to_go[:nodes]


def dijkstra_of_networkx(successors: NDArray[np.int32], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(range(len(successors)))
    graph.add_node(ACCEPTED)
    for (node, control), target in np.ndenumerate(successors):
        if target != DEAD:
            graph.add_edge(int(target), node, weight=costs[node, control])
    lengths = networkx.single_source_dijkstra_path_length(graph, ACCEPTED)
    return np.array([lengths.get(node, np.inf) for node in range(len(successors))])


def dijkstra_of_scipy(successors: NDArray[np.int32], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    nodes = len(successors)
    cheapest: dict[tuple[int, int], float] = {}  # SciPy adds parallel transitions up, so keep the best one
    for (node, control), target in np.ndenumerate(successors):
        if target != DEAD:
            key = (nodes if target == ACCEPTED else int(target), node)
            cheapest[key] = min(cheapest.get(key, np.inf), costs[node, control])
    rows, columns = (np.array([key[i] for key in cheapest], dtype=int) for i in (0, 1))
    matrix = csr_array((list(cheapest.values()), (rows, columns)), shape=(nodes + 1, nodes + 1))
    return dijkstra(matrix, indices=nodes)[:nodes]


def cheapest_costs_by_enumeration(world, automaton, cost, horizon: int) -> float:
    """The least cost of a sequence of at most `horizon` controls whose word is accepted, trying all sequences."""
    best = np.inf
    stack = [(world.initial_state, (), 0.0)]
    while stack:
        state, labels, paid = stack.pop()
        for control in range(len(world.controls)):
            next_state = world.step(state, control)
            word = (*labels, world.label(state, control, next_state))
            total = paid + cost(state, control)
            if automaton.accepts(word):
                best = min(best, total)
            elif len(word) < horizon:
                stack.append((next_state, word, total))
    return best


def fewest_steps_with_word(world, word) -> float:
    """The fewest steps after which the labels, consecutive equal ones once, are exactly this word.

    Breadth first over world states and positions in the word, level by level.
    """
    masks = [sum(1 << i for i, name in enumerate(world.propositions) if name in label) for label in word]
    # Position p has read p labels; the same label again stays, the next one moves on, any other is lost.
    table = np.full((len(word), 1 << len(world.propositions)), DEAD, np.int32)
    for position in range(len(word)):
        if position:
            table[position, masks[position - 1]] = position
        table[position, masks[position]] = position + 1 if position + 1 < len(word) else ACCEPTED
    explored = world.explore(table, 10_000_000)
    level, seen, steps = np.array([0]), np.zeros(len(explored.modes), bool), 0
    seen[0] = True
    while level.size:
        steps += 1
        reached = explored.successors[level].ravel()
        if (reached == ACCEPTED).any():
            return steps
        reached = np.unique(reached[reached >= 0])
        level = reached[~seen[reached]]
        seen[level] = True
    return np.inf
