"""Goals: automata for which a cautious agent may plan, and the probability that fulfilling one is not enough.

All accept only what the most probable automaton accepts.

- **Probable automata**: the most probable one alone, with the second, and so on. What may be missing is what the other
  automata require, by their weight, and labels that none of these requires.
- **Demonstrated words** (`demonstrated`), whole or with some labels erased. A whole word is right whatever the task is;
  what may be missing of the others are the erased labels.

With the probabilities `Support.need` that labels are needed, for a set of labels that a goal does not require,

    missing = 1 - prod over these labels of (1 - need of the label)
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.guarded import GuardedAutomaton, conjunction_with_pairs
from wfairl.core.rational.demonstrated import DemonstratedWords
from wfairl.core.rational.tables import is_forced, to_table
from wfairl.core.rational.task_posterior import Support, TaskPosterior

LEAST_WEIGHT = 0.002
"""Weight below which automata are not planned for."""

MOST_AUTOMATA, MOST_STATES = 6, 200
"""Largest number of automata to plan for at once, and of their states together."""

NEGLIGIBLE_NEED = 0.001
"""Probability of need below which labels are erased together."""

MOST_ERASED = 5
"""Number of other labels, the least needed ones, that are erased in every combination; the rest never is."""


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
    """An automaton to plan for.

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
    """The goals of a posterior, those from which least may be missing first."""
    return sorted([*_probable_automata(posterior), *_demonstrated(posterior)], key=lambda goal: goal.missing)


def missing_after(posterior: TaskPosterior, word: Sequence[Label]) -> float:
    """Probability that the task requires more than a word: another automaton may be the task, or a label be needed."""
    others = 1.0
    for one in posterior.alternatives:
        if one.automaton.fulfilled_at(word) is not None:
            others -= one.weight
    need = posterior.support.needed_labels
    return 1.0 - (1.0 - max(others, 0.0)) * (1.0 - _missing(need, need.keys() - set(word)))


def chosen_alone(posterior: TaskPosterior) -> JointAutomaton:
    """The most probable automaton alone."""
    chosen = posterior.chosen.automaton
    return JointAutomaton(chosen, np.arange(chosen.states))


def _missing(need: dict[Label, float], labels: Collection[Label]) -> float:
    return 1.0 - float(np.prod([1.0 - need[label] for label in labels]))


def _probable_automata(posterior: TaskPosterior) -> Iterator[Goal]:
    """The most probable automaton alone, with the second, and so on."""
    others = 1.0 - posterior.chosen.weight
    joint = chosen_alone(posterior)
    yield _goal(joint, others, posterior.support)
    for one in posterior.alternatives[1:MOST_AUTOMATA]:
        automaton, pairs = conjunction_with_pairs(joint.automaton, one.automaton)
        if one.weight < LEAST_WEIGHT or automaton.states > MOST_STATES:
            return
        others = max(others - one.weight, 0.0)
        joint = JointAutomaton(automaton, joint.chosen_states[[state for state, _ in pairs]])
        yield _goal(joint, others, posterior.support)


def _goal(joint: JointAutomaton, others: float, support: Support) -> Goal:
    """A conjunction of automata; what the others require may be missing, and labels that these do not require."""
    need, table = support.needed_labels, to_table(joint.automaton, support.labels)
    skipped = [label for label in need if not is_forced(table, support.number[label])]
    return Goal(1.0 - (1.0 - others) * (1.0 - _missing(need, skipped)), lambda: joint)


def _demonstrated(posterior: TaskPosterior) -> Iterator[Goal]:
    """The demonstrated words, whole and with labels erased."""
    words, chosen, need = posterior.demonstrated_words, posterior.chosen.automaton, posterior.support.needed_labels
    if not words:
        return

    def follow(erased: Collection[Label]) -> Goal:
        return Goal(_missing(need, erased), lambda: _follow(DemonstratedWords.of(words, erased), chosen))

    yield follow(())
    ranked = sorted(need, key=lambda label: need[label])
    hardly = [label for label in ranked if need[label] < NEGLIGIBLE_NEED]
    rest = ranked[len(hardly) :][:MOST_ERASED]
    for size in range(len(rest) + 1):
        for some in combinations(rest, size):
            if hardly or some:
                yield follow((*hardly, *some))


def _follow(words: DemonstratedWords, chosen: GuardedAutomaton) -> JointAutomaton:
    automaton, pairs = conjunction_with_pairs(words.automaton, chosen)
    followed, states = np.array(pairs).T
    return JointAutomaton(automaton, states, (words, followed))
