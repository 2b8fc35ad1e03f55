"""Constraints: small rules that a task may have beside its automaton, a few kinds of sentences.

    never p [after a] [until b]      p must not hold: at all; once a has held; before b has held; between the two
    never p after the first a until b    the same, but b ends it for good
    never p again [until b]          p must not begin to hold once more after it has ended; unless b has held since
    never p again before b           p must not begin to hold once more as long as b has not held
    never p more than twice          p must not begin to hold a third time; likewise for three times
    never p with q, without q        p must not hold while q does; while q does not
    p [or q] needed [after a]        p, or one of others instead, must have held when the task ends; after every a
    p with q needed                  p must have held together with q when the task ends
    a and later p needed             a must have held when the task ends, and p with it or later
    never p between a and b          p must not hold in a state of the most probable automaton: a begins it, b ends it
    p [or q] needed between a and b  b does not count before p, or q instead, has held in that state
    another order is fatal           what changes the state of the most probable automaton, and in no demonstration, is
    another order does not count     fatal; or it changes nothing
    another sequence is fatal        so is what may happen in a state, but never did after all that happened before it
    p unseen                         nobody has shown what p entails, or only a demonstration that the automaton leaves
                                     out: only a word without p is sure to be right

A constraint reads labels as a small automaton does. A label that is read twice in a row is read once. What holds at the
same time as b, or as p that is needed, comes in time. While something is still needed the task does not end: what would
end it changes nothing, and may be done again afterwards.

The search adds those of `constraints_on` to automata, and that p or q is needed; all others are only doubted
(`doubts`). The most probable automaton is the one that the search has found.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, permutations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard, Label
from wfairl.core.automata.bans import AGAIN, AGAIN_BEFORE, FIRST, TIMES, Ban, automaton_of_ban
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.minimisation import Table
from wfairl.core.support.bounds import Part
from wfairl.core.support.compiling import njit

LARGEST_LOG_ODDS = 50.0


class Constraint(NamedTuple):
    """A sentence about one to four propositions."""

    # what is said about the proposition, or about orders that no demonstration shows
    kind: Literal[
        "never", "never with", "never without", "needed", "needed in turn", "unseen", "fatal", "idle", "sequence"
    ]
    proposition: str = ""  # what it is about
    # the proposition that sets it in force; None if it is in force from the beginning. If that is the proposition
    # itself, the constraint is in force once the proposition has held and ended `times` times
    after: str | None = None
    until: str | None = None  # the proposition that ends it; None if nothing does
    instead: tuple[str, ...] = ()  # the propositions that do as well, where one is needed
    beside: str | None = None  # the proposition that must not hold at the same time, or must, as the kind says
    times: int = 1  # how often the proposition may hold, where it must not hold again
    state: int | None = None  # the state of the most probable automaton in which it is in force; None if that is in any
    phase: str = ""  # what that state is, in words; of what is unseen, whether a demonstration left out shows it
    # what demonstrations show of the most probable automaton, where it is about orders: from state, to state
    # or, if it is about sequences, all states that a demonstration comes to, one after the other
    changes: tuple[tuple[int, ...], ...] = ()
    for_good: bool = False  # whether `until` ends it for good, so that a later `after` does not begin it anew

    def __str__(self) -> str:
        if self.kind == "sequence":
            return "another sequence than shown is fatal"
        if self.is_about_orders:
            return f"another order than shown {'is fatal' if self.kind == 'fatal' else 'does not count'}"
        what = " or ".join((self.proposition, *self.instead))
        if self.state is not None:
            return f"never {what} {self.phase}" if self.kind == "never" else f"{what} needed {self.phase}"
        if self.kind == "needed in turn":
            return f"{self.after} and later {what} needed"
        if self.beside is not None:
            is_needed, how = self.kind == "needed", self.kind.removeprefix("never ")
            return f"{what} with {self.beside} needed" if is_needed else f"never {what} {how} {self.beside}"
        text = f"never {what}" if self.kind == "never" else f"{what} {self.kind}"
        if self.times > 1:
            return f"{text} more than {TIMES[self.times]}"
        if self.after == self.proposition:
            return f"{text} again" + (f" {'before' if self.for_good else 'until'} {self.until}" if self.until else "")
        if self.after is not None:
            text += f" after {'the first ' if self.for_good else ''}{self.after}"
        return text + ("" if self.until is None else f" until {self.until}")

    @property
    def propositions(self) -> tuple[str, ...]:
        """All that it names, without what begins or ends a state."""
        named = (self.proposition, self.after, self.until, *self.instead, self.beside)
        return tuple(one for one in named if one)

    @property
    def named_states(self) -> tuple[int, ...]:
        """The states of the most probable automaton that it names, perhaps `ACCEPTED` too."""
        return (*(() if self.state is None else (self.state,)), *chain.from_iterable(self.changes))

    @property
    def is_order(self) -> bool:
        """Whether something must hold, or must not, after or until another event."""
        other = self.until if self.after is None else self.after
        is_in_turn = self.kind == "needed in turn"
        return len(self.propositions) == 2 and other not in (None, self.proposition) and not is_in_turn

    @property
    def asks(self) -> bool:
        """Whether the proposition must hold, and nothing else does instead."""
        return self.kind in ("needed", "needed in turn") and not self.instead

    @property
    def is_about_orders(self) -> bool:
        """Whether it is about orders that no demonstration shows."""
        return self.kind in ("fatal", "idle", "sequence")

    @property
    def is_obligation(self) -> bool:
        """Whether something is needed after an event."""
        return self.kind == "needed" and self.after is not None

    def automaton(self) -> GuardedAutomaton:
        """Accepts the words that keep the constraint."""
        if self.kind in ("needed", "needed in turn"):
            return _needed(self)
        is_again = self.after == self.proposition
        which = (AGAIN_BEFORE if is_again else FIRST) if self.for_good else AGAIN if is_again else ""
        beside = None if self.beside is None else (self.kind.removeprefix("never "), self.beside)
        return automaton_of_ban(Ban(self.proposition, self.after, self.until, which, beside, self.times), lets_end=True)


@dataclass(frozen=True)
class Doubt:
    """A constraint that the task may have, and the probability that it has."""

    constraint: Constraint
    probability: Part

    def __str__(self) -> str:
        who = (
            "only a demonstration that does not follow the rule shows" if self.constraint.phase else "nobody has shown"
        )
        is_unseen = self.constraint.kind == "unseen"
        return f"{who} what '{self.constraint.proposition}' entails" if is_unseen else str(self.constraint)

    @property
    def odds(self) -> float:
        """The probability as odds, finite also for what is certain."""
        return self.probability / max(1 - self.probability, np.exp(-LARGEST_LOG_ODDS))


@lru_cache(maxsize=4096)
def _needed(constraint: Constraint) -> GuardedAutomaton:
    """Something is needed in a state, and nothing in another. Where two are needed in turn, a state comes before."""
    fulfilling, is_in_turn = (constraint.proposition, *constraint.instead), constraint.kind == "needed in turn"
    beside = frozenset(() if constraint.beside is None else {constraint.beside})
    rest, force = (1, 0) if constraint.after is None else (2, 1) if is_in_turn else (0, 1)
    in_force = tuple(Edge(Guard(beside | {one}), rest) for one in fulfilling)
    if constraint.after is None:
        return GuardedAutomaton((in_force, ()), np.array([False, True]))
    begun = Edge(Guard(frozenset({constraint.after}), frozenset(fulfilling)), force)
    if is_in_turn:
        at_once = Edge(Guard(frozenset({constraint.after})), rest)
        return GuardedAutomaton(((begun, at_once), in_force, ()), np.array([False, False, True]))
    return GuardedAutomaton(((begun,), in_force), np.array([True, False]))


def _rows_of_states(constraint: Constraint, labels: tuple[Label, ...], most_probable: Table) -> NDArray[np.int32]:
    """The most probable automaton as a constraint, whose last state is free: nothing is asked any more.

    It dies of the proposition in the state, or does not leave the state without it: where the proposition has held, it
    is in a copy of the state. Or it dies of changes that are not shown, or does not make them.
    """
    free, state = len(most_probable), constraint.state
    rows = np.vstack([np.where(most_probable < 0, free, most_probable), np.full(len(labels), free)]).astype(np.int32)
    holds = np.array([not label.isdisjoint((constraint.proposition, *constraint.instead)) for label in labels])
    if state is None:
        shown = set(constraint.changes)
        for s, row in enumerate(most_probable.tolist()):
            rows[s, [t not in (s, DEAD) and (s, t) not in shown for t in row]] = (
                DEAD if constraint.kind == "fatal" else s
            )
    elif constraint.kind == "never":
        rows[state, holds] = DEAD
    else:
        copy, stays = free, rows[state] == state
        rows = np.insert(np.where(rows == free, free + 1, rows), copy, 0, axis=0)
        rows[copy] = np.where(stays, copy, rows[state])
        rows[state] = np.where(holds, rows[copy], state)
    return rows


def _rows_of_sequences(constraint: Constraint, labels: tuple[Label, ...], most_probable: Table) -> NDArray[np.int32]:
    """The tree of the sequences that are shown, whose last state is free: nothing is asked any more."""
    begun = {states[:k] for states in constraint.changes for k in range(len(states) + 1)}
    inner = sorted((states for states in begun if states[-1:] != (ACCEPTED,)), key=len)
    number = {states: i for i, states in enumerate(inner)}
    free = len(number)
    rows = np.full((free + 1, len(labels)), free, np.int32)
    for states, i in number.items():
        here = states[-1] if states else 0
        for label, target in enumerate(most_probable[here].tolist()):
            if target == here:
                rows[i, label] = i
            elif target != DEAD:
                after = (*states, target)
                rows[i, label] = DEAD if after not in begun else number.get(after, free)
    return rows


@lru_cache(maxsize=4096)
def _rows(constraint: Constraint, labels: tuple[Label, ...]) -> NDArray[np.int32]:
    automaton = constraint.automaton()
    return np.array([automaton.column(label) for label in labels], np.int32).T


def conjoin(
    table: Table, constraint: Constraint, labels: tuple[Label, ...], most_probable: Table | None = None
) -> Table:
    """The table of an automaton that also keeps a constraint: its states in each state of the constraint.

    What the automaton would accept before the constraint is fulfilled does not change its state. A constraint about
    states needs the table of the most probable automaton, `to_table` of it. All tables have the shape [states, labels].
    """
    if constraint.state is None and not constraint.is_about_orders:
        rows, accepting = _rows(constraint, labels), constraint.automaton().accepting
    else:
        assert most_probable is not None
        rows_of = _rows_of_sequences if constraint.kind == "sequence" else _rows_of_states
        rows = rows_of(constraint, labels, most_probable)
        accepting = (np.arange(len(rows)) == len(rows) - 1) | (constraint.kind in ("never", "fatal", "sequence"))
    count = len(table)
    own = np.arange(count)[:, None]
    parts = []
    for row in rows:
        part = np.where(table >= 0, row * count + table, table)
        part = np.where((table == ACCEPTED) & ~accepting[row], row * count + own, part)
        parts.append(np.where(row == DEAD, DEAD, part))
    return np.ascontiguousarray(np.concatenate(parts), np.int32)


def constraints_on(propositions: Sequence[str], labels: Sequence[Label]) -> Iterator[Constraint]:
    """The constraints that are in force at times; and those on what holds at once, where some labels have both."""
    for p in propositions:
        yield from (Constraint("never", p, after=p, times=times) for times in (1, *TIMES))
    for p, a in permutations(propositions, 2):
        yield Constraint("never", p, after=p, until=a)
        yield Constraint("never", p, after=p, until=a, for_good=True)
        yield Constraint("never", p, after=a)
        yield Constraint("never", p, until=a)
        yield Constraint("needed", p, after=a)
        yield Constraint("needed in turn", p, after=a)
    for p, a, b in permutations(propositions, 3):
        yield Constraint("never", p, after=a, until=b)
        yield Constraint("never", p, after=a, until=b, for_good=True)
    for p, q in combinations(propositions, 2):
        if any({p, q} <= label for label in labels):
            yield Constraint("never with", p, beside=q)
            orders = ((p, q), (q, p))
            apart = [(x, y) for x, y in orders if any(x in label and y not in label for label in labels)]
            yield from (Constraint("never without", one, beside=other) for one, other in apart)
            if len(apart) == len(orders):  # else that is p, or q, needed
                yield Constraint("needed", p, beside=q)


def words_that_keep(
    constraint: Constraint, labels: tuple[Label, ...], first: NDArray[np.int64], word: NDArray[np.int32]
) -> int:
    """How many words keep a constraint; word i is that of label indices from first[i] to first[i + 1]."""
    return int(_count_kept(_rows(constraint, labels), constraint.automaton().accepting, first, word))


@njit(cache=True, nogil=True, exact=True)
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
