"""Automata as tables over the distinct labels of some worlds, the form in which kernels read them."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, DEAD, Guard, Label
from wfairl.automata.guarded import GuardedAutomaton


@lru_cache(maxsize=65536)
def holding(guard: Guard, labels: tuple[Label, ...]) -> NDArray[np.bool_]:
    """Which labels fulfil a guard, shape [labels]."""
    return np.array([guard.holds(label) for label in labels])


def to_table(automaton: GuardedAutomaton, labels: Sequence[Label]) -> NDArray[np.int32]:
    """State after each label, `DEAD`, or `ACCEPTED` for an accepting state; shape [states, labels]."""
    labels = tuple(labels)
    table = np.repeat(np.arange(automaton.states, dtype=np.int32)[:, None], len(labels), axis=1)
    for state, edges in enumerate(automaton.edges):
        for edge in reversed(edges):
            ends = edge.target != DEAD and automaton.accepting[edge.target]
            table[state, holding(edge.guard, labels)] = ACCEPTED if ends else edge.target
    return table


def requiring(table: NDArray[np.int32], label: int) -> NDArray[np.int32]:
    """The automaton that also asks for a label to be read at some time; until then nothing brings it to acceptance.

    Returns:
        A table of the states before the label was read, then of those after it; [2 states, labels].
    """
    states = len(table)
    read = np.where(table >= 0, table + states, table)
    unread = np.where(table == ACCEPTED, np.arange(states, dtype=np.int32)[:, None], table)
    unread[:, label] = read[:, label]
    return np.concatenate((unread, read)).astype(np.int32)


def is_forced(table: NDArray[np.int32], label: int) -> bool:
    """Whether every accepted word has a label in it."""
    without = np.delete(table, label, axis=1)
    reached = [0]
    for state in reached:
        if (without[state] == ACCEPTED).any():
            return False
        reached += [after for after in np.unique(without[state]).tolist() if after >= 0 and after not in reached]
    return True
