"""Python: an automaton as a module of its own, which needs nothing but Python."""

from wfairl import __version__
from wfairl.core.automata.automaton import DEAD, Automaton
from wfairl.specifications.symbolic import as_guarded

MODULE_TEMPLATE = '''\
"""A task automaton, written by wfairl {version}. It needs nothing but Python.

A label is a set of propositions, those that hold after a transition; a word is a sequence of labels.

    state = INITIAL
    for label in word:
        state = step(state, label)
    done = state in ACCEPTING
"""

INITIAL = 0
DEAD = {dead}  # from here the task can never be fulfilled
ACCEPTING = frozenset({accepting})
PROPOSITIONS = frozenset({propositions})

# Of each state, the edges in the order in which they are tried: what must hold, what must not, where it leads.
EDGES = (
{rows})


def step(state, label):
    """The state after reading a label; where no edge fits, it stays as it is."""
    if state == DEAD:
        return DEAD
    for holds, holds_not, target in EDGES[state]:
        if holds.issubset(label) and holds_not.isdisjoint(label):
            return target
    return state


def accepts(word):
    """Whether a whole word is accepted."""
    state = INITIAL
    for label in word:
        state = step(state, label)
    return state in ACCEPTING
'''


def to_python(automaton: Automaton) -> str:
    """The automaton as the text of a Python module, with the states that it has.

    Names are written as `ascii` writes strings, so that whatever they hold stays text.
    """
    rows = []
    for edges in as_guarded(automaton).edges:
        lines = [f"        ({_set(one.guard.true)}, {_set(one.guard.false)}, {one.target}),\n" for one in edges]
        rows.append("    (\n" + "".join(lines) + "    ),\n" if lines else "    (),\n")
    return MODULE_TEMPLATE.format(
        version=__version__,
        dead=DEAD,
        accepting=[state for state in range(automaton.states) if automaton.accepting[state]],
        propositions=_list(automaton.propositions),
        rows="".join(rows),
    )


def _set(names: frozenset[str]) -> str:
    return f"frozenset({_list(names)})" if names else "frozenset()"


def _list(names: frozenset[str]) -> str:
    return "[" + ", ".join(ascii(name) for name in sorted(names)) + "]"
