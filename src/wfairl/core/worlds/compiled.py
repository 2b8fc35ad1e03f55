"""The contract of worlds that explore themselves at compiled speed, and how they read an automaton."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.chances import Chances
from wfairl.core.worlds.world import World

MAX_LABELS = 65_536
"""Distinct labels of one search; a transition keeps the index of its label in 16 bits."""

DEFAULT_MAX_STATES = 5_000_000
"""About half a gigabyte for a world of six controls."""

IGNORE_LABELS = GuardedAutomaton(((),), np.array([False]))
"""Stays in its only state: a world explored with it is explored alone."""


class TooManyNodesError(BadInputError):
    """There are more nodes, or more distinct labels, than the limit allows."""


@dataclass(frozen=True, eq=False)
class Exploration:
    """The nodes of a product: the reachable pairs of a world state and an automaton state; node 0 is the start."""

    # world state of each node, packed for a compiled world (shape [nodes, words] of uint64), a tuple of values
    # otherwise; `Product.state` gives either as the world's own value
    states: NDArray[np.uint64] | tuple[Any, ...]
    automaton_states: NDArray[np.int32]  # automaton state of each node, shape [nodes] of int32
    # node after each effect, `DEAD`, `ACCEPTED` or `UNAVAILABLE`; shape [nodes, effects] of int32
    successors: NDArray[np.int32]
    label_index: NDArray[np.uint16]  # index into `labels` of each transition, shape [nodes, effects] of uint16
    labels: tuple[Label, ...]  # the distinct labels
    chances: Chances | None = None  # of the effects of each node; None where the effects are the controls


@runtime_checkable
class CompiledWorld(World[Any], Protocol):
    """A world that can also explore itself at compiled speed, over states packed to integers.

    It may also offer `slipping`, `find_effect` and `after` (see `GraphWorld`), and `own_planning` (`planning.planner`).
    """

    def explore(
        self, automaton: Automaton = IGNORE_LABELS, max_nodes: int = ..., state: Any = None, automaton_state: int = 0
    ) -> Exploration:
        """Every reachable pair of states, breadth first in the order of effects, from the initial ones unless given.

        More than `max_nodes` of them are a `TooManyNodesError`.
        """

    def pack(self, state: Any) -> NDArray[np.uint64]:
        """The 64-bit words of a state, shape [words]."""

    def unpack(self, words: NDArray[np.uint64]) -> Any:
        """The state whose packed form is `words`, shape [words]."""

    def transition_features(
        self, states: NDArray[np.uint64], transitions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The features of transitions, as indices into the distinct ones.

        Args:
            states: packed states, shape [states, words].
            transitions: row of `states` * effects + effect, all of them available; shape [transitions].

        Returns:
            Row of each transition, shape [transitions], and the distinct features, shape [distinct, features].
        """


def check_node_limit(nodes: int, max_nodes: int) -> None:
    """Raise `TooManyNodesError` if there are more than `max_nodes`."""
    if nodes > max_nodes:
        raise TooManyNodesError(
            f"more than {max_nodes:,} states can be reached;"
            " raise the limit, or in MiniGrid use the focused planner, which does not enumerate"
        )


class LabelNumbers:
    """Distinct labels, numbered in the order in which they are met."""

    def __init__(self) -> None:
        self.labels: list[Label] = []
        self._numbers: dict[Label, int] = {}

    def number(self, label: Label) -> int:
        """The index of a label, which is added if it is new; too many are a `TooManyNodesError`."""
        number = self._numbers.setdefault(label, len(self.labels))
        if number == MAX_LABELS:
            raise TooManyNodesError(f"more than {MAX_LABELS:,} distinct labels; leave out what the task is not about")
        if number == len(self.labels):
            self.labels.append(label)
        return number


class LabelTable(LabelNumbers):
    """An automaton for compiled searches: a row of successors per label, added as labels are met."""

    def __init__(self, automaton: Automaton):
        super().__init__()
        self.automaton = automaton
        self.columns: list[NDArray[np.int32]] = []  # of the labels; see `Automaton.column_with_acceptance`

    @property
    def rows(self) -> NDArray[np.int32]:
        """State after each label, `DEAD` or `ACCEPTED`; shape [labels, automaton states]."""
        return np.array(self.columns, np.int32).reshape(-1, self.automaton.states)

    def number(self, label: Label) -> int:
        """The index of a label, which gets a row if it is new."""
        number = super().number(label)
        if number == len(self.columns):
            self.columns.append(self.automaton.column_with_acceptance(label))
        return number
