"""The clauses of a sentence, as machines over labels; `sentences` finds those that say what an automaton does.

    coffee and mail in any order, then office; never plant; after coffee, never stairs until lift

The first clause is the goal, in stages. The others are conditions, kept until the goal is reached:

    a, then b                           b holds together with a, or later
    a, and later b                      b holds after a
    a, then a again                     a ends, and holds once more
    a and b in any order; either a or b; two of a, b and c; either a, or b and c in any order
    never p                             p does not hold before the end
    never p before b                    p does not hold before b has held; together with b it may
    never p after a                     p does not hold after a has held; together with a it may
    after a, never p until b            the same after every a, until b holds; "the first a": after no other
    if a comes before c, never p (until b)     the same after every a that holds when c has not held yet
    never p again; never p again until b       p does not hold once more after it has ended, unless b has held since
    never p again before b              likewise, as long as b has not held at all
    never p more than twice             p does not begin to hold a third time; likewise for three times
    never p with q; never p without q   p does not hold while q does; while q does not
    p starts it all over                after p nothing has been visited
    after a, z counts only once b has held     z is the last stage; b has to hold after a; likewise after "if"
    never z before its turn             z is the last stage; it does not hold before all else is done
    after each of a and b, the next counts only once c has held    c holds between two of the names of a stage
    after each of a and b, never the next before c                 likewise, and the next does not hold before

A name may stand for several at once: "badge with red" holds where both do, "home without open" where only home does.
"""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard, Label
from wfairl.core.automata.guarded import Edge, GuardedAutomaton

WAITING, BANNED, ENDING, OVER, LAST = range(5)
"""States of a ban: before it is in force; in force; in force once the name has ended; never again; in force for the
last time."""

FIRST, AGAIN, AGAIN_BEFORE = "the first ", "again", "again before"
"""What sets a ban in force: its first occurrence alone; the end of the name, anew after `until`, or no more."""

TIMES = {2: "twice", 3: "three times"}
"""How often a name may hold, where it is more than once."""

WITH, WITHOUT = "with", "without"

COUNTS = ("no", "one", "two", "three", "four", "five")
RESERVED = {*COUNTS, "and", "or", "with", "without", "then", "later", "again", "never", "before", "after", "until"}
RESERVED |= {"either", "of", "in", "the", "its", "just", "anything", "starts", "counts", "more", "twice", "times"}
RESERVED |= {"if", "comes", "each", "next"}
"""Words that have a meaning in sentences."""

Clauses = tuple[str, ...]


class Joint(str):
    """A guard as one name: what has to hold at once, and what must not hold then."""

    guard: Guard

    @classmethod
    def of(cls, guard: Guard) -> "Joint":
        """The name of a guard that asks for something."""
        first, *others = map(quote, sorted(guard.true))
        text = f"{first} with {listed(others, 'and')}" if others else first
        joint = cls(text + (f" without {listed([*map(quote, sorted(guard.false))], 'or')}" if guard.false else ""))
        joint.guard = guard
        return joint


class Stage(NamedTuple):
    """Part of a goal: all names of one of some sets have to hold; see above for the rest."""

    names: tuple[str, ...]
    ways: tuple[frozenset[str], ...]
    later: bool = False
    again: bool = False
    between: str | None = None
    deadly: bool = False

    @classmethod
    def of(cls, names: Sequence[str], needed: int) -> "Stage":
        """So many different ones of some names."""
        return cls(tuple(names), tuple(map(frozenset, combinations(names, needed))))

    def __str__(self) -> str:
        names, needed = [quote(name) for name in self.names], max(map(len, self.ways))
        if len(names) == 1:
            return names[0] + (" again" if self.again else "")
        if len(self.ways) != comb(len(names), needed):
            return "either " + ", or ".join(str(Stage.of(sorted(way), len(way))) for way in self.ways)
        if needed == 1:
            return f"either {listed(names, 'or')}"
        names = [f"({name})" if isinstance(name, Joint) else name for name in names]
        some = "" if needed == len(names) else f"{COUNTS[needed]} of "
        return f"{some}{listed(names, 'and')} in any order"

    def go_on(self, seen: frozenset[str], waits: bool, label: Label) -> tuple[frozenset[str], bool] | None:
        """What was seen, and whether something else must come before the next name; None if that came too early."""
        new = [name for name in self.names if name in label and name not in seen]
        if waits and self.between not in label and new and self.deadly:
            return None
        if waits or not new:
            return seen, waits and self.between not in label
        return seen | {new[0]}, True


