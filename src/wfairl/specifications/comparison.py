"""Comparison of two automata: the shortest words that tell them apart."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice

from wfairl.core.automata.automaton import DEAD, Automaton, Label
from wfairl.core.automata.words import Word, format_word
from wfairl.specifications.symbolic import differing_words, until_fulfilled


@dataclass(frozen=True, eq=False)
class AutomataComparison:
    """Two automata and what tells them apart."""

    names: tuple[str, str]
    automata: tuple[Automaton, Automaton]
    words: tuple[Word, ...]  # that one accepts and the other does not, shortest first; none if they are the same
    known_labels: bool  # whether these words consist of labels that the automata were learned from
    same_plans: bool  # whether they are the same for a planner, which stops when the task is fulfilled

    def verdicts(self, word: Word) -> tuple[str, str]:
        """The verdict of each on a word."""
        one, other = (_verdict(automaton, word) for automaton in self.automata)
        return one, other

    @property
    def texts(self) -> tuple[str, ...]:
        """The words with their verdicts, as lines for people."""
        if not self.words:
            return ("They accept the same words.",)
        lines = (f"{format_word(word)}: {'; '.join(self.verdicts(word))}" for word in self.words)
        return (f"Words that tell them apart ({'; '.join(self.names)}):", *lines)


def compare_automata(
    names: tuple[str, str], automata: tuple[Automaton, Automaton], known: Collection[Label] = (), most: int = 5
) -> AutomataComparison:
    """Find the shortest words, at most `most`, that tell two automata apart, each by another pair of states.

    Words consist of `known` labels if such words tell them apart, otherwise of any labels.
    """
    labels = known if known and next(differing_words(*automata, known), None) is not None else None
    words = tuple(islice(differing_words(*automata, labels), most))
    first = next(differing_words(until_fulfilled(automata[0]), until_fulfilled(automata[1]), labels), None)
    return AutomataComparison(names, automata, words, labels is not None, first is None)


def _verdict(automaton: Automaton, word: Word) -> str:
    path = automaton.run(word)
    if DEAD in path:
        return f"lost at label {path.index(DEAD)}"
    return f"accepted in state {path[-1]}" if automaton.accepting[path[-1]] else f"not done in state {path[-1]}"
