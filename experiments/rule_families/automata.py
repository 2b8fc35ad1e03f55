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
from wfairl.core.rational.compact_automaton import ANY, CompactAutomaton, CompactEdge, simplify
from wfairl.core.rational.prior import log_prior
from wfairl.core.rational.tables import canonical_table

MOST_LITERALS = 3


def automaton_of(rule: Rule, labels: Sequence[Label]) -> CompactAutomaton:
    """The shortest of some descriptions of a rule that agree with it on all words of these labels."""
    table, first = table_of_rule(rule, labels), np.array([rule.first in label for label in labels])
    guards = _guards(sorted(frozenset().union(*labels)), labels)
    forbidden = [CompactEdge(ANY, guard, DEAD) for guard, holds in guards if (table[:, holds] == DEAD).all()]
    forbidden = [one for one in forbidden if not any(o is not one and o.guard.covers(one.guard) for o in forbidden)]
    common = [CompactEdge(ANY, guard, target) for guard, holds in guards if (target := _only(table[:, holds])) >= 0]
    found = [_describe(table, guards, (*forbidden, *some), first) for some in [(), *((one,) for one in common[:1])]]
    return max(found, key=lambda one: log_prior(one, len(frozenset().union(*labels))))


def table_of_rule(rule: Rule, labels: Sequence[Label]) -> NDArray[np.int32]:
    """The table of the minimal automaton of a rule, [states, labels]; see `wfairl.core.rational.tables`."""
    number = {rule.start: 0, DONE: ACCEPTED, BROKEN: DEAD}
    states, rows = [rule.start], []
    for state in states:  # which grows meanwhile
        after = [rule.step(state, label) for label in labels]
        for one in after:
            if one not in number:
                number[one] = len(states)
                states.append(one)
        rows.append([number[one] for one in after])
    return canonical_table(np.array(rows, np.int32))


_Guards = list[tuple[Guard, NDArray[np.bool_]]]
"""Guards, those of few literals first, and for which labels each holds."""


def _guards(propositions: Sequence[str], labels: Sequence[Label]) -> _Guards:
    listed = []
    for count in range(1, MOST_LITERALS + 1):
        for names in combinations(propositions, count):
            for signs in product((True, False), repeat=count):
                true = frozenset(name for name, sign in zip(names, signs, strict=True) if sign)
                guard = Guard(true, frozenset(names) - true)
                listed.append((guard, np.array([guard.holds(label) for label in labels])))
    return [(guard, holds) for guard, holds in listed if holds.any()]


def _only(targets: NDArray[np.int32]) -> int:
    """The one target of all, or `DEAD` if there are several."""
    return int(targets.flat[0]) if (targets == targets.flat[0]).all() else DEAD


def _describe(table: NDArray[np.int32], guards: _Guards, common: Sequence[CompactEdge], first: NDArray[np.bool_]) -> CompactAutomaton:
    """The automaton of a table with some edges of any state; labels of the first step are read in state 0 alone."""
    edges = list(common)
    for state, row in enumerate(table):
        left = np.ones(len(row), bool) if state == 0 else ~first  # labels that no guard holds for yet
        explained = row == state
        for edge in common:
            holds = next(holds for guard, holds in guards if guard == edge.guard)
            explained = explained | holds
            if edge.target == DEAD:
                left &= ~holds
        while (left & ~explained).any():
            guard, holds = _next_guard(row, guards, left, left & ~explained)
            edges.append(CompactEdge(state, guard, int(row[left & holds][0])))
            left &= ~holds
    return simplify(edges)


def _next_guard(
    row: NDArray[np.int32], guards: _Guards, left: NDArray[np.bool_], open_: NDArray[np.bool_]
) -> tuple[Guard, NDArray[np.bool_]]:
    """The guard to try next, which holds for as many open labels as possible."""
    fitting = [
        (len(guard.literals), -int((open_ & holds).sum()), len(guard.false), i)
        for i, (guard, holds) in enumerate(guards)
        if (open_ & holds).any() and (row[left & holds] == row[left & holds][0]).all()
    ]
    return guards[min(fitting)[-1]]
