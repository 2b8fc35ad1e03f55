"""Propositions of words that a model does not know, such as misspelt ones."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import Word

MOST_NAMED = 20
"""Propositions that a sentence names; the rest is counted."""


@dataclass(frozen=True)
class UnknownPropositions:
    """Propositions that a model does not know.

    Attributes:
        names: neither the automaton reads them, nor has any word or scene that it was learned from one of them.
        known: all that the model knows.
        are_ignored: whether labels are read as if they were not there; else a word with one of them is rejected.
    """

    names: tuple[str, ...]
    known: tuple[str, ...]
    are_ignored: bool

    @property
    def sentences(self) -> list[str]:
        """A sentence that names them, and what becomes of them; none if there are none."""
        if not self.names:
            return []
        they = "it" if len(self.names) == 1 else "them"
        effect = f"ignores {they}" if self.are_ignored else f"rejects a word with {they}"
        unknown, known = list_names(self.names, MOST_NAMED), list_names(self.known, MOST_NAMED)
        return [f"The task model does not know {unknown} (it knows {known}), and {effect}."]


def unknown_propositions(model: TaskModel, words: Collection[Word]) -> UnknownPropositions:
    """The propositions of words that a model does not know."""
    has: frozenset[str] = frozenset().union(*(label for word in set(words) for label in word))
    knows: frozenset[str] = frozenset().union(*model.alphabet, *model.labels_seen)
    are_ignored = isinstance(model.automaton, GuardedAutomaton)
    return UnknownPropositions(tuple(sorted(has - knows)), tuple(sorted(knows)), are_ignored)


def list_names(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """The first of some names in quotes, and how many more there are."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return separator.join([*(f"'{name}'" for name in names[:most]), *more])
