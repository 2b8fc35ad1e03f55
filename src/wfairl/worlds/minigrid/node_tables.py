"""The nodes of a search through a MiniGrid, in a hash table with open addressing.

A slot holds a node's *key* beside the node, so that most look-ups touch one line of memory: where state and automaton
state fit into one word the key is that word itself, otherwise it is a hash of them and the state is compared as well.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.compiling import njit
from wfairl.worlds.minigrid.mask_numbers import EMPTY_SLOT, GOLDEN
from wfairl.worlds.minigrid.packing import fields_count
from wfairl.worlds.minigrid.rules import BITS, CONTROLS, FIELD_COLUMNS, FIELD_TABLE, SHIFT, WORD, Table

FIRST_CAPACITY = 4096
"""Initial capacity in nodes; it doubles when it is used up."""

LINE_BITS, LINE_MASK = np.uint64(3), np.uint64(7)
"""Slots that belong together: eight, two cache lines."""

Tables = tuple[Any, Any, Any, Any, Any, Any]
"""states, automaton states, labels of states left as they are, successors, labels of transitions; and slots."""


def make_tables(capacity: int, words: int) -> Tables:
    """Allocate arrays for a number of nodes."""
    return (
        np.empty((capacity, words), np.uint64),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.uint16),
        np.empty((capacity, len(CONTROLS)), np.int32),
        np.empty((capacity, len(CONTROLS)), np.uint16),
        np.zeros((2 * capacity, 2), np.uint64),
    )


def grown(tables: Tables, count: int) -> Tables:
    """Twice the room, with the same nodes in it."""
    states, *_, slots = tables
    larger = make_tables(2 * len(states), states.shape[1])
    for old, new in zip(tables[:-1], larger[:-1], strict=True):
        new[:count] = old[:count]
    _rehash(slots, larger[-1])
    return larger


@njit(cache=True, nogil=True)
def free_bits(layout: Table, words: int, automaton_states: int) -> int:
    """Where in the only word of a state the automaton state can be put, or -1 if it does not fit there."""
    last = layout[FIELD_TABLE] + FIELD_COLUMNS * (fields_count(layout) - 1)
    used = layout[last + SHIFT] + layout[last + BITS]
    more = 0
    while 1 << more < automaton_states:
        more += 1
    return used if words == 1 and layout[last + WORD] == 0 and used + more < 64 else -1


@njit(cache=True, nogil=True)
def node_key(words: NDArray[np.uint64], automaton_state: int, shift: int) -> np.uint64:
    """State and automaton state in one word if they fit (`shift` says where), else a hash of them."""
    if shift >= 0:
        return words[0] | (np.uint64(automaton_state) << np.uint64(shift))
    key = np.uint64(automaton_state)
    for i in range(words.size):
        key = (key ^ words[i]) * GOLDEN
        key ^= key >> np.uint64(29)
    return key


@njit(cache=True, nogil=True)
def node_slot(
    slots: NDArray[np.uint64],
    states: NDArray[np.uint64],
    automaton_states: NDArray[np.int32],
    words: NDArray[np.uint64],
    automaton_state: int,
    key: np.uint64,
    shift: int,
) -> int:
    """The slot that holds a node, or the empty one where it belongs."""
    last = slots.shape[0] - 1
    slot = _first_slot(key, last)
    while slots[slot, 1] != EMPTY_SLOT:
        if slots[slot, 0] == key:
            known = np.int64(slots[slot, 1]) - 1
            if shift >= 0 or (automaton_states[known] == automaton_state and _same(states, known, words)):
                break
        slot = (slot + 1) & last
    return slot


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
