"""Constraints: small rules that a task may have beside its automaton, three kinds of sentences.

    never p [after a] [until b]      p must not hold: at all; once a has held; before b has held; between the two
    p [or q] needed [after a]        p, or q instead, must have held when the task ends; after every a
    p unseen                         nobody has shown what p entails: only a word without p is sure to be right

A constraint reads labels as an automaton of two states does. It does not count: a label that is read twice in a row is
read once. What holds at the same time as b, or as p that is needed, comes in time. While something is still needed the
task does not end: what would end it changes nothing, and may be done again afterwards.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard, Label
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.support.compiling import njit


class Constraint(NamedTuple):
    """A sentence about one to three propositions.

    Attributes:
        kind: what is said about the proposition.
        proposition: what it is about.
        after: the proposition that sets it in force; None if it is in force from the beginning.
        until: the proposition that ends it; None if nothing does.
        instead: the proposition that does as well, where one is needed; None if nothing does.
    """

    kind: Literal["never", "needed", "unseen"]
    proposition: str
    after: str | None = None
    until: str | None = None
    instead: str | None = None

    def __str__(self) -> str:
        what = self.proposition if self.instead is None else f"{self.proposition} or {self.instead}"
        text = f"never {what}" if self.kind == "never" else f"{what} {self.kind}"
        after = "" if self.after is None else f" after {self.after}"
        return text + after + ("" if self.until is None else f" until {self.until}")

    @property
    def propositions(self) -> tuple[str, ...]:
        """All that it names."""
        return tuple(one for one in (self.proposition, self.after, self.until, self.instead) if one is not None)

    def automaton(self) -> GuardedAutomaton:
        """Accepts the words that keep the constraint."""
        return _automaton(self)


@lru_cache(maxsize=4096)
def _automaton(constraint: Constraint) -> GuardedAutomaton:
    p, after, until = Guard(frozenset({constraint.proposition})), constraint.after, constraint.until
    fulfilling = {one for one in (constraint.proposition, constraint.instead) if one is not None}
    starts_in_force = after is None
    force, rest = (0, 1) if starts_in_force else (1, 0)
    in_force: tuple[Edge, ...]
    if constraint.kind == "needed":
        in_force, unless = tuple(Edge(Guard(frozenset({one})), rest) for one in sorted(fulfilling)), fulfilling
    else:
        in_force, unless = (Edge(p, DEAD),), set() if until is None else {until}
        if until is not None:
            in_force = (Edge(Guard(frozenset({until})), rest), *in_force)
    at_rest: tuple[Edge, ...] = ()
    if after is not None:
        at_rest = (Edge(Guard(frozenset({after}), frozenset(unless)), force),)
    rows = (in_force, at_rest) if starts_in_force else (at_rest, in_force)
    accepting = np.array([constraint.kind != "needed" or state == rest for state in (0, 1)])
    return GuardedAutomaton(rows, accepting)


@lru_cache(maxsize=4096)
def _rows(constraint: Constraint, labels: tuple[Label, ...]) -> NDArray[np.int32]:
    automaton = _automaton(constraint)
    return np.array([automaton.column(label) for label in labels], np.int32).T


def conjoin(table: NDArray[np.int32], constraint: Constraint, labels: tuple[Label, ...]) -> NDArray[np.int32]:
    """The table of an automaton that also keeps a constraint: its states in either state of the constraint.

    What the automaton would accept before the constraint is fulfilled does not change its state. [states, labels]
    """
    rows, accepting = _rows(constraint, labels), _automaton(constraint).accepting
    count = len(table)
    own = np.arange(count)[:, None]
    parts = []
    for row in rows:
        part = np.where(table >= 0, row * count + table, table)
        part = np.where((table == ACCEPTED) & ~accepting[row], row * count + own, part)
        parts.append(np.where(row == DEAD, DEAD, part))
    return np.ascontiguousarray(np.concatenate(parts), np.int32)


def breaking(table: NDArray[np.int32], constraint: Constraint, labels: tuple[Label, ...]) -> NDArray[np.int32]:
    """The table of an automaton that accepts only the words that break a constraint."""
    rows, accepting = _rows(constraint, labels), _automaton(constraint).accepting
    count = len(table)  # states: those of the table in either state of the constraint, then after it was broken
    parts = []
    for row in (*rows, np.full(len(labels), DEAD)):
        after = np.where(row == DEAD, 2, row)
        is_broken = (row == DEAD) | ~accepting[row]
        parts.append(np.where(table >= 0, after * count + table, np.where(is_broken, table, DEAD)))
    return np.ascontiguousarray(np.concatenate(parts), np.int32)


def phase_constraints(propositions: Sequence[str]) -> Iterator[Constraint]:
    """The constraints that are in force at times, about some propositions."""
    for p, a in permutations(propositions, 2):
        yield Constraint("never", p, after=a)
        yield Constraint("never", p, until=a)
        yield Constraint("needed", p, after=a)
    for p, a, b in permutations(propositions, 3):
        yield Constraint("never", p, after=a, until=b)


def words_that_keep(
    constraint: Constraint, labels: tuple[Label, ...], first: NDArray[np.int64], word: NDArray[np.int32]
) -> int:
    """How many words keep a constraint; word i is that of label indices from first[i] to first[i + 1]."""
    return int(_count_kept(_rows(constraint, labels), _automaton(constraint).accepting, first, word))


@njit(cache=True, nogil=True)
def _count_kept(
    rows: NDArray[np.int32], accepting: NDArray[np.bool_], first: NDArray[np.int64], word: NDArray[np.int32]
) -> int:
    kept = 0
    for i in range(len(first) - 1):
        state = 0
        for t in range(first[i], first[i + 1]):
            state = rows[state, word[t]]
            if state == DEAD:
                break
        kept += state != DEAD and accepting[state]
    return kept
