"""FiniteAutomaton: the finite quotient of a weighted automaton that a planner can search.

Words are compressed unless repeats are kept: consecutive equal labels count once. So a state is the pair (WFA state
alpha, last label), and reading the last label again leaves it as it is.

A state u is identified by the values of its continuations, h(u v) for a finite set of suffixes v that tells all WFA
states apart. States with the same last label are merged when these values agree within a tolerance. A state is live
if acceptance can be reached from it; the others are dropped.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Arrow, Automaton, Guard, Label, StateNumber
from wfairl.core.automata.weighted import WeightedAutomaton, span_of_products
from wfairl.core.automata.word_corpus import Corpus, encode
from wfairl.core.automata.words import Word, as_read, as_word, format_label
from wfairl.core.support.bounds import NotNegative
from wfairl.core.support.documents import Listed, parse_fields, plain_fields
from wfairl.core.support.errors import BadInputError, FailedRunError

DEFAULT_TOLERANCE = 1e-6
MOST_QUOTIENT_STATES = 10_000

SUFFIX_TOLERANCE = 1e-8
"""A suffix counts as new if more than this share of it lies outside the span of the suffixes before it."""

DEVIATION_WORDS = 200
"""Random words on which the deviation from the weighted automaton is measured, beside the given ones."""

LONGEST_DEVIATION_WORD = 40

SCORE_ROUNDING = 1e-9
"""A value that misses the threshold by less was meant to reach it, such as the mean of scores 0 and 1."""

NO_LABEL = -1
"""The last label of the initial state, in arrays."""


class TooManyStatesError(FailedRunError):
    """The weighted automaton reaches more states than the limit allows."""


class NoAcceptedWordError(FailedRunError):
    """No word that the automaton can read reaches the threshold."""


@dataclass(frozen=True, eq=False)
class FiniteAutomaton(Automaton):
    """A table over the live states; labels outside the alphabet lead to `DEAD`."""

    kind: ClassVar[str] = "finite"  # in files

    alphabet: tuple[Label, ...]  # the labels it can read
    # next state or `DEAD`, shape [states, labels]
    transitions: Annotated[NDArray[np.int32], Listed(tuple[tuple[StateNumber, ...], ...], np.int32)]
    accepting: Annotated[NDArray[np.bool_], Listed(tuple[bool, ...], bool)]
    values: Annotated[NDArray[np.float64], Listed(tuple[float, ...], float)]  # of a word that ends here, shape [states]
    last_labels: tuple[Label | None, ...]  # the label that was read last, None where that does not matter; [states]
    keep_repeats: bool = False
    closed: bool = True  # whether every reachable state was explored; if not, unexplored ones count as dead
    tolerance: NotNegative = 0.0  # states were merged within this difference of values
    deviation: NotNegative = 0.0  # largest difference measured between `values` and the weighted automaton
    _index: dict[Label, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        shape = (len(self.accepting), len(self.alphabet))
        if self.transitions.shape != shape or not len(self.accepting):
            raise BadInputError(f"transitions have the shape {self.transitions.shape} where {shape} fits the rest")
        if len(set(self.alphabet)) != len(self.alphabet):
            raise BadInputError("a label occurs twice in the alphabet")
        if len(self.values) != len(self.accepting) or len(self.last_labels) != len(self.accepting):
            raise BadInputError(f"values and last labels must be as many as the {len(self.accepting)} states")
        if not ((self.transitions >= DEAD) & (self.transitions < len(self.accepting))).all():
            raise BadInputError(f"a transition leads to none of the {len(self.accepting)} states")
        object.__setattr__(self, "_index", {label: i for i, label in enumerate(self.alphabet)})

    @property
    def propositions(self) -> frozenset[str]:
        return frozenset().union(*self.alphabet)

    def column(self, label: Label) -> NDArray[np.int32]:
        if label not in self._index:
            return np.full(self.states, DEAD, np.int32)
        return self.transitions[:, self._index[label]]

    def guarded_edges(self, propositions: Collection[str]) -> list[tuple[int, Guard, int]]:
        everything = frozenset(propositions)
        return [(q, Guard(label, everything - label), to) for q, label, to in self.edges() if to != q]

    def accepts_all(self, words: Sequence[Word]) -> NDArray[np.bool_]:
        ends = end_states(self.transitions, encode([*map(as_word, words)], self.alphabet))
        return (ends != DEAD) & self.accepting[ends]

    def arrows(self) -> list[Arrow]:
        return [Arrow(source, target, format_label(label), label.__eq__) for source, label, target in self.edges()]

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind, **plain_fields(self)}

    @classmethod
    def from_document(cls, document: Any) -> "FiniteAutomaton":
        """The automaton that `to_document` wrote."""
        return parse_fields(cls, document)

    def edges(self) -> list[tuple[int, Label, int]]:
        """Source, label and target of each live transition, without loops that read the last label again."""
        return [
            (source, label, int(target))
            for source in range(self.states)
            for label, target in zip(self.alphabet, self.transitions[source], strict=True)
            if target != DEAD and not (target == source and label == self.last_labels[source])
        ]


def quotient(
    automaton: WeightedAutomaton,
    threshold: float = 0.5,
    tolerance: float = DEFAULT_TOLERANCE,
    max_states: int = MOST_QUOTIENT_STATES,
    keep_repeats: bool = False,
    words: Sequence[Word] = (),
    allow_open: bool = False,
) -> FiniteAutomaton:
    """The finite automaton that accepts the words of value at least `threshold`.

    Args:
        automaton: the weighted automaton h.
        threshold: xi of the paper.
        tolerance: states are merged when the values of their continuations agree within it.
        max_states: explore at most this many states, live or not.
        keep_repeats: read a label also when it equals the last one.
        words: words on which the deviation is measured, beside random ones.
        allow_open: stop at `max_states` with `closed` false instead of raising.

    Raises:
        TooManyStatesError: more than `max_states` states can be reached.
        NoAcceptedWordError: no live state is left.
    """
    explored = _explore(automaton, tolerance, max_states, keep_repeats)
    if not explored.closed and not allow_open:
        raise does_not_close(automaton, tolerance, max_states)
    accepting = explored.values >= threshold - SCORE_ROUNDING
    live = live_states(explored.transitions, accepting)
    if not live[0]:
        raise NoAcceptedWordError(
            f"no word reaches the threshold {threshold:g} (the highest value met is {explored.values.max():.6g}); "
            "lower the threshold, or learn with the full basis and a larger rank"
        )
    number = np.full(len(live) + 1, DEAD, np.int32)  # the entry past the end is that of DEAD itself
    number[np.flatnonzero(live)] = np.arange(live.sum())
    last = [None if i == NO_LABEL else automaton.alphabet[i] for i in explored.last_labels[live]]
    return FiniteAutomaton(
        alphabet=automaton.alphabet,
        transitions=number[explored.transitions[live]],
        accepting=accepting[live],
        values=explored.values[live],
        last_labels=tuple(last),
        keep_repeats=keep_repeats,
        closed=explored.closed,
        tolerance=tolerance,
        deviation=_deviation(automaton, explored, keep_repeats, words),
    )


def does_not_close(automaton: WeightedAutomaton, tolerance: float, max_states: int) -> TooManyStatesError:
    """The error for a weighted automaton without a finite quotient within the limits."""
    return TooManyStatesError(
        f"the weighted automaton of rank {automaton.rank} reaches more than {max_states} states. "
        "A basis cut short (rows, cols) or a rank below that of the data does this: learn with the full basis, "
        f"or merge more states with a tolerance above {tolerance:g}, or raise max_states"
    )


@dataclass(frozen=True)
class _Explored:
    """All states met, live or not; `DEAD` is the state from which every value is zero."""

    transitions: NDArray[np.int32]  # [states, labels]
    values: NDArray[np.float64]  # h of the word that led to each state first
    last_labels: NDArray[np.int64]  # index of the last label or `NO_LABEL`
    closed: bool  # whether all successors of all states were explored


def _explore(automaton: WeightedAutomaton, tolerance: float, max_states: int, keep_repeats: bool) -> _Explored:
    """Explore breadth first from alpha_0, merging states as they come."""
    # W_v beta for suffixes v, shortest first, that span what any suffix can tell; shape [m, tests].
    tests = span_of_products(automaton.final, automaton.transitions.transpose(0, 2, 1), SUFFIX_TOLERANCE).T
    labels = len(automaton.alphabet)
    alphas, last_labels = [automaton.initial], [NO_LABEL]
    states_after = {NO_LABEL: _StatesByValues(tests.shape[1])}
    states_after[NO_LABEL].add(automaton.initial @ tests, 0)
    rows: list[NDArray[np.int32]] = []
    closed = True
    while len(rows) < len(alphas):
        state = len(rows)
        nexts = alphas[state] @ automaton.transitions  # [labels, m]
        residuals = nexts @ tests  # [labels, tests]: h(u sigma v)
        row = np.full(labels, DEAD, np.int32)
        for i in np.flatnonzero(np.abs(residuals).max(axis=1, initial=0.0) > tolerance):
            if i == last_labels[state] and not keep_repeats:
                continue
            kept_label = NO_LABEL if keep_repeats else int(i)
            among = states_after.setdefault(kept_label, _StatesByValues(tests.shape[1]))
            row[i] = among.find(residuals[i], tolerance)
            if row[i] == DEAD and len(alphas) < max_states:
                row[i] = len(alphas)
                among.add(residuals[i], len(alphas))
                alphas.append(nexts[i])
                last_labels.append(kept_label)
            elif row[i] == DEAD:
                closed = False
        if last_labels[state] != NO_LABEL:
            row[last_labels[state]] = state
        rows.append(row)
    values = np.array(alphas) @ automaton.final
    return _Explored(np.array(rows, np.int32).reshape(len(rows), labels), values, np.array(last_labels), closed)


class _StatesByValues:
    """The states with one last label, by the values of their continuations."""

    def __init__(self, tests: int) -> None:
        self.residuals = np.empty((16, tests))  # grows by doubling
        self.numbers: list[int] = []

    def find(self, residual: NDArray[np.float64], tolerance: float) -> int:
        """The nearest known state within the tolerance, or `DEAD`."""
        if not self.numbers:
            return DEAD
        distances = np.abs(self.residuals[: len(self.numbers)] - residual).max(axis=1, initial=0.0)
        nearest = int(distances.argmin())
        return self.numbers[nearest] if distances[nearest] <= tolerance else DEAD

    def add(self, residual: NDArray[np.float64], number: int) -> None:
        if len(self.numbers) == len(self.residuals):
            self.residuals = np.vstack([self.residuals, np.empty_like(self.residuals)])
        self.residuals[len(self.numbers)] = residual
        self.numbers.append(number)


def live_states(transitions: NDArray[np.int32], accepting: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which states of a table, with `DEAD` or complete, can reach an accepting one, shape [states]."""
    live = np.append(accepting, False)  # the entry past the end is that of DEAD
    while True:
        grown = live.copy()
        grown[:-1] |= live[transitions].any(axis=1)
        if (grown == live).all():
            return live[:-1]
        live = grown