class Goal(NamedTuple):
    """Stages one after the other, as a machine over labels.

    Attributes:
        stages: the stages.
        resets: names after which nothing has been visited.
        owed: (a, b, early): after a, the last stage counts only once b has held; if `early`, only after every a that
            comes before the names of the first stage, of which there are then several.
        in_turn: whether a name of the last stage that does not complete the goal breaks the rule.
    """

    stages: tuple[Stage, ...]
    resets: tuple[str, ...] = ()
    owed: tuple[tuple[str, str, bool], ...] = ()
    in_turn: bool = False

    @property
    def start(self) -> Hashable:
        """The stage, what was seen in it, whether what comes again has ended or what comes between is awaited, and
        which debts are open."""
        return 0, frozenset(), False, (False,) * len(self.owed)

    def step(self, state: Any, label: Label) -> Any:
        """The state after a label, `ACCEPTED` or `DEAD`."""
        after = self._go_on(state, label)
        return DEAD if self.in_turn and after != ACCEPTED and label.intersection(self.stages[-1].names) else after

    def _go_on(self, state: Any, label: Label) -> Any:
        stage, seen, ended, debts = state
        first = self.stages[0].names
        debts = tuple(
            (owes and b not in label) or (a in label and not (early and (stage or seen or label.intersection(first))))
            for owes, (a, b, early) in zip(debts, self.owed, strict=True)
        )
        if label.intersection(self.resets):
            return 0, frozenset(), False, debts
        while True:
            at = self.stages[stage]
            if at.later and stage > state[0]:
                return stage, frozenset(), False, debts
            if at.again and not ended:
                return stage, seen, at.names[0] not in label, debts
            if at.between is None:
                before, seen = seen, seen | label.intersection(at.names)
            elif (found := at.go_on(seen, ended, label)) is None:
                return DEAD
            else:
                before, (seen, ended) = seen, found
            if not any(way <= seen for way in at.ways):
                return stage, seen, ended, debts
            if stage == len(self.stages) - 1:
                return (stage, before, ended, debts) if any(debts) else ACCEPTED
            stage, seen, ended = stage + 1, frozenset(), False

    @property
    def clauses(self) -> Clauses:
        """The goal, and what sets it back."""
        first, *others = self.stages
        text = str(first) + "".join(f", {'and later' if one.later else 'then'} {one}" for one in others)
        resets = [f"{quote(name)} starts it all over" for name in self.resets]
        last = listed([quote(name) for name in self.stages[-1].names], "or")
        turn = [f"never {last} before its turn"] if self.in_turn else []
        first_names = self.stages[0].names
        owed = [
            f"{when(quote(a), first_names if early else ())}, {last} counts only once {quote(b)} has held"
            for a, b, early in self.owed
        ]
        between = [
            f"after each of {listed([*map(quote, one.names)], 'and')}, "
            + (f"never the next before {name}" if one.deadly else f"the next counts only once {name} has held")
            for one in self.stages
            if one.between is not None and (name := quote(one.between))
        ]
        return (text, *between, *resets, *owed, *turn)


