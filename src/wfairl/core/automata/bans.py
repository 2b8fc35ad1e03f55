"""Bans: names that must not hold, as automata. Sentences and the constraints of the rational learner are made of them.

    never p                             p does not hold before the end
    never p before b                    p does not hold before b has held; together with b it may
    never p after a                     p does not hold after a has held; together with a it may
    after a, never p until b            the same after every a, until b holds; "the first a": after no other
    if a comes before c, never p (until b)     the same after every a that holds when c has not held yet
    never p again; never p again until b       p does not hold once more after it has ended, unless b has held since
    never p again before b              p does not hold once more after it has ended, as long as b has not held at all
    never p more than twice             p does not begin to hold a third time; likewise for three times
    never p with q; never p without q   p does not hold while q does; while q does not

A ban reads labels one by one. It is in force until the task is done, unless it says otherwise.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from wfairl.core.automata.automaton import DEAD, Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton

WAITING, BANNED, ENDING, OVER, LAST = range(5)
"""States of a ban: before it is in force; in force; in force once the name has ended; never again; in force for the
last time."""

FIRST, AGAIN, AGAIN_BEFORE = "the first ", "again", "again before"
"""What sets a ban in force: its first occurrence alone; the end of the name, anew after `until`, or no more."""

TIMES = {2: "twice", 3: "three times"}
"""How often a name may hold, where it is more than once."""

WITH, WITHOUT = "with", "without"


class Ban(NamedTuple):
    """A name that must not hold: at all, at times, again, or together with another one or without it; see above."""

    name: str
    after: str | None = None
    until: str | None = None
    which: str = ""
    beside: tuple[str, str] | None = None
    times: int = 1
    before: tuple[str, ...] = ()


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
