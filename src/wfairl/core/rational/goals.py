"""Goals: what a cautious agent may plan for, and the probability that fulfilling it is not enough.

All goals accept only what the most probable automaton accepts. There are two kinds:

- **Probable automata**: the most probable one alone, together with the second, and so on. Other automata may require
  more, with the probability that is left to them, and labels may be needed that none of these automata requires.
- **Demonstrated words** (`demonstrated_words`), whole or with some labels erased. A whole word is right whatever the
  task is. If labels are erased, one of them may be needed.

With the probability `Support.need` that a label is needed, and the labels that a goal does not require,

    missing = 1 - (1 - weight of other automata) * prod over these labels of (1 - need of the label)
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.guarded import GuardedAutomaton, intersect_with_pairs
from wfairl.core.rational.demonstrated_words import DemonstratedWords
from wfairl.core.rational.tables import is_forced, to_table
from wfairl.core.rational.task_posterior import Support, TaskPosterior

LEAST_AUTOMATON_WEIGHT = 0.002
"""Weight below which automata are not planned for."""

MOST_AUTOMATA, MOST_JOINT_STATES = 6, 200
"""Largest number of automata to plan for at once, and of their states together."""

NEGLIGIBLE_NEED = 0.001
"""Labels that are needed with a smaller probability are erased together."""

MOST_ERASED = 5
"""How many other labels, the least needed ones, are erased in every combination."""


@dataclass(frozen=True, eq=False)
class JointAutomaton:
    """An automaton that accepts nothing that the most probable one rejects.

    Attributes:
        automaton: the conjunction of the most probable automaton with something else.
        chosen_states: the state of the most probable one in each of its states, shape [states].
        follows: the demonstrated words and their state in each of its states, [states]; None if none is followed.
    """

    automaton: GuardedAutomaton
    chosen_states: NDArray[np.int64]
    follows: tuple[DemonstratedWords, NDArray[np.int64]] | None = None


@dataclass(frozen=True, eq=False)
class Goal:
    """What to plan for.

    Attributes:
        missing: probability that the task requires more.
        build: makes the automaton to plan for.
    """

    missing: float
    build: Callable[[], JointAutomaton]

    @cached_property
    def joint(self) -> JointAutomaton:
        """The automaton to plan for, built at its first use."""
        return self.build()


def goals_of(posterior: TaskPosterior) -> list[Goal]:
    """The goals of a posterior, those with the least missing first."""
    return sorted([*_probable_automata(posterior), *_demonstrated(posterior)], key=lambda goal: goal.missing)


def missing_after(posterior: TaskPosterior, word: Sequence[Label]) -> float:
    """Probability that the task requires more than a word: another automaton may be the task, or a label be needed."""
    others = 1.0
    for one in posterior.alternatives:
        if one.automaton.fulfilled_at(word) is not None:
            others -= one.weight
    need = posterior.support.needed_labels
    return _missing(max(others, 0.0), need, need.keys() - set(word))


def chosen_alone(posterior: TaskPosterior) -> JointAutomaton:
    """The most probable automaton alone."""
    chosen = posterior.chosen.automaton
    return JointAutomaton(chosen, np.arange(chosen.states))


def _missing(others: float, need: dict[Label, float], labels: Collection[Label]) -> float:
    """The equation above; `others` is the weight of other automata."""
    return 1.0 - (1.0 - others) * (1.0 - _any_needed(need, labels))


def _any_needed(need: dict[Label, float], labels: Collection[Label]) -> float:
    return 1.0 - float(np.prod([1.0 - need[label] for label in labels]))


def _probable_automata(posterior: TaskPosterior) -> Iterator[Goal]:
    others, joint = 1.0 - posterior.chosen.weight, chosen_alone(posterior)
    yield _goal(joint, others, posterior.support)
    for one in posterior.alternatives[1:MOST_AUTOMATA]:
        automaton, pairs = intersect_with_pairs(joint.automaton, one.automaton)
        if one.weight < LEAST_AUTOMATON_WEIGHT or automaton.states > MOST_JOINT_STATES:
            return
        others = max(others - one.weight, 0.0)
        joint = JointAutomaton(automaton, joint.chosen_states[[state for state, _ in pairs]])
        yield _goal(joint, others, posterior.support)


def _goal(joint: JointAutomaton, others: float, support: Support) -> Goal:
    need, table = support.needed_labels, to_table(joint.automaton, support.labels)
    not_required = [label for label in need if not is_forced(table, support.number[label])]
    return Goal(_missing(others, need, not_required), lambda: joint)


def _demonstrated(posterior: TaskPosterior) -> Iterator[Goal]:
    words, need = posterior.demonstrated_words, posterior.support.needed_labels
    if not words:
        return

    def follow(erased: Collection[Label]) -> Goal:
        return Goal(_any_needed(need, erased), lambda: _follow(DemonstratedWords.of(words, erased), posterior))

    yield follow(())
    ranked = sorted(need, key=lambda label: need[label])
    negligible = [label for label in ranked if need[label] < NEGLIGIBLE_NEED]
    others = ranked[len(negligible) :][:MOST_ERASED]
    for size in range(len(others) + 1):
        for some in combinations(others, size):
            if negligible or some:
                yield follow((*negligible, *some))


def _follow(words: DemonstratedWords, posterior: TaskPosterior) -> JointAutomaton:
    automaton, pairs = intersect_with_pairs(words.automaton, posterior.chosen.automaton)
    followed, states = np.array(pairs).T
    return JointAutomaton(automaton, states, (words, followed))
