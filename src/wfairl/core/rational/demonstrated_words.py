"""The demonstrated words as a prefix tree, and as an automaton that allows other labels in between.

Whatever the task is, the demonstrated words fulfil it, so repeating one is the safest plan. Where a scene does not
allow that, the next safest is to read other labels in between. So the automaton is the prefix tree of the demonstrated
words, which stays in its state at a label that continues no word,

    state = the prefix of a demonstrated word that has been read,    accepting = a whole word
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Guard, Label
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.words import Word, compress, with_optional_start


@dataclass(frozen=True, eq=False)
class DemonstratedWords:
    """The prefix tree of the demonstrated words; state 0 is its root.

    Attributes:
        next_states: of each state, the one after each label that continues a word.
        last_labels: the label that leads to each state, None for the root.
        accepting: where a whole word has been read, shape [states].
    """

    next_states: tuple[dict[Label, int], ...]
    last_labels: tuple[Label | None, ...]
    accepting: NDArray[np.bool_]

    @classmethod
    def of(cls, words: Collection[Sequence[Label]]) -> "DemonstratedWords":
        """The prefix tree of words; an empty label at the beginning is optional, and repeats count once."""
        compressed: list[Word] = [compress(word) for word in words]
        next_states: list[dict[Label, int]] = [{}]
        last_labels: list[Label | None] = [None]
        ends = set()
        for word in dict.fromkeys(with_optional_start(compressed, [1.0] * len(compressed))[0]):
            state = 0
            for label in word:
                after = next_states[state].setdefault(label, len(next_states))
                if after == len(next_states):
                    next_states.append({})
                    last_labels.append(label)
                state = after
            ends.add(state)
        accepting = np.array([state in ends for state in range(len(next_states))])
        return cls(tuple(next_states), tuple(last_labels), accepting)

    @cached_property
    def automaton(self) -> GuardedAutomaton:
        """Accepts the words that have a demonstrated word as a subsequence."""
        propositions = frozenset().union(*(label for row in self.next_states for label in row))
        rows = [
            tuple(Edge(Guard(label, propositions - label), after) for label, after in row.items())
            for row in self.next_states
        ]
        return GuardedAutomaton(tuple(rows), self.accepting)

    def leaves_at(self, labels: Sequence[Label]) -> int | None:
        """The first step, from 1, at which the labels are no longer those of a demonstration; None if there is none."""
        state = 0
        for step, label in enumerate(labels, start=1):
            if label != self.last_labels[state]:
                if label not in self.next_states[state]:
                    return step
                state = self.next_states[state][label]
        return None
