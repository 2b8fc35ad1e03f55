"""Scenes of one task as arrays, from which batches of episodes draw and in which they are stepped.

Each kind of world has a pool of its own (`GraphPool`, and MiniGrid's), which steps the rows of a batch and observes
them. An observation is a row of integers, the first of which may be an index into a `Bank` of distinct arrays (grids,
feature vectors), so that a network evaluates each of them once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self

import gymnasium
import numpy as np
from numpy.typing import NDArray

from wfairl.core.worlds.task import Task

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


class Observer(Protocol):
    """Writes observations.

    Attributes:
        bank: the distinct arrays to which the first column is an index.
    """

    bank: Bank

    def observe(self, rows: Rows, changed: NDArray[np.int64], columns: Columns) -> None:
        """Update the columns, given the rows whose first column may have changed."""
        ...


@dataclass(frozen=True, eq=False)
class ScenePool(ABC):
    """Scenes of one task.

    Attributes:
        task: the task.
        controls: the names of the controls.
        seeds: the scenes, shape [scenes] of int64.
        states: the initial state of each scene, shape [scenes, state width] of int32.
        largest: the largest value of each number of a state, shape [scenes, state width] of int32.
        automaton_states: the automaton state of the task's rule there, shape [scenes] of int32.
    """

    task: Task
    controls: tuple[str, ...]
    seeds: NDArray[np.int64]
    states: NDArray[np.int32]
    largest: NDArray[np.int32]
    automaton_states: NDArray[np.int32]

    PER_SCENE: ClassVar[tuple[str, ...]] = ("seeds", "states", "largest", "automaton_states")
    """Arrays with one row per scene."""

    @property
    @abstractmethod
    def observation_space(self) -> gymnasium.spaces.Box:
        """The space of the observation of a row."""

    @abstractmethod
    def step(self, rows: Rows, controls: NDArray[np.int64]) -> None:
        """Apply a control to every row, in place.

        Raises:
            BadInputError: a control is not available where it is chosen.
        """

    @abstractmethod
    def make_observer(self) -> Observer:
        """An observer of batches in this pool."""

    def __len__(self) -> int:
        """The number of scenes."""
        return len(self.seeds)

    def take(self, scenes: Sequence[int] | NDArray[np.int64]) -> Self:
        """The pool of some of the scenes, given as indices; one that occurs twice is drawn twice as often."""
        rows = np.asarray(scenes, np.int64)
        arrays: dict[str, Any] = {name: getattr(self, name)[rows] for name in self.PER_SCENE}
        return replace(self, **arrays)

    def join(self, *others: Self) -> Self:
        """This pool and others taken from the same one, concatenated."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(pool, name) for pool in (self, *others)]) for name in self.PER_SCENE
        }
        return replace(self, **arrays)

    def along(self, scene: int, controls: Sequence[int]) -> Self:
        """A pool of one scene with each state along a sequence of controls as an initial state.

        Args:
            scene: an index.
            controls: T of them; the pool has T + 1 scenes, the first with the scene's own start.
        """
        at = np.array([scene])
        rows = Rows(at, self.states[at], self.automaton_states[at])
        along = [(rows.states.copy(), rows.automaton_states.copy())]
        for control in controls:
            self.step(rows, np.array([control], np.int64))
            along.append((rows.states.copy(), rows.automaton_states.copy()))
        states, automaton_states = (np.concatenate(part) for part in zip(*along, strict=True))
        return replace(self.take([scene] * len(along)), states=states, automaton_states=automaton_states)


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
            key = array.tobytes()
            number = self._numbers.get(key)
            if number is None:
                number = self._numbers[key] = len(self._numbers)
                if number == len(self._entries):
                    self._entries = np.concatenate([self._entries, np.empty_like(self._entries)])
                self._entries[number] = array.reshape(self._entries.shape[1:])
            numbers[row] = number
        return numbers

    def clear(self) -> None:
        """Remove all arrays."""
        self._numbers.clear()
