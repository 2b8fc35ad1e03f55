"""The automaton of a rule, over the package's own classes, in a short description: what a search could have found.

The rule's machine is tabulated over some labels and minimised. The edges of each state are then a decision list: of the
guards that lead all labels which no earlier guard holds for to one target, the one with the fewest literals comes
next, and of these the one that holds for most labels.
"""

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from experiments.rule_families.rules import BROKEN, DONE, Label, Rule
from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.core.automata.minimisation import canonical_table
from wfairl.core.rational.compact_automaton import ANY, CompactAutomaton, CompactEdge, simplify
from wfairl.core.rational.prior import log_prior
from wfairl.core.rational.tables import holding

MOST_LITERALS = 3


def automaton_of(rule: Rule, labels: tuple[Label, ...]) -> CompactAutomaton:
    """The shorter of two descriptions of a rule that agree with it on all words of these labels."""
    table, propositions = table_of_rule(rule, labels), sorted(frozenset().union(*labels))
    is_read = np.ones(table.shape, bool)
    is_read[1:] = [rule.first not in label for label in labels]  # that of the first step is read in state 0 alone
    guards = [guard for guard in _guards(propositions) if holding(guard, labels).any()]
    targets = {guard: np.unique(table[:, holding(guard, labels)]) for guard in guards if len(guard.literals) == 1}
    common = [CompactEdge(ANY, guard, int(one[0])) for guard, one in targets.items() if len(one) == 1]
    dead, others = ([e for e in common if (e.target == DEAD) == is_dead] for is_dead in (True, False))
    found = [
        _describe(table, is_read, guards, labels, edges)
        for edges in (dead, [*dead, *(edge for edge in others if edge.target >= 0)])
    ]
    return max(found, key=lambda one: log_prior(one, len(propositions)))


def table_of_rule(rule: Rule, labels: Sequence[Label]) -> NDArray[np.int32]:
    """The table of the minimal automaton of a rule, [states, labels]; see `wfairl.core.rational.tables`."""
    number = {rule.start: 0, DONE: ACCEPTED, BROKEN: DEAD}
    states, rows = [rule.start], []
    for state in states:  # which grows meanwhile
        after = [rule.step(state, label) for label in labels]
        states += dict.fromkeys(one for one in after if one not in number)
        number |= {one: i for i, one in enumerate(states)}
        rows.append([number[one] for one in after])
    return canonical_table(np.array(rows, np.int32))


def _guards(propositions: Sequence[str]) -> list[Guard]:
    """All guards of few literals, the shortest first."""
    return [
        Guard(frozenset(names) - false, false)
        for count in range(1, MOST_LITERALS + 1)
        for names in combinations(propositions, count)
        for signs in product((False, True), repeat=count)
        for false in [frozenset(name for name, is_false in zip(names, signs, strict=True) if is_false)]
    ]


def _describe(
    table: NDArray[np.int32],
    is_read: NDArray[np.bool_],
    guards: Sequence[Guard],
    labels: tuple[Label, ...],
    common: Sequence[CompactEdge],
) -> CompactAutomaton:
    """The automaton of a table, so far as it is read, with some edges of any state."""
    edges = list(common)
    for state, row in enumerate(table):
        left = is_read[state].copy()  # the labels that no guard holds for yet
        unexplained = left & (row != state)
        for edge in common:
            unexplained &= ~holding(edge.guard, labels)
            if edge.target == DEAD:
                left &= ~holding(edge.guard, labels)
        while unexplained.any():
            fitting = [
                (len(guard.literals), -int((unexplained & held).sum()), len(guard.false), i)
                for i, guard in enumerate(guards)
                if (unexplained & (held := holding(guard, labels))).any() and len(np.unique(row[left & held])) == 1
            ]
            guard = guards[min(fitting)[-1]]
            held = holding(guard, labels)
            edges.append(CompactEdge(state, guard, int(row[left & held][0])))
            left, unexplained = left & ~held, unexplained & ~held
    return simplify(edges)
