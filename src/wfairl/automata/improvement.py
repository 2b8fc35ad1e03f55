"""Improving an automaton on flagged words: one change after the other that makes the description shorter.

An edge is led elsewhere, a state is split for one edge, two states become one. Meanwhile each state keeps the share of
successes among the words that end in it, so that what tells more failures from fewer counts before any word is
accepted,

    bits(A, flags) = table_bits(A) + sum over states q of flag_bits(of the words that end in q)
"""

import math

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.corpus import Corpus
from wfairl.compiling import njit


def improve(
    start: NDArray[np.int32], corpus: Corpus, succeeded: NDArray[np.bool_], max_states: int
) -> NDArray[np.int32]:
    """Change the automaton while that makes the description shorter, the best change first."""
    labels = start.shape[1]
    limit = max(max_states, len(start)) + 1  # a state that is split needs a place
    transitions = np.zeros((limit, labels), np.int32)
    transitions[: len(start)] = start
    states = len(start)
    flags = succeeded.astype(np.uint8)
    best = _bits(transitions, states, corpus.symbols, corpus.offsets, flags)
    while labels:
        changed, count, bits = _best_change(
            transitions, states, corpus.symbols, corpus.offsets, flags, best, max_states, False
        )
        if not bits < best - 1e-9:
            changed, count, bits = _best_change(
                transitions, states, corpus.symbols, corpus.offsets, flags, best, max_states, True
            )
        if not bits < best - 1e-9:
            break
        transitions, states, best = changed, count, bits
    return transitions[:states].copy()


@njit(cache=True, nogil=True)
def _best_change(transitions, states, symbols, offsets, flags, best, max_states, twice):  # type: ignore[no-untyped-def]
    """The change with the shortest description: an edge led elsewhere, a state split for one edge, two made one.

    With `twice`, the split state also has one of its own edges led elsewhere, which is where the gain often is. Words
    that do not take the edge end where they ended; the others are read from there on.
    """
    labels = transitions.shape[1]
    chosen, chosen_states = transitions.copy(), states
    trial = transitions.copy()
    leaving = np.zeros(states + 1, np.int64)
    for state in range(states):
        leaving[state] = _count_leaving(transitions, state)
    for state in range(states):
        for label in range(labels):
            words, places, counts = _who_takes(transitions, states, symbols, offsets, flags, state, label)
            if len(words) == 0:
                continue
            after, left = trial[state, label], leaving[state]
            for target in range(0 if twice else states):
                if target != after:
                    trial[state, label] = target
                    leaving[state] = left - (after != state) + (target != state)
                    ends = _ends_from(trial, states, symbols, offsets, flags, words, places, counts, state)
                    bits = _bits_of_ends(labels, leaving, states, ends)
                    if bits < best:
                        best, chosen, chosen_states = bits, trial.copy(), states
            if states < max_states:
                for i in range(labels):  # the new state is like `after`, loops and all
                    trial[states, i] = states if transitions[after, i] == after else transitions[after, i]
                trial[state, label] = states
                leaving[state], leaving[states] = left - (after != state) + 1, leaving[after]
                split = leaving[states]
                ends = _ends_from(trial, states + 1, symbols, offsets, flags, words, places, counts, state)
                if not twice:
                    bits = _bits_of_ends(labels, leaving, states + 1, ends)
                    if bits < best:
                        best, chosen, chosen_states = bits, trial.copy(), states + 1
                else:
                    read = _labels_read(trial, states, symbols, offsets, words, places, state)
                    # The bits if no word ends elsewhere: with an edge less, as many, one more.
                    of_leaving = np.full(3, np.inf)
                    for k in range(max(1 - split, 0), 3):
                        leaving[states] = split + k - 1
                        of_leaving[k] = _bits_of_ends(labels, leaving, states + 1, ends)
                for i in range(labels if twice else 0):
                    old = trial[states, i]
                    for target in range(states + 1):
                        if target != old:
                            trial[states, i] = target
                            more = int(target != states) - int(old != states)
                            bits = of_leaving[1 + more]
                            if read[i]:
                                leaving[states] = split + more
                                ends = _ends_from(
                                    trial, states + 1, symbols, offsets, flags, words, places, counts, state
                                )
                                bits = _bits_of_ends(labels, leaving, states + 1, ends)
                            if bits < best:
                                best, chosen, chosen_states = bits, trial.copy(), states + 1
                    trial[states, i] = old
            trial[state, label], leaving[state] = after, left
    for gone in range(1, 0 if twice else states):
        for into in range(states):
            if into != gone:
                trial = _without(transitions, states, gone, into)
                bits = _bits(trial, states - 1, symbols, offsets, flags)
                if bits < best:
                    best, chosen, chosen_states = bits, trial, states - 1
    return chosen, chosen_states, best


