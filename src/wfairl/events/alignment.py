"""Alignment: the cheapest way to turn a word into one that an automaton accepts.

A case may have events that the automaton does not want there (*extra*), and lack events that it does want (*missing*).
An alignment reads the word from the left. Each move takes an event in both, skips an event of the word, or takes an
event of the automaton alone:

    cost of an alignment = sum of the costs of the extra and of the missing events
    fitness              = 1 - cost / cost of skipping the whole word and taking the cheapest accepted one

This is the shortest path in the product of word and automaton. Let M(p, q) be the least cost of the missing events that
lead from p to q, and D_i(q) the least cost of i events of the word that end in q, D_0(q) = M(0, q). Event i is read or
skipped, and events may be missing after it:

    R(p)     = min over r with p after r and event i of  D_i(r)
    D_i+1(q) = min( D_i(q) + cost of event i,    min over p of  R(p) + M(p, q) )

Most p need no look: those with R(p) >= D_i+1(p) by another state reach nothing more cheaply.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Automaton, Label, as_label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.word_corpus import encode_all
from wfairl.core.automata.words import Word, as_read, format_label, sort_labels
from wfairl.core.support.compiling import njit
from wfairl.core.support.errors import BadInputError, FailedRunError

MOST_STATES = 4_096
"""Of an automaton that words are aligned with: the costs between its states take 8 bytes for each pair."""

NO_COST = 1e-9
"""Costs that differ by no more are equal."""


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
        self.shortest = float(self.between[0, automaton.accepting].min(initial=np.inf))  # cost of the cheapest word
        if not np.isfinite(self.shortest):
            raise FailedRunError("the automaton accepts no word, so that there is nothing to align with")

    @classmethod
    def of(cls, model: TaskModel, costs: Mapping[Label | str, float] | None = None) -> Self:
        """What aligns words with the automaton of a task; it may take the labels that the task knows."""
        return cls(model.finite, tuple(model.labels_seen.union(model.alphabet)), costs)

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
        accepting = np.flatnonzero(self.automaton.accepting)
        costs = _align_all(corpus.symbols, corpus.offsets, prices, self._columns(alphabet), self.between, accepting)
        whole = np.bincount(np.repeat(np.arange(len(read)), corpus.lengths), prices[corpus.symbols], len(read))
        worst = whole + self.shortest
        return costs, 1 - np.divide(costs, worst, out=np.zeros(len(read)), where=worst > 0)

    def align(self, word: Word) -> Alignment:
        """A cheapest alignment of one word; of several, one whose missing events come late."""
        read = as_read([word], self.automaton.keep_repeats)[0]
        corpus, alphabet = encode_all([read])
        prices, columns = self._prices(alphabet)[corpus.symbols], self._columns(alphabet)[corpus.symbols]
        costs = np.empty((len(read) + 1, self.automaton.states))
        costs[0] = self.between[0]
        for i in range(len(read)):
            _read(costs[i], columns[i], prices[i], self.between, costs[i + 1])
        ends = np.where(self.automaton.accepting, costs[-1], np.inf)
        state, moves = int(np.argmin(ends)), list[Move]()
        for i in range(len(read) - 1, -1, -1):
            by_reading = np.full(len(ends), np.inf)
            alive = columns[i] != DEAD
            np.minimum.at(by_reading, columns[i, alive], costs[i, alive])
            on_the_way = np.minimum(by_reading, costs[i] + prices[i]) + self.between[:, state]
            here = int(np.argmax(np.where(on_the_way <= costs[i + 1, state] + NO_COST, self.between[:, state], -1)))
            is_read = bool(by_reading[here] <= costs[i, here] + prices[i])
            moves += [*self._missing(here, state, i + 1), Move(read[i], i, in_model=is_read)]
            state = int(np.argmin(np.where(columns[i] == here, costs[i], np.inf))) if is_read else here
        moves += self._missing(0, state, 0)
        cost, worst = float(ends.min()), float(prices.sum() + self.shortest)
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
def _align_all(symbols, offsets, prices, columns, between, accepting):  # type: ignore[no-untyped-def]
    """The least cost of each word, shape [words], in the memory of two prefixes."""
    result = np.full(len(offsets) - 1, np.inf)
    costs = np.empty((2, columns.shape[1]))
    for word in range(len(result)):
        here = 0
        costs[0] = between[0]
        for i in range(offsets[word], offsets[word + 1]):
            _read(costs[here], columns[symbols[i]], prices[symbols[i]], between, costs[1 - here])
            here = 1 - here
        for state in accepting:
            result[word] = min(result[word], costs[here, state])
    return result


@njit(cache=True, nogil=True)
def _read(costs, column, price, between, after):  # type: ignore[no-untyped-def]
    """Fill in D_i+1, `after`, from D_i, `costs`, for an event that leads each state to the one in `column`."""
    by_reading = np.full(len(column), np.inf)
    for state in range(len(column)):
        if column[state] != DEAD and costs[state] < by_reading[column[state]]:
            by_reading[column[state]] = costs[state]
    for state in range(len(column)):
        after[state] = costs[state] + price
    open_ = np.flatnonzero(by_reading < after)
    number = len(open_)
    while number:
        cheapest, still = open_[0], 0
        for i in range(1, number):
            cheapest = open_[i] if by_reading[open_[i]] < by_reading[cheapest] else cheapest
        cost, onward = by_reading[cheapest], between[cheapest]
        for state in range(len(column)):
            after[state] = min(after[state], cost + onward[state])
        for i in range(number):
            if by_reading[open_[i]] < after[open_[i]]:
                open_[still] = open_[i]
                still += 1
        number = still
