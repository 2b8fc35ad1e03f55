"""Alignment: the cheapest way to turn a word into one that an automaton accepts.

A case may have events that the automaton does not want there (*extra*), and lack events that it does want (*missing*).
An alignment reads the word from the left. Each move takes an event in both, skips an event of the word, or takes an
event of the automaton alone:

    cost of an alignment = sum of the costs of the extra and of the missing events
    fitness              = 1 - cost / cost of skipping the whole word and taking the cheapest accepted one

This is the shortest path in the product of word and automaton. After i events of the word it has a cost D_i(q) for each
state q. Let M(p, q) be the least cost of the missing events that lead from p to q. A state q with
D_i(p) + M(p, q) <= D_i(q) for another state p can be left out: whatever follows q follows p as cheaply. Few states are
left, and each step looks only at those:

    D_i+1(q) = min( D_i(q) + cost of event i,    min over r with q after r and event i of  D_i(p) + M(p, r) )
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Automaton, Label, as_label
from wfairl.core.automata.word_corpus import encode_all
from wfairl.core.automata.words import Word, as_read, format_label, sort_labels
from wfairl.core.support.compiling import njit
from wfairl.core.support.errors import BadInputError, FailedRunError

MOST_STATES = 4_096
"""Of an automaton that words are aligned with: the costs between its states take 8 bytes for each pair."""

EXTRA = -1
"""Instead of the state in which an event is read: the event is skipped."""

FIRST_PASS = 4
"""States that the first of two passes over a word keeps."""


@dataclass(frozen=True)
class Move:
    """One event of an alignment: whether the word has it, and whether the automaton reads it.

    `place` is the number of events of the word before it.
    """

    label: Label
    place: int
    in_word: bool = True
    in_model: bool = True

    def __str__(self) -> str:
        kind = "" if self.in_word and self.in_model else "extra " if self.in_word else "missing "
        return f"{kind}'{format_label(self.label)}'"


@dataclass(frozen=True)
class Alignment:
    """A cheapest alignment of a word; its fitness is 1 if the automaton accepts the word, else below 1."""

    cost: float
    fitness: float
    moves: tuple[Move, ...]

    @property
    def extra(self) -> tuple[Move, ...]:
        """The events that the automaton does not want."""
        return tuple(move for move in self.moves if not move.in_model)

    @property
    def missing(self) -> tuple[Move, ...]:
        """The events that the word lacks, each with the place where it belongs."""
        return tuple(move for move in self.moves if not move.in_word)


class Aligner:
    """Aligns words with one automaton.

    Args:
        automaton: whose words are wanted.
        labels: what it may take where a word lacks it; labels that it cannot read do no harm.
        costs: of an event that is extra or missing, above 0; 1 for those not named.
    """

    def __init__(
        self, automaton: Automaton, labels: Sequence[Label], costs: Mapping[Label | str, float] | None = None
    ) -> None:
        if automaton.states > MOST_STATES:
            raise FailedRunError(
                f"the automaton has {automaton.states:,} states; words are aligned with at most {MOST_STATES:,}. "
                "Learn a smaller one, or compare words by the sentences that they break"
            )
        self.automaton = automaton
        self.alphabet = sort_labels(labels)
        self.costs = {as_label(label): float(cost) for label, cost in (costs or {}).items()}
        for label, cost in self.costs.items():
            if not 0 < cost < np.inf:
                raise BadInputError(f"the cost of '{format_label(label)}' is {cost:g}; give a number above 0")
        self.between, self.before, self.by = _costs_between(self._columns(self.alphabet), self._prices(self.alphabet))
        self.to_end = np.where(automaton.accepting, self.between, np.inf).min(axis=1)
        if not np.isfinite(self.to_end[0]):
            raise FailedRunError("the automaton accepts no word, so that there is nothing to align with")

    def _prices(self, labels: Sequence[Label]) -> NDArray[np.float64]:
        return np.array([self.costs.get(label, 1.0) for label in labels])

    def _columns(self, labels: Sequence[Label]) -> NDArray[np.int32]:
        """The next state or `DEAD`, shape [labels, states]."""
        columns = np.array([self.automaton.column(label) for label in labels], np.int32)
        return columns.reshape(len(labels), self.automaton.states)

    def measure(self, words: Sequence[Word]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The cost and the fitness of each word, shape [words] each."""
        read = as_read(words, self.automaton.keep_repeats)
        corpus, alphabet = encode_all(read)
        prices = self._prices(alphabet)
        costs = _align_all(corpus.symbols, corpus.offsets, prices, self._columns(alphabet), self.between, self.to_end)
        whole = np.bincount(np.repeat(np.arange(len(read)), corpus.lengths), prices[corpus.symbols], len(read))
        worst = whole + self.to_end[0]
        return costs, 1 - np.divide(costs, worst, out=np.zeros(len(read)), where=worst > 0)

    def align(self, word: Word) -> Alignment:
        """A cheapest alignment of one word."""
        read = as_read([word], self.automaton.keep_repeats)[0]
        corpus, alphabet = encode_all([read])
        shape = (len(read) + 1, self.automaton.states)
        costs, parents, sources = np.empty(shape), np.empty(shape, np.int32), np.empty(shape, np.int32)
        roots, counts = np.empty(shape, np.int32), np.zeros(len(read) + 1, np.int64)
        prices = self._prices(alphabet)
        _align(corpus.symbols, prices, self._columns(alphabet), self.between, roots, counts, costs, parents, sources)
        last = roots[-1, : counts[-1]]
        ends = costs[-1, : counts[-1]] + self.to_end[last]
        root = int(np.argmin(ends))
        end = int(np.argmin(np.where(self.automaton.accepting, self.between[last[root]], np.inf)))
        moves = self._missing(int(last[root]), end, len(read))
        for place in range(len(read), 0, -1):
            source, parent = int(sources[place, root]), int(parents[place, root])
            here = int(roots[place - 1, parent])
            moves.append(Move(read[place - 1], place - 1, in_model=source != EXTRA))
            moves += [] if source == EXTRA else self._missing(here, source, place - 1)
            root = parent
        worst = float(prices[corpus.symbols].sum() + self.to_end[0])
        cost = float(ends.min())
        return Alignment(cost, 1 - cost / worst if worst else 1.0, tuple(reversed(moves)))

    def _missing(self, source: int, target: int, place: int) -> list[Move]:
        """The cheapest events from a state to another one, the last one first."""
        path = [target]
        while path[-1] != source:
            path.append(int(self.before[source, path[-1]]))
        return [Move(self.alphabet[self.by[p, q]], place, in_word=False) for q, p in pairwise(path)]


