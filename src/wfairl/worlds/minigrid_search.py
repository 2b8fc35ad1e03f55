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


@njit(cache=True, nogil=True)
def explore(
    layout: Table,
    atoms: NDArray[np.int32],
    next_mode: NDArray[np.int32],
    start: NDArray[np.uint64],
    max_nodes: int,
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32], NDArray[np.uint16]]:
    """Every (state, mode) reachable from (start, mode 0), breadth first in the order of controls.

    Returns:
        states, modes, successors and labels as in `Exploration`. If there are more than `max_nodes`,
        the walk stops and returns some more than that.
    """
    n_controls = len(CONTROLS)
    capacity = FIRST_CAPACITY
    states = np.empty((capacity, start.size), np.uint64)
    modes = np.empty(capacity, np.int32)
    state_labels = np.empty(capacity, np.uint16)
    successors = np.empty((capacity, n_controls), np.int32)
    labels = np.empty((capacity, n_controls), np.uint16)
    slots = np.zeros((2 * capacity, 2), np.uint64)  # at most half full
    here = np.empty(fields_count(layout), np.int32)
    fields = np.empty(fields_count(layout), np.int32)
    words = start.copy()
    looks_ahead = _looks_ahead(atoms)
    mode_shift = _free_bits(layout, start.size, next_mode.shape[0])

    unpack(layout, start, here)
    states[0], modes[0], state_labels[0] = start, 0, label_mask(layout, atoms, here)
    key = _key(words, 0, mode_shift)
    slot = _first_slot(key, slots.shape[0] - 1)
    slots[slot, 0], slots[slot, 1] = key, 1
    node, count = 0, 1
    while node < count <= max_nodes:
        if count + n_controls > capacity:
            capacity *= 2
            states, modes, state_labels = (
                _grown(states, capacity),
                _grown(modes, capacity),
                _grown(state_labels, capacity),
            )
            successors, labels = _grown(successors, capacity), _grown(labels, capacity)
            slots = _rehashed(slots)
        unpack(layout, states[node], here)
        for control in range(n_controls):
            for i in range(here.size):  # much faster than a slice, compiled
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
    return states[:count].copy(), modes[:count].copy(), successors[:count].copy(), labels[:count].copy()


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
    return int((key * GOLDEN) >> np.uint64(32)) & last


@njit(cache=True, nogil=True)
def _rehashed(slots: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The same entries in twice as many slots; equal keys may stand several times, and stay so."""
    larger = np.zeros((2 * slots.shape[0], 2), np.uint64)
    last = larger.shape[0] - 1
    for i in range(slots.shape[0]):
        if slots[i, 1] != EMPTY_SLOT:
            slot = _first_slot(slots[i, 0], last)
            while larger[slot, 1] != EMPTY_SLOT:
                slot = (slot + 1) & last
            larger[slot, 0], larger[slot, 1] = slots[i, 0], slots[i, 1]
    return larger


@njit(cache=True, nogil=True)
def _same(states: NDArray[np.uint64], node: int, words: NDArray[np.uint64]) -> bool:
    for i in range(words.size):  # noqa: SIM110 - compiled
        if states[node, i] != words[i]:
            return False
    return True


@njit(cache=True, nogil=True)
def _grown(array: Any, capacity: int) -> Any:
    larger = np.empty((capacity, *array.shape[1:]), array.dtype)
    larger[: array.shape[0]] = array
    return larger
