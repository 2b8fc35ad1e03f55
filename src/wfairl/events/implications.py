"""Which constraints follow from others, so that no rule says a thing twice.

A constraint on a and b follows from others if every short word that keeps them keeps it too. The others are those on a,
b and one more proposition: what they say together in longer chains follows step by step. A word is a bit of an integer,
so that "all of these" is the bitwise and.
"""

from collections.abc import Iterable
from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.word_corpus import encode_all
from wfairl.events.constraints import EventConstraint, Occurrences

SLOTS = ("a", "b", "c")
"""Names of the propositions in short words."""

LONGEST = 6
"""Length of a short word; its labels have at most one proposition, as the events of a log."""

DROP_ORDER = (
    "absence", "exactly once", "init", "end", "existence", "at most once", "precedence", "response", "equally often",
    "not co-existence", "order", "responded existence", "choice", "not chain succession",
)  # fmt: skip
"""Constraints of the last kinds are dropped first."""


ConstraintsByNames = dict[frozenset[str], list[EventConstraint]]
"""Constraints by the propositions that they are about."""


def without_implied(constraints: Iterable[EventConstraint]) -> list[EventConstraint]:
    """The constraints that do not follow from the others.

    They are looked at in one order, that of their kinds and names, so that samples of one log give the same.
    """
    order = sorted(set(constraints), key=lambda one: (DROP_ORDER.index(one.template.name), one.propositions))
    facts: ConstraintsByNames = {}
    beside: dict[str, set[str]] = {}
    for one in order:
        facts.setdefault(frozenset(one.propositions), []).append(one)
        for name in one.propositions:
            beside.setdefault(name, set()).update(one.propositions)
    for one in reversed(order):
        others = facts[frozenset(one.propositions)]
        others.remove(one)
        if not _follows(one, facts, beside):
            others.append(one)
    return [one for one in order if one in facts[frozenset(one.propositions)]]


def _follows(one: EventConstraint, facts: ConstraintsByNames, beside: dict[str, set[str]]) -> bool:
    """Whether a constraint follows from facts about its propositions, and perhaps one more proposition."""
    names = one.propositions
    thirds: list[tuple[str, ...]] = [()]
    if len(names) == 2:
        thirds += [(third,) for third in sorted(beside[names[0]] & beside[names[1]] - {*names})]
    broken = _every_word() & ~_words_keeping(one.template.name, SLOTS[: len(names)])
    return any(not _words_keeping_all((*names, *third), facts) & broken for third in thirds)


def _words_keeping_all(names: tuple[str, ...], facts: ConstraintsByNames) -> int:
    """The short words that keep all facts about some propositions, which have the slots in their order."""
    slot = dict(zip(names, SLOTS, strict=False))
    words = _every_word()
    for size in (1, 2):
        for some in combinations(names, size):
            for one in facts.get(frozenset(some), ()):
                words &= _words_keeping(one.template.name, tuple(slot[name] for name in one.propositions))
    return words


@cache
def _words_keeping(template: str, slots: tuple[str, ...]) -> int:
    """The short words that keep a constraint on some slots, each a bit."""
    return _to_bits(EventConstraint.of(template, *slots).holds(_short_words()))


@cache
def _short_words() -> Occurrences:
    labels = [frozenset[str](), *(frozenset({slot}) for slot in SLOTS)]
    words = [word for length in range(LONGEST + 1) for word in product(labels, repeat=length)]
    return Occurrences.of(*encode_all(words), SLOTS)


@cache
def _every_word() -> int:
    return _to_bits(np.ones(len(_short_words()), bool))


def _to_bits(flags: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(flags).tobytes(), "big")
