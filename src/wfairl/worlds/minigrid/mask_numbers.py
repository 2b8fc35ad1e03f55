"""The labels that a search has met, numbered by their masks in a hash table for compiled code."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Automaton
from wfairl.compiling import njit
from wfairl.worlds.compiled import LabelTable
from wfairl.worlds.minigrid.propositions import to_label

EMPTY_SLOT = 0
"""A slot's second entry is its node + 1."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2 ** 64 divided by the golden ratio: multiplying by it spreads keys over the high bits (Knuth, vol. 3, 6.4)."""


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
