"""The table of an automaton, and its minimal form: states that accept the same continuations are one.

    table[q, a] = state after label a in state q, or `DEAD`, or `ACCEPTED`;    [states, labels] of int32

State 0 is the initial one. Acceptance is an entry and no state: what happens after it does not count.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Automaton, Label
from wfairl.core.support.compiling import inner, njit

Table = NDArray[np.int32]


def to_table(automaton: Automaton, labels: Sequence[Label]) -> Table:
    """The table of an automaton; accepting states keep their rows, though no label leads to them."""
    columns = [automaton.column_with_acceptance(label) for label in labels]
    return np.ascontiguousarray(np.reshape(columns, (len(labels), automaton.states)).T, np.int32)


@njit(cache=True, nogil=True, exact=True)
def canonical_table(table: Table) -> Table:
    """The minimal table of the same language, its states numbered breadth first."""
    table = _without_hopeless_states(_reachable(table))
    group = equivalence_classes(table, np.zeros(len(table), np.bool_))
    merged = np.empty((group.max() + 1, table.shape[1]), np.int32)
    for q in range(len(table)):
        for a in range(table.shape[1]):
            merged[group[q], a] = group[table[q, a]] if table[q, a] >= 0 else table[q, a]
    return _reachable(merged)


@inner
def _reachable(table: Table) -> Table:
    """The table of the states that can be reached, numbered breadth first."""
    states, labels = table.shape
    number, order = np.full(states, -1, np.int32), np.zeros(states, np.int32)
    result = np.empty((states, labels), np.int32)
    number[0] = 0
    filled, scanned = 1, 0
    while scanned < filled:
        for a in range(labels):
            after = table[order[scanned], a]
            if after >= 0:
                if number[after] < 0:
                    number[after], order[filled] = filled, after
                    filled += 1
                after = number[after]
            result[scanned, a] = after
        scanned += 1
    return result[:filled].copy()


@njit(cache=True, nogil=True)
def _without_hopeless_states(table: Table) -> Table:
    """The table with `DEAD` instead of states from which acceptance cannot be reached."""
    states, labels = table.shape
    hopeful = np.zeros(states, np.bool_)
    changed = True
    while changed:
        changed = False
        for q in range(states):
            for a in range(labels):
                after = table[q, a]
                if not hopeful[q] and (after == ACCEPTED or (after >= 0 and hopeful[after])):
                    hopeful[q] = True
                    changed = True
    result = table.copy()
    for q in range(states):
        for a in range(labels):
            if table[q, a] >= 0 and not hopeful[table[q, a]]:
                result[q, a] = DEAD
    return result


@njit(cache=True, nogil=True)
def equivalence_classes(transitions, accepting):  # type: ignore[no-untyped-def]
    """Moore's algorithm: the class of each state, [states]; two states of a class accept the same continuations.

    Classes are numbered by their first states. Entries of `transitions` below zero, such as `DEAD`, are no states:
    they differ from all states and from each other.
    """
    states = len(transitions)
    classes, refined, firsts = np.zeros(states, np.int32), np.empty(states, np.int32), np.empty(states, np.int32)
    # the refined classes of a class, as a chain: the newest one, and the one before each
    newest, before = np.empty(states, np.int32), np.empty(states, np.int32)
    for state in range(states):
        classes[state] = accepting[state] != accepting[0]
    count = 1 + classes.max()
    while True:
        found = 0
        newest[:] = -1
        for state in range(states):
            one = newest[classes[state]]
            while one >= 0 and not _agree(transitions, classes, state, firsts[one]):
                one = before[one]
            if one < 0:
                one = found
                firsts[one], before[one] = state, newest[classes[state]]
                newest[classes[state]] = one
                found += 1
            refined[state] = one
        classes, refined = refined, classes
        if found == count:
            return classes
        count = found


@inner
def _agree(transitions, classes, one, other):  # type: ignore[no-untyped-def]
    """Whether the states after each label are in one class."""
    for label in range(transitions.shape[1]):
        x, y = transitions[one, label], transitions[other, label]
        if x != y and (x < 0 or y < 0 or classes[x] != classes[y]):
            return False
    return True
