"""The nodes of the product of a scene and an automaton, compiled: all reachable nodes, or some that are asked for.

The automaton is a table of rows by the index of a label. A label without an index stops the compiled exploration, gets
an index and a row, and the exploration goes on.

Nodes are found by a hash table with open addressing. A slot holds the *key* of a node beside the node, so that most
look-ups touch one line of memory. If state and automaton state fit into one word, this word is the key. Otherwise the
key is a hash, and the state is compared as well.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.support.compiling import inner, njit
from wfairl.minigrid import physics
from wfairl.minigrid.atoms import ABOUT_FRONT, EVENTS, NEW_MASK, MaskNumbers, find_number, label_mask
from wfairl.minigrid.physics import CONTROLS, NOTHING, Layout, LayoutTable

NOT_EXPANDED = -4
"""In place of the first successor: the successors of the node are not known yet."""

EMPTY_SLOT = 0
"""The second entry of an empty slot; that of a used slot is its node + 1."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2 ** 64 divided by the golden ratio: multiplying by it spreads keys over the high bits (Knuth, vol. 3, 6.4)."""

LINE_BITS, LINE_MASK = np.uint64(3), np.uint64(7)
"""Eight slots, two cache lines, belong together."""

FIRST_CAPACITY = 4096
"""Initial capacity in nodes; it doubles when it is used up."""

ALL_NODES = np.empty(0, np.int64)
"""An order of expansion: every node, in the order of their numbers."""


class NodeTables(NamedTuple):
    """Nodes, with room for more."""

    states: NDArray[np.uint64]  # packed world states, shape [capacity, words]
    automaton_states: NDArray[np.int32]  # shape [capacity]
    # index of the label of a transition that leaves the state as it is; shape [capacity]
    state_labels: NDArray[np.uint16]
    # node after each control; in a new node, the first is `NOT_EXPANDED`; shape [capacity, controls]
    successors: NDArray[np.int32]
    labels: NDArray[np.uint16]  # index of the label of each transition, shape [capacity, controls]
    slots: NDArray[np.uint64]  # key and node + 1, or `EMPTY_SLOT`; shape [2 * capacity, 2]


class ProductNodes:
    """The nodes of the product of a scene and an automaton that have been met so far, numbered as they are met.

    Args:
        layout, atoms: the scene and its labels.
        masks: the automaton, which reads label masks.
    """

    def __init__(self, layout: Layout, atoms: NDArray[np.int32], masks: MaskNumbers):
        self._layout, self._atoms, self._masks = layout.table, atoms, masks
        self._tables, self._count = _make_tables(FIRST_CAPACITY, layout.words), 0
        self._turns_matter = bool(np.isin(atoms[:, 0], ABOUT_FRONT).any())
        self._has_events = bool(np.isin(atoms[:, 0], EVENTS).any())
        self._shift = _free_shift(layout, masks.table.rows.shape[1])

    def __len__(self) -> int:
        return self._count

    @property
    def states(self) -> NDArray[np.uint64]:
        """Packed states of the nodes, shape [nodes, words]."""
        return self._tables.states[: self._count]

    @property
    def automaton_states(self) -> NDArray[np.int32]:
        """Automaton states of the nodes, shape [nodes]."""
        return self._tables.automaton_states[: self._count]

    @property
    def successors(self) -> NDArray[np.int32]:
        """As in `Exploration`; the first is `NOT_EXPANDED` where a node has no successors yet."""
        return self._tables.successors[: self._count]

    @property
    def label_index(self) -> NDArray[np.uint16]:
        """As in `Exploration`, for nodes that have successors."""
        return self._tables.labels[: self._count]

    @property
    def labels(self) -> Sequence[Label]:
        """The distinct labels so far."""
        return self._masks.table.labels

    def insert(self, state: NDArray[np.uint64], automaton_state: int) -> int:
        """The node of a packed state, shape [words], and an automaton state; a new node is added."""
        self._make_room()
        label = self._masks.number(int(_state_mask(self._layout, self._atoms, state)))
        node, self._count = _insert_node(self._tables, self._count, state, automaton_state, label, self._shift)
        return int(node)

    def explore(self, max_nodes: int) -> None:
        """Expand every node breadth first, in the order of controls; stop when there are more than `max_nodes`."""
        node = 0
        while node < self._count <= max_nodes:
            node = self._expand(ALL_NODES, node, max_nodes)

    def expand(self, nodes: NDArray[np.int64]) -> None:
        """Find the successors of nodes, shape [nodes], and add new successors as nodes."""
        position = 0
        while position < len(nodes):
            position = self._expand(nodes, position, np.iinfo(np.int32).max)

    def _expand(self, order: NDArray[np.int64], position: int, max_nodes: int) -> int:
        """Expand the nodes of an order from a position on until a label is new or room is short; the next position."""
        self._make_room()
        masks = self._masks
        flags = self._turns_matter, self._has_events
        product = CompiledProduct(self._layout, self._atoms, *flags, masks.masks, masks.table.rows, self._shift)
        position, self._count, new_mask = _expand(product, self._tables, order, position, self._count, max_nodes)
        if new_mask is not None:
            masks.number(int(new_mask))
        return int(position)

    def _make_room(self) -> None:
        if self._count + len(CONTROLS) > len(self._tables.states):
            self._tables = _double_capacity(self._tables, self._count)


