"""Guarded automata: what a person would draw, with guards such as `coffee` and `door & !key` instead of labels.

An automaton has the states 0, 1, ..., n - 1, of which 0 is the initial one. Every state has an ordered list of
edges. A label is read by the first edge whose guard holds; where none does, the state stays as it is.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.errors import BadInputError

Label = frozenset[str]

DEAD = -1
"""Target of an edge after which the task can no longer be done."""


@dataclass(frozen=True, order=True)
class Guard:
    """A conjunction of literals.

    Attributes:
        true: propositions that must hold.
        false: propositions that must not hold.
    """

    true: Label = frozenset()
    false: Label = frozenset()

    def holds(self, label: Label) -> bool:
        """Whether a label fulfils the guard."""
        return self.true <= label and not (self.false & label)

    def __str__(self) -> str:
        """The guard as text, such as `door & !key`."""
        literals = [*sorted(self.true), *(f"!{name}" for name in sorted(self.false))]
        return " & ".join(literals) or "true"


@dataclass(frozen=True)
class Edge:
    """A transition: where a label that fulfils the guard leads; a state or `DEAD`."""

    guard: Guard
    target: int


@dataclass(frozen=True, eq=False)
class GuardedAutomaton:
    """A deterministic automaton with guarded edges; state 0 is the initial one.

    Attributes:
        edges: the edges of every state, the first that holds is taken; [states].
        accepting: whether the task is done on entering a state, shape [states] of bool.
    """

    edges: tuple[tuple[Edge, ...], ...]
    accepting: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if len(self.edges) != len(self.accepting) or not self.edges:
            raise BadInputError(f"{len(self.edges)} lists of edges do not fit {len(self.accepting)} states")
        for edge in (edge for edges in self.edges for edge in edges):
            if not DEAD <= edge.target < self.states:
                raise BadInputError(f"an edge leads to {edge.target}, which is none of the {self.states} states")

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.edges)

    def read(self, state: int, label: Label) -> int:
        """The state after reading a label, or `DEAD`."""
        if state == DEAD:
            return DEAD
        return next((edge.target for edge in self.edges[state] if edge.guard.holds(label)), state)
