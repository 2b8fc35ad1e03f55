"""Complete deterministic automata as tables: their conjunction, the minimal one, and what a planner reads of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD, Label
from wfairl.automata.finite import FiniteAutomaton, NoAcceptedWordError, TooManyStatesError


@dataclass(frozen=True, eq=False)
class TransitionTable:
    """A deterministic automaton with a successor for every label in every state; state 0 is the initial one.

    Attributes:
        transitions: next state, shape [states, labels] of int32.
        accepting: whether a word may end there, shape [states] of bool.
    """

    transitions: NDArray[np.int32]
    accepting: NDArray[np.bool_]

    @property
    def states(self) -> int:
        """The number of states, dead ones too."""
        return len(self.accepting)

    def accepts(self, symbols: Sequence[int]) -> bool:
        """Whether the word of these symbols is accepted."""
        state = 0
        for symbol in symbols:
            state = int(self.transitions[state, symbol])
        return bool(self.accepting[state])


def conjunction(tables: Sequence[TransitionTable], labels: int, max_states: int) -> TransitionTable:
    """The minimal table of the words that all `tables` accept; of all words if there are none.

    Raises:
        TooManyStatesError: the tables so far need more than `max_states` states together.
    """
    whole = TransitionTable(np.zeros((1, labels), np.int32), np.array([True]))
    for table in tables:
        whole = minimal(product(whole, table))
        if whole.states > max_states:
            raise TooManyStatesError(
                f"the constraints together need more than {max_states} states; keep fewer of them, or raise max_states"
            )
    return whole


def product(left: TransitionTable, right: TransitionTable) -> TransitionTable:
    """The table of the words that both accept, over the pairs of states that can be reached."""
    width = right.states
    number = np.full(left.states * width, DEAD, np.int64)
    number[0] = 0
    pairs, frontier = [np.array([0])], np.array([0])
    while len(frontier):
        after = left.transitions[frontier // width].astype(np.int64) * width + right.transitions[frontier % width]
        new = np.unique(after[number[after] == DEAD])
        number[new] = sum(map(len, pairs)) + np.arange(len(new))
        pairs.append(new)
        frontier = new
    pair = np.concatenate(pairs)
    after = left.transitions[pair // width].astype(np.int64) * width + right.transitions[pair % width]
    return TransitionTable(
        number[after].astype(np.int32), left.accepting[pair // width] & right.accepting[pair % width]
    )


def minimal(table: TransitionTable) -> TransitionTable:
    """The smallest table of the same words (Moore): states are told apart by ends, then by successors' classes."""
    table = _reachable(table)
    classes = table.accepting.astype(np.int64)
    count = len(np.unique(classes))
    while True:
        keys = np.column_stack([classes, classes[table.transitions]])
        _, first, refined = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        refined = refined.reshape(-1)
        if len(first) == count:
            break
        classes, count = refined, len(first)
    order = np.argsort(first)  # classes by their first state, so that the initial one stays 0
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    representatives = first[order]
    return TransitionTable(
        rank[refined][table.transitions[representatives]].astype(np.int32), table.accepting[representatives]
    )


def to_finite(table: TransitionTable, alphabet: tuple[Label, ...]) -> FiniteAutomaton:
    """The automaton over the live states of a table.

    Raises:
        NoAcceptedWordError: it accepts nothing.
    """
    live = table.accepting.copy()
    while True:
        grown = live | live[table.transitions].any(axis=1)
        if (grown == live).all():
            break
        live = grown
    if not live[0]:
        raise NoAcceptedWordError("no word over these labels is accepted: what was learned contradicts itself")
    number = np.full(table.states, DEAD, np.int32)
    number[live] = np.arange(live.sum())
    accepting = table.accepting[live]
    return FiniteAutomaton(
        alphabet,
        number[table.transitions[live]],
        accepting,
        accepting.astype(np.float64),
        (None,) * len(accepting),
        keep_repeats=True,
    )


def to_table(finite: FiniteAutomaton) -> TransitionTable:
    """The complete table of an automaton over live states, with a dead state where it has none."""
    transitions = np.where(finite.transitions == DEAD, finite.states, finite.transitions)
    if not (finite.transitions == DEAD).any():
        return TransitionTable(finite.transitions, finite.accepting)
    dead = np.full((1, len(finite.alphabet)), finite.states)
    return TransitionTable(np.vstack([transitions, dead]).astype(np.int32), np.append(finite.accepting, False))


def same_language(left: TransitionTable, right: TransitionTable) -> bool:
    """Whether two tables over the same labels accept the same words."""
    a, b = minimal(left), minimal(right)
    return a.states == b.states and _isomorphic(a, b)


def reads_repeats_once(table: TransitionTable) -> bool:
    """Whether a label read twice always leads where it leads once."""
    labels = np.arange(table.transitions.shape[1])
    return bool((table.transitions[table.transitions, labels] == table.transitions).all())


def _isomorphic(left: TransitionTable, right: TransitionTable) -> bool:
    """Whether two minimal tables of equal size are the same up to the numbers of their states."""
    partner = {0: 0}
    queue = [0]
    for state in queue:
        if left.accepting[state] != right.accepting[partner[state]]:
            return False
        for a, b in zip(left.transitions[state].tolist(), right.transitions[partner[state]].tolist(), strict=True):
            if a not in partner:
                partner[a] = b
                queue.append(a)
            elif partner[a] != b:
                return False
    return True


def _reachable(table: TransitionTable) -> TransitionTable:
    reached = np.zeros(table.states, bool)
    frontier = np.array([0])
    while len(frontier):
        reached[frontier] = True
        after = np.unique(table.transitions[frontier])
        frontier = after[~reached[after]]
    number = np.cumsum(reached) - 1
    return TransitionTable(number[table.transitions[reached]].astype(np.int32), table.accepting[reached])