class Ban(NamedTuple):
    """A name that must not hold: at all, at times, again, or together with another one or without it; see above."""

    name: str
    after: str | None = None
    until: str | None = None
    which: str = ""
    beside: tuple[str, str] | None = None
    times: int = 1
    before: tuple[str, ...] = ()

    def text(self, names: Sequence[str]) -> str:
        """The clause, for some names that are banned alike."""
        never = f"never {listed([quote(name) for name in names], 'or')}"
        if self.beside is not None:
            return f"{never} {self.beside[0]} {quote(self.beside[1])}"
        if self.times > 1:
            return f"{never} more than {TIMES[self.times]}"
        if self.which == AGAIN_BEFORE:
            return f"{never} again before {quote(self.until or '')}"
        until = "" if self.until is None else f" until {quote(self.until)}"
        if self.which == AGAIN:
            return f"{never} again{until}"
        if self.after is None:
            return never if self.until is None else f"{never} before {quote(self.until)}"
        if self.until is None and not self.before:
            return f"{never} after {quote(self.after)}"
        return f"{when(self.which + quote(self.after), self.before)}, {never}{until}"


@lru_cache(maxsize=4096)
def automaton_of_ban(ban: Ban, lets_end: bool = False) -> GuardedAutomaton:
    """Accepts the words that keep a ban.

    With `lets_end`, a name that holds when the ban comes into force may go on until it ends.
    """
    name, until = frozenset({ban.name}), frozenset(() if ban.until is None else {ban.until})

    def over(target: int) -> tuple[Edge, ...]:
        return (Edge(Guard(until), target),) if until else ()

    if ban.which in (AGAIN, AGAIN_BEFORE):  # state 2 n: it has held and ended n times; 2 n + 1: it holds another time
        rows: list[tuple[Edge, ...]] = []
        last = 2 * ban.times + 1  # where `until` ends the ban for good
        released = 0 if ban.which == AGAIN else last
        for ended in range(ban.times + 1):
            begun = Edge(Guard(name, until), DEAD if ended == ban.times else 2 * ended + 1)
            rows += [(*over(released), begun), (*over(released), Edge(Guard(frozenset(), name), 2 * ended + 2))]
        rows = [*rows[:last], *([()] if released else [])]
        return GuardedAutomaton(tuple(rows), np.full(len(rows), True))
    how, other = ban.beside or (WITH, None)
    beside = frozenset(() if other is None else {other})
    lost = Edge(Guard(name | beside) if how == WITH else Guard(name, beside), DEAD)
    if ban.after is None:
        return GuardedAutomaton(((*over(1), lost), ()), np.array([True, True]))
    begins = frozenset({ban.after})
    waiting = [Edge(Guard(begins, until), BANNED)]
    if lets_end:
        waiting.insert(0, Edge(Guard(begins | name, until), ENDING))
    ends, late = over(OVER if ban.which else WAITING), [frozenset({name}) for name in ban.before]
    over_at_once = [Edge(Guard(one | until), OVER) for one in late if until]
    rows = [
        (*(Edge(Guard(one), OVER) for one in late), *waiting),
        (*over_at_once, *ends, lost, *(Edge(Guard(one), LAST) for one in late)),
        (*ends, Edge(Guard(frozenset(), name), BANNED)),
        *([(), (*over(OVER), lost)] if ban.which or late else []),
    ]
    return GuardedAutomaton(tuple(rows), np.full(len(rows), True))


def when(after: str, before: Sequence[str] = ()) -> str:
    """After a name, or after each that comes before some others."""
    return f"if {after} comes before {listed([quote(name) for name in before], 'or')}" if before else f"after {after}"


def listed(names: Sequence[str], last: str) -> str:
    """Names as a list: `a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def quote(name: str) -> str:
    """A name in a sentence, in quotation marks if it could be read as something else."""
    if isinstance(name, Joint):
        return name
    is_plain = not RESERVED.intersection(name.lower().split()) and not set(name) & set(",;:\"'!&|()")
    return name if is_plain and name.strip() == name and name else f'"{name}"'
