"""Local search for an automaton of flagged words: the best change first, while the description gets shorter.

A change redirects an edge, splits a state for one edge, or merges two states. Each state has its own share of successes
among the words that end in it. So a change that separates many failures from few pays off before any state accepts:

    bits(A, flags) = table_bits(A) + sum over states q of flag_bits(of the words that end in q)
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.word_corpus import Corpus
from wfairl.core.support.compiling import inner, njit


class FlaggedWords(NamedTuple):
    """Words as in `Corpus`, with the flag 1 for a success and 0 for a failure."""

    symbols: NDArray[np.int32]  # [total length]
    offsets: NDArray[np.int64]  # [words + 1]
    flags: NDArray[np.uint8]  # [words]


class EdgeUsers(NamedTuple):
    """The words that take an edge. A change of that edge leaves the end states of all other words as they are."""

    source: int  # the state that the edge leaves
    words: NDArray[np.int64]  # [n]
    places: NDArray[np.int64]  # [n], the index in `symbols` at which each word takes the edge first
    other_ends: NDArray[np.float64]  # [states + 1, 2], how many other words end in each state, and how many succeed


def improve(
    start: NDArray[np.int32], corpus: Corpus, succeeded: NDArray[np.bool_], max_states: int
) -> NDArray[np.int32]:
    """Change the automaton while the description gets shorter, the best change first."""
    transitions = np.zeros((max(max_states, len(start)) + 1, start.shape[1]), np.int32)  # room for a split state
    transitions[: len(start)] = start
    states = len(start)
    data = FlaggedWords(corpus.symbols, corpus.offsets, succeeded.astype(np.uint8))
    best = _bits(transitions, states, data)
    while start.shape[1]:
        changed, count, bits = _best_change(transitions, states, data, best, max_states, False)
        if not bits < best - 1e-9:
            changed, count, bits = _best_change(transitions, states, data, best, max_states, True)
        if not bits < best - 1e-9:
            break
        transitions, states, best = changed, count, bits
    return transitions[:states].copy()


@njit(cache=True, nogil=True)
def _best_change(transitions, states, data, best, max_states, twice):  # type: ignore[no-untyped-def]
    """The change with the shortest description: redirect an edge, split a state for one edge, or merge two states.

    With `twice`, only splits are tried, and one edge of the new state is redirected too: that often gives the gain.
    """
    labels = transitions.shape[1]
    chosen, chosen_states = transitions.copy(), states
    trial = transitions.copy()
    leaving = _count_leaving(transitions, states)
    for state in range(states):
        for label in range(labels):
            users = _edge_users(transitions, states, data, state, label)
            if len(users.words) == 0:
                continue
            after, left = trial[state, label], leaving[state]
            for target in range(0 if twice else states):
                if target != after:
                    trial[state, label] = target
                    leaving[state] = left - (after != state) + (target != state)
                    bits = _bits_of_ends(labels, leaving, states, _ends(trial, states, data, users))
                    if bits < best:
                        best, chosen, chosen_states = bits, trial.copy(), states
            leaving[state] = left
            if states < max_states:
                for i in range(labels):  # the new state is like `after`, loops and all
                    trial[states, i] = states if transitions[after, i] == after else transitions[after, i]
                trial[state, label] = states
                leaving[state], leaving[states] = left - (after != state) + 1, leaving[after]
                split = leaving[states]
                ends = _ends(trial, states + 1, data, users)
                if not twice:
                    bits = _bits_of_ends(labels, leaving, states + 1, ends)
                    if bits < best:
                        best, chosen, chosen_states = bits, trial.copy(), states + 1
                else:
                    read = _labels_read(trial, states, data, users)
                    # Bits if no word ends elsewhere, for one leaving edge less, as many, one more.
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
                                ends = _ends(trial, states + 1, data, users)
                                bits = _bits_of_ends(labels, leaving, states + 1, ends)
                            if bits < best:
                                best, chosen, chosen_states = bits, trial.copy(), states + 1
                    trial[states, i] = old
            trial[state, label], leaving[state] = after, left
    for gone in range(1, 0 if twice else states):
        for into in range(states):
            if into != gone:
                trial = _without(transitions, states, gone, into)
                bits = _bits(trial, states - 1, data)
                if bits < best:
                    best, chosen, chosen_states = bits, trial, states - 1
    return chosen, chosen_states, best


@inner
def _edge_users(transitions, states, data, source, label):  # type: ignore[no-untyped-def]
    """The words that take an edge, see `EdgeUsers`."""
    words, places = np.empty(len(data.flags), np.int64), np.empty(len(data.flags), np.int64)
    ends = np.zeros((states + 1, 2))
    users = 0
    for word in range(len(data.flags)):
        state, place, end = 0, data.offsets[word], data.offsets[word + 1]
        while place < end and not (state == source and data.symbols[place] == label):
            state = transitions[state, data.symbols[place]]
            place += 1
        if place < end:
            words[users], places[users] = word, place
            users += 1
        else:
            ends[state, 0] += 1
            ends[state, 1] += data.flags[word]
    return EdgeUsers(source, words[:users], places[:users], ends)


@njit(cache=True, nogil=True)
def _ends(trial, states, data, users):  # type: ignore[no-untyped-def]
    """How many words end in each state and how many of them succeed, shape [states, 2]; reads only `users` again."""
    ends = users.other_ends[:states].copy()
    for i in range(len(users.words)):
        state = users.source
        for place in range(users.places[i], data.offsets[users.words[i] + 1]):
            state = trial[state, data.symbols[place]]
        ends[state, 0] += 1
        ends[state, 1] += data.flags[users.words[i]]
    return ends


@inner
def _labels_read(trial, where, data, users):  # type: ignore[no-untyped-def]
    """Which labels `users` read in the state `where`, shape [labels]."""
    read = np.zeros(trial.shape[1], np.bool_)
    for i in range(len(users.words)):
        state = users.source
        for place in range(users.places[i], data.offsets[users.words[i] + 1]):
            if state == where:
                read[data.symbols[place]] = True
            state = trial[state, data.symbols[place]]
    return read


@njit(cache=True, nogil=True)
def _without(transitions, states, gone, into):  # type: ignore[no-untyped-def]
    """The automaton without the state `gone`, whose edges lead to `into` instead; later states move up."""
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
def _bits(transitions, states, data):  # type: ignore[no-untyped-def]
    """Bits of the automaton, and of the flags with a share of successes for each state."""
    everyone = EdgeUsers(0, np.arange(len(data.flags)), data.offsets[:-1], np.zeros((states + 1, 2)))
    ends = _ends(transitions, states, data, everyone)
    return _bits_of_ends(transitions.shape[1], _count_leaving(transitions, states), states, ends)


@inner
def _count_leaving(transitions, states):  # type: ignore[no-untyped-def]
    """How many labels leave each state, shape [states + 1]: the last entry is for a state that is split off."""
    leaving = np.zeros(states + 1, np.int64)
    for state in range(states):
        leaving[state] = (transitions[state] != state).sum()
    return leaving


@inner
def _bits_of_ends(labels, leaving, states, ends):  # type: ignore[no-untyped-def]
    """The bits by `table_bits` and `flag_bits`, from how many words end in each state and how many of them succeed."""
    bits = 2 * math.log2(states + 1) + 1 + states
    for state in range(states):
        edges = leaving[state]
        bits += math.log2(labels + 1) + _log2_binomial(labels, edges) + edges * math.log2(max(states - 1, 1))
        bits += math.log2(ends[state, 0] + 1) + _log2_binomial(ends[state, 0], ends[state, 1])
    return bits


@inner
def _log2_binomial(n, k):  # type: ignore[no-untyped-def]
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)) / math.log(2)
