"""Slow and obvious versions of what `wfairl.core.rational` computes."""

import math

import networkx as nx
import numpy as np

from wfairl.core.rational.observations import ArrayWorld, DemonstratedScene

DEAD, ACCEPTED = -1, -2


def product_graph(world: ArrayWorld, table: np.ndarray) -> nx.DiGraph:
    """Reversed product of a world and a table: edges lead backwards from "done", weighted with the cheapest control."""
    graph = nx.DiGraph()
    graph.add_node("done")
    for q in range(len(table)):
        for s in range(len(world.successors)):
            for u in range(world.successors.shape[1]):
                after, cost = world.successors[s, u], world.costs[s, u]
                mode = table[q, world.label_index[s, u]]
                if after < 0 or mode == DEAD:
                    continue
                target = "done" if mode == ACCEPTED else (int(mode), int(after))
                old = graph.get_edge_data(target, (q, s), {"weight": math.inf})["weight"]
                graph.add_edge(target, (q, s), weight=min(old, cost))
    return graph


def costs_to_go(world: ArrayWorld, table: np.ndarray) -> dict[tuple[int, int], float]:
    """V of every product state from which acceptance can be reached."""
    return nx.single_source_dijkstra_path_length(product_graph(world, table), "done")


def log_likelihood(scene: DemonstratedScene, table: np.ndarray, temperature: float) -> float:
    """log of prod_t pi(u_t | s_t), -inf if the demonstration is not accepted exactly at its end."""
    world = scene.world
    V = costs_to_go(world, table)
    q, s, total = 0, world.start, 0.0
    for t, control in enumerate(scene.controls):
        Q = []
        for u in range(world.successors.shape[1]):
            mode, after = table[q, world.label_index[s, u]], world.successors[s, u]
            if after < 0 or mode == DEAD:
                Q.append(math.inf)
            elif mode == ACCEPTED:
                Q.append(world.costs[s, u])
            else:
                Q.append(world.costs[s, u] + V.get((int(mode), int(after)), math.inf))
        if Q[control] == math.inf:
            return -math.inf
        weights = [math.exp(-q_u / temperature) for q_u in Q]
        total += math.log(weights[control] / sum(weights))
        q, s = int(table[q, world.label_index[s, control]]), int(world.successors[s, control])
        if (q == ACCEPTED) != (t == len(scene.controls) - 1):
            return -math.inf
        if q == DEAD:
            return -math.inf
    return total


def accepts(table: np.ndarray, word: list[int]) -> bool:
    """Whether a table comes to acceptance at some point of a word."""
    q = 0
    for label in word:
        q = int(table[q, label])
        if q < 0:
            return q == ACCEPTED
    return False
