"""Which constraints follow from others, so that no rule says a thing twice.

A constraint follows from others if every short word that keeps them keeps it too. The others are those on its
propositions and one more: what they say together in longer chains follows step by step. A word is a bit of an integer,
so that "all of these" is the bitwise and.
"""

from collections.abc import Iterable, Mapping
from functools import cache, reduce
from itertools import combinations, product
from operator import and_

import numpy as np

from wfairl.core.automata.word_corpus import encode_all
from wfairl.events.constraints import EventConstraint, Occurrences

SLOTS = ("a", "b", "c")
"""Names of the propositions in short words."""

DROP_ORDER = (
    "absence", "exactly once", "init", "end", "existence", "at most once", "precedence", "response", "equally often",
    "not co-existence", "order", "responded existence", "choice", "not chain succession",
)  # fmt: skip
"""Constraints of the last kinds are dropped first."""


ConstraintsByNames = dict[frozenset[str], list[EventConstraint]]


def without_implied(constraints: Iterable[EventConstraint]) -> list[EventConstraint]:
    """The constraints that do not follow from the others.

    They are looked at in one order, that of their kinds and names, so that samples of one log give the same. What was
    left out still says what it says, so that chains are followed to their ends: c only after a, if c only after b and b
    only after a. But nothing may follow from what follows from it.
    """
    order = sorted(set(constraints), key=lambda one: (DROP_ORDER.index(one.template.name), one.propositions))
    facts: ConstraintsByNames = {}
    beside: dict[str, set[str]] = {}
    for one in order:
        facts.setdefault(frozenset(one.propositions), []).append(one)
        for name in one.propositions:
            beside.setdefault(name, set()).update(one.propositions)
    uses: dict[EventConstraint, list[EventConstraint]] = {}  # by each constraint, those that were left out for it
    left_out: set[EventConstraint] = set()
    for one in reversed(order):
        reasons = _reasons(one, _using(one, uses), facts, beside)
        if reasons is not None:
            left_out.add(one)
            for reason in reasons:
                uses.setdefault(reason, []).append(one)
    return [one for one in order if one not in left_out]


def _using(one: EventConstraint, uses: Mapping[EventConstraint, list[EventConstraint]]) -> set[EventConstraint]:
    found, open_ = {one}, [one]
    while open_:
        new = [other for other in uses.get(open_.pop(), ()) if other not in found]
        found.update(new)
        open_ += new
    return found


def _reasons(
    one: EventConstraint, using: set[EventConstraint], facts: ConstraintsByNames, beside: dict[str, set[str]]
) -> list[EventConstraint] | None:
    """Facts about its propositions and perhaps one more, from which a constraint follows; None if it does not."""
    names = one.propositions
    common = set.intersection(*(beside[name] for name in names)) - {*names}
    broken = _short_words_that(False, one.template.name, SLOTS[: len(names)])
    for third in ((), *((name,) for name in sorted(common))):
        slot = dict(zip((*names, *third), SLOTS, strict=False))
        about = [
            (fact, _short_words_that(True, fact.template.name, tuple(slot[name] for name in fact.propositions)))
            for size in (1, 2)
            for some in combinations(slot, size)
            for fact in facts.get(frozenset(some), ())
            if fact not in using
        ]
        if not reduce(and_, (words for _, words in about), broken):
            needed = []
            for i, (fact, words) in enumerate(about):
                if reduce(and_, (later for _, later in about[i + 1 :]), broken):  # those that follow are not enough
                    needed.append(fact)
                    broken &= words
            return needed
    return None


@cache
def _short_words_that(keep: bool, template: str, slots: tuple[str, ...]) -> int:
    """The short words that keep a constraint on some slots, or break it, each a bit."""
    flags = EventConstraint.of(template, *slots).holds(_short_words()) == keep
    return int.from_bytes(np.packbits(flags).tobytes(), "big")


@cache
def _short_words() -> Occurrences:
    """All words of up to six labels with at most one proposition, as the events of a log have."""
    labels = [frozenset[str](), *(frozenset({slot}) for slot in SLOTS)]
    words = [word for length in range(7) for word in product(labels, repeat=length)]
    return Occurrences.of(*encode_all(words), SLOTS)
