"""States of a MiniGrid as 64-bit words: small, hashable, and fast to compare."""

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit
from wfairl.minigrid.rules import (
    BITS,
    DOORS_COUNT,
    FIELD_COLUMNS,
    FIELD_TABLE,
    FIRST_OBJECT,
    OBJECTS_COUNT,
    SHIFT,
    WORD,
    Table,
)


@njit(cache=True, nogil=True)
def pack(layout: Table, fields: NDArray[np.int32], words: NDArray[np.uint64]) -> None:
    """Write the fields of a state into its 64-bit words."""
    for i in range(words.size):
        words[i] = 0
    for i in range(fields.size):
        row = layout[FIELD_TABLE] + FIELD_COLUMNS * i
        words[layout[row + WORD]] |= np.uint64(fields[i]) << np.uint64(layout[row + SHIFT])


@njit(cache=True, nogil=True)
def unpack(layout: Table, words: NDArray[np.uint64], fields: NDArray[np.int32]) -> None:
    """Read the fields of a state from its 64-bit words."""
    for i in range(fields.size):
        row = layout[FIELD_TABLE] + FIELD_COLUMNS * i
        mask = (np.uint64(1) << np.uint64(layout[row + BITS])) - np.uint64(1)
        fields[i] = np.int32((words[layout[row + WORD]] >> np.uint64(layout[row + SHIFT])) & mask)


@njit(cache=True, nogil=True)
def fields_count(layout: Table) -> int:
    """Number of fields of a state."""
    return FIRST_OBJECT + layout[OBJECTS_COUNT] + layout[DOORS_COUNT]


@njit(cache=True, nogil=True)
def unpack_all(layout: Table, states: NDArray[np.uint64]) -> NDArray[np.int32]:
    """The fields of many packed states: [states, words] -> [states, fields]."""
    fields = np.empty((states.shape[0], fields_count(layout)), np.int32)
    for i in range(states.shape[0]):
        unpack(layout, states[i], fields[i])
    return fields
