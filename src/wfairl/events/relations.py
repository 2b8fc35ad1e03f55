"""Relations: how often each event comes before, after, between, beside and as often as each other one.

The cases of a process have much in common that no single constraint says. So every relation between two events is
counted in a log, and a case is as far off as its relations are rare there. For an outcome of a relation that n of N
occurrences had (such as "no pay before this ship"), the surprise is

    -log((n + 1/2) / (N + 1))    if n <= RARE N,    else 0

One misplaced event breaks many relations. So events are blamed one by one: the event whose relations surprise most
first, and with it all its surprise w_k goes, until none is left:

    deviation(case) = sum over blamed events k of sqrt(w_k)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.word_corpus import Corpus, encode_all
from wfairl.core.automata.words import Word
from wfairl.core.support.bounds import Count
from wfairl.core.support.compiling import njit
from wfairl.core.support.documents import Listed
from wfairl.core.support.errors import BadInputError
from wfairl.events.constraints import numbers_held

RARE = 0.02
"""An outcome that at most this share of occurrences had is a surprise. It was chosen on eight logs."""

MOST_COUNTED = 16
"""Occurrences in one case that are told apart; more are counted as this many."""

MOST_PROPOSITIONS = 400
"""Propositions of which relations are counted: the most frequent ones. The tables grow with the square."""

Counts = NDArray[np.int64]
Row = tuple[Count, ...]


@dataclass(frozen=True, eq=False)
class Relations:
    """The relations of a log, counted. P is the number of propositions.

    The places are those of b beside an event with a: before it, before it since the last a, after it, after it until
    the next a.
    """

    propositions: tuple[str, ...]
    cases: Count
    # events with each proposition, shape [P]
    occurrences: Annotated[Counts, Listed(Row, np.int64)]
    # events with a that have b there, shape [4, P, P]
    places: Annotated[Counts, Listed(tuple[tuple[Row, ...], ...], np.int64)]
    # cases with a and b; on the diagonal, cases with a; shape [P, P]
    together: Annotated[Counts, Listed(tuple[Row, ...], np.int64)]
    # cases that have a as often as b, shape [P, P]
    equal: Annotated[Counts, Listed(tuple[Row, ...], np.int64)]
    # cases that have a so many times, shape [P, MOST_COUNTED + 1]
    often: Annotated[Counts, Listed(tuple[Row, ...], np.int64)]
    # how often b comes directly after a, shape [P + 2, P + 2]; P is the beginning, P + 1 the end
    follows: Annotated[Counts, Listed(tuple[Row, ...], np.int64)]

    def __post_init__(self) -> None:
        size = len(self.propositions)
        square, often = (size, size), (size, MOST_COUNTED + 1)
        shapes = {"occurrences": (size,), "places": (4, *square), "together": square, "equal": square, "often": often}
        for name, shape in {**shapes, "follows": (size + 2, size + 2)}.items():
            table = getattr(self, name)
            if table.shape != shape and (table.size or np.prod(shape)):
                raise BadInputError(f"the relations have the table {name} of shape {table.shape} where {shape} fits")
            object.__setattr__(self, name, table.reshape(shape))  # a list of no rows does not tell their length

    @classmethod
    def of(cls, corpus: Corpus, alphabet: Sequence[Label]) -> "Relations":
        """The relations in a corpus whose symbols are the labels of `alphabet`."""
        every = sorted(frozenset().union(*alphabet))
        names = tuple(every[i] for i in most_frequent(corpus, alphabet, every, MOST_PROPOSITIONS))
        size = len(names)
        ones, none = np.ones((size, size)), np.zeros((size, MOST_COUNTED + 1))
        weights = np.ones((5, 2, size, size)), np.stack([0 * ones, ones]), none, np.ones((size + 2, size + 2))
        counted, often = np.zeros((KINDS, size + 2, size + 2)), none.astype(np.int64)
        _count(corpus.symbols, corpus.offsets, *numbers_held(alphabet, names), size, *weights, counted, often)
        follows, inner = counted[FOLLOWS].astype(np.int64), counted[:, :size, :size].astype(np.int64)
        occurrences = np.diagonal(inner[BEFORE] + inner[BEFORE + LACKING])
        equal = inner[EQUAL] + inner[EQUAL].T + len(corpus) * np.eye(size, dtype=np.int64)
        return cls(names, len(corpus), occurrences, inner[:TOGETHER], inner[TOGETHER], equal, often, follows)

    @cached_property
    def surprise(self) -> tuple[NDArray[np.float64], ...]:
        """The surprise of each outcome.

        Of places and together where they hold not and hold, shape [5, 2, P, P]; of equal likewise, shape [2, P, P]; of
        numbers of occurrences, shape [P, MOST_COUNTED + 1]; of what follows, shape [P + 2, P + 2].
        """
        having = np.diagonal(self.together)
        active = np.array([*[self.occurrences] * 4, having])[:, :, None]
        held = np.concatenate([self.places, self.together[None]])
        places = np.stack([_surprise(active - held, active), _surprise(held, active)], axis=1)
        places *= 1 - np.eye(len(self.propositions))
        equal = np.stack([_surprise(self.cases - self.equal, self.cases), _surprise(self.equal, self.cases)])
        follows = _surprise(self.follows, self.follows.sum(axis=1, keepdims=True))
        return places, equal, _surprise(self.often, self.cases), follows

    def deviations(self, words: Sequence[Word]) -> NDArray[np.float64]:
        """How far off each word is, shape [words]; 0 where nothing is rare. Unknown events have no relations."""
        corpus, alphabet = encode_all(words)
        held = numbers_held(alphabet, self.propositions)
        result: NDArray[np.float64] = _deviations(corpus.symbols, corpus.offsets, *held, *self.surprise)
        return result

    def reasons(self, word: Word, most: int = 4) -> list[str]:
        """What is off in a word, in words: the rarest relation of each event that is to blame, the worst first."""
        corpus, alphabet = encode_all([word])
        size = len(self.propositions)
        by_kind = np.zeros((KINDS, size + 2, size + 2))
        counts = _weigh(corpus.symbols, *numbers_held(alphabet, self.propositions), size, *self.surprise, by_kind)
        unknown = sorted({name for label in word for name in label} - {*self.propositions})
        texts = [f"unknown event '{name}'" for name in unknown[:most]]
        for blamed, _ in _blame(by_kind.sum(axis=0))[: most - len(texts)]:
            texts.append(self._reason(blamed, by_kind, counts))
            by_kind[:, blamed], by_kind[:, :, blamed] = 0, 0
        return texts

    def _reason(self, blamed: int, by_kind: NDArray[np.float64], counts: Counts) -> str:
        names = self.propositions
        if by_kind[OFTEN, blamed, blamed] > 0:
            return f"no {names[blamed]}" if not counts[blamed] else f"{names[blamed]} {_times(counts[blamed])}"
        mine = np.zeros_like(by_kind)
        mine[:, blamed], mine[:, :, blamed] = by_kind[:, blamed], by_kind[:, :, blamed]
        if mine[:FOLLOWS].any():  # what is lacking or out of order says more than what stands side by side
            mine[FOLLOWS] = 0
        kind, a, b = (int(i) for i in np.unravel_index(int(np.argmax(mine)), mine.shape))
        if kind == EQUAL:
            return _compared(names[a], int(counts[a]), names[b], int(counts[b]))
        if a == len(names):
            return f"it begins with {names[b]}"
        if b == len(names) + 1:
            return f"it ends with {names[a]}"
        return PHRASES[kind].format(a=names[a], b=names[b])


NO_SHARE = 1e-9
"""Shares of surprise that differ by no more are equal."""

BEFORE, SINCE, AFTER, UNTIL, TOGETHER = range(5)
LACKING, EQUAL, OFTEN, FOLLOWS = 5, 10, 11, 12
KINDS = 13
"""Kinds of surprises: a relation that holds and should not, then (from `LACKING` on) one that should, then the rest."""

PHRASES = {
    BEFORE: "{a} after {b}",
    SINCE: "{a} after {b}",
    AFTER: "{a} before {b}",
    UNTIL: "{a} before {b}",
    TOGETHER: "{a} and {b} both",
    LACKING + BEFORE: "{a} without {b} before",
    LACKING + SINCE: "{a} again without {b} between",
    LACKING + AFTER: "{a} without {b} after",
    LACKING + UNTIL: "{a} again without {b} between",
    LACKING + TOGETHER: "{a} without {b}",
    FOLLOWS: "{b} directly after {a}",
}


def _compared(a: str, often_a: int, b: str, often_b: int) -> str:
    """How often two events happen, where the comparison is what is unusual."""
    if often_a and often_b:
        return f"{a} {_times(often_a)}, {'' if often_a == often_b else 'not '}as often as {b}"
    return f"neither {a} nor {b}" if often_a == often_b else f"{a} without {b}" if often_a else f"{b} without {a}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(int(count), f"{count} times")


def _surprise(count: NDArray[Any], total: Any) -> NDArray[np.float64]:
    count, total = np.broadcast_arrays(count, total)
    found = -np.log((count + 0.5) / (total + 1.0))
    return np.where((total > 0) & (count <= RARE * total), found, 0.0)


def most_frequent(
    corpus: Corpus, alphabet: Sequence[Label], propositions: Sequence[str], limit: int
) -> NDArray[np.int64]:
    """Indices of the propositions that hold most often, rising; of all propositions if the limit allows it."""
    held, starts = numbers_held(alphabet, propositions)
    times = np.repeat(np.bincount(corpus.symbols, minlength=len(alphabet)), np.diff(starts))
    often = np.bincount(held, times, len(propositions))
    return np.sort(np.argsort(-often, kind="stable")[:limit])


@njit(cache=True, nogil=True)
def _count(symbols, offsets, held, starts, size, places, equal, often, follows, out, numbers):  # type: ignore[no-untyped-def]
    """Add the relations of all words as `_weigh` does, and the cases that have each proposition so many times."""
    for word in range(len(offsets) - 1):
        part = symbols[offsets[word] : offsets[word + 1]]
        total = _weigh(part, held, starts, size, places, equal, often, follows, out)
        for a in range(size):
            numbers[a, min(total[a], MOST_COUNTED)] += 1


@njit(cache=True, nogil=True)
def _weigh(symbols, held, starts, size, places, equal, often, follows, out):  # type: ignore[no-untyped-def]
    """Add the weights of the relations of one word, which have the shapes of `Relations.surprise`, to `out`.

    `out` has the shape [KINDS, P + 2, P + 2], or [1, ..] for the sum of all kinds. Returns how often the word has each
    proposition.
    """
    apart = len(out) > 1
    near, total = np.empty(size, np.int64), np.zeros(size, np.int64)
    before = np.full(1, size)
    for first in (AFTER, BEFORE):  # backward and forward; `near` is the step of the last event with each proposition
        near[:] = -1
        for step in range(len(symbols)):
            symbol = symbols[step if first == BEFORE else len(symbols) - 1 - step]
            here = held[starts[symbol] : starts[symbol + 1]]
            for a in here:
                for b in range(size):
                    for kind in (first, first + 1):
                        holds = near[b] > (-1 if kind == first else near[a])
                        out[(kind if holds else kind + LACKING) if apart else 0, a, b] += places[kind, int(holds), a, b]
                if first == BEFORE:
                    total[a] += 1
                    for c in before:
                        out[FOLLOWS if apart else 0, c, a] += follows[c, a]
            near[here] = step
            before = here if first == BEFORE and len(here) else before
    for a in before:
        out[FOLLOWS if apart else 0, a, size + 1] += follows[a, size + 1]
    for a in range(size):
        out[OFTEN if apart else 0, a, a] += often[a, min(total[a], MOST_COUNTED)]
        for b in range(size):
            if total[a] > 0:
                kind = TOGETHER if total[b] > 0 else TOGETHER + LACKING
                out[kind if apart else 0, a, b] += places[TOGETHER, int(total[b] > 0), a, b]
            if a < b:
                out[EQUAL if apart else 0, a, b] += equal[int(total[a] == total[b]), a, b]
    return total


@njit(cache=True, nogil=True)
def _deviations(symbols, offsets, held, starts, places, equal, often, follows):  # type: ignore[no-untyped-def]
    """The deviation of each word, shape [words]."""
    size = len(often)
    out = np.empty((1, size + 2, size + 2))
    result = np.zeros(len(offsets) - 1)
    for word in range(len(result)):
        out[:] = 0
        part = symbols[offsets[word] : offsets[word + 1]]
        _weigh(part, held, starts, size, places, equal, often, follows, out)
        for _, surprise in _blame(out[0]):
            result[word] += np.sqrt(surprise)
    return result


@njit(cache=True, nogil=True)
def _blame(weights):  # type: ignore[no-untyped-def]
    """The propositions to blame, the worst first, each with its surprise; weights of shape [P + 2, P + 2] change."""
    shares, blamed = np.zeros(len(weights) - 2), [(0, 0.0)][:0]
    for a in range(len(shares)):
        for b in range(len(weights)):
            shares[a] += weights[a, b] + (weights[b, a] if a != b else 0.0)
    for _ in shares:
        worst = 0
        for a in range(len(shares)):  # of equal shares the first, whatever their last digits are
            worst = a if shares[a] > shares[worst] + NO_SHARE else worst
        if shares[worst] <= NO_SHARE:
            break
        blamed.append((worst, shares[worst]))
        shares -= weights[worst, : len(shares)] + weights[: len(shares), worst]
        weights[worst], weights[:, worst], shares[worst] = 0.0, 0.0, 0.0
    return blamed
