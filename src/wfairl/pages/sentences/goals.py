"""The clauses of a sentence: goals as machines over labels, and the words for goals and bans.

    coffee and mail in any order, then office; never plant; after coffee, never stairs until lift

The first clause is the goal, in stages. The others are conditions, kept until the goal is reached. `core.automata.bans`
explains those with "never".

    a, then b                           b holds together with a, or later
    a, and later b                      b holds after a
    a, then a again                     a ends, and holds once more
    a and b in any order; either a or b; two of a, b and c; either a, or b and c in any order
    either a and later p, or b and later q     the first of a and b decides whether p or q has to hold afterwards
    never the end of another way               q does not hold between a and p, nor p between b and q
    p starts it all over                after p nothing has been visited
    after a, z counts only once b has held     z is the last stage; b has to hold after a; likewise after "if"
    never z before its turn             z is the last stage; it does not hold before all else is done
    after each of a and b, the next counts only once c has held    c holds between two of the names of a stage
    after each of a and b, never the next before c                 likewise, and the next does not hold before

A name may stand for several at once: "badge with red" holds where both do, "home without open" where only home does.
"""

from collections.abc import Hashable, Sequence
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard, Label
from wfairl.core.automata.bans import AGAIN, AGAIN_BEFORE, TIMES, Ban
from wfairl.core.automata.sentences import Clauses, listed, quote

COUNTS = ("no", "one", "two", "three", "four", "five")


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
    own: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str], needed: int) -> "Stage":
        """So many different ones of some names."""
        return cls(tuple(names), tuple(map(frozenset, combinations(names, needed))))

    def __str__(self) -> str:
        names, needed = [name_text(name) for name in self.names], max(map(len, self.ways))
        if len(names) == 1:
            return names[0] + (" again" if self.again else "")
        if self.own:
            ends = zip(names, map(name_text, self.own), strict=True)
            return "either " + ", or ".join(f"{name} and later {end}" for name, end in ends)
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

    def follow(self, seen: frozenset[str], label: Label) -> tuple[frozenset[str], bool] | None:
        """Which way was begun, and whether that goes on; None if another one ended."""
        if not seen:
            return frozenset([name for name in self.names if name in label][:1]), True
        end = next(end for name, end in zip(self.names, self.own, strict=True) if name in seen)
        if self.deadly and end not in label and label.intersection(self.own):
            return None
        return seen, end not in label


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
            if at.own:
                if (followed := at.follow(seen, label)) is None:
                    return DEAD
                before, (seen, goes_on) = seen, followed
                if goes_on:
                    return stage, seen, ended, debts
            elif at.between is None:
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
        resets = [f"{name_text(name)} starts it all over" for name in self.resets]
        last = listed([name_text(name) for name in self.stages[-1].own or self.stages[-1].names], "or")
        turn = [f"never {last} before its turn"] if self.in_turn else []
        first_names = self.stages[0].names
        owed = [
            f"{when(name_text(a), first_names if early else ())}, {last} counts only once {name_text(b)} has held"
            for a, b, early in self.owed
        ]
        between = [
            f"after each of {listed([*map(name_text, one.names)], 'and')}, "
            + (f"never the next before {name}" if one.deadly else f"the next counts only once {name} has held")
            for one in self.stages
            if one.between is not None and (name := name_text(one.between))
        ]
        ways = ["never the end of another way"] if any(one.own and one.deadly for one in self.stages) else []
        return (text, *between, *ways, *resets, *owed, *turn)


def ban_clause(ban: Ban, names: Sequence[str]) -> str:
    """The clause of a ban, for some names that are banned alike."""
    never = f"never {listed([name_text(name) for name in names], 'or')}"
    if ban.beside is not None:
        return f"{never} {ban.beside[0]} {name_text(ban.beside[1])}"
    if ban.times > 1:
        return f"{never} more than {TIMES[ban.times]}"
    if ban.which == AGAIN_BEFORE:
        return f"{never} again before {name_text(ban.until or '')}"
    until = "" if ban.until is None else f" until {name_text(ban.until)}"
    if ban.which == AGAIN:
        return f"{never} again{until}"
    if ban.after is None:
        return never if ban.until is None else f"{never} before {name_text(ban.until)}"
    if ban.until is None and not ban.before:
        return f"{never} after {name_text(ban.after)}"
    return f"{when(ban.which + name_text(ban.after), ban.before)}, {never}{until}"


def when(after: str, before: Sequence[str] = ()) -> str:
    """After a name, or after each that comes before some others."""
    return (
        f"if {after} comes before {listed([name_text(name) for name in before], 'or')}" if before else f"after {after}"
    )


def name_text(name: str) -> str:
    """A name in a sentence; that of a guard has its quotation marks already."""
    return name if isinstance(name, Joint) else quote(name)
