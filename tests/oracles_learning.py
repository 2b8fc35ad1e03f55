"""Slow and obvious versions of what the learning room does; they share no code with it."""

import numpy as np
from numpy.typing import NDArray
from oracles_planning import ACCEPTED, DEAD, dijkstra_with_heap


def loss_of_steps(
    successors: NDArray[np.int32],
    costs: NDArray[np.float64],
    nodes: NDArray[np.int64],
    controls: NDArray[np.int64],
    temperature: float,
) -> float:
    """Mean of -log pi(u_t | s_t), one step at a time: Dijkstra with a heap, then the softmax written out."""
    V = dijkstra_with_heap(successors, costs)
    total = 0.0
    for node, control in zip(nodes, controls, strict=True):
        Q = []
        for u, target in enumerate(successors[node]):
            after = 0.0 if target == ACCEPTED else np.inf if target == DEAD else V[target]
            Q.append(costs[node, u] + after)
        weights = [np.exp(-(q - min(Q)) / temperature) for q in Q]
        total -= np.log(weights[control] / sum(weights))
    return total / len(nodes)


def path_by_walking(
    successors: NDArray[np.int32], best_control: NDArray[np.int32], node: int, control: int
) -> list[tuple[int, int]]:
    """The transitions of tau(s, u), one after the other."""
    path = [(node, control)]
    node = int(successors[node, control])
    while node >= 0:
        path.append((node, int(best_control[node])))
        node = int(successors[node, best_control[node]])
    return path
