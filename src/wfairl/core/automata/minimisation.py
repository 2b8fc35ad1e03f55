"""The states of a table that accept the same continuations."""

import numpy as np

from wfairl.core.support.compiling import njit

HASH_FACTOR, HASH_SHIFT = np.uint64(0x9E3779B97F4A7C15), 8


@njit(cache=True, nogil=True)
def equivalence_classes(transitions, accepting):  # type: ignore[no-untyped-def]
    """Moore's algorithm: the class of each state, [states]; two states of a class accept the same continuations.

    Classes are numbered by their first states. Entries of `transitions` below zero, such as `DEAD`, are no states:
    they differ from all states and from each other.
    """
    states, labels = transitions.shape
    classes, refined = np.zeros(states, np.int32), np.empty(states, np.int32)
    keys, firsts = np.empty(states, np.uint64), np.empty(states, np.int32)
    for state in range(states):
        classes[state] = accepting[state] != accepting[0]
    count = 1 + classes.max()
    while True:
        for state in range(states):
            key = np.uint64(classes[state])
            for label in range(labels):
                after = transitions[state, label]
                key = key * HASH_FACTOR + np.uint64(after + HASH_SHIFT if after < 0 else classes[after] + HASH_SHIFT)
            keys[state] = key
        found = 0
        for state in range(states):
            refined[state] = found
            for one in range(found):  # equal keys are compared in full
                if keys[state] == keys[firsts[one]] and _agree(transitions, classes, state, firsts[one]):
                    refined[state] = one
                    break
            if refined[state] == found:
                firsts[found] = state
                found += 1
        classes, refined = refined, classes
        if found == count:
            return classes
        count = found


@njit(cache=True, nogil=True)
def _agree(transitions, classes, one, other):  # type: ignore[no-untyped-def]
    """Whether two states are in one class, and so are the states after each label."""
    if classes[one] != classes[other]:
        return False
    for label in range(transitions.shape[1]):
        x, y = transitions[one, label], transitions[other, label]
        if x != y and (x < 0 or y < 0 or classes[x] != classes[y]):
            return False
    return True
