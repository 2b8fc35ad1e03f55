"""Automata as tables over the distinct labels of some worlds, the form in which kernels read them."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD, Guard, Label
from wfairl.automata.guarded import GuardedAutomaton
from wfairl.logic.kernels import ACCEPTED


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
