"""Exact cost-to-go of every node of a graph of transitions, for given transition costs.

Equation (5) of the paper, over the nodes s of a product and its controls u:

    Q(s, u) = c(s, u) + V(T(s, u)),     V(s) = min_u Q(s, u),     V = 0 once the task is accepted,

with V = inf where acceptance cannot be reached, and Q = inf for a control that leads there.

The method is label-correcting search with two piles, run backwards from acceptance. Nodes whose cost-to-go is below a
threshold lie in the near pile and are scanned first in, first out; the others wait in the far pile. When the near pile
is empty, the threshold rises by a width and the far pile is split. A node is scanned again whenever its cost-to-go has
fallen since, so the result satisfies the equation above *exactly, at any width*: the width only decides how many nodes
are scanned twice (too wide) or how often the far pile is (too narrow). A few mean costs were best for costs of all
shapes tried. Compared with a heap, entries within a pile need no order.

`reverse_graph` does once what does not depend on the costs: it sorts transitions by target, drops those that can never
matter (to dead ends, or back to their own node), and renumbers nodes breadth first from acceptance, so that the search
accesses memory nearly in order.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, UNAVAILABLE
from wfairl.core.support.compiling import inner, njit
from wfairl.core.support.errors import BadInputError

WIDTH = 3.0
"""Mean costs by which the threshold between the piles rises; measured, and flat between 2 and 6."""

SAMPLE = 1024
"""The mean cost is estimated from at most this many transitions."""

Nodes = NDArray[np.int32]
Ranks = NDArray[np.uint32]
Floats = NDArray[np.float64]

NO_CONTROL = -1
"""Best control of a node from which acceptance cannot be reached."""


class BadCostError(BadInputError):
    """Transition costs for which no shortest path can be computed."""


@dataclass(frozen=True, eq=False)
class ReversedGraph:
    """A graph of transitions, sorted for searches that run backwards from acceptance.

    Rank 0 is acceptance itself; ranks 1, 2, ... are the nodes that can reach it, breadth first.
    """

    successors: Nodes  # node after each control, `DEAD`, `ACCEPTED` or `UNAVAILABLE`; shape [nodes, controls] of int32
    order: Ranks  # node of each rank, the number of nodes at rank 0; shape [ranks] of uint32
    first: Ranks  # transitions into rank r are those from first[r] to first[r + 1]; shape [ranks + 1] of uint32
    source: Ranks  # rank from which a transition leads; shape [transitions] of uint32
    transition: Ranks  # node * controls + control of a transition; shape [transitions] of uint32


@dataclass(frozen=True, eq=False)
class CostToGo:
    """The least cost to acceptance from every node."""

    cost_to_go: Floats  # V(s), inf where acceptance cannot be reached; shape [nodes] of float64
    control_cost_to_go: Floats  # Q(s, u), inf for a control that leads nowhere; shape [nodes, controls] of float64
    # the control of least Q, the lowest index among equals, `NO_CONTROL` where V is inf; shape [nodes] of int32
    best_control: Nodes
    failure: float = np.inf  # the price of a failure that the expected cost-to-go of a world that slips contains


def reverse_graph(successors: Nodes) -> ReversedGraph:
    """Sort a graph once, for any number of calls of `cost_to_go`; its successors are those of a `ReversedGraph`."""
    successors = np.ascontiguousarray(successors, dtype=np.int32)
    if successors.ndim != 2:
        raise BadInputError(f"successors must have the shape [nodes, controls], not {successors.shape}")
    if successors.size and (successors.min() < UNAVAILABLE or successors.max() >= len(successors)):
        raise BadInputError(f"successors must be nodes below {len(successors)}, DEAD, ACCEPTED or UNAVAILABLE")
    return ReversedGraph(successors, *_reverse(successors))


def cost_to_go(graph: ReversedGraph, costs: Floats) -> CostToGo:
    """Solve equation (5) of the paper for every node and control. Releases the GIL.

    Args:
        graph: the transitions, from `reverse_graph`.
        costs: c(s, u), finite and above zero; shape [nodes, controls].

    Raises:
        BadCostError: the costs have another shape, are not all finite and positive, or some are so
            small that they vanish beside the cost-to-go when added to it.
    """
    costs, least = check_costs(costs, graph.successors.shape)
    V, greatest = least_costs(graph, costs)
    if greatest > 0 and greatest + least == greatest:
        raise BadCostError(
            f"the smallest cost, {least:g}, vanishes beside a cost-to-go of {greatest:g}: following the best"
            " control might never end. Bound the cost model from below."
        )
    Q, best_control = np.empty(costs.shape), np.empty(len(costs), np.int32)
    _look_ahead(graph.successors, costs, V, Q, best_control)
    return CostToGo(V, Q, best_control)


def least_costs(graph: ReversedGraph, costs: Floats) -> tuple[Floats, float]:
    """V of costs that were checked, and its greatest finite value."""
    # NumPy asks for huge pages where Numba would not: on fresh memory, page faults took longer than the work.
    ranked_V, V = np.empty(len(graph.order)), np.empty(len(costs))
    search_ranks(graph.first, graph.source, graph.transition, costs.ravel(), WIDTH * _typical(costs, graph), ranked_V)
    return V, float(_scatter(ranked_V, graph.order, V))


def check_costs(costs: Floats, shape: tuple[int, ...]) -> tuple[Floats, float]:
    """The costs as a contiguous array of float64, and the least of them.

    NumPy's minimum and maximum are vectorised: tests within the loops below would take ten times as long.
    """
    costs = np.ascontiguousarray(costs, dtype=np.float64)
    if costs.shape != shape:
        raise BadCostError(f"costs must have the shape {shape} of the graph, not {costs.shape}")
    least, greatest = costs.min(initial=np.inf), costs.max(initial=0.0)
    if not (least > 0 and greatest < np.inf):  # NaN fails as well
        bad = np.argwhere(~(costs > 0) | ~np.isfinite(costs))
        node, control = bad[0]
        raise BadCostError(
            f"costs must be finite and above zero: {costs[node, control]} at node {node}, control {control}, and"
            f" {len(bad) - 1} more. Bound the cost model from below, for instance by a small constant added to it."
        )
    return costs, float(least)


@njit(cache=True, nogil=True, exact=True)
def _reverse(successors: Nodes) -> tuple[Ranks, Ranks, Ranks, Ranks]:
    nodes, controls = successors.shape
    first, transition = _sort_by_target(successors)
    # Breadth first from acceptance, which stands as node number `nodes`.
    unseen = np.uint32(nodes + 1)
    rank = np.full(nodes + 1, unseen, np.uint32)
    order = np.empty(nodes + 1, np.uint32)
    ranked_first = np.empty(nodes + 2, np.uint32)
    ranked_transition = np.empty_like(transition)
    source = np.empty_like(transition)
    order[0], rank[nodes], ranked_first[0] = nodes, 0, 0
    ranks, scanned, filled = 1, 0, 0
    while scanned < ranks:
        target = order[scanned]
        for position in range(first[target], first[target + np.uint32(1)]):
            node = transition[position] // np.uint32(controls)
            if rank[node] == unseen:
                rank[node] = ranks
                order[ranks] = node
                ranks += 1
            ranked_transition[filled] = transition[position]
            source[filled] = rank[node]
            filled += 1
        scanned += 1
        ranked_first[scanned] = filled
    return (
        order[:ranks].copy(),
        ranked_first[: ranks + 1].copy(),
        source[:filled].copy(),
        ranked_transition[:filled].copy(),
    )


@inner
def _sort_by_target(successors: Nodes) -> tuple[Ranks, Ranks]:
    """Counting sort of the transitions that matter; acceptance stands as node number `nodes`."""
    nodes, controls = successors.shape
    first = np.zeros(nodes + 2, np.uint32)
    for node in range(nodes):
        for control in range(controls):
            target = successors[node, control]
            if (target >= 0 or target == ACCEPTED) and target != node:
                first[(nodes if target == ACCEPTED else target) + 1] += np.uint32(1)
    for node in range(nodes + 1):
        first[node + 1] += first[node]
    free = first[:-1].copy()
    transition = np.empty(first[-1], np.uint32)
    for node in range(nodes):
        for control in range(controls):
            target = successors[node, control]
            if (target >= 0 or target == ACCEPTED) and target != node:
                target = nodes if target == ACCEPTED else target
                transition[free[target]] = node * controls + control
                free[target] += np.uint32(1)
    return first, transition


def _typical(costs: Floats, graph: ReversedGraph) -> float:
    """The mean cost of some transitions that matter: all of them would take a tenth of the search's time."""
    sampled = graph.transition[:: len(graph.transition) // SAMPLE + 1]
    return float(costs.ravel()[sampled].mean()) if len(sampled) else 0.0


# Unsigned indices below are for speed: with them Numba leaves out the test for negative ones.
@njit(cache=True, nogil=True, exact=True)
def search_ranks(first: Ranks, source: Ranks, transition: Ranks, costs: Floats, width: float, V: Floats) -> None:
    """Fill in V by rank, with two piles."""
    V[:] = np.inf
    V[0] = 0.0
    # An entry of a pile is a rank and its cost-to-go when it was put there. Where that has fallen since,
    # the rank has a better entry and this one is stale.
    near_rank, near_cost = np.zeros(1024, np.uint32), np.zeros(1024)
    far_rank, far_cost = np.empty(1024, np.uint32), np.empty(1024)
    scanned, near, far = np.uint64(0), np.uint64(1), np.uint64(0)
    threshold = width
    while near > 0:
        scanned, near, far = _scan(
            first, source, transition, costs, V, near_rank, near_cost, far_rank, far_cost, scanned, near, far, threshold
        )
        if scanned < near:
            near_rank, near_cost = doubled(near_rank), doubled(near_cost)
            far_rank, far_cost = doubled(far_rank), doubled(far_cost)
            continue
        # A far pile that is scanned again and again for few nodes needs a wider step.
        if far > 8 * near:
            width *= 2
        near, far, threshold = _split(near_rank, near_cost, far_rank, far_cost, far, width)
        scanned = np.uint64(0)


@inner
def _scan(
    first: Ranks, source: Ranks, transition: Ranks, costs: Floats, V: Floats, near_rank: Ranks, near_cost: Floats,
    far_rank: Ranks, far_cost: Floats, scanned: np.uint64, near: np.uint64, far: np.uint64, threshold: float,
) -> tuple[np.uint64, np.uint64, np.uint64]:  # fmt: skip
    """Scan the near pile to its end, or until a pile might have no room for what the next node adds."""
    one, room = np.uint64(1), np.uint64(len(near_rank))
    while scanned < near:
        target, target_cost = near_rank[scanned], near_cost[scanned]
        if target_cost == V[target]:
            i, end = np.uint64(first[target]), np.uint64(first[target + np.uint32(1)])
            if max(near, far) + (end - i) > room:
                break
            while i < end:
                rank = source[i]
                through = costs[transition[i]] + target_cost  # c(s, u) + V(T(s, u))
                i += one
                if through < V[rank]:
                    V[rank] = through
                    if through <= threshold:
                        near_rank[near], near_cost[near] = rank, through
                        near += one
                    else:
                        far_rank[far], far_cost[far] = rank, through
                        far += one
        scanned += one
    return scanned, near, far


@inner
def _split(
    near_rank: Ranks, near_cost: Floats, far_rank: Ranks, far_cost: Floats, size: np.uint64, width: float
) -> tuple[np.uint64, np.uint64, float]:
    """Move what lies within a width of the least entry from the far pile to the near one."""
    least = np.inf
    for i in range(size):
        least = min(least, far_cost[i])
    threshold = least + width
    near, far, one = np.uint64(0), np.uint64(0), np.uint64(1)
    for i in range(size):
        rank, cost = far_rank[i], far_cost[i]
        if cost <= threshold:
            near_rank[near], near_cost[near] = rank, cost
            near += one
        else:
            far_rank[far], far_cost[far] = rank, cost
            far += one
    return near, far, threshold


@inner
def doubled(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """An array of shape [n] with zeros behind it, shape [2 n]."""
    larger = np.zeros(2 * array.size, array.dtype)
    for i in range(array.size):  # to compile an assignment of slices takes a second
        larger[i] = array[i]
    return larger


@njit(cache=True, nogil=True, exact=True)
def _scatter(ranked_V: Floats, order: Ranks, V: Floats) -> float:
    """Fill in V by node; its greatest finite value."""
    V[:] = np.inf
    greatest = 0.0
    for rank in range(1, len(order)):
        V[order[rank]] = ranked_V[rank]
        greatest = max(greatest, ranked_V[rank])  # every rank reaches acceptance, so it is finite
    return greatest


@njit(cache=True, nogil=True, exact=True)
def _look_ahead(successors: Nodes, costs: Floats, V: Floats, Q: Floats, best_control: Nodes) -> None:
    """Fill in Q and the best controls."""
    nodes, controls = successors.shape
    for node in range(nodes):
        least, best = np.inf, NO_CONTROL
        for control in range(controls):
            target = successors[node, control]
            if target >= 0:
                q = costs[node, control] + V[target]
            elif target == ACCEPTED:
                q = costs[node, control]
            else:
                q = np.inf
            Q[node, control] = q
            if q < least:
                least, best = q, control
        best_control[node] = best
