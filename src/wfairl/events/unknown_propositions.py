"""Propositions of words that a model does not know, such as misspelt ones."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import Word
from wfairl.core.support.errors import did_you_mean
from wfairl.events.learned_rule import learned_rule_of

MOST_NAMED = 20
"""Propositions that a sentence names; the rest is counted."""


@dataclass(frozen=True)
class UnknownPropositions:
    """The names of propositions that a model does not know, and sentences about them: one, or none."""

    names: tuple[str, ...]
    sentences: tuple[str, ...]


def unknown_propositions(model: TaskModel, words: Collection[Word]) -> UnknownPropositions:
    """The propositions of words that neither the automaton reads, nor any word or scene it was learned from has."""
    has: frozenset[str] = frozenset().union(*(label for word in set(words) for label in word))
    knows: frozenset[str] = frozenset().union(*model.alphabet, *model.labels_seen)
    names = tuple(sorted(has - knows))
    if not names:
        return UnknownPropositions((), ())
    they = "it" if len(names) == 1 else "them"
    effect = f"rejects a word with {they}"
    if isinstance(model.automaton, GuardedAutomaton):
        effect = f"ignores {they}"
    elif learned_rule_of(model) is not None:
        effect = f"judges a word with {they} by its sentences alone"
    unknown, known = list_names(names, MOST_NAMED), list_names(sorted(knows), MOST_NAMED)
    near = did_you_mean(names[0], sorted(knows))
    sentence = f"The task model does not know {unknown}{near} (it knows {known}), and {effect}."
    return UnknownPropositions(names, (sentence,))


def list_names(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """The first of some names in quotes, and how many more there are."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return separator.join([*(f"'{name}'" for name in names[:most]), *more])
