"""The clauses of a sentence, as machines over labels; `sentences` finds those that say what an automaton does.

    coffee and mail in any order, then office; never plant; after coffee, never stairs until lift

The first clause is the goal, in stages. The others are conditions, kept until the goal is reached:

    a, then b                           b holds together with a, or later
    a, and later b                      b holds after a
    a, then a again                     a ends, and holds once more
    a and b in any order; either a or b; two of a, b and c
    never p                             p does not hold before the end
    never p before b                    p does not hold before b has held; together with b it may
    never p after a                     p does not hold after a has held; together with a it may
    after a, never p until b            the same after every a, until b holds; "the first a": after no other; "the
                                        initial a": only if a holds in the very first label
    never p again; never p again until b       p does not hold once more after it has ended, unless b has held since
    never p more than twice             p does not begin to hold a third time; likewise for three times
    never p with q; never p without q   p does not hold while q does; while q does not
    p starts it all over                after p nothing has been visited
    after a, z counts only once b has held     z is the last stage; b has to hold after a
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Label

WAITING, BANNED, OVER = range(3)
"""States of a ban."""

FIRST, INITIAL, AGAIN = "the first ", "the initial ", "again"
"""What sets a ban in force: its first occurrence alone; that in the very first label alone; the end of the name."""

TIMES = {2: "twice", 3: "three times"}
"""How often a name may hold, where it is more than once."""

WITH, WITHOUT = "with", "without"

COUNTS = ("no", "one", "two", "three", "four", "five")
RESERVED = {*COUNTS, "and", "or", "with", "without", "then", "later", "again", "never", "before", "after", "until"}
RESERVED |= {"either", "of", "in", "the", "just", "anything", "starts", "counts", "more", "twice", "times"}
"""Words that have a meaning in sentences."""

Clauses = tuple[str, ...]


class Stage(NamedTuple):
    """Part of a goal: `needed` different ones of some names have to hold; see above for the rest."""

    names: tuple[str, ...]
    needed: int
    later: bool = False
    again: bool = False

    def __str__(self) -> str:
        names = [quote(name) for name in self.names]
        if len(names) == 1:
            return names[0] + (" again" if self.again else "")
        if self.needed == 1:
            return f"either {listed(names, 'or')}"
        some = "" if self.needed == len(names) else f"{COUNTS[self.needed]} of "
        return f"{some}{listed(names, 'and')} in any order"


class Goal(NamedTuple):
    """Stages one after the other, as a machine over labels.

    Attributes:
        stages: the stages.
        resets: names after which nothing has been visited.
        owed: pairs (a, b): after a, the last stage counts only once b has held.
    """

    stages: tuple[Stage, ...]
    resets: tuple[str, ...] = ()
    owed: tuple[tuple[str, str], ...] = ()

    @property
    def start(self) -> Hashable:
        """The stage, what was seen in it, whether what comes again has ended, and which debts are open."""
        return 0, frozenset(), False, (False,) * len(self.owed)

    def step(self, state: Any, label: Label) -> Any:
        """The state after a label, or `ACCEPTED`."""
        stage, seen, ended, debts = state
        debts = tuple((b not in label) if owes else a in label for owes, (a, b) in zip(debts, self.owed, strict=True))
        if label.intersection(self.resets):
            return 0, frozenset(), False, debts
        while True:
            at = self.stages[stage]
            if at.later and stage > state[0]:
                return stage, frozenset(), False, debts
            if at.again and not ended:
                return stage, seen, at.names[0] not in label, debts
            before, seen = seen, seen | label.intersection(at.names)
            if len(seen) < at.needed:
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
        owed = [f"after {quote(a)}, {last} counts only once {quote(b)} has held" for a, b in self.owed]
        return (text, *resets, *owed)


class Ban(NamedTuple):
    """A name that must not hold: at all, at times, again, or together with another one or without it; see above."""

    name: str
    after: str | None = None
    until: str | None = None
    which: str = ""
    beside: tuple[str, str] | None = None
    times: int = 1

    @property
    def start(self) -> int:
        """`WAITING` for what sets it in force, `BANNED` while it is in force, `OVER` if it never will be again."""
        return BANNED if self.after is None else WAITING

    def step(self, state: int, label: Label) -> int:
        """The state after a label, or `DEAD`."""
        if self.which == AGAIN:
            return self._count(state, label)
        if state == BANNED:
            if self.until is not None and self.until in label:
                return OVER if self.which or self.after is None else WAITING
            return DEAD if self._holds(label) else BANNED
        if state == WAITING and self.after in label and self.until not in label:
            return BANNED
        return OVER if self.which == INITIAL else state

    def _count(self, state: int, label: Label) -> int:
        """Twice the number of times that the name has held and ended, and 1 more while it holds another time."""
        if self.until is not None and self.until in label:
            return 0
        if self.name not in label:
            return state + state % 2
        return DEAD if state == 2 * self.times else state + 1 - state % 2

    def _holds(self, label: Label) -> bool:
        return self.name in label and (self.beside is None or (self.beside[1] in label) == (self.beside[0] == WITH))

    def text(self, names: Sequence[str]) -> str:
        """The clause, for some names that are banned alike."""
        never = f"never {listed([quote(name) for name in names], 'or')}"
        if self.beside is not None:
            return f"{never} {self.beside[0]} {quote(self.beside[1])}"
        if self.times > 1:
            return f"{never} more than {TIMES[self.times]}"
        if self.which == AGAIN:
            return f"{never} again" + ("" if self.until is None else f" until {quote(self.until)}")
        if self.after is None:
            return never if self.until is None else f"{never} before {quote(self.until)}"
        if self.until is None:
            return f"{never} after {self.which}{quote(self.after)}"
        return f"after {self.which}{quote(self.after)}, {never} until {quote(self.until)}"


def listed(names: Sequence[str], last: str) -> str:
    """Names as a list: `a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def quote(name: str) -> str:
    """A name in a sentence, in quotation marks if it could be read as something else."""
    is_plain = not RESERVED.intersection(name.lower().split()) and not set(name) & set(",;:\"'!&|()")
    return name if is_plain and name.strip() == name and name else f'"{name}"'
