"""Compiled loops: the cost-to-go on the product of a world and an automaton given as a table.

The product is never built, because thousands of automata are tried in the same worlds (`planning.shortest_path` solves
a product that was built). Node q * states + s is the pair of automaton state q and world state s. The search runs
backwards from acceptance, so that the transitions of the world and those of the automaton are sorted by their targets.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.automata.minimisation import Table
from wfairl.core.planning.expected_cost import sweep_order
from wfairl.core.planning.policy_sweeps import Lotteries, sweep_costs
from wfairl.core.planning.shortest_path import Floats
from wfairl.core.support.compiling import inner, njit


class PackedWorld(NamedTuple):
    """The transitions of a world twice: sorted by where they lead, and by their label."""

    first: NDArray[np.int64]  # transitions into state s are those from first[s] to first[s + 1]; [states + 1]
    source: NDArray[np.int32]  # state from which a transition leads, [transitions]
    label: NDArray[np.int16]  # index of its label, [transitions]
    cost: Floats  # [transitions]
    # transitions with label a are those from label_first[a] to label_first[a + 1]; [labels + 1]
    label_first: NDArray[np.int64]
    label_source: NDArray[np.int32]  # state from which these lead, [transitions]
    label_cost: Floats  # [transitions]


class ReversibleTable(NamedTuple):
    """An automaton that can be followed backwards."""

    table: Table  # state after each label, `DEAD` or `ACCEPTED`; [states, labels]
    # the states from which label a leads to state q are those from first[q * labels + a] to the next entry
    first: NDArray[np.int32]
    source: NDArray[np.int32]  # these states, [pairs of state and label]


def pack_world(
    successors: NDArray[np.int32], label_index: NDArray[np.integer], costs: Floats, labels: int
) -> PackedWorld:
    """Sort the transitions of an `ArrayWorld` for backward searches; `labels` is the number of labels.

    Of several controls that do the same the cheapest counts.
    """
    return _sort_transitions(
        np.ascontiguousarray(successors, np.int32),
        np.ascontiguousarray(label_index, np.int16),
        np.ascontiguousarray(costs, np.float64),
        labels,
    )


@njit(cache=True, nogil=True, exact=True)
def _sort_transitions(
    successors: NDArray[np.int32], label_index: NDArray[np.int16], costs: Floats, labels: int
) -> PackedWorld:
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
    first, label_first = np.cumsum(first), np.cumsum(label_first)
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


def reverse_table(table: Table) -> ReversibleTable:
    """An automaton whose pairs of state and label are sorted by where they lead."""
    reversible = ReversibleTable(table, np.empty(table.size + 2, np.int32), np.empty(table.size, np.int32))
    sort_pairs(reversible)
    return reversible


@njit(cache=True, nogil=True)
def sort_pairs(automaton: ReversibleTable) -> None:
    """Fill in `first` and `source`."""
    table, first, source = automaton
    states, labels = table.shape
    for i in range(len(first)):
        first[i] = 0
    for q in range(states):
        for a in range(labels):
            if table[q, a] >= 0:
                first[table[q, a] * labels + a + 2] += 1
    for i in range(1, len(first)):
        first[i] += first[i - 1]
    for q in range(states):
        for a in range(labels):
            if table[q, a] >= 0:
                i = table[q, a] * labels + a + 1  # first[i] is where the next such pair belongs
                source[first[i]] = q
                first[i] += 1


@njit(cache=True, nogil=True)
def search_nodes(
    automaton: ReversibleTable,
    world: PackedWorld,
    highest: Floats,
    V: Floats,
    queue: NDArray[np.int32],
    is_queued: NDArray[np.bool_],
) -> None:
    """Fill V of node q * states + s, first come, first served, from acceptance.

    Where every transition costs 1, this is a breadth-first search. Otherwise a node comes again when its V has fallen.

    Args:
        highest: a node whose V would be higher has inf instead, and nothing is searched from there; [states]
        V: inf, or -inf where nothing is to be searched.
        queue, is_queued: room for every node; none is queued before, and none is afterwards.
    """
    automaton_states, labels = automaton.table.shape
    states = len(world.first) - 1
    nodes, end = automaton_states * states, 0
    for q in range(automaton_states):
        for a in range(len(world.label_first) - 1):
            if automaton.table[q, a] == ACCEPTED:
                for i in range(world.label_first[a], world.label_first[a + 1]):
                    node = q * states + world.label_source[i]
                    if world.label_cost[i] < V[node] and world.label_cost[i] <= highest[world.label_source[i]]:
                        V[node] = world.label_cost[i]
                        if not is_queued[node]:
                            is_queued[node] = True
                            queue[end] = node
                            end += 1
    waiting, begin = end, 0
    end = 0 if end == nodes else end
    while waiting > 0:
        node = queue[begin]
        begin = 0 if begin + 1 == nodes else begin + 1
        waiting -= 1
        is_queued[node] = False
        q, s = node // states, node % states
        for i in range(world.first[s], world.first[s + 1]):
            cost = V[node] + world.cost[i]
            if cost > highest[world.source[i]]:
                continue
            entry = q * labels + world.label[i]
            for j in range(automaton.first[entry], automaton.first[entry + 1]):
                before = automaton.source[j] * states + world.source[i]
                if cost < V[before]:
                    V[before] = cost
                    if not is_queued[before]:
                        is_queued[before] = True
                        queue[end] = before
                        end = 0 if end + 1 == nodes else end + 1
                        waiting += 1


class SlippingWorlds(NamedTuple):
    """The effects of worlds that slip, one world after another, and their chances."""

    lotteries: Lotteries  # of all worlds
    successor: NDArray[np.int32]  # state after each effect, or -1; [states, effects]
    label: NDArray[np.int16]  # index of its label, [states, effects]
    cost: Floats  # [states, effects]
    kind: NDArray[np.int32]  # of the lotteries, [states]
    failure: Floats  # what a failure costs in each world, [worlds]


@njit(cache=True, nogil=True)
def expected_table_cost_to_go(
    automaton: ReversibleTable,
    world: PackedWorld,
    slipping: SlippingWorlds,
    first_state: int,
    starts: NDArray[np.int64],
    failure: float,
    tolerance: float,
    V: Floats,
) -> None:
    """Fill the expected V of node q * states + s in a world that slips; inf where acceptance cannot be reached.

    The method is that of `planning.expected_cost`. The states of the world begin at `first_state` of `slipping`. Only
    what can be reached from the nodes `starts` is solved, and all if there are none: where a world remembers what was
    done, most pairs of its states with those of the automaton never occur.
    """
    table, states, effects = automaton.table, len(world.first) - 1, slipping.successor.shape[1]
    nodes = len(table) * states
    queue, is_queued = np.empty(nodes, np.int32), np.zeros(nodes, np.bool_)
    for node in range(nodes):
        V[node] = -np.inf if len(starts) else np.inf
    _open(table, slipping, first_state, states, starts, V, queue)
    search_nodes(automaton, world, np.full(states, np.inf), V, queue, is_queued)
    for node in range(nodes):
        V[node] = np.inf if V[node] == -np.inf else V[node]
    highest, least = 0.0, np.inf
    for cost in V[:nodes]:
        highest, least = max(highest, cost if cost < np.inf else 0.0), min(least, cost)
    order = sweep_order(V[:nodes], highest, least)
    count = len(order)
    position = np.full(nodes, count + 1, np.int32)  # acceptance and failure come after all nodes
    for i in range(count):
        position[order[i]] = i
    target, costs = np.full((count, effects), count + 1, np.int32), np.empty((count, effects))
    kind = np.empty(count, np.int32)
    for i in range(count):
        q, s = order[i] // states, first_state + order[i] % states
        kind[i] = slipping.kind[s]
        for e in range(effects):
            costs[i, e] = slipping.cost[s, e]
            if slipping.successor[s, e] >= 0:
                after = table[q, slipping.label[s, e]]
                if after == ACCEPTED:
                    target[i, e] = count
                elif after >= 0:
                    target[i, e] = position[after * states + slipping.successor[s, e]]
    values = np.full(count + 2, failure + 2 * highest)
    values[count], values[count + 1] = 0.0, failure
    sweep_costs(target, costs, kind, slipping.lotteries, values, tolerance)
    for i in range(count):
        V[order[i]] = values[i]


@inner
def _open(
    table: Table,
    slipping: SlippingWorlds,
    first_state: int,
    states: int,
    starts: NDArray[np.int64],
    V: Floats,
    queue: NDArray[np.int32],
) -> None:
    """Raise V from -inf to inf at the nodes that can be reached from `starts`."""
    end = scanned = 0
    for start in starts:
        if V[start] < 0:
            V[start] = np.inf
            queue[end] = start
            end += 1
    while scanned < end:
        q, s = queue[scanned] // states, queue[scanned] % states
        scanned += 1
        for e in range(slipping.successor.shape[1]):
            after = slipping.successor[first_state + s, e]
            to = table[q, slipping.label[first_state + s, e]]
            if after >= 0 and to >= 0 and V[to * states + after] < 0:
                V[to * states + after] = np.inf
                queue[end] = to * states + after
                end += 1
