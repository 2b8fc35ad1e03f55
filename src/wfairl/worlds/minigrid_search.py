"""Walks through a MiniGrid, compiled: along given controls, or to every state that the rules can reach.

Exploration goes in step with a table of modes. What is known is kept in a hash table with open addressing. A slot
holds a node's *key* beside the node, so that most look-ups touch one line of memory: where state and mode fit into
one word the key is that word itself, otherwise it is a hash of them and the state is compared as well.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wfairl.worlds.minigrid_packing import fields_count, pack, unpack
from wfairl.worlds.minigrid_rules import (
    ANY_IN_FRONT,
    BITS,
    CONTROLS,
    DOOR_IN_FRONT,
    FIELD_COLUMNS,
    FIELD_TABLE,
    LEFT,
    RIGHT,
    SHIFT,
    WORD,
    Table,
    apply_control,
    label_mask,
)

EMPTY_SLOT = 0
"""A slot's second entry is its node + 1."""

FIRST_CAPACITY = 4096
"""Nodes that there is room for at the start; the room doubles when it is used up."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2 ** 64 divided by the golden ratio: multiplying by it spreads keys over the high bits (Knuth, vol. 3, 6.4)."""

LINE_BITS, LINE_MASK = np.uint64(3), np.uint64(7)
"""Slots that belong together: eight, two cache lines."""


@njit(cache=True, nogil=True)
def walk(
    layout: Table, atoms: NDArray[np.int32], start: NDArray[np.uint64], controls: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """The states [controls + 1, words] and label masks [controls] along a sequence of controls."""
    states = np.empty((controls.size + 1, start.size), np.uint64)
    labels = np.empty(controls.size, np.uint16)
    fields = np.empty(fields_count(layout), np.int32)
    states[0] = start
    unpack(layout, start, fields)
    for t in range(controls.size):
        apply_control(layout, fields, controls[t])
        pack(layout, fields, states[t + 1])
        labels[t] = label_mask(layout, atoms, fields)
    return states, labels


def explore(
    layout: Table,
    atoms: NDArray[np.int32],
    next_mode: NDArray[np.int32],
    start: NDArray[np.uint64],
    mode: int,
    max_nodes: int,
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32], NDArray[np.uint16]]:
    """Every (state, mode) reachable from (start, mode), breadth first in the order of controls.

    Returns:
        states, modes, successors and labels as in `Exploration`. If there are more than `max_nodes`,
        the walk stops and returns some more than that.
    """
    # NumPy makes the tables, not the compiled code: it asks for huge pages, and look-ups are all over them.
    tables = _tables(FIRST_CAPACITY, start.size)
    node, count = 0, _begin(layout, atoms, next_mode, start, mode, *tables)
    while node < count <= max_nodes:
        if count + len(CONTROLS) > len(tables[0]):
            tables = _grown(tables, count)
        node, count = _expand(layout, atoms, next_mode, node, count, max_nodes, *tables)
    states, modes, _, successors, labels, _ = tables
    return states[:count], modes[:count], successors[:count], labels[:count]


Tables = tuple[Any, Any, Any, Any, Any, Any]
"""states, modes, label of each state, successors, labels of transitions; and the slots, twice as many."""


def _tables(capacity: int, words: int) -> Tables:
    """Room for so many nodes."""
    return (
        np.empty((capacity, words), np.uint64),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.uint16),
        np.empty((capacity, len(CONTROLS)), np.int32),
        np.empty((capacity, len(CONTROLS)), np.uint16),
        np.zeros((2 * capacity, 2), np.uint64),
    )


def _grown(tables: Tables, count: int) -> Tables:
    """Twice the room, with the same nodes in it."""
    states, *_, slots = tables
    larger = _tables(2 * len(states), states.shape[1])
    for old, new in zip(tables[:-1], larger[:-1], strict=True):
        new[:count] = old[:count]
    _rehash(slots, larger[-1])
    return larger


@njit(cache=True, nogil=True)
def _begin(
    layout: Table,
    atoms: NDArray[np.int32],
    next_mode: NDArray[np.int32],
    start: NDArray[np.uint64],
    mode: int,
    states: NDArray[np.uint64],
    modes: NDArray[np.int32],
    state_labels: NDArray[np.uint16],
    successors: NDArray[np.int32],  # noqa: ARG001 - the tables are handed on as they are
    labels: NDArray[np.uint16],  # noqa: ARG001
    slots: NDArray[np.uint64],
) -> int:
    """Put the start into empty tables; the number of nodes, 1."""
    fields = np.empty(fields_count(layout), np.int32)
    unpack(layout, start, fields)
    states[0], modes[0], state_labels[0] = start, mode, label_mask(layout, atoms, fields)
    key = _key(start, mode, _free_bits(layout, start.size, next_mode.shape[0]))
    slot = _first_slot(key, slots.shape[0] - 1)
    slots[slot, 0], slots[slot, 1] = key, 1
    return 1