def _costs_between(
    columns: NDArray[np.int32], prices: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
    """M(p, q), the state before q on the way there, and the cheapest label from p straight to q; [states, states] each.

    `columns` are the next states, shape [labels, states], and `prices` those of the labels.
    """
    states = columns.shape[1]
    by = np.full((states, states), -1, np.int32)
    for label in np.argsort(-prices, kind="stable"):  # the cheapest last, which stays
        source = np.flatnonzero(columns[label] != DEAD)
        by[source, columns[label, source]] = label
    source, target = np.nonzero(by >= 0)
    from scipy.sparse import csr_matrix  # here, because they are slow to import
    from scipy.sparse.csgraph import dijkstra

    graph = csr_matrix((prices[by[source, target]], (source, target)), (states, states))
    between, before = dijkstra(graph, return_predecessors=True)
    return np.asarray(between), np.asarray(before, np.int32), by


@njit(cache=True, nogil=True)
def _align_all(symbols, offsets, prices, columns, between, to_end):  # type: ignore[no-untyped-def]
    """The least cost of each word, shape [words], in the memory of two prefixes.

    A first pass keeps the cheapest states alone. Its cost is a bound: no state that costs as much can be on a cheaper
    way, and the second pass leaves these out.
    """
    words, states = len(offsets) - 1, columns.shape[1]
    roots, costs = np.empty((2, states), np.int32), np.empty((2, states))
    parents, sources = np.empty(states, np.int32), np.empty(states, np.int32)
    result = np.full(words, np.inf)
    for word in range(words):
        for most in (FIRST_PASS, states):
            here, count = 0, 1
            roots[0, 0], costs[0, 0] = 0, 0.0
            for i in range(offsets[word], offsets[word + 1]):
                count = _step(
                    roots[here], costs[here], min(count, most), columns[symbols[i]], prices[symbols[i]], between,
                    result[word], roots[1 - here], costs[1 - here], parents, sources,
                )  # fmt: skip
                here = 1 - here
            for k in range(count):
                result[word] = min(result[word], costs[here, k] + to_end[roots[here, k]])
            if result[word] == 0:
                break
    return result


@njit(cache=True, nogil=True)
def _align(symbols, prices, columns, between, roots, counts, costs, parents, sources):  # type: ignore[no-untyped-def]
    """Fill in, for each prefix of a word, the states that are left, their costs, and how each was reached."""
    roots[0, 0], costs[0, 0], counts[0] = 0, 0.0, 1
    for i in range(len(symbols)):
        counts[i + 1] = _step(
            roots[i], costs[i], counts[i], columns[symbols[i]], prices[symbols[i]], between, np.inf,
            roots[i + 1], costs[i + 1], parents[i + 1], sources[i + 1],
        )  # fmt: skip


@njit(cache=True, nogil=True)
def _step(  # type: ignore[no-untyped-def]
    roots, costs, count, column, price, between, bound, new_roots, new_costs, new_parents, new_sources
):
    """Read one event from `count` states; return how many states below the bound are left after it."""
    states = len(column)
    best, parents, sources = np.full(states, np.inf), np.empty(states, np.int32), np.empty(states, np.int32)
    for k in range(count):
        for r in range(states):
            after, cost = column[r], costs[k] + between[roots[k], r]
            if cost < bound and after != DEAD and cost < best[after]:
                best[after], parents[after], sources[after] = cost, k, r
    for k in range(count):
        cost = costs[k] + price
        if cost < bound and cost < best[roots[k]]:
            best[roots[k]], parents[roots[k]], sources[roots[k]] = cost, k, EXTRA
    reached = np.flatnonzero(best < np.inf)
    number, left = len(reached), 0
    while number:
        state = reached[0]
        for i in range(1, number):
            state = reached[i] if best[reached[i]] < best[state] else state
        new_roots[left], new_costs[left] = state, best[state]
        new_parents[left], new_sources[left] = parents[state], sources[state]
        left += 1
        still = 0
        for i in range(number):  # what this state reaches as cheaply is left out
            if best[state] + between[state, reached[i]] > best[reached[i]]:
                reached[still] = reached[i]
                still += 1
        number = still
    return left
