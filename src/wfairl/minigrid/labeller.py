"""The labels of one scene: which propositions hold after a transition, and the masks by which searches number labels.

A *mask* is a label as 64 bits, one for each proposition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.support.compiling import njit
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.compiled import LabelTable
from wfairl.minigrid.atoms import label_mask
from wfairl.minigrid.physics import Layout
from wfairl.minigrid.propositions import Proposition

MAX_PROPOSITIONS = 64
"""Propositions of one scene: a mask has 64 bits."""

EMPTY_SLOT = 0
"""The second entry of an empty slot; that of a used slot is its number + 1."""

NEW_MASK = -1
"""In place of the number of a mask that has none yet."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2 ** 64 divided by the golden ratio: multiplying by it spreads keys over the high bits (Knuth, vol. 3, 6.4)."""


class Labeller:
    """Tells which propositions hold in one scene.

    Attributes:
        propositions: their names.
        atoms: what each asks, see `holds`; shape [propositions, 5] of int32.
    """

    def __init__(self, layout: Layout, propositions: Mapping[str, Proposition]):
        if len(propositions) > MAX_PROPOSITIONS:
            raise BadInputError(f"at most {MAX_PROPOSITIONS} propositions, not {len(propositions)}")
        self.propositions: Sequence[str] = tuple(propositions)
        atoms = [proposition.atom(layout) for proposition in propositions.values()]
        self.atoms = np.array(atoms, np.int32).reshape(-1, 5)
        self._layout = layout.table

    def label(self, fields: NDArray[np.int32], control: int) -> Label:
        """The label of a transition: see `label_mask`."""
        return to_label(int(label_mask(self._layout, self.atoms, fields, control)), self.propositions)


def to_label(mask: int, propositions: Sequence[str]) -> Label:
    """The label of a mask, whose bit i stands for `propositions[i]`."""
    return frozenset(name for i, name in enumerate(propositions) if mask >> i & 1)


class MaskNumbers:
    """An automaton by label masks: masks are numbered as they are met, in a hash table for compiled code.

    Attributes:
        slots: mask and number + 1, which is 0 in an empty slot; shape [slots, 2] of uint64.
        table: the labels of the masks, in the order of their numbers, and the automaton's row of each.
    """

    def __init__(self, automaton: Automaton, propositions: Sequence[str]):
        self.slots = np.zeros((64, 2), np.uint64)
        self.table = LabelTable(automaton)
        self._propositions = propositions
        self._numbers: dict[int, int] = {}

    @property
    def rows(self) -> NDArray[np.int32]:
        """Automaton state after each label; see `LabelTable`."""
        return self.table.rows

    def number(self, mask: int) -> int:
        """The number of a mask, which gets one if it is new."""
        if mask not in self._numbers:
            self._numbers[mask] = self.table.number(to_label(mask, self._propositions))
            new = [mask]
            if 2 * len(self._numbers) > len(self.slots):
                self.slots, new = np.zeros((2 * len(self.slots), 2), np.uint64), list(self._numbers)
            for one in new:
                slot = _mask_slot(self.slots, np.uint64(one))
                self.slots[slot, 0], self.slots[slot, 1] = one, self._numbers[one] + 1
        return self._numbers[mask]


@njit(cache=True, nogil=True)
def find_number(slots: NDArray[np.uint64], mask: np.uint64) -> np.int64:
    """The number of a mask, or `NEW_MASK`."""
    return np.int64(slots[_mask_slot(slots, mask), 1]) - 1


@njit(cache=True, nogil=True, exact=True)
def _mask_slot(slots: NDArray[np.uint64], mask: np.uint64) -> int:
    """The slot that holds a mask, or the empty slot where the mask belongs."""
    last = slots.shape[0] - 1
    slot = int(mask * GOLDEN >> np.uint64(32)) & last
    while slots[slot, 1] != EMPTY_SLOT and slots[slot, 0] != mask:
        slot = (slot + 1) & last
    return slot