@njit(cache=True, nogil=True)
def _expand(
    layout: Table,
    atoms: NDArray[np.int32],
    next_mode: NDArray[np.int32],
    node: int,
    count: int,
    max_nodes: int,
    states: NDArray[np.uint64],
    modes: NDArray[np.int32],
    state_labels: NDArray[np.uint16],
    successors: NDArray[np.int32],
    labels: NDArray[np.uint16],
    slots: NDArray[np.uint64],
) -> tuple[int, int]:
    """Expand nodes until none is left, the tables are full, or there are too many; the next node and the count."""
    here = np.empty(fields_count(layout), np.int32)
    fields = np.empty(fields_count(layout), np.int32)
    words = np.empty(states.shape[1], np.uint64)
    looks_ahead = _looks_ahead(atoms)
    mode_shift = _free_bits(layout, words.size, next_mode.shape[0])
    while node < count <= max_nodes and count + len(CONTROLS) <= modes.size:
        unpack(layout, states[node], here)
        for control in range(len(CONTROLS)):
            for i in range(here.size):  # faster than a slice, compiled
                fields[i] = here[i]
            changed = apply_control(layout, fields, control)
            same_label = not changed or (control in (LEFT, RIGHT) and not looks_ahead)
            label = np.int64(state_labels[node]) if same_label else label_mask(layout, atoms, fields)
            mode = next_mode[modes[node], label]
            labels[node, control] = label
            if mode < 0:
                successors[node, control] = mode
                continue
            if not changed and mode == modes[node]:
                successors[node, control] = node
                continue
            pack(layout, fields, words)
            key = _key(words, mode, mode_shift)
            slot = _slot_of(slots, states, modes, words, mode, key, mode_shift)
            if slots[slot, 1] == EMPTY_SLOT:
                for i in range(words.size):
                    states[count, i] = words[i]
                modes[count], state_labels[count] = mode, label
                count += 1
                slots[slot, 0] = key
                slots[slot, 1] = count
            successors[node, control] = slots[slot, 1] - 1
        node += 1
    return node, count


@njit(cache=True, nogil=True)
def _looks_ahead(atoms: NDArray[np.int32]) -> bool:
    """Whether a label can change by turning, because an atom asks what is in front of the agent."""
    for i in range(atoms.shape[0]):  # noqa: SIM110 - compiled
        if atoms[i, 0] in (ANY_IN_FRONT, DOOR_IN_FRONT):
            return True
    return False


@njit(cache=True, nogil=True)
def _free_bits(layout: Table, words: int, modes: int) -> int:
    """Where in the only word of a state its mode can be put, or -1 if it does not fit or there are more words."""
    last = layout[FIELD_TABLE] + FIELD_COLUMNS * (fields_count(layout) - 1)
    used = layout[last + SHIFT] + layout[last + BITS]
    mode_bits = 0
    while 1 << mode_bits < modes:
        mode_bits += 1
    return used if words == 1 and layout[last + WORD] == 0 and used + mode_bits < 64 else -1


@njit(cache=True, nogil=True)
def _key(words: NDArray[np.uint64], mode: int, mode_shift: int) -> np.uint64:
    """State and mode in one word if they fit (`mode_shift` says where), else a hash of them."""
    if mode_shift >= 0:
        return words[0] | (np.uint64(mode) << np.uint64(mode_shift))
    key = np.uint64(mode)
    for i in range(words.size):
        key = (key ^ words[i]) * GOLDEN
        key ^= key >> np.uint64(29)
    return key


@njit(cache=True, nogil=True)
def _slot_of(
    slots: NDArray[np.uint64],
    states: NDArray[np.uint64],
    modes: NDArray[np.int32],
    words: NDArray[np.uint64],
    mode: int,
    key: np.uint64,
    mode_shift: int,
) -> int:
    """The slot that holds a node, or the empty one where it belongs."""
    last = slots.shape[0] - 1
    slot = _first_slot(key, last)
    while slots[slot, 1] != EMPTY_SLOT:
        if slots[slot, 0] == key:
            known = np.int64(slots[slot, 1]) - 1
            if mode_shift >= 0 or (modes[known] == mode and _same(states, known, words)):
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