def _make_tables(capacity: int, words: int) -> NodeTables:
    """Tables for `capacity` nodes whose packed states have `words` words."""
    # NumPy allocates them and not the compiled code: NumPy asks for huge pages, and look-ups are all over the tables.
    return NodeTables(
        states=np.empty((capacity, words), np.uint64),
        automaton_states=np.empty(capacity, np.int32),
        state_labels=np.empty(capacity, np.uint16),
        successors=np.empty((capacity, len(CONTROLS)), np.int32),
        labels=np.empty((capacity, len(CONTROLS)), np.uint16),
        slots=np.zeros((2 * capacity, 2), np.uint64),
    )


def _double_capacity(tables: NodeTables, count: int) -> NodeTables:
    """Tables with twice the capacity that hold the first `count` nodes of `tables`."""
    larger = _make_tables(2 * len(tables.states), tables.states.shape[1])
    for name in NodeTables._fields[:-1]:
        getattr(larger, name)[:count] = getattr(tables, name)[:count]
    _rehash(tables.slots, larger.slots)
    return larger


def _free_shift(layout: Layout, automaton_states: int) -> int:
    """The position for the automaton state in the only word of a packed state, or -1 if it does not fit there."""
    _, used, bits = layout.packing[-1].tolist()
    fits = layout.words == 1 and used + bits + (automaton_states - 1).bit_length() < 64
    return used + bits if fits else -1


class CompiledProduct(NamedTuple):
    """A scene and an automaton, as compiled code reads them."""

    layout: LayoutTable  # the scene
    atoms: NDArray[np.int32]  # of its labels
    turns_matter: bool  # whether a label can change by turning
    has_events: bool  # whether a label depends on what a control has just done
    masks: NDArray[np.uint64]  # the label masks that have a number; see `MaskNumbers`
    rows: NDArray[np.int32]  # automaton state after each label; see `LabelTable`
    shift: int  # see `_free_shift`


