"""Tables of automata (`automata.minimisation`) over the labels of some worlds: how they are read and joined."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard, Label
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.automata.minimisation import Table, canonical_table
from wfairl.core.support.compiling import njit


def to_automaton(table: Table, labels: tuple[Label, ...]) -> FiniteAutomaton:
    """The automaton of a table; its last state is the accepting one."""
    last = len(table)
    rows = np.vstack([np.where(table == ACCEPTED, last, table), np.full(len(labels), last)]).astype(np.int32)
    accepting = np.arange(last + 1) == last
    return FiniteAutomaton(labels, rows, accepting, accepting.astype(float), (None,) * (last + 1), keep_repeats=True)


@lru_cache(maxsize=65536)
def holding(guard: Guard, labels: tuple[Label, ...]) -> NDArray[np.bool_]:
    """Which labels fulfil a guard, shape [labels]."""
    return np.array([guard.holds(label) for label in labels])


@njit(cache=True, nogil=True)
def read_word(table: Table, word: NDArray[np.int32]) -> int:
    """Number of labels read until acceptance, 0 if the word is not accepted."""
    state = 0
    for step in range(len(word)):
        state = table[state, word[step]]
        if state == ACCEPTED:
            return step + 1
        if state == DEAD:
            return 0
    return 0


@njit(cache=True, nogil=True, exact=True)
def mark_reads(table: Table, first: NDArray[np.int64], word: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether a word reads a label in a state, [words, states, labels]; word i lies from first[i] to first[i + 1]."""
    reads = np.zeros((len(first) - 1, *table.shape), np.bool_)
    for i in range(len(first) - 1):
        q = 0
        for t in range(first[i], first[i + 1]):
            reads[i, q, word[t]] = True
            q = table[q, word[t]]
            if q < 0:
                break
    return reads


def intersection(one: Table, other: Table) -> Table:
    """The minimal table of an automaton that accepts as soon as both have accepted."""
    count = len(other) + 1
    a, b = (np.vstack([np.where(t == ACCEPTED, len(t), t), np.full(t.shape[1], len(t))]) for t in (one, other))
    pairs = a[:, None] * count + b
    pairs[(a[:, None] == len(one)) & (b == len(other))] = ACCEPTED
    pairs[(a[:, None] == DEAD) | (b == DEAD)] = DEAD
    return canonical_table(np.ascontiguousarray(pairs.reshape(-1, one.shape[1]), np.int32))


def ending_together(one: Table, other: Table) -> Table:
    """The minimal table of an automaton that accepts where both accept at the same label, not where one is first."""
    a, b = one[:, None], other[None]
    pairs = np.where((a == ACCEPTED) & (b == ACCEPTED), ACCEPTED, DEAD)
    pairs = np.where((a >= 0) & (b >= 0), a * len(other) + b, pairs)
    return canonical_table(np.ascontiguousarray(pairs.reshape(-1, one.shape[1]), np.int32))


def preferring_word(table: Table, word: NDArray[np.int32]) -> Table:
    """The automaton of a table that accepts one of its words as before, and all others one label later.

    Of plans of the least cost, only those with this word are left, up to repeated labels. Who is led away from the word
    by a surprise can still fulfil the automaton. While i labels of the word have been read, state q of the table is
    state i * states + q. The states of those who left the word come next, and the last state waits for one label more.

    Args:
        table: of the automaton, [states, labels].
        word: indices of labels, [steps]; the table accepts it at its last step.
    """
    runs, states = word[np.append(True, word[1:] != word[:-1])], len(table)
    left = (len(runs) + 1) * states
    waiting = left + states
    away = np.where(table == ACCEPTED, waiting, np.where(table == DEAD, DEAD, table + left))
    rows = [away.copy() for _ in range(len(runs) + 1)]
    for i, label in enumerate(runs, start=1):
        target, end = table[:, label], waiting if i < len(runs) else ACCEPTED
        following = np.where(target == ACCEPTED, end, np.where(target == DEAD, DEAD, target + i * states))
        rows[i - 1][:, label] = rows[i][:, label] = following
    last = np.full((1, table.shape[1]), ACCEPTED)
    return canonical_table(np.ascontiguousarray(np.vstack([*rows, away, last]), np.int32))
