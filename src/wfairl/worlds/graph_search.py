"""The compiled walk through the pairs of a state of a graph and a state of an automaton."""

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import UNAVAILABLE
from wfairl.automata.guarded import GuardedAutomaton
from wfairl.compiling import njit

UNSEEN = -4
"""In the search: a pair of states that has no node yet."""

IGNORE_LABELS = GuardedAutomaton(((),), np.array([False]))
"""Reads everything and stays where it is: a world explored with it is explored alone."""


@njit(cache=True, nogil=True)
def explore_pairs(
    successors: NDArray[np.int32],
    label_index: NDArray[np.uint16],
    rows: NDArray[np.int32],
    becomes: NDArray[np.int32],
    mark_of_state: NDArray[np.int32],
    start: int,
    automaton_state: int,
    automaton_states: int,
    max_nodes: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16], int]:
    """Breadth first in the order of controls; a pair is state * automaton states + automaton state.

    Returns:
        The pair of each node, its successors, the labels of its transitions, and how many nodes there are.
        If there are more than `max_nodes`, the walk stops and returns some more than that.
    """
    states, controls = successors.shape
    node_of = np.full(states * automaton_states, UNSEEN, np.int32)
    pairs = np.empty(min(states * automaton_states, max_nodes + controls + 1), np.int64)
    pairs[0] = start * automaton_states + automaton_state
    node_of[pairs[0]] = 0
    count, node, room = 1, 0, 1024
    after = np.empty((room, controls), np.int32)
    shown = np.empty((room, controls), np.uint16)
    while node < count <= max_nodes:
        if node == room:
            room *= 2
            after = _with_room(after, room)
            shown = _with_room(shown, room)
        state, reading = pairs[node] // automaton_states, pairs[node] % automaton_states
        for control in range(controls):
            next_state = successors[state, control]
            if next_state == UNAVAILABLE:
                after[node, control] = UNAVAILABLE
                shown[node, control] = 0
                continue
            label = np.int64(label_index[state, control])
            if mark_of_state.size and mark_of_state[next_state] >= 0:
                label = np.int64(becomes[mark_of_state[next_state], label])
            shown[node, control] = label
            read = rows[label, reading]
            if read < 0:
                after[node, control] = read
                continue
            pair = np.int64(next_state) * automaton_states + read
            if node_of[pair] == UNSEEN:
                node_of[pair] = count
                pairs[count] = pair
                count += 1
            after[node, control] = node_of[pair]
        node += 1
    return pairs[:count].copy(), after[:node].copy(), shown[:node].copy(), count


@njit(cache=True, nogil=True)
def _with_room(table: NDArray[np.generic], room: int) -> NDArray[np.generic]:
    larger = np.empty((room, table.shape[1]), table.dtype)
    larger[: len(table)] = table
    return larger