def _deviation(automaton: WeightedAutomaton, explored: _Explored, keep_repeats: bool, words: Sequence[Word]) -> float:
    """The largest |value of the state reached - h(word)| over the given words and random ones."""
    rng = np.random.default_rng(0)  # a measurement, not an experiment: the same each time
    labels, longest = len(automaton.alphabet), min(2 * automaton.rank + 1, LONGEST_DEVIATION_WORD)
    random_words = [
        tuple(automaton.alphabet[i] for i in rng.integers(labels, size=rng.integers(1, longest + 1)))
        for _ in range(DEVIATION_WORDS if labels else 0)
    ]
    read = as_read((*dict.fromkeys(words), *random_words), keep_repeats)
    ends = end_states(explored.transitions, encode(read, automaton.alphabet))
    values = np.append(explored.values, 0.0)  # the last entry is that of DEAD
    return float(np.abs(automaton.values(read) - values[ends]).max(initial=0.0))


def end_states(transitions: NDArray[np.int32], corpus: Corpus) -> NDArray[np.int32]:
    """The state in which each word ends, shape [words]; unknown labels lead to `DEAD`."""
    table = np.full((len(transitions) + 1, transitions.shape[1] + 1), DEAD, np.int32)
    table[:-1, :-1] = transitions  # the last row is that of DEAD, the last column that of UNKNOWN, both -1
    ends, alive, depth = np.zeros(len(corpus), np.int32), np.arange(len(corpus)), 0
    while len(alive := alive[corpus.lengths[alive] > depth]):
        ends[alive] = table[ends[alive], corpus.symbols[corpus.offsets[alive] + depth]]
        depth += 1
    return ends
