"""Walks through a MiniGrid, compiled: along given controls, or to every state that the rules can reach.

Exploration goes in step with an automaton, whose rows are by the index of a label. A label that has none yet stops the
compiled search, gets one, and the search goes on. What is known is kept in a hash table with open addressing. A slot
holds a node's *key* beside the node, so that most look-ups touch one line of memory: where state and automaton state
fit into one word the key is that word itself, otherwise it is a hash of them and the state is compared as well.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Automaton
from wfairl.compiling import njit
from wfairl.worlds.compiled import LabelTable
from wfairl.worlds.lazy_world import UNEXPANDED
from wfairl.worlds.minigrid.packing import fields_count, pack, unpack
from wfairl.worlds.minigrid.propositions import to_label
from wfairl.worlds.minigrid.rules import (
    AGENT,
    ANY_IN_FRONT,
    BITS,
    CONTROLS,
    DOOR_IN_FRONT,
    FIELD_COLUMNS,
    FIELD_TABLE,
    LEFT,
    NOTHING,
    PICKUP,
    RIGHT,
    ROLE_REACHED,
    SHIFT,
    WORD,
    Table,
    apply_control,
    has_events,
    label_mask,
)

EMPTY_SLOT = 0
"""A slot's second entry is its node + 1."""

FIRST_CAPACITY = 4096
"""Initial capacity in nodes; it doubles when it is used up."""

ALL_NODES = np.empty(0, np.int64)
"""An order of expansion: every node, as they come."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2 ** 64 divided by the golden ratio: multiplying by it spreads keys over the high bits (Knuth, vol. 3, 6.4)."""

LINE_BITS, LINE_MASK = np.uint64(3), np.uint64(7)
"""Slots that belong together: eight, two cache lines."""


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
    masks: "MaskNumbers",
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
    masks: "MaskNumbers",
    state: NDArray[np.uint64],
    automaton_state: int,
    count: int,
    tables: "Tables",
) -> tuple[int, int]:
    """The node of a pair of states, which is added if it is new, and the number of nodes; there must be room for it."""
    masks.add(int(label_at(layout, atoms, state)))
    return _add(layout, atoms, masks.slots, masks.rows, state, automaton_state, count, *tables)


def expand_nodes(
    layout: Table,
    atoms: NDArray[np.int32],
    masks: "MaskNumbers",
    order: NDArray[np.int64],
    position: int,
    count: int,
    max_nodes: int,
    tables: "Tables",
) -> tuple["Tables", int, int]:
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


class MaskNumbers:
    """An automaton by label masks: those met so far are numbered, in a hash table for compiled code.

    Attributes:
        slots: mask and number + 1, which is 0 in an empty slot; shape [slots, 2] of uint64.
        table: the labels of the masks, in the order of their numbers, and what follows each.
    """

    def __init__(self, automaton: Automaton, propositions: Sequence[str]):
        self.slots = np.zeros((64, 2), np.uint64)
        self.table = LabelTable(automaton)
        self._propositions = propositions
        self._masks: list[int] = []

    @property
    def rows(self) -> NDArray[np.int32]:
        """See `LabelTable`."""
        return self.table.rows

    def add(self, mask: int) -> None:
        """Number a mask; one that has a number keeps it."""
        if mask in self._masks:
            return
        self.table.number(to_label(mask, self._propositions))
        self._masks.append(mask)
        if 2 * len(self._masks) > len(self.slots):
            self.slots = np.zeros((2 * len(self.slots), 2), np.uint64)
            for number, one in enumerate(self._masks, start=1):
                _insert(self.slots, np.uint64(one), number)
        else:
            _insert(self.slots, np.uint64(mask), len(self._masks))


@njit(cache=True, nogil=True)
def _insert(slots: NDArray[np.uint64], mask: np.uint64, number: int) -> None:
    slot = mask_slot(slots, mask)
    slots[slot, 0], slots[slot, 1] = mask, number


@njit(cache=True, nogil=True)
def mask_slot(slots: NDArray[np.uint64], mask: np.uint64) -> int:
    """The slot that holds a mask, or the empty one where it belongs."""
    last = slots.shape[0] - 1
    slot = int(mask * GOLDEN >> np.uint64(32)) & last
    while slots[slot, 1] != EMPTY_SLOT and slots[slot, 0] != mask:
        slot = (slot + 1) & last
    return slot


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
    shift = _free_bits(layout, state.size, rows.shape[1])
    key = _key(state, automaton_state, shift)
    slot = _slot_of(slots, states, automaton_states, state, automaton_state, key, shift)
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
    looks_ahead, events = _looks_ahead(atoms), has_events(atoms)
    shift = _free_bits(layout, words.size, rows.shape[1])
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
            key = _key(words, read, shift)
            slot = _slot_of(slots, states, automaton_states, words, read, key, shift)
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


@njit(cache=True, nogil=True)
def _looks_ahead(atoms: NDArray[np.int32]) -> bool:
    """Whether a label can change by turning, because an atom asks what is in front of the agent."""
    for i in range(atoms.shape[0]):  # noqa: SIM110 - compiled
        if atoms[i, 0] in (ANY_IN_FRONT, DOOR_IN_FRONT, ROLE_REACHED):
            return True
    return False


@njit(cache=True, nogil=True)
def _free_bits(layout: Table, words: int, automaton_states: int) -> int:
    """Where in the only word of a state the automaton state can be put, or -1 if it does not fit there."""
    last = layout[FIELD_TABLE] + FIELD_COLUMNS * (fields_count(layout) - 1)
    used = layout[last + SHIFT] + layout[last + BITS]
    more = 0
    while 1 << more < automaton_states:
        more += 1
    return used if words == 1 and layout[last + WORD] == 0 and used + more < 64 else -1


@njit(cache=True, nogil=True)
def _key(words: NDArray[np.uint64], automaton_state: int, shift: int) -> np.uint64:
    """State and automaton state in one word if they fit (`shift` says where), else a hash of them."""
    if shift >= 0:
        return words[0] | (np.uint64(automaton_state) << np.uint64(shift))
    key = np.uint64(automaton_state)
    for i in range(words.size):
        key = (key ^ words[i]) * GOLDEN
        key ^= key >> np.uint64(29)
    return key


@njit(cache=True, nogil=True)
def _slot_of(
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
