"""An automaton for drawing: its edges show what changes from the last label, which takes less room than the label."""

from dataclasses import fields

from wfairl.core.automata.automaton import Arrow, Automaton
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.automata.words import format_difference


def with_label_differences(automaton: Automaton) -> Automaton:
    """The automaton with label differences on its edges; unchanged unless every state has a last label."""
    if not isinstance(automaton, FiniteAutomaton) or None in automaton.last_labels[1:]:
        return automaton
    return _WithLabelDifferences(*(getattr(automaton, one.name) for one in fields(automaton) if one.init))


class _WithLabelDifferences(FiniteAutomaton):
    def arrows(self) -> list[Arrow]:
        return [
            Arrow(source, target, format_difference(self.last_labels[source], label), label.__eq__)
            for source, label, target in self.edges()
        ]
