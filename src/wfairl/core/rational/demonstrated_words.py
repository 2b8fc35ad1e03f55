"""What follows the demonstrated words: an automaton, and where a plan leaves them.

Whatever the task is, the demonstrated words fulfil it, so repeating one is the safest plan. Where a scene does not
allow that, the next safest is to read other labels in between. So the automaton is the prefix tree of the demonstrated
words, which stays in its state at a label that continues no word,

    state = the prefix of a demonstrated word that has been read,    accepting = a whole word

An empty label at the beginning of a word is optional, and repeats count once.
"""

from collections.abc import Collection, Sequence

import numpy as np

from wfairl.core.automata.automaton import Guard, Label
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.words import Word, compress, with_optional_start


def following_words(words: Collection[Sequence[Label]]) -> GuardedAutomaton:
    """Accepts what has a demonstrated word as a subsequence."""
    shown = _both_forms(words)
    number = _numbered_prefixes(shown)
    propositions = frozenset().union(*(label for word in shown for label in word))
    rows: list[list[Edge]] = [[] for _ in number]
    for prefix, i in number.items():
        if prefix:
            rows[number[prefix[:-1]]].append(Edge(Guard(prefix[-1], propositions - prefix[-1]), i))
    return GuardedAutomaton(tuple(map(tuple, rows)), np.array([prefix in shown for prefix in number]))


def leaves_at(words: Collection[Sequence[Label]], labels: Sequence[Label]) -> int | None:
    """The first step, from 1, at which labels are no longer those of a demonstrated word; None if there is none."""
    number = _numbered_prefixes(_both_forms(words))
    return next((step for step in range(1, len(labels) + 1) if compress(labels[:step]) not in number), None)


def _both_forms(words: Collection[Sequence[Label]]) -> list[Word]:
    """The compressed words, with and without an empty label at the beginning."""
    return with_optional_start([compress(word) for word in words], [1.0] * len(words))[0]


def _numbered_prefixes(words: Collection[Word]) -> dict[Word, int]:
    return {prefix: i for i, prefix in enumerate(dict.fromkeys(w[:n] for w in ((), *words) for n in range(len(w) + 1)))}