@njit(cache=True, nogil=True, exact=True)
def _expand(
    product: CompiledProduct, tables: NodeTables, order: NDArray[np.int64], position: int, count: int, max_nodes: int
) -> tuple[int, int, np.uint64 | None]:
    """Expand nodes until none is left, the tables are full, there are too many, or a label is new.

    Args:
        product: the scene and the automaton.
        tables, count: the nodes so far.
        order: the nodes to expand, shape [nodes]; `ALL_NODES` for every node in the order of numbers, also new ones.
        position: where in the order to begin.
        max_nodes: stop when there are more.

    Returns:
        The next position, the number of nodes, and the mask of a new label or None. A node at which a new label was
        met is expanded again from its first control.
    """
    layout, atoms, turns_matter, has_events, masks, rows, shift = product
    states, automaton_states, state_labels, successors, labels, _ = tables
    here = np.empty(physics.fields_count(layout), np.int32)
    fields = np.empty(physics.fields_count(layout), np.int32)
    words = np.empty(states.shape[1], np.uint64)
    while position < (order.size if order.size else count) and count <= max_nodes:
        if count + len(CONTROLS) > automaton_states.size:
            break
        node = order[position] if order.size else position
        physics.unpack(layout, states[node], here)
        automaton_state = automaton_states[node]
        for control in range(len(CONTROLS)):
            for i in range(here.size):  # faster than a slice, compiled
                fields[i] = here[i]
            changed = physics.apply_control(layout, fields, control)
            label = state_label = np.int64(state_labels[node])
            if changed and (turns_matter or control not in (physics.LEFT, physics.RIGHT)):
                mask = label_mask(layout, atoms, fields, control)
                label = state_label = find_number(masks, mask)
                if label == NEW_MASK:
                    return position, count, mask
                if has_events and control >= physics.PICKUP:
                    mask = label_mask(layout, atoms, fields, NOTHING)
                    state_label = find_number(masks, mask)
                    if state_label == NEW_MASK:
                        return position, count, mask
            labels[node, control] = label
            next_automaton_state = np.int64(rows[label, automaton_state])
            if next_automaton_state < 0:
                successors[node, control] = next_automaton_state
            elif not changed and next_automaton_state == automaton_state:
                successors[node, control] = node
            else:
                physics.pack_fields(layout, fields, words)
                successor, count = _insert_node(tables, count, words, next_automaton_state, state_label, shift)
                successors[node, control] = successor
        position += 1
    return position, count, None


@njit(cache=True, nogil=True, exact=True)
def _state_mask(layout: LayoutTable, atoms: NDArray[np.int32], state: NDArray[np.uint64]) -> np.uint64:
    """The label mask of a transition that leaves a packed state as it is."""
    fields = np.empty(physics.fields_count(layout), np.int32)
    physics.unpack(layout, state, fields)
    return label_mask(layout, atoms, fields, NOTHING)


@njit(cache=True, nogil=True, exact=True)
def _insert_node(
    tables: NodeTables, count: int, state: NDArray[np.uint64], automaton_state: int, state_label: int, shift: int
) -> tuple[np.int64, int]:
    """The node of a pair of states, and the new number of nodes. The tables must have room for a new node.

    Args:
        tables, count: the nodes so far.
        state: packed, shape [words].
        automaton_state: the automaton state.
        state_label: index of the label of a transition that leaves the state as it is.
        shift: see `_free_shift`.
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


@inner
def _node_key(words: NDArray[np.uint64], automaton_state: int, shift: int) -> np.uint64:
    """State and automaton state in one word if they fit (`shift` says where), else a hash of them."""
    if shift >= 0:
        return words[0] | (np.uint64(automaton_state) << np.uint64(shift))
    key = np.uint64(automaton_state)
    for i in range(words.size):
        key = (key ^ words[i]) * GOLDEN
        key ^= key >> np.uint64(29)
    return key


@inner
def _first_slot(key: np.uint64, last: int) -> int:
    """The first slot to look at. The low bits of a key (direction, a bit of the cell) choose within a line of slots.

    So a state and the states that it reaches by turning are looked up in the same place of memory.
    """
    return int(((key >> LINE_BITS) * GOLDEN >> np.uint64(32) << LINE_BITS) | (key & LINE_MASK)) & last


@njit(cache=True, nogil=True, exact=True)
def _rehash(slots: NDArray[np.uint64], larger: NDArray[np.uint64]) -> None:
    """Put all entries into a larger table of slots; equal keys may occur several times, and still do."""
    last = larger.shape[0] - 1
    for i in range(slots.shape[0]):
        if slots[i, 1] != EMPTY_SLOT:
            slot = _first_slot(slots[i, 0], last)
            while larger[slot, 1] != EMPTY_SLOT:
                slot = (slot + 1) & last
            larger[slot, 0], larger[slot, 1] = slots[i, 0], slots[i, 1]


@inner
def _same(states: NDArray[np.uint64], node: int, words: NDArray[np.uint64]) -> bool:
    for i in range(words.size):  # noqa: SIM110 - compiled
        if states[node, i] != words[i]:
            return False
    return True
