"""Constraints: small rules about the events of a word, after the templates of process mining's Declare.

A constraint is a template with its propositions, such as *precedence(pay, ship)*, "ship only after pay". A template has
its meaning in three forms:

    a sentence for people;
    a test on the first and last place of each proposition in a word, for millions of words at once;
    an automaton of at most four states, which reads which of the propositions a label has. No finite automaton says
    that two events happen equally often: such a constraint is tested only.

A word is judged as a whole: a prefix may break a rule that the word keeps. A label {pay, ship} keeps "ship only after
pay": what holds at the same time counts as after. Only the templates that count tell a label read twice from a label
read once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.word_corpus import Corpus, encode_all
from wfairl.core.automata.words import Word, as_word
from wfairl.core.support.compiling import njit
from wfairl.core.support.errors import BadInputError
from wfairl.events.dfa import Dfa

Indices: TypeAlias = NDArray[np.int64]
Positions: TypeAlias = NDArray[np.int32]
Held: TypeAlias = NDArray[np.bool_]

NOWHERE_FIRST = np.iinfo(np.int32).max
"""The first place of a proposition that a word lacks: after all places."""

NOWHERE_LAST = -1
"""The last place of a proposition that a word lacks: before all places."""


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Where each proposition holds in each word."""

    propositions: tuple[str, ...]
    first: Positions  # the first place, or `NOWHERE_FIRST`; shape [propositions, words]
    last: Positions  # the last place, or `NOWHERE_LAST`; shape [propositions, words]
    counts: Positions  # how many places, shape [propositions, words]
    ends: Positions  # the last place of each word, -1 for the empty one; shape [words]
    corpus: Corpus
    held: Indices  # with `starts`, the propositions of each label; see `numbers_held`
    starts: Indices

    @classmethod
    def of(cls, corpus: Corpus, alphabet: Sequence[Label], propositions: Sequence[str]) -> "Occurrences":
        """The occurrences in a corpus whose symbols are the labels of `alphabet`."""
        held, starts = numbers_held(alphabet, propositions)
        shape = (len(propositions), len(corpus))
        first, last = np.full(shape, NOWHERE_FIRST, np.int32), np.full(shape, NOWHERE_LAST, np.int32)
        counts = np.zeros(shape, np.int32)
        _find_places(corpus.symbols, corpus.offsets, held, starts, first, last, counts)
        ends = (corpus.lengths - 1).astype(np.int32)
        return cls(tuple(propositions), first, last, counts, ends, corpus, held, starts)

    def __len__(self) -> int:
        return len(self.ends)

    def adjacent(self, a: Indices, b: Indices) -> Held:
        """Whether b comes directly after a, for each pair of propositions in each word; shape [pairs, words]."""
        row = np.full((len(self.propositions), len(self.propositions)), -1, np.int64)
        row[a, b] = np.arange(len(a))
        found = np.zeros((len(a), len(self)), bool)
        _find_neighbours(self.corpus.symbols, self.corpus.offsets, self.held, self.starts, row, found)
        return found


def numbers_held(alphabet: Sequence[Label], propositions: Sequence[str]) -> tuple[Indices, Indices]:
    """The propositions of each label by number, one label after another, and where those of each label begin."""
    number = {proposition: i for i, proposition in enumerate(propositions)}
    held = [sorted(number[name] for name in label if name in number) for label in alphabet]
    return np.array([i for numbers in held for i in numbers], np.int64), np.cumsum([0, *map(len, held)])


@njit(cache=True, nogil=True)
def _find_places(symbols, offsets, held, starts, first, last, counts):  # type: ignore[no-untyped-def]
    """Fill in where each proposition holds; label i has the propositions `held[starts[i]:starts[i + 1]]`."""
    for word in range(len(offsets) - 1):
        for i in range(offsets[word], offsets[word + 1]):
            for k in range(starts[symbols[i]], starts[symbols[i] + 1]):
                first[held[k], word] = min(first[held[k], word], i - offsets[word])
                last[held[k], word] = i - offsets[word]
                counts[held[k], word] += 1


