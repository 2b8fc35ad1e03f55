"""The contract of worlds that explore themselves at machine speed, and how they read an automaton."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Automaton, Label
from wfairl.errors import BadInputError
from wfairl.worlds.world import World

MAX_LABELS = 65_536
"""Distinct labels of one search; a transition keeps the index of its label in 16 bits."""


class TooManyNodesError(BadInputError):
    """A search met more nodes, or more distinct labels, than its limit allows."""


@dataclass(frozen=True, eq=False)
class Exploration:
    """A world walked in step with an automaton.

    Node i is the pair (world state `states[i]`, automaton state `automaton_states[i]`); node 0 is the start.

    Attributes:
        states: packed world states, shape [nodes, words] of uint64.
        automaton_states: automaton state of each node, shape [nodes] of int32.
        successors: node after each control, `DEAD`, `ACCEPTED` or `UNAVAILABLE`; shape [nodes, controls] of int32.
        label_index: which of `labels` each transition shows, shape [nodes, controls] of uint16.
        labels: the distinct labels.
    """

    states: NDArray[np.uint64]
    automaton_states: NDArray[np.int32]
    successors: NDArray[np.int32]
    label_index: NDArray[np.uint16]
    labels: tuple[Label, ...]


@runtime_checkable
class CompiledWorld(World[Any], Protocol):
    """A world that can also explore itself at machine speed, over states packed to integers."""

    def explore(self, automaton: Automaton, max_nodes: int, state: Any, automaton_state: int) -> Exploration:
        """Every pair of states that can be reached from a state and an automaton state.

        Args:
            automaton: what reads the labels.
            max_nodes: stop with `TooManyNodesError` beyond this number.
            state: where to start.
            automaton_state: the automaton state to start in.
        """
        ...

    def pack(self, state: Any) -> NDArray[np.uint64]:
        """The 64-bit words of a state, shape [words]."""
        ...

    def unpack(self, words: NDArray[np.uint64]) -> Any:
        """The state whose packed form is `words`, shape [words]."""
        ...

    def transition_features(
        self, states: NDArray[np.uint64], transitions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The features of many transitions, the distinct ones once.

        Args:
            states: packed states, shape [states, words].
            transitions: row of `states` * controls + control, all of which are available; shape [transitions].

        Returns:
            Number of each transition's features, shape [transitions], and those, shape [distinct, features].
        """
        ...


class LabelTable:
    """An automaton as a compiled search reads it: a row of successors for each label, added as labels are met.

    Attributes:
        labels: the labels so far, in the order in which they were met.
    """

    def __init__(self, automaton: Automaton):
        self.automaton = automaton
        self.labels: list[Label] = []
        self._numbers: dict[Label, int] = {}
        self._rows = np.empty((16, automaton.states), np.int32)

    @property
    def rows(self) -> NDArray[np.int32]:
        """State after each label, `DEAD` or `ACCEPTED`; shape [labels, automaton states]."""
        return self._rows[: len(self.labels)]

    def number(self, label: Label) -> int:
        """The index of a label, which gets a row if it is new.

        Raises:
            TooManyNodesError: there are too many distinct labels.
        """
        if label not in self._numbers:
            number = len(self.labels)
            if number == MAX_LABELS:
                raise TooManyNodesError(
                    f"more than {MAX_LABELS:,} distinct labels; leave out what the task is not about"
                )
            if number == len(self._rows):
                self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            self._rows[number] = self.automaton.successor_row(label)
            self._numbers[label] = number
            self.labels.append(label)
        return self._numbers[label]
