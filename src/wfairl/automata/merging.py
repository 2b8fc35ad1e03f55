"""State merging: a small deterministic automaton of flagged words, by the description length of automaton and flags.

    bits(A, flags) = table_bits(A) + flag_bits(of the words that end in accepting states) + flag_bits(of the others)

It begins with the tree of all beginnings of words, red and blue (Lang, Pearlmutter and Price 1998): the red states are
part of the automaton; of the blue ones, to which they lead, the one that most words pass is merged with the red one
that fits best, or becomes red itself where none fits. What fits is a matter of bits, too: of flags that end in one
state most agree, each being wrong with a small probability, so two states are one if their flags are cheaper together,

    -log2 1/2 ((1 - e)^successes e^failures + e^successes (1 - e)^failures)        of each state, and of both as one

Long words over many labels share few endings, and merging then sees little. So what it found, or the automaton of a
single state if that is shorter, is improved on all words: an edge is led elsewhere, a state is split for one edge, two
states become one, while that makes the description shorter. Meanwhile each state keeps the share of successes among
the words that end in it, so that what tells more failures from fewer counts before any word is accepted,

    bits(A, flags) = table_bits(A) + sum over states q of flag_bits(of the words that end in q)
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.corpus import Corpus, build_prefix_tree
from wfairl.automata.description_length import flag_bits, table_bits
from wfairl.automata.minimise import Table, minimal
from wfairl.compiling import njit
from wfairl.errors import BadInputError

NONE = -1
"""No successor, in the tree of beginnings."""

TREE_CELLS = 2**26
"""Nodes times labels of that tree at most, a quarter of a gigabyte; of longer words over more labels it has a part."""


@dataclass(frozen=True)
class MergingSettings:
    """Settings of `learn_merged`.

    Attributes:
        max_states: of the automaton, dead ones too.
        max_words: words that the search looks at, a random part if there are more.
        noise: e, the probability that a flag is wrong, where states are merged; the description estimates its own.
        seed: of which words are looked at.
    """

    max_states: int = 24
    max_words: int = 2_000
    noise: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        if self.max_states < 1 or self.max_words < 1:
            raise BadInputError("max_states and max_words: give at least 1")
        if not 0 < self.noise < 0.5:
            raise BadInputError(f"noise is {self.noise:g}; it must lie between 0 and 0.5")
        if self.seed < 0:
            raise BadInputError(f"seed is {self.seed}; it must not be negative")


@dataclass(frozen=True, eq=False)
class MergedAutomaton:
    """What merging learned.

    Attributes:
        table: the automaton, minimal.
        rule_bits: bits of the automaton.
        data_bits: bits of the flags of all words, given the automaton.
    """

    table: Table
    rule_bits: float
    data_bits: float

    @property
    def bits(self) -> float:
        """The whole description."""
        return self.rule_bits + self.data_bits


def learn_merged(
    corpus: Corpus, succeeded: NDArray[np.bool_], labels: int, settings: MergingSettings | None = None
) -> MergedAutomaton:
    """The automaton that describes which words succeeded in the fewest bits.

    Args:
        corpus: words over the symbols 0 .. labels - 1.
        succeeded: whether each word is a success, shape [words].
        labels: size of the alphabet.
        settings: see `MergingSettings`.
    """
    settings = settings or MergingSettings()
    part, flags = corpus, succeeded
    if len(corpus) > settings.max_words:
        chosen = np.sort(np.random.default_rng(settings.seed).choice(len(corpus), settings.max_words, replace=False))
        part, flags = corpus.take(chosen, corpus.weights[chosen]), succeeded[chosen]
    single, merged = np.zeros((1, labels), np.int32), merge_states(part, flags, labels, settings)
    start = min(single, merged, key=lambda transitions: _describe(transitions, part, flags).bits)
    improved = _improve(start, part, flags, settings.max_states)
    return min((_describe(found, corpus, succeeded) for found in (single, start, improved)), key=lambda a: a.bits)


def merge_states(
    corpus: Corpus, succeeded: NDArray[np.bool_], labels: int, settings: MergingSettings
) -> NDArray[np.int32]:
    """The successors of the red states when no blue one is left, shape [states, labels]."""
    fitting = int(np.searchsorted(corpus.offsets, TREE_CELLS // max(labels, 1), side="right")) - 1
    if fitting < len(corpus):
        some = np.sort(np.random.default_rng(settings.seed).permutation(len(corpus))[:fitting])
        corpus, succeeded = corpus.take(some, corpus.weights[some]), succeeded[some]
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
        children, lowest, highest, successes, failures, passing, settings.noise, settings.max_states
    )
    return transitions


def _describe(transitions: NDArray[np.int32], corpus: Corpus, succeeded: NDArray[np.bool_]) -> MergedAutomaton:
    """The automaton with the ends that most words speak for, and its bits on all words."""
    ends = _run(transitions, corpus.symbols, corpus.offsets)
    totals = np.bincount(ends, minlength=len(transitions))
    right = np.bincount(ends, succeeded, len(transitions))
    accepting = 2 * right > totals
    if not accepting.any():  # an automaton accepts something: the words that succeed most often
        accepting[np.argmax(right / np.maximum(totals, 1))] = True
    bits = sum(float(flag_bits(totals[side].sum(), right[side].sum())) for side in (accepting, ~accepting))
    table = minimal(Table(transitions, accepting))
    return MergedAutomaton(table, table_bits(table), bits)


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


def _improve(
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


@njit(cache=True, nogil=True)
def _run(transitions, symbols, offsets):  # type: ignore[no-untyped-def]
    """The state in which each word ends, shape [words]."""
    ends = np.zeros(len(offsets) - 1, np.int64)
    for word in range(len(ends)):
        state = 0
        for i in range(offsets[word], offsets[word + 1]):
            state = transitions[state, symbols[i]]
        ends[word] = state
    return ends
