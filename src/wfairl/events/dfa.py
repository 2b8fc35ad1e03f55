"""Complete deterministic finite automata as tables: intersection, minimisation, and the automaton for a planner."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Label
from wfairl.core.automata.finite import FiniteAutomaton, NoAcceptedWordError, TooManyStatesError, live_states
from wfairl.core.automata.minimisation import equivalence_classes


@dataclass(frozen=True, eq=False)
class Dfa:
    """A deterministic automaton with a successor for every label in every state; state 0 is the initial one."""

    transitions: NDArray[np.int32]  # next state, shape [states, labels]
    accepting: NDArray[np.bool_]  # whether a word may end there, shape [states]

    @property
    def states(self) -> int:
        """The number of states, dead ones too."""
        return len(self.accepting)


def all_words(labels: int) -> Dfa:
    """The table of all words."""
    return Dfa(np.zeros((1, labels), np.int32), np.array([True]))


def intersect_dfas(tables: Sequence[Dfa], labels: int, max_states: int) -> Dfa:
    """The minimal table of the words that all tables accept; more than `max_states` are a `TooManyStatesError`."""
    whole = all_words(labels)
    for table in tables:
        whole = minimal(product(whole, table))
        if whole.states > max_states:
            raise TooManyStatesError(
                f"the constraints together need more than {max_states} states; keep fewer of them, or raise max_states"
            )
    return whole


def complement(table: Dfa) -> Dfa:
    """The table of the words that another one rejects."""
    return Dfa(table.transitions, ~table.accepting)


def product(left: Dfa, right: Dfa) -> Dfa:
    """The table of the words that both accept, over the pairs of states that can be reached."""
    pairs, after = _reachable_pairs(left, right)
    number = np.empty(left.states * right.states, np.int32)
    number[pairs] = np.arange(len(pairs))
    i, j = np.divmod(pairs, right.states)
    return Dfa(number[after], left.accepting[i] & right.accepting[j])


def _reachable_pairs(left: Dfa, right: Dfa) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pairs (i, j) of states that one word leads to, as i * right.states + j, breadth first; shape [pairs].

    Then the pair that follows each of them on each label, shape [pairs, labels].
    """
    reached = np.zeros(left.states * right.states, bool)
    levels, successors, frontier = [], [], np.array([0])
    while len(frontier):
        reached[frontier] = True
        i, j = np.divmod(frontier, right.states)
        after = left.transitions[i].astype(np.int64) * right.states + right.transitions[j]
        levels.append(frontier)
        successors.append(after)
        frontier = np.unique(after[~reached[after]])
    return np.concatenate(levels), np.concatenate(successors)


def minimal(table: Dfa) -> Dfa:
    """The smallest table of the same words, its states in the order of the first state that each stands for."""
    reached = np.sort(_reachable_pairs(table, all_words(table.transitions.shape[1]))[0])
    number = np.zeros(table.states, np.int32)
    number[reached] = np.arange(len(reached))
    transitions, accepting = number[table.transitions[reached]], table.accepting[reached]
    classes = equivalence_classes(transitions, accepting)
    _, firsts = np.unique(classes, return_index=True)
    return Dfa(classes[transitions[firsts]], accepting[firsts])


def to_finite(table: Dfa, alphabet: tuple[Label, ...]) -> FiniteAutomaton:
    """The automaton over the live states of a table; if it accepts nothing, a `NoAcceptedWordError`."""
    live = live_states(table.transitions, table.accepting)
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


def ignores_repeats(table: Dfa) -> bool:
    """Whether a label read twice always leads where it leads once."""
    labels = np.arange(table.transitions.shape[1])
    return bool((table.transitions[table.transitions, labels] == table.transitions).all())