@njit(cache=True, nogil=True)
def _who_takes(transitions, states, symbols, offsets, flags, edge_state, edge_label):  # type: ignore[no-untyped-def]
    """The words that take an edge, where they do so first, and the ends of all others, shape [states + 1, 2]."""
    words, places = np.empty(len(flags), np.int64), np.empty(len(flags), np.int64)
    counts = np.zeros((states + 1, 2))
    taking = 0
    for word in range(len(flags)):
        state, place = 0, offsets[word]
        while place < offsets[word + 1] and not (state == edge_state and symbols[place] == edge_label):
            state = transitions[state, symbols[place]]
            place += 1
        if place < offsets[word + 1]:
            words[taking], places[taking] = word, place
            taking += 1
        else:
            counts[state, 0] += 1
            counts[state, 1] += flags[word]
    return words[:taking], places[:taking], counts


@njit(cache=True, nogil=True)
def _ends_from(trial, states, symbols, offsets, flags, words, places, counts, source):  # type: ignore[no-untyped-def]
    """How many words end in each state and how many of them succeed; those that take an edge are read from there."""
    ends = counts[:states].copy()
    for i in range(len(words)):
        state = source
        for place in range(places[i], offsets[words[i] + 1]):
            state = trial[state, symbols[place]]
        ends[state, 0] += 1
        ends[state, 1] += flags[words[i]]
    return ends


@njit(cache=True, nogil=True)
def _labels_read(trial, where, symbols, offsets, words, places, source):  # type: ignore[no-untyped-def]
    """Which labels are read in the state `where` by the words that take an edge, shape [labels]."""
    read = np.zeros(trial.shape[1], np.bool_)
    for i in range(len(words)):
        state = source
        for place in range(places[i], offsets[words[i] + 1]):
            if state == where:
                read[symbols[place]] = True
            state = trial[state, symbols[place]]
    return read


@njit(cache=True, nogil=True)
def _without(transitions, states, gone, into):  # type: ignore[no-untyped-def]
    """The automaton whose edges to `gone` lead to `into` instead; states after it move up."""
    fewer = transitions.copy()
    row = 0
    for state in range(states):
        if state == gone:
            continue
        for label in range(transitions.shape[1]):
            after = transitions[state, label]
            after = into if after == gone else after
            fewer[row, label] = after - 1 if after > gone else after
        row += 1
    return fewer


@njit(cache=True, nogil=True)
def _bits(transitions, states, symbols, offsets, flags):  # type: ignore[no-untyped-def]
    """Bits of the automaton, and of the flags with a share of successes for each state."""
    ends = np.zeros((states, 2))
    for word in range(len(flags)):
        state = 0
        for i in range(offsets[word], offsets[word + 1]):
            state = transitions[state, symbols[i]]
        ends[state, 0] += 1
        ends[state, 1] += flags[word]
    leaving = np.empty(states, np.int64)
    for state in range(states):
        leaving[state] = _count_leaving(transitions, state)
    return _bits_of_ends(transitions.shape[1], leaving, states, ends)


@njit(cache=True, nogil=True)
def _count_leaving(transitions, state):  # type: ignore[no-untyped-def]
    """How many labels leave a state."""
    return (transitions[state] != state).sum()


@njit(cache=True, nogil=True)
def _bits_of_ends(labels, leaving, states, ends):  # type: ignore[no-untyped-def]
    """As `table_bits` and `flag_bits` have it, for how many words end in each state and how many of these succeed."""
    bits = 2 * math.log2(states + 1) + 1 + states
    for state in range(states):
        edges = leaving[state]
        bits += math.log2(labels + 1) + _log2_binomial(labels, edges) + edges * math.log2(max(states - 1, 1))
        bits += math.log2(ends[state, 0] + 1) + _log2_binomial(ends[state, 0], ends[state, 1])
    return bits


@njit(cache=True, nogil=True)
def _log2_binomial(n, k):  # type: ignore[no-untyped-def]
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)
