"""Slow and obvious versions of what the learning room does; they share no code with it."""

import numpy as np
from numpy.typing import NDArray
from oracles_planning import ACCEPTED, NOWHERE, dijkstra_with_heap


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
            after = 0.0 if target == ACCEPTED else np.inf if target in NOWHERE else V[target]
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


def adam_by_the_book(
    parameter: NDArray[np.float64], gradients: list[NDArray[np.float64]], rates: list[float], weight_decay: float
) -> NDArray[np.float64]:
    """Algorithm 2 of Loshchilov and Hutter's paper on decoupled weight decay, with Adam's usual constants."""
    m, v = np.zeros_like(parameter), np.zeros_like(parameter)
    for t, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), start=1):
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        corrected = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        parameter = parameter - rate * (corrected + weight_decay * parameter)
    return parameter


def log_probability_of_walks(
    successors: NDArray[np.int32], costs: NDArray[np.float64], goal: int, steps: list[tuple[int, int]]
) -> float:
    """log of exp(-cost of a walk) over the sum of that of all walks to the goal, each enumerated; no cycles."""

    def walks(node: int) -> list[float]:
        if node == goal:
            return [0.0]
        ahead = [(control, int(target)) for control, target in enumerate(successors[node]) if target not in NOWHERE]
        return [costs[node, control] + rest for control, target in ahead for rest in walks(target)]

    total = sum(np.exp(-cost) for cost in walks(steps[0][0]))
    return -sum(costs[step] for step in steps) - float(np.log(total))
