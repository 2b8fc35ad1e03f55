"""The automaton of what follows the demonstrated words.

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
from wfairl.core.automata.words import compress, with_optional_start


def following_words(words: Collection[Sequence[Label]]) -> GuardedAutomaton:
    """Accepts what has a demonstrated word as a subsequence."""
    shown = with_optional_start([compress(word) for word in words], [1.0] * len(words))[0]
    prefixes = dict.fromkeys(word[:n] for word in ((), *shown) for n in range(len(word) + 1))
    number = {prefix: i for i, prefix in enumerate(prefixes)}
    propositions = frozenset().union(*(label for word in shown for label in word))
    rows: list[list[Edge]] = [[] for _ in number]
    for prefix, i in number.items():
        if prefix:
            rows[number[prefix[:-1]]].append(Edge(Guard(prefix[-1], propositions - prefix[-1]), i))
    return GuardedAutomaton(tuple(map(tuple, rows)), np.array([prefix in shown for prefix in number]))
