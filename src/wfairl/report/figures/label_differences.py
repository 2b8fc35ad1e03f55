"""Labels as differences from the one before: on paper, `+door2` says more in less room than `door1 & door2 & key`."""

from wfairl.automata.automaton import Label

MINUS = "\N{MINUS SIGN}"

NOTHING = "nothing"

EXPLANATION = f"(+ marks what comes true, {MINUS} what no longer holds)"
"""For captions."""


def format_difference(before: Label | None, label: Label) -> str:
    """What comes true (+) and what no longer holds when a label follows another; None stands for the very start.

    Two labels that follow the same one differ from it differently.
    """
    held = before or frozenset()
    signs = [*(f"+{name}" for name in sorted(label - held)), *(f"{MINUS}{name}" for name in sorted(held - label))]
    if signs:
        return " ".join(signs)
    return NOTHING if not label else "as before"
