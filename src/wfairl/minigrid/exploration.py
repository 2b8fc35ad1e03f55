"""States of a MiniGrid scene, compiled: along given controls, or all that can be reached in step with an automaton.

The automaton is a table of rows by the index of a label. A label without an index stops the compiled exploration, gets
an index and a row, and the exploration goes on.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit
from wfairl.minigrid.atoms import depends_on_front, has_events, label_mask
from wfairl.minigrid.labeller import NO_NUMBER, MaskNumbers, find_number
from wfairl.minigrid.node_tables import NodeTables, double_capacity, free_bits, insert_node, make_tables
from wfairl.minigrid.physics import (
    CONTROLS,
    LEFT,
    NOTHING,
    PICKUP,
    RIGHT,
    Layout,
    LayoutTable,
    apply_control,
    fields_count,
    pack,
    unpack,
)

FIRST_CAPACITY = 4096
"""Initial capacity in nodes; it doubles when it is used up."""

ALL_NODES = np.empty(0, np.int64)
"""An order of expansion: every node, as they come."""


class ProductNodes:
    """The nodes of the product of a scene and an automaton that have been met so far.

    Attributes:
        masks: the automaton by label masks.
        tables: the nodes.
        count: how many there are.
    """

    def __init__(self, layout: Layout, atoms: NDArray[np.int32], masks: MaskNumbers):
        self.masks, self.tables, self.count = masks, make_tables(FIRST_CAPACITY, layout.words), 0
        self._layout, self._atoms = layout.table, atoms
        self._shift = int(free_bits(layout.table, layout.words, masks.rows.shape[1]))

    def add(self, state: NDArray[np.uint64], automaton_state: int) -> int:
        """The node of a packed state and an automaton state, which is added if it is new."""
        self._make_room()
        label = self.masks.number(int(_state_mask(self._layout, self._atoms, state)))
        node, self.count = insert_node(self.tables, self.count, state, automaton_state, label, self._shift)
        return int(node)

    def explore(self, max_nodes: int) -> None:
        """Expand every node breadth first, in the order of controls; stop when there are more than `max_nodes`."""
        node = 0
        while node < self.count <= max_nodes:
            node = self._expand(ALL_NODES, node, max_nodes)

    def expand(self, nodes: NDArray[np.int64]) -> None:
        """Find the successors of some nodes."""
        position = 0
        while position < len(nodes):
            position = self._expand(nodes, position, np.iinfo(np.int32).max)

    def _expand(self, order: NDArray[np.int64], position: int, max_nodes: int) -> int:
        """Expand nodes of an order from a position on, until a label is new or there is no room; the next position."""
        self._make_room()
        product = CompiledProduct(self._layout, self._atoms, self.masks.slots, self.masks.rows, self._shift)
        position, self.count, new_mask = _expand(product, self.tables, order, position, self.count, max_nodes)
        if new_mask is not None:
            self.masks.number(int(new_mask))
        return int(position)

    def _make_room(self) -> None:
        if self.count + len(CONTROLS) > len(self.tables.states):
            self.tables = double_capacity(self.tables, self.count)


class CompiledProduct(NamedTuple):
    """A scene and an automaton, as compiled code reads them.

    Attributes:
        layout, atoms: the scene and its labels.
        mask_slots: see `MaskNumbers`.
        rows: automaton state after each label; see `LabelTable`.
        shift: see `free_bits`.
    """

    layout: LayoutTable
    atoms: NDArray[np.int32]
    mask_slots: NDArray[np.uint64]
    rows: NDArray[np.int32]
    shift: int


@njit(cache=True, nogil=True)
def _expand(
    product: CompiledProduct, tables: NodeTables, order: NDArray[np.int64], position: int, count: int, max_nodes: int
) -> tuple[int, int, np.uint64 | None]:
    """Expand nodes until none is left, the tables are full, there are too many, or a label is new.

    Args:
        product: the scene and the automaton.
        tables, count: the nodes so far.
        order: the nodes to expand, shape [nodes]; `ALL_NODES` for all of them in their order, new ones too.
        position: where in the order to begin.
        max_nodes: stop when there are more.

    Returns:
        The next position, the number of nodes, and the mask of a new label or None. A node on which a new label was
        met is expanded from its beginning the next time, which finds again what it has added.
    """
    layout, atoms, mask_slots, rows, shift = product
    states, automaton_states, state_labels, successors, labels, _ = tables
    here = np.empty(fields_count(layout), np.int32)
    fields = np.empty(fields_count(layout), np.int32)
    words = np.empty(states.shape[1], np.uint64)
    looks_ahead, events = depends_on_front(atoms), has_events(atoms)
    while position < (order.size if order.size else count) and count <= max_nodes:
        if count + len(CONTROLS) > automaton_states.size:
            break
        node = order[position] if order.size else position
        unpack(layout, states[node], here)
        automaton_state = automaton_states[node]
        for control in range(len(CONTROLS)):
            for i in range(here.size):  # faster than a slice, compiled
                fields[i] = here[i]
            changed = apply_control(layout, fields, control)
            label = state_label = np.int64(state_labels[node])
            if changed and (looks_ahead or control not in (LEFT, RIGHT)):
                mask = label_mask(layout, atoms, fields, control)
                label = state_label = find_number(mask_slots, mask)
                if label == NO_NUMBER:
                    return position, count, mask
                if events and control >= PICKUP:
                    mask = label_mask(layout, atoms, fields, NOTHING)
                    state_label = find_number(mask_slots, mask)
                    if state_label == NO_NUMBER:
                        return position, count, mask
            labels[node, control] = label
            next_automaton_state = np.int64(rows[label, automaton_state])
            if next_automaton_state < 0:
                successors[node, control] = next_automaton_state
            elif not changed and next_automaton_state == automaton_state:
                successors[node, control] = node
            else:
                pack(layout, fields, words)
                successor, count = insert_node(tables, count, words, next_automaton_state, state_label, shift)
                successors[node, control] = successor
        position += 1
    return position, count, None


@njit(cache=True, nogil=True)
def _state_mask(layout: LayoutTable, atoms: NDArray[np.int32], state: NDArray[np.uint64]) -> np.uint64:
    """The label mask of a transition that leaves a packed state as it is."""
    fields = np.empty(fields_count(layout), np.int32)
    unpack(layout, state, fields)
    return label_mask(layout, atoms, fields, NOTHING)


@njit(cache=True, nogil=True)
def states_along(
    layout: LayoutTable, atoms: NDArray[np.int32], start: NDArray[np.uint64], controls: NDArray[np.int64]
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
