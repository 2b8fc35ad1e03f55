"""Walks through a MiniGrid, compiled: along given controls, or to every state that the rules can reach.

Exploration goes in step with an automaton, whose rows are by the index of a label. A label that has none yet stops the
compiled search, gets one, and the search goes on.
"""

import numpy as np
from numpy.typing import NDArray

from wfairl.compiling import njit
from wfairl.worlds.lazy_world import UNEXPANDED
from wfairl.worlds.minigrid.atoms import depends_on_front, has_events, label_mask
from wfairl.worlds.minigrid.mask_numbers import EMPTY_SLOT, MaskNumbers, mask_slot
from wfairl.worlds.minigrid.node_tables import (
    FIRST_CAPACITY,
    Tables,
    free_bits,
    grown,
    make_tables,
    node_key,
    node_slot,
)
from wfairl.worlds.minigrid.packing import fields_count, pack, unpack
from wfairl.worlds.minigrid.rules import (
    AGENT,
    CONTROLS,
    LEFT,
    NOTHING,
    PICKUP,
    RIGHT,
    Table,
    apply_control,
)

ALL_NODES = np.empty(0, np.int64)
"""An order of expansion: every node, as they come."""


@njit(cache=True, nogil=True)
def walk(
    layout: Table, atoms: NDArray[np.int32], start: NDArray[np.uint64], controls: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The states [controls + 1, words] and label masks [controls] along a sequence of controls."""
    states = np.empty((controls.size + 1, start.size), np.uint64)
    labels = np.empty(controls.size, np.uint64)
    fields = np.empty(fields_count(layout), np.int32)
    states[0] = start
    unpack(layout, start, fields)
    for t in range(controls.size):
        changed = apply_control(layout, fields, controls[t])
        pack(layout, fields, states[t + 1])
        labels[t] = label_mask(layout, atoms, fields, controls[t] if changed else NOTHING)
    return states, labels


def explore(
    layout: Table,
    atoms: NDArray[np.int32],
    masks: MaskNumbers,
    start: NDArray[np.uint64],
    automaton_state: int,
    max_nodes: int,
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32], NDArray[np.uint16]]:
    """Every pair of states reachable from (start, automaton_state), breadth first in the order of controls.

    Returns:
        states, automaton states, successors and label indices as in `Exploration`. If there are more than
        `max_nodes`, the walk stops and returns some more than that.
    """
    # NumPy makes the tables, not the compiled code: it asks for huge pages, and look-ups are all over them.
    tables = make_tables(FIRST_CAPACITY, start.size)
    node, count = 0, add_node(layout, atoms, masks, start, automaton_state, 0, tables)[1]
    while node < count <= max_nodes:
        tables, node, count = expand_nodes(layout, atoms, masks, ALL_NODES, node, count, max_nodes, tables)
    states, automaton_states, _, successors, labels, _ = tables
    return states[:count], automaton_states[:count], successors[:count], labels[:count]


def add_node(
    layout: Table,
    atoms: NDArray[np.int32],
    masks: MaskNumbers,
    state: NDArray[np.uint64],
    automaton_state: int,
    count: int,
    tables: Tables,
) -> tuple[int, int]:
    """The node of a pair of states, which is added if it is new, and the number of nodes; there must be room for it."""
    masks.add(int(label_at(layout, atoms, state)))
    return _add(layout, atoms, masks.slots, masks.rows, state, automaton_state, count, *tables)


def expand_nodes(
    layout: Table,
    atoms: NDArray[np.int32],
    masks: MaskNumbers,
    order: NDArray[np.int64],
    position: int,
    count: int,
    max_nodes: int,
    tables: Tables,
) -> tuple[Tables, int, int]:
    """Expand nodes, from a position of an order on, as far as the tables have room or a label is new.

    Args:
        layout, atoms, masks: the world, and the automaton by label masks.
        order: the nodes to expand, shape [nodes]; `ALL_NODES` for all of them in their order, new ones too.
        position: where in the order to begin.
        count: how many nodes there are.
        max_nodes: stop when there are more.
        tables: the nodes so far.

    Returns:
        The tables, which may have grown, the position to go on from, and the number of nodes.
    """
    if count + len(CONTROLS) > len(tables[0]):
        tables = grown(tables, count)
    position, count, is_new, mask = _expand(
        layout, atoms, masks.slots, masks.rows, order, position, count, max_nodes, *tables
    )
    if is_new:
        masks.add(int(mask))
    return tables, position, count


@njit(cache=True, nogil=True)
def label_at(layout: Table, atoms: NDArray[np.int32], state: NDArray[np.uint64]) -> np.uint64:
    """The label mask of a packed state that is left as it is."""
    fields = np.empty(fields_count(layout), np.int32)
    unpack(layout, state, fields)
    return label_mask(layout, atoms, fields, NOTHING)


@njit(cache=True, nogil=True)
def cells_after(
    layout: Table, states: NDArray[np.uint64], rows: NDArray[np.int64], controls: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The agent's cell after a control in each of some states: rows and controls of shape [transitions]."""
    cells = np.empty(rows.size, np.int64)
    fields = np.empty(fields_count(layout), np.int32)
    for i in range(rows.size):
        unpack(layout, states[rows[i]], fields)
        apply_control(layout, fields, controls[i])
        cells[i] = fields[AGENT]
    return cells


@njit(cache=True, nogil=True)
def _add(
    layout: Table,
    atoms: NDArray[np.int32],
    mask_slots: NDArray[np.uint64],
    rows: NDArray[np.int32],
    state: NDArray[np.uint64],
    automaton_state: int,
    count: int,
    states: NDArray[np.uint64],
    automaton_states: NDArray[np.int32],
    state_labels: NDArray[np.uint16],
    successors: NDArray[np.int32],
    labels: NDArray[np.uint16],  # noqa: ARG001 - the tables are handed on as they are
    slots: NDArray[np.uint64],
) -> tuple[int, int]:
    """The node of a pair of states and the number of nodes; see `add_node`."""
    shift = free_bits(layout, state.size, rows.shape[1])
    key = node_key(state, automaton_state, shift)
    slot = node_slot(slots, states, automaton_states, state, automaton_state, key, shift)
    if slots[slot, 1] == EMPTY_SLOT:
        states[count], automaton_states[count] = state, automaton_state
        state_labels[count] = mask_slots[mask_slot(mask_slots, label_at(layout, atoms, state)), 1] - np.uint64(1)
        successors[count, 0] = UNEXPANDED
        count += 1
        slots[slot, 0], slots[slot, 1] = key, count
    return int(slots[slot, 1]) - 1, count


@njit(cache=True, nogil=True)
def _expand(
    layout: Table,
    atoms: NDArray[np.int32],
    mask_slots: NDArray[np.uint64],
    rows: NDArray[np.int32],
    order: NDArray[np.int64],
    position: int,
    count: int,
    max_nodes: int,
    states: NDArray[np.uint64],
    automaton_states: NDArray[np.int32],
    state_labels: NDArray[np.uint16],
    successors: NDArray[np.int32],
    labels: NDArray[np.uint16],
    slots: NDArray[np.uint64],
) -> tuple[int, int, bool, np.uint64]:
    """Expand nodes until none is left, the tables are full, there are too many, or a label is new.

    Returns:
        The next position, the number of nodes, whether a label is new, and its mask. A node on which a new label was
        met is expanded from its beginning the next time, which finds again what it has added.
    """
    here = np.empty(fields_count(layout), np.int32)
    fields = np.empty(fields_count(layout), np.int32)
    words = np.empty(states.shape[1], np.uint64)
    looks_ahead, events = depends_on_front(atoms), has_events(atoms)
    shift = free_bits(layout, words.size, rows.shape[1])
    while position < (order.size if order.size else count) and count <= max_nodes:
        if count + len(CONTROLS) > automaton_states.size:
            break
        node = order[position] if order.size else position
        unpack(layout, states[node], here)
        reading = automaton_states[node]
        for control in range(len(CONTROLS)):
            for i in range(here.size):  # faster than a slice, compiled
                fields[i] = here[i]
            changed = apply_control(layout, fields, control)
            label = quiet = np.int64(state_labels[node])
            if changed and (looks_ahead or control not in (LEFT, RIGHT)):
                mask = label_mask(layout, atoms, fields, control)
                known = mask_slots[mask_slot(mask_slots, mask), 1]
                if known == EMPTY_SLOT:
                    return position, count, True, mask
                label = quiet = np.int64(known) - 1
                if events and control >= PICKUP:
                    mask = label_mask(layout, atoms, fields, NOTHING)
                    known = mask_slots[mask_slot(mask_slots, mask), 1]
                    if known == EMPTY_SLOT:
                        return position, count, True, mask
                    quiet = np.int64(known) - 1
            read = rows[label, reading]
            labels[node, control] = label
            if read < 0:
                successors[node, control] = read
                continue
            if not changed and read == reading:
                successors[node, control] = node
                continue
            pack(layout, fields, words)
            key = node_key(words, read, shift)
            slot = node_slot(slots, states, automaton_states, words, read, key, shift)
            if slots[slot, 1] == EMPTY_SLOT:
                for i in range(words.size):
                    states[count, i] = words[i]
                automaton_states[count], state_labels[count] = read, quiet
                successors[count, 0] = UNEXPANDED
                count += 1
                slots[slot, 0] = key
                slots[slot, 1] = count
            successors[node, control] = slots[slot, 1] - 1
        position += 1
    return position, count, False, np.uint64(0)
