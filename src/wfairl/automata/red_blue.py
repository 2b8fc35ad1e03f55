"""Merging of the states of a prefix tree, red and blue (Lang, Pearlmutter and Price 1998).

The red states are part of the automaton; of the blue ones, to which they lead, the one that most words pass is merged
with the red one that fits best, or becomes red itself where none fits. What fits is a matter of bits: of flags that end
in one state most agree, each being wrong with a small probability, so two states are one if their flags are cheaper
together,

    -log2 1/2 ((1 - e)^successes e^failures + e^successes (1 - e)^failures)        of each state, and of both as one
"""

import math

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.corpus import Corpus, build_prefix_tree
from wfairl.compiling import njit

NONE = -1
"""No successor, in the tree of beginnings."""

TREE_CELLS = 2**26
"""Nodes times labels of that tree at most, a quarter of a gigabyte; of longer words over more labels it has a part."""


def merge_states(
    corpus: Corpus, succeeded: NDArray[np.bool_], labels: int, noise: float, max_states: int, seed: int
) -> NDArray[np.int32]:
    """The successors of the red states when no blue one is left, shape [states, labels].

    Args:
        corpus: words over the symbols 0 .. labels - 1.
        succeeded: whether each word is a success, shape [words].
        labels: size of the alphabet.
        noise: e, the probability that a flag is wrong.
        max_states: of the automaton.
        seed: of which words are looked at, if the tree of all would be too large.
    """
    fitting = int(np.searchsorted(corpus.offsets, TREE_CELLS // max(labels, 1), side="right")) - 1
    if fitting < len(corpus):
        some = np.sort(np.random.default_rng(seed).permutation(len(corpus))[:fitting])
        corpus, succeeded = corpus.take(some), succeeded[some]
    tree = build_prefix_tree(corpus)
    children = np.full((len(tree), labels), NONE, np.int32)
    children[tree.parents[1:], tree.symbols[1:]] = np.arange(1, len(tree))
    lowest, highest = np.full(len(tree), labels, np.int32), np.full(len(tree), NONE, np.int32)
    np.minimum.at(lowest, tree.parents[1:], tree.symbols[1:].astype(np.int32))
    np.maximum.at(highest, tree.parents[1:], tree.symbols[1:].astype(np.int32))
    successes = np.bincount(tree.ends, succeeded, len(tree)).astype(np.float64)
    failures = np.bincount(tree.ends, ~succeeded, len(tree)).astype(np.float64)
    passing = np.bincount(tree.visits, minlength=len(tree)).astype(np.float64)
    transitions: NDArray[np.int32] = _merge_red_and_blue(
        children, lowest, highest, successes, failures, passing, noise, max_states
    )
    return transitions


@njit(cache=True, nogil=True)
def _merge_red_and_blue(children, lowest, highest, successes, failures, passing, noise, max_states):  # type: ignore[no-untyped-def]
    """Merge until every edge of a red state leads to a red one; edges that nobody took stay where they are.

    The labels of the edges of a node lie between `lowest` and `highest`, so that not all labels are looked at.
    """
    red = [0]
    number = np.full(len(children), NONE, np.int32)
    number[0] = 0
    before = np.empty((len(children), 3))
    places = np.empty((2, len(children), 2), np.int32)
    while True:
        source, label, most = NONE, NONE, -1.0
        for state in red:
            for i in range(children.shape[1]):
                blue = children[state, i]
                if blue != NONE and number[blue] == NONE and passing[blue] > most:
                    source, label, most = state, i, passing[blue]
        if source == NONE:
            break
        blue = children[source, label]
        best, best_saved = NONE, -np.inf
        for k in range(-1, len(red)):  # of equals the source itself: a label that does not matter is a loop
            state = source if k < 0 else red[k]
            saved, counted, linked = _fold(
                children, lowest, highest, successes, failures, passing, state, blue, noise, before, places
            )
            _unfold(children, successes, failures, passing, before, places, counted, linked)
            if saved > best_saved:
                best, best_saved = state, saved
        if best_saved < 0 and len(red) < max_states:
            number[blue] = len(red)
            red.append(blue)
        else:
            children[source, label] = best
            _fold(children, lowest, highest, successes, failures, passing, best, blue, noise, before, places)
    transitions = np.empty((len(red), children.shape[1]), np.int32)
    for i in range(len(red)):
        for j in range(children.shape[1]):
            after = children[red[i], j]
            transitions[i, j] = i if after == NONE else number[after]
    return transitions


@njit(cache=True, nogil=True)
def _fold(children, lowest, highest, successes, failures, passing, state, blue, noise, before, places):  # type: ignore[no-untyped-def]
    """Merge the tree below `blue` into `state`, and give the bits that this saves on flags.

    What it changes is noted for `_unfold`: in `before` and `places[0]` the nodes whose counts change, in `places[1]`
    the edges that are new. How many there are of each is given, too.
    """
    saved, counted, linked = 0.0, 0, 0
    left, right = [state], [blue]
    while len(left) > 0:
        into, node = left.pop(), right.pop()
        places[0, counted, 0] = into
        before[counted, 0], before[counted, 1], before[counted, 2] = successes[into], failures[into], passing[into]
        counted += 1
        if successes[node] + failures[node] > 0:
            if successes[into] + failures[into] > 0:
                apart = _flags(successes[into], failures[into], noise) + _flags(successes[node], failures[node], noise)
                saved += apart - _flags(successes[into] + successes[node], failures[into] + failures[node], noise)
            successes[into] += successes[node]
            failures[into] += failures[node]
        passing[into] += passing[node]
        for i in range(lowest[node], highest[node] + 1):
            below = children[node, i]
            if below != NONE:
                if children[into, i] == NONE:
                    children[into, i] = below
                    lowest[into], highest[into] = min(lowest[into], i), max(highest[into], i)
                    places[1, linked, 0], places[1, linked, 1] = into, i
                    linked += 1
                else:
                    left.append(children[into, i])
                    right.append(below)
    return saved, counted, linked


@njit(cache=True, nogil=True)
def _unfold(children, successes, failures, passing, before, places, counted, linked):  # type: ignore[no-untyped-def]
    """Undo a `_fold`."""
    for k in range(counted - 1, -1, -1):
        node = places[0, k, 0]
        successes[node], failures[node], passing[node] = before[k, 0], before[k, 1], before[k, 2]
    for k in range(linked):
        children[places[1, k, 0], places[1, k, 1]] = NONE


@njit(cache=True, nogil=True)
def _flags(successes, failures, noise):  # type: ignore[no-untyped-def]
    """-log2 of the probability of the flags of one state."""
    a = successes * math.log2(1 - noise) + failures * math.log2(noise)
    b = failures * math.log2(1 - noise) + successes * math.log2(noise)
    return 1 - max(a, b) - math.log2(1 + 2.0 ** (min(a, b) - max(a, b)))
