"""The compiled exploration of a graph in step with an automaton."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.support.compiling import njit

NO_NODE = -4
"""A pair of states that has not been reached."""


class LabelledGraph(NamedTuple):
    """A graph whose labels an automaton reads."""

    successors: NDArray[np.int32]  # state after each control, or `UNAVAILABLE`; [states, controls]
    label_index: NDArray[np.uint16]  # of each transition, [states, controls]
    marks: NDArray[np.int32]  # mark of each state or -1, [states]; empty if nothing is marked
    marked_labels: NDArray[np.int32]  # the label that a label becomes in a marked state, [marks, labels]
    rows: NDArray[np.int32]  # automaton state after each label, `DEAD` or `ACCEPTED`; [labels, automaton states]


@njit(cache=True, nogil=True, exact=True)
def explore_pairs(
    graph: LabelledGraph, start: int, max_nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16], int]:
    """Pairs, their successors and labels, and how many there are, breadth first; beyond `max_nodes` the search stops.

    A pair is state * automaton states + automaton state.
    """
    (states, controls), automaton_states = graph.successors.shape, graph.rows.shape[1]
    node_of = np.full(states * automaton_states, NO_NODE, np.int32)
    pairs = np.empty(min(states * automaton_states, max_nodes + controls + 1), np.int64)
    pairs[0] = start
    node_of[start] = 0
    count, node = 1, 0
    successors = np.empty((len(pairs), controls), np.int32)  # only what is written takes memory
    labels = np.empty((len(pairs), controls), np.uint16)
    while node < count <= max_nodes:
        state, automaton_state = pairs[node] // automaton_states, pairs[node] % automaton_states
        for control in range(controls):
            next_state = graph.successors[state, control]
            if next_state == UNAVAILABLE:
                successors[node, control] = UNAVAILABLE
                labels[node, control] = 0
                continue
            label = np.int64(graph.label_index[state, control])
            if graph.marks.size and graph.marks[next_state] >= 0:
                label = np.int64(graph.marked_labels[graph.marks[next_state], label])
            labels[node, control] = label
            next_automaton_state = graph.rows[label, automaton_state]
            if next_automaton_state < 0:
                successors[node, control] = next_automaton_state
                continue
            pair = np.int64(next_state) * automaton_states + next_automaton_state
            if node_of[pair] == NO_NODE:
                node_of[pair] = count
                pairs[count] = pair
                count += 1
            successors[node, control] = node_of[pair]
        node += 1
    return pairs[:count].copy(), successors[:node].copy(), labels[:node].copy(), count
