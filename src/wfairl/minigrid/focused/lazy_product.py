"""The product of any world in plain Python and an automaton, built while it is searched."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import UNAVAILABLE, Automaton, Label
from wfairl.core.worlds.compiled import LabelTable
from wfairl.core.worlds.world import World, available_controls
from wfairl.minigrid.focused.lazy_world import UNEXPANDED


class PlainLazyProduct:
    """A `LazyProduct` of a world in plain Python; every state is a situation, and there are no bounds."""

    abstraction = None

    def __init__(self, world: World[Any], automaton: Automaton, start: tuple[Any, int]):
        self.world, self.automaton = world, automaton
        self._labels = LabelTable(automaton)
        self._nodes: dict[tuple[Any, int], int] = {}
        self._pairs: list[tuple[Any, int]] = []
        self._situation_of: dict[Any, int] = {}
        shape = (16, len(world.controls))
        self._successors, self._label_index = np.full(shape, UNEXPANDED, np.int32), np.zeros(shape, np.uint16)
        self._automaton_states, self._situations = np.zeros((2, 16), np.int32)
        self.add(*start)

    def __len__(self) -> int:
        """The number of nodes so far."""
        return len(self._pairs)

    @property
    def automaton_states(self) -> NDArray[np.int32]:
        return self._automaton_states[: len(self)]

    @property
    def situations(self) -> NDArray[np.int32]:
        return self._situations[: len(self)]

    @property
    def successors(self) -> NDArray[np.int32]:
        return self._successors[: len(self)]

    @property
    def label_index(self) -> NDArray[np.uint16]:
        return self._label_index[: len(self)]

    @property
    def labels(self) -> Sequence[Label]:
        return self._labels.labels

    @property
    def situation_states(self) -> Sequence[Any]:
        return tuple(self._situation_of)

    def state(self, node: int) -> Any:
        return self._pairs[node][0]

    def add(self, state: Any, automaton_state: int) -> int:
        pair = (state, automaton_state)
        node = self._nodes.setdefault(pair, len(self._pairs))
        if node == len(self._pairs):
            if node == len(self._successors):
                self._grow()
            self._pairs.append(pair)
            self._automaton_states[node] = automaton_state
            self._situations[node] = self._situation_of.setdefault(state, len(self._situation_of))
        return node

    def expand(self, nodes: NDArray[np.int64]) -> None:
        for node in nodes.tolist():
            state, automaton_state = self._pairs[node]
            available = available_controls(self.world, state)
            for control in range(len(self.world.controls)):
                after, number = UNAVAILABLE, 0
                if available[control]:
                    next_state = self.world.step(state, control)
                    number = self._labels.number(self.world.label(state, control, next_state))
                    after = int(self._labels.rows[number, automaton_state])
                    if after >= 0:
                        after = self.add(next_state, after)
                self._successors[node, control], self._label_index[node, control] = after, number

    def abstract(self, first: int) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.float64]]:
        """See `LazyProduct`: all is unknown."""
        count = len(self) - first
        return np.full(count, -1, np.int32), np.zeros(count, np.uint64), np.zeros(count)

    def estimate(self, first: int, cost_to_go: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        """See `LazyProduct`: all is unknown."""
        return np.zeros(len(self) - first)

    def preparations(self, state: Any) -> tuple[()]:  # noqa: ARG002
        """See `LazyProduct`: none."""
        return ()

    def refine(self, stage: int) -> bool:  # noqa: ARG002
        """See `LazyProduct`: there is no abstraction."""
        return False

    def least_costs(self, costs: NDArray[np.float64]) -> None:
        """See `LazyProduct`: there is no abstraction."""

    def deepen(self, cost_to_go: NDArray[np.float64], start: int) -> None:
        """See `LazyProduct`: there is no abstraction."""

    def _grow(self) -> None:
        """Double the room for nodes."""
        self._successors = np.concatenate([self._successors, np.full_like(self._successors, UNEXPANDED)])
        self._label_index = np.concatenate([self._label_index, np.zeros_like(self._label_index)])
        self._automaton_states, self._situations = np.tile([self._automaton_states, self._situations], 2)