@njit(cache=True, nogil=True)
def _find_neighbours(symbols, offsets, held, starts, row, found):  # type: ignore[no-untyped-def]
    """Mark the pairs of propositions of which one comes directly after the other; `row[a, b]` is that of a pair."""
    for word in range(len(offsets) - 1):
        for i in range(offsets[word] + 1, offsets[word + 1]):
            for j in range(starts[symbols[i - 1]], starts[symbols[i - 1] + 1]):
                for k in range(starts[symbols[i]], starts[symbols[i] + 1]):
                    if row[held[j], held[k]] >= 0:
                        found[row[held[j], held[k]], word] = True


@dataclass(frozen=True, eq=False)
class Template:
    """A kind of constraint on one or two propositions.

    Its automaton goes on to `transitions[state]` after a label with neither proposition, a, b, both. The table is empty
    where no finite automaton says the same.
    """

    name: str  # as process mining calls it
    sentence: str  # for people, with `{a}` and `{b}` for the propositions
    denial: str  # the sentence of a word that breaks it
    arguments: int
    holds: Callable[[Occurrences, Indices, Indices], Held]  # from a and b of shape [n] to an array of [n, words]
    transitions: tuple[tuple[int, ...], ...]  # [states, 2 ** arguments]
    accepting: tuple[bool, ...]  # [states]
    symmetric: bool = False  # whether a and b may change places
    counting: bool = False  # whether a repeated label may change the answer

    def choices(self, propositions: int) -> Indices:
        """All choices of its propositions, shape [choices, arguments]."""
        if self.arguments == 1:
            return np.arange(propositions)[:, None]
        pairs = np.argwhere(~np.eye(propositions, dtype=bool))
        return pairs[pairs[:, 0] < pairs[:, 1]] if self.symmetric else pairs


TEMPLATES: tuple[Template, ...] = (
    Template("existence", "{a} happens", "{a} never happens", 1,
             lambda o, a, _: o.last[a] != NOWHERE_LAST,
             ((0, 1), (1, 1)), (False, True)),
    Template("absence", "{a} never happens", "{a} happens", 1,
             lambda o, a, _: o.last[a] == NOWHERE_LAST,
             ((0, 1), (1, 1)), (True, False)),
    Template("precedence", "{b} only after {a}", "{b} happens, and no {a} before it", 2,
             lambda o, a, b: o.first[a] <= o.first[b],
             ((0, 1, 2, 1), (1, 1, 1, 1), (2, 2, 2, 2)), (True, True, False)),
    Template("response", "after {a} comes {b}", "{a} happens, and no {b} after it", 2,
             lambda o, a, b: o.last[a] <= o.last[b],
             ((0, 1, 0, 0), (1, 1, 0, 0)), (True, False)),
    Template("responded existence", "if {a} happens, {b} happens too", "{a} happens without {b}", 2,
             lambda o, a, b: (o.last[a] == NOWHERE_LAST) | (o.last[b] != NOWHERE_LAST),
             ((0, 1, 2, 2), (1, 1, 2, 2), (2, 2, 2, 2)), (True, False, True)),
    Template("order", "no {a} once {b} has happened", "{a} happens once {b} has happened", 2,
             lambda o, a, b: o.last[a] < o.first[b],
             ((0, 0, 1, 2), (1, 2, 1, 2), (2, 2, 2, 2)), (True, True, False)),
    Template("not co-existence", "{a} and {b} never both happen", "{a} and {b} both happen", 2,
             lambda o, a, b: (o.last[a] == NOWHERE_LAST) | (o.last[b] == NOWHERE_LAST),
             ((0, 1, 2, 3), (1, 1, 3, 3), (2, 3, 2, 3), (3, 3, 3, 3)), (True, True, True, False), symmetric=True),
    Template("choice", "{a} or {b} happens", "neither {a} nor {b} happens", 2,
             lambda o, a, b: (o.last[a] != NOWHERE_LAST) | (o.last[b] != NOWHERE_LAST),
             ((0, 1, 1, 1), (1, 1, 1, 1)), (False, True), symmetric=True),
    Template("init", "it begins with {a}", "it does not begin with {a}", 1,
             lambda o, a, _: o.first[a] == 0,
             ((2, 1), (1, 1), (2, 2)), (False, True, False)),
    Template("end", "it ends with {a}", "it does not end with {a}", 1,
             lambda o, a, _: (o.last[a] == o.ends) & (o.ends >= 0),
             ((0, 1), (0, 1)), (False, True)),
    Template("at most once", "{a} happens at most once", "{a} happens at least twice", 1,
             lambda o, a, _: o.counts[a] <= 1,
             ((0, 1), (1, 2), (2, 2)), (True, True, False), counting=True),
    Template("exactly once", "{a} happens exactly once", "{a} does not happen exactly once", 1,
             lambda o, a, _: o.counts[a] == 1,
             ((0, 1), (1, 2), (2, 2)), (False, True, False), counting=True),
    Template("not chain succession", "{b} never directly after {a}", "{b} comes directly after {a}", 2,
             lambda o, a, b: ~o.adjacent(a, b),
             ((0, 1, 0, 1), (0, 1, 2, 2), (2, 2, 2, 2)), (True, True, False), counting=True),
    Template("equally often", "{a} happens as often as {b}", "{a} does not happen as often as {b}", 2,
             lambda o, a, b: o.counts[a] == o.counts[b],
             (), (), symmetric=True, counting=True),
)  # fmt: skip
"""Every template. If the words do not tell two constraints apart, the template that stands first here is preferred."""


