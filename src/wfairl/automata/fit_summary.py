"""How an automaton was learned, and what words say of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wfairl.automata.automaton import DEAD, Automaton, Label
from wfairl.automata.finite import FiniteAutomaton
from wfairl.automata.words import Word
from wfairl.documents import Count, NotNegative


@dataclass(frozen=True)
class FitSummary:
    """How the automaton was learned.

    Attributes:
        words: number of words it was learned from.
        successes: how many of them have a score that reaches the threshold.
        loss: mean squared error on the words it was learned from, eq. (2).
        states: number of states of the automaton.
        closed: whether that automaton holds all of them, within `max_states`.
        rank: number of states of the weighted automaton; None where there is none, and so on.
        rows: length of the longest prefix of the basis.
        cols: length of the longest suffix of the basis.
        condition: largest over smallest singular value that was kept.
        deviation: largest difference of the finite automaton from the weighted one that was seen.
    """

    words: Count
    successes: Count
    loss: NotNegative
    states: Count
    closed: bool = True
    rank: Count | None = None
    rows: Count | None = None
    cols: Count | None = None
    condition: float | None = None
    deviation: NotNegative | None = None


def accepted_values(automaton: Automaton, words: Sequence[Word]) -> list[float]:
    """1 for each word that is accepted, 0 for the others."""
    if isinstance(automaton, FiniteAutomaton):
        return automaton.accepts_all(words).astype(np.float64).tolist()
    return [float(automaton.accepts(word)) for word in words]


def count_edges(automaton: Automaton, words: Sequence[Word]) -> dict[tuple[int, Label], int]:
    """How many of the words take each edge between two different states."""
    counts: Counter[tuple[int, Label]] = Counter()
    for word, times in Counter(words).items():
        path = automaton.run(word)
        taken = {(a, label) for a, b, label in zip(path, path[1:], word, strict=False) if DEAD not in (a, b) and a != b}
        counts.update(dict.fromkeys(taken, times))
    return dict(counts)
