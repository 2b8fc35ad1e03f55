"""Merging of the states of a prefix tree, red and blue (Lang, Pearlmutter and Price 1998).

The red states are part of the automaton. The blue states are their other successors. The blue state that most words
pass is merged with the red state that fits it best, or becomes red itself if no red state fits. Flags of words that end
in one state mostly agree, each wrong with a small probability e. So two states fit if their flags take fewer bits
together than apart, where the flags of a state take

    -log2 1/2 ((1 - e)^successes e^failures + e^successes (1 - e)^failures)
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.word_corpus import Corpus, build_prefix_tree
from wfairl.core.support.compiling import inner, njit

NO_CHILD = -1
"""No successor, in the prefix tree."""

TREE_CELLS = 2**26
"""Most entries of the prefix tree, a quarter of a gigabyte. If the words need more, some of them are drawn."""


class MergeTree(NamedTuple):
    """The prefix tree; folding one part of it into another changes it in place."""

    children: NDArray[np.int32]  # [nodes, labels], or `NO_CHILD`
    lowest: NDArray[np.int32]  # [nodes], the smallest label that leads on, so that not all labels are tried
    highest: NDArray[np.int32]  # [nodes], the largest label that leads on
    successes: NDArray[np.float64]  # [nodes], words that end here
    failures: NDArray[np.float64]  # [nodes]
    passing: NDArray[np.float64]  # [nodes], words that end here or below


class UndoLog(NamedTuple):
    """What a fold changed."""

    nodes: NDArray[np.int32]  # [nodes], the nodes whose counts changed
    counts: NDArray[np.float64]  # [nodes, 3], their successes, failures and passing words before the fold
    edges: NDArray[np.int32]  # [nodes, 2], node and label of each new edge


def merge_states(
    corpus: Corpus, succeeded: NDArray[np.bool_], labels: int, noise: float, max_states: int, seed: int
) -> NDArray[np.int32]:
    """The successors of the red states when no blue state is left, shape [states, labels].

    Words have symbols 0 .. labels - 1 and flags `succeeded`, shape [words], each wrong with the probability `noise`.
    `seed` draws a part of the words if the tree of all words would be too large.
    """
    fitting = int(np.searchsorted(corpus.offsets, TREE_CELLS // max(labels, 1), side="right")) - 1
    if fitting < len(corpus):
        some = np.sort(np.random.default_rng(seed).permutation(len(corpus))[:fitting])
        corpus, succeeded = corpus.take(some), succeeded[some]
    tree = build_prefix_tree(corpus)
    children = np.full((len(tree), labels), NO_CHILD, np.int32)
    children[tree.parents[1:], tree.symbols[1:]] = np.arange(1, len(tree))
    lowest, highest = np.full(len(tree), labels, np.int32), np.full(len(tree), NO_CHILD, np.int32)
    np.minimum.at(lowest, tree.parents[1:], tree.symbols[1:].astype(np.int32))
    np.maximum.at(highest, tree.parents[1:], tree.symbols[1:].astype(np.int32))
    successes = np.bincount(tree.ends, succeeded, len(tree)).astype(np.float64)
    failures = np.bincount(tree.ends, ~succeeded, len(tree)).astype(np.float64)
    passing = np.bincount(tree.visits, minlength=len(tree)).astype(np.float64)
    merged = MergeTree(children, lowest, highest, successes, failures, passing)
    transitions: NDArray[np.int32] = _merge_red_and_blue(merged, noise, max_states)
    return transitions


@njit(cache=True, nogil=True)
def _merge_red_and_blue(tree, noise, max_states):  # type: ignore[no-untyped-def]
    """Merge until all edges of red states lead to red states; a label that no word read in a state is a loop there."""
    children = tree.children
    nodes = len(children)
    red = [0]
    number = np.full(nodes, NO_CHILD, np.int32)
    number[0] = 0
    log = UndoLog(np.empty(nodes, np.int32), np.empty((nodes, 3)), np.empty((nodes, 2), np.int32))
    while True:
        source, label, most = NO_CHILD, NO_CHILD, -1.0
        for state in red:
            for i in range(children.shape[1]):
                blue = children[state, i]
                if blue != NO_CHILD and number[blue] == NO_CHILD and tree.passing[blue] > most:
                    source, label, most = state, i, tree.passing[blue]
        if source == NO_CHILD:
            break
        blue = children[source, label]
        best, best_saved = NO_CHILD, -np.inf
        for k in range(-1, len(red)):  # the source itself first: of equals, a loop is chosen
            state = source if k < 0 else red[k]
            saved, counted, linked = _fold(tree, state, blue, noise, log)
            _unfold(tree, log, counted, linked)
            if saved > best_saved:
                best, best_saved = state, saved
        if best_saved < 0 and len(red) < max_states:
            number[blue] = len(red)
            red.append(blue)
        else:
            children[source, label] = best
            _fold(tree, best, blue, noise, log)
    transitions = np.empty((len(red), children.shape[1]), np.int32)
    for i in range(len(red)):
        for j in range(children.shape[1]):
            after = children[red[i], j]
            transitions[i, j] = i if after == NO_CHILD else number[after]
    return transitions


@njit(cache=True, nogil=True)
def _fold(tree, state, blue, noise, log):  # type: ignore[no-untyped-def]
    """Merge the tree below `blue` into `state`; returns the bits saved, and how many nodes and edges changed."""
    children, lowest, highest, successes, failures, passing = tree
    saved, counted, linked = 0.0, 0, 0
    left, right = [state], [blue]
    while len(left) > 0:
        into, node = left.pop(), right.pop()
        log.nodes[counted] = into
        log.counts[counted, 0], log.counts[counted, 1] = successes[into], failures[into]
        log.counts[counted, 2] = passing[into]
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
            if below != NO_CHILD:
                if children[into, i] == NO_CHILD:
                    children[into, i] = below
                    lowest[into], highest[into] = min(lowest[into], i), max(highest[into], i)
                    log.edges[linked, 0], log.edges[linked, 1] = into, i
                    linked += 1
                else:
                    left.append(children[into, i])
                    right.append(below)
    return saved, counted, linked


@inner
def _unfold(tree, log, counted, linked):  # type: ignore[no-untyped-def]
    """Undo a `_fold`."""
    for k in range(counted - 1, -1, -1):
        node = log.nodes[k]
        tree.successes[node], tree.failures[node] = log.counts[k, 0], log.counts[k, 1]
        tree.passing[node] = log.counts[k, 2]
    for k in range(linked):
        tree.children[log.edges[k, 0], log.edges[k, 1]] = NO_CHILD


@inner
def _flags(successes, failures, noise):  # type: ignore[no-untyped-def]
    """-log2 of the probability of the flags of one state."""
    a = successes * math.log2(1 - noise) + failures * math.log2(noise)
    b = failures * math.log2(1 - noise) + successes * math.log2(noise)
    return 1 - max(a, b) - math.log2(1 + 2.0 ** (min(a, b) - max(a, b)))
