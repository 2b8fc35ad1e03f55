"""The nodes of a search through a MiniGrid, in a hash table with open addressing.

A slot holds a node's *key* beside the node, so that most look-ups touch one line of memory: where state and automaton
state fit into one word the key is that word itself, otherwise it is a hash of them and the state is compared as well.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit
from wfairl.minigrid.labeller import EMPTY_SLOT, GOLDEN
from wfairl.minigrid.physics import BITS, CONTROLS, FIELD_COLUMNS, FIELD_TABLE, SHIFT, WORD, LayoutTable, fields_count

NOT_EXPANDED = -4
"""In place of the first successor: the successors of the node are not known yet."""

LINE_BITS, LINE_MASK = np.uint64(3), np.uint64(7)
"""Slots that belong together: eight, two cache lines."""


class NodeTables(NamedTuple):
    """Nodes, with room for more.

    Attributes:
        states: packed world states, shape [capacity, words] of uint64.
        automaton_states: shape [capacity] of int32.
        state_labels: label of a transition that leaves the state as it is, an index; shape [capacity] of uint16.
        successors: node after each control; in a new node, the first is `NOT_EXPANDED`; shape [capacity, controls] of
            int32.
        labels: label of each transition, an index; shape [capacity, controls] of uint16.
        slots: key and node + 1, which is 0 in an empty slot; shape [2 * capacity, 2] of uint64.
    """

    states: NDArray[np.uint64]
    automaton_states: NDArray[np.int32]
    state_labels: NDArray[np.uint16]
    successors: NDArray[np.int32]
    labels: NDArray[np.uint16]
    slots: NDArray[np.uint64]


def make_tables(capacity: int, words: int) -> NodeTables:
    """Allocate arrays for a number of nodes."""
    # NumPy allocates them, not the compiled code: it asks for huge pages, and look-ups are all over them.
    return NodeTables(
        states=np.empty((capacity, words), np.uint64),
        automaton_states=np.empty(capacity, np.int32),
        state_labels=np.empty(capacity, np.uint16),
        successors=np.empty((capacity, len(CONTROLS)), np.int32),
        labels=np.empty((capacity, len(CONTROLS)), np.uint16),
        slots=np.zeros((2 * capacity, 2), np.uint64),
    )


def double_capacity(tables: NodeTables, count: int) -> NodeTables:
    """Tables with twice the capacity that hold the first `count` nodes of `tables`."""
    larger = make_tables(2 * len(tables.states), tables.states.shape[1])
    for name in NodeTables._fields[:-1]:
        getattr(larger, name)[:count] = getattr(tables, name)[:count]
    _rehash(tables.slots, larger.slots)
    return larger


@njit(cache=True, nogil=True)
def free_bits(layout: LayoutTable, words: int, automaton_states: int) -> int:
    """Where in the only word of a state the automaton state can be put, or -1 if it does not fit there."""
    last = layout[FIELD_TABLE] + FIELD_COLUMNS * (fields_count(layout) - 1)
    used = layout[last + SHIFT] + layout[last + BITS]
    more = 0
    while 1 << more < automaton_states:
        more += 1
    return used if words == 1 and layout[last + WORD] == 0 and used + more < 64 else -1


@njit(cache=True, nogil=True)
def insert_node(
    tables: NodeTables, count: int, state: NDArray[np.uint64], automaton_state: int, state_label: int, shift: int
) -> tuple[np.int64, int]:
    """The node of a pair of states, which is added if it is new, and the number of nodes; there must be room for it.

    Args:
        tables, count: the nodes so far.
        state: packed, shape [words].
        automaton_state: its number.
        state_label: of a transition that leaves the state as it is, an index.
        shift: see `free_bits`.
    """
    states, automaton_states, state_labels, successors, _, slots = tables
    key = _node_key(state, automaton_state, shift)
    last = slots.shape[0] - 1
    slot = _first_slot(key, last)
    while slots[slot, 1] != EMPTY_SLOT:
        if slots[slot, 0] == key:
            node = np.int64(slots[slot, 1]) - 1
            if shift >= 0 or (automaton_states[node] == automaton_state and _same(states, node, state)):
                return node, count
        slot = (slot + 1) & last
    for i in range(state.size):
        states[count, i] = state[i]
    automaton_states[count], state_labels[count], successors[count, 0] = automaton_state, state_label, NOT_EXPANDED
    slots[slot, 0], slots[slot, 1] = key, count + 1
    return np.int64(count), count + 1


@njit(cache=True, nogil=True)
def _node_key(words: NDArray[np.uint64], automaton_state: int, shift: int) -> np.uint64:
    """State and automaton state in one word if they fit (`shift` says where), else a hash of them."""
    if shift >= 0:
        return words[0] | (np.uint64(automaton_state) << np.uint64(shift))
    key = np.uint64(automaton_state)
    for i in range(words.size):
        key = (key ^ words[i]) * GOLDEN
        key ^= key >> np.uint64(29)
    return key


@njit(cache=True, nogil=True)
def _first_slot(key: np.uint64, last: int) -> int:
    """Where to look first: the low bits of a key, direction and a bit of the cell, choose within a line of slots.

    So a state and those it reaches by turning are looked up in the same place of memory.
    """
    return int(((key >> LINE_BITS) * GOLDEN >> np.uint64(32) << LINE_BITS) | (key & LINE_MASK)) & last


@njit(cache=True, nogil=True)
def _rehash(slots: NDArray[np.uint64], larger: NDArray[np.uint64]) -> None:
    """Put all entries into more slots; equal keys may stand several times, and stay so."""
    last = larger.shape[0] - 1
    for i in range(slots.shape[0]):
        if slots[i, 1] != EMPTY_SLOT:
            slot = _first_slot(slots[i, 0], last)
            while larger[slot, 1] != EMPTY_SLOT:
                slot = (slot + 1) & last
            larger[slot, 0], larger[slot, 1] = slots[i, 0], slots[i, 1]


@njit(cache=True, nogil=True)
def _same(states: NDArray[np.uint64], node: int, words: NDArray[np.uint64]) -> bool:
    for i in range(words.size):  # noqa: SIM110 - compiled
        if states[node, i] != words[i]:
            return False
    return True
