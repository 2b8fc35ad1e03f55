"""Slow and obvious versions of what the planning room does; they share no code with it."""

import heapq

import networkx
import numpy as np
from numpy.typing import NDArray

DEAD, ACCEPTED, UNAVAILABLE = -1, -2, -3
NOWHERE = (DEAD, UNAVAILABLE)


def dijkstra_with_heap(successors: NDArray[np.int32], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cost-to-go of every node, by the textbook: settle the nearest node, relax what leads to it."""
    nodes, controls = successors.shape
    arriving: list[list[tuple[int, float]]] = [[] for _ in range(nodes + 1)]
    for node in range(nodes):
        for control in range(controls):
            target = successors[node, control]
            if target not in NOWHERE:
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
        if target not in NOWHERE:
            graph.add_edge(int(target), node, weight=costs[node, control])
    lengths = networkx.single_source_dijkstra_path_length(graph, ACCEPTED)
    return np.array([lengths.get(node, np.inf) for node in range(len(successors))])


def dijkstra_of_scipy(successors: NDArray[np.int32], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    nodes = len(successors)
    cheapest: dict[tuple[int, int], float] = {}  # SciPy adds parallel transitions up, so keep the best one
    for (node, control), target in np.ndenumerate(successors):
        if target not in NOWHERE:
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
            if not world.is_available(state, control):
                continue
            next_state = world.step(state, control)
            word = (*labels, world.label(state, control, next_state))
            total = paid + cost(state, control)
            if automaton.accepts(word):
                best = min(best, total)
            elif len(word) < horizon:
                stack.append((next_state, word, total))
    return best


def fewest_steps_with_word(explored, word) -> float:
    """The fewest steps after which the labels, consecutive equal ones once, are exactly this word.

    Breadth first over the states of a world explored alone and positions in the word, level by level.
    """
    numbers = {label: number for number, label in enumerate(explored.labels)}
    if not all(label in numbers for label in word):
        return np.inf
    shown = [numbers[label] for label in word]
    level, steps = {0: np.array([0])}, 0
    seen = np.zeros((len(word), len(explored.states)), bool)
    while level:
        steps += 1
        reached: dict[int, list[NDArray[np.int32]]] = {}
        for position, nodes in level.items():
            seen[position, nodes] = True
            labels, after = explored.label_index[nodes], explored.successors[nodes]
            # Position p has read p labels; the same label again stays, the next one moves on, any other is lost.
            reached.setdefault(position + 1, []).append(after[labels == shown[position]])
            if position:
                reached.setdefault(position, []).append(after[labels == shown[position - 1]])
        following = {position: np.unique(np.concatenate(parts)) for position, parts in reached.items()}
        if following.pop(len(word), np.array([])).size:
            return steps
        level = {position: nodes[~seen[position, nodes]] for position, nodes in following.items()}
        level = {position: nodes for position, nodes in level.items() if nodes.size}
    return np.inf
