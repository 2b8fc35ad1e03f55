"""Batches of episodes: their rows, and the bank of distinct grids to which their observations refer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

RUNNING, SUCCEEDED, ENDED = range(3)
"""After a step: the episode goes on; the rule is fulfilled; the world has ended the episode without that."""

Columns = NDArray[np.int64]
"""Observations of the rows of a batch, shape [rows, columns]."""


@dataclass(eq=False)
class Rows:
    """Episodes in scenes of a pool, stepped in place.

    Attributes:
        scenes: the scene of each row, an index into the pool; shape [rows].
        states: the state of each row, shape [rows, state width] of int32.
        automaton_states: of the task's rule, `DEAD` where it is broken; shape [rows] of int32.
        outcomes: of the last step, `RUNNING`, `SUCCEEDED` or `ENDED`; shape [rows].
        changed: whether the last step may have changed the first column of the observation; shape [rows].
    """

    scenes: NDArray[np.int64]
    states: NDArray[np.int32]
    automaton_states: NDArray[np.int32]
    outcomes: NDArray[np.int8] = field(init=False)
    changed: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.outcomes = np.zeros(len(self.scenes), np.int8)
        self.changed = np.zeros(len(self.scenes), bool)


class Bank:
    """Distinct arrays of one shape, numbered in the order in which they are added."""

    def __init__(self, shape: Sequence[int], dtype: Any):
        self._numbers: dict[bytes, int] = {}
        self._entries = np.empty((64, *shape), dtype)

    def __len__(self) -> int:
        """The number of arrays."""
        return len(self._numbers)

    @property
    def entries(self) -> NDArray[Any]:
        """The arrays in the order of their numbers, shape [entries, ...]; valid until one is added."""
        return self._entries[: len(self._numbers)]

    def number(self, arrays: NDArray[Any]) -> NDArray[np.int64]:
        """The indices of arrays, shape [rows, ...], which are added if they are new."""
        numbers = np.empty(len(arrays), np.int64)
        for row, array in enumerate(arrays):
            known = len(self._numbers)
            numbers[row] = number = self._numbers.setdefault(array.tobytes(), known)
            if number == known:
                if number == len(self._entries):
                    self._entries = np.concatenate([self._entries, np.empty_like(self._entries)])
                self._entries[number] = array.reshape(self._entries.shape[1:])
        return numbers

    def clear(self) -> None:
        """Remove all arrays."""
        self._numbers.clear()