@dataclass(frozen=True)
class EventConstraint:
    """A template with its propositions."""

    template: Template
    propositions: tuple[str, ...]

    def __post_init__(self) -> None:
        if not len(self.propositions) == len(set(self.propositions)) == self.template.arguments:
            raise BadInputError(
                f"{self.template.name} takes {self.template.arguments} different propositions, not "
                f"{', '.join(self.propositions) or 'none'}"
            )
        if self.template.symmetric:
            object.__setattr__(self, "propositions", tuple(sorted(self.propositions)))

    @classmethod
    def of(cls, name: str, *propositions: str) -> "EventConstraint":
        """The constraint by the name of its template: `EventConstraint.of("precedence", "pay", "ship")`."""
        templates = {template.name: template for template in TEMPLATES}
        if name not in templates:
            raise BadInputError(f"no template {name!r}; there are {', '.join(templates)}")
        return cls(templates[name], propositions)

    @property
    def sentence(self) -> str:
        return self._fill(self.template.sentence)

    @property
    def denial(self) -> str:
        """What is so if the constraint is broken, for people."""
        return self._fill(self.template.denial)

    def _fill(self, text: str) -> str:
        return text.format(**dict(zip("ab", self.propositions, strict=False)))

    @property
    def is_finite(self) -> bool:
        """Whether an automaton, and so a formula, can say it."""
        return bool(self.template.transitions)

    def holds(self, occurrences: Occurrences) -> Held:
        """Whether each word keeps it, shape [words]."""
        numbers = np.array([occurrences.propositions.index(name) for name in self.propositions])
        return self.template.holds(occurrences, numbers[:1], numbers[-1:])[0]

    def table(self, alphabet: Sequence[Label]) -> Dfa:
        """The automaton of the words over an alphabet that keep it."""
        if not self.is_finite:
            raise BadInputError(f"no finite automaton says '{self.sentence}'")
        kinds = [sum((name in label) << i for i, name in enumerate(self.propositions)) for label in alphabet]
        rows = np.array(self.template.transitions, np.int32)
        return Dfa(rows[:, np.array(kinds, np.int64)], np.array(self.template.accepting))


def all_held(constraints: Sequence[EventConstraint], occurrences: Occurrences) -> Held:
    """Whether each word keeps each constraint, shape [constraints, words]."""
    held = np.array([one.holds(occurrences) for one in constraints], bool)
    return held.reshape(len(constraints), len(occurrences))


def kept_by(constraints: Sequence[EventConstraint], words: Sequence[Word]) -> Held:
    """The same of words as they are; an event that no constraint names is like any other."""
    corpus, alphabet = encode_all([*map(as_word, words)])
    names = sorted({name for one in constraints for name in one.propositions})
    return all_held(constraints, Occurrences.of(corpus, alphabet, names))
