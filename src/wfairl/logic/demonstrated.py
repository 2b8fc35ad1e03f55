"""The words that were demonstrated, as an automaton that knows when it leaves them.

Whatever the task is, the demonstrated words fulfil it: to do again what was shown is the safest thing to do. Where a
scene does not allow that, the next safest is to do it with something else in between. So the automaton is the tree of
the demonstrated words in which a label that no word goes on with leaves the state as it is,

    state = the part of a demonstrated word that has been read,    accepting = a whole one

and `goes_on` tells which labels belong to a word, and which are read in between.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Guard, Label
from wfairl.automata.guarded import Edge, GuardedAutomaton
from wfairl.automata.task_model import TaskModel
from wfairl.automata.words import Word, compress, with_optional_start

DEMONSTRATED = "demonstrated"
"""The fact of a task model that holds the words that were demonstrated."""


@dataclass(frozen=True, eq=False)
class DemonstratedWords:
    """The tree of the demonstrated words; state 0 is its root.

    Attributes:
        next_states: of each state, the one after each label with which some word goes on.
        last_labels: the label that leads to each state, None for the root.
        accepting: where a whole word has been read, shape [states].
    """

    next_states: tuple[dict[Label, int], ...]
    last_labels: tuple[Label | None, ...]
    accepting: NDArray[np.bool_]

    @classmethod
    def of(cls, words: Collection[Sequence[Label]], erased: Collection[Label] = ()) -> "DemonstratedWords":
        """The tree of some words without some labels.

        An empty label at the beginning is optional, and repeats count once.
        """
        compressed: list[Word] = [compress([label for label in word if label not in erased]) for word in words]
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
        """Accepts words that have a demonstrated word in them, the labels in its order and others in between."""
        propositions = frozenset().union(*(label for row in self.next_states for label in row))
        rows = [
            tuple(Edge(Guard(label, propositions - label), after) for label, after in row.items())
            for row in self.next_states
        ]
        return GuardedAutomaton(tuple(rows), self.accepting)

    def goes_on(self, labels: Sequence[Label]) -> NDArray[np.bool_]:
        """Whether a label goes on with a demonstrated word, or repeats its last label; shape [states, labels]."""
        return np.array(
            [
                [label in row or label == last for label in labels]
                for row, last in zip(self.next_states, self.last_labels, strict=True)
            ]
        )

    def leaves_at(self, labels: Sequence[Label]) -> int | None:
        """The first step, from 1, at which a path does what no demonstration did up to there; None if it never does."""
        state = 0
        for step, label in enumerate(labels, start=1):
            if label != self.last_labels[state]:
                if label not in self.next_states[state]:
                    return step
                state = self.next_states[state][label]
        return None


def demonstrated_words(model: TaskModel) -> DemonstratedWords | None:
    """The tree of the words that a model was learned from, None if its learner keeps none."""
    words = words_of(model)
    return DemonstratedWords.of(words) if words else None


def words_of(model: TaskModel) -> list[Word]:
    """The words that a model was learned from; none if its learner keeps none."""
    return [tuple(map(frozenset, word)) for word in model.facts.get(DEMONSTRATED, ())]
