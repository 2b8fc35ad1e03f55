"""Label differences: what changes from the last label, which takes less room than the label itself."""

from dataclasses import fields

from wfairl.core.automata.automaton import Arrow, Automaton, Label
from wfairl.core.automata.finite import FiniteAutomaton

MINUS = "\N{MINUS SIGN}"

DIFFERENCES_EXPLAINED = f"(+ marks what comes true, {MINUS} what no longer holds)"
"""For captions."""


def format_difference(before: Label | None, label: Label) -> str:
    """What comes true (+) and what no longer holds when a label follows another; None is no label yet.

    On paper, `+door2` says more in less room than `door1 & door2 & key`. Different labels after the same one have
    different texts.
    """
    held = before or frozenset()
    signs = [*(f"+{name}" for name in sorted(label - held)), *(f"{MINUS}{name}" for name in sorted(held - label))]
    return " ".join(signs) or ("as before" if label else "nothing")


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
