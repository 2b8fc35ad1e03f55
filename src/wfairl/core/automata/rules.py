"""Rules that people state, as automata: visit in order, visit all, avoid, before; and all of several at once.

    both = all_of(visit_all("coffee", "mail"), avoid("plant"))
    rule = then(both, visit_in_order("office"))

One label may fulfil several steps: a label with key and door fulfils `visit_in_order("key", "door")`. A label with a
proposition to avoid loses the task, even if it fulfils everything else.
"""

from functools import reduce
from itertools import combinations, pairwise

import numpy as np

from wfairl.core.automata.automaton import DEAD
from wfairl.core.automata.guarded import Edge, Guard, GuardedAutomaton, intersect
from wfairl.core.support.errors import BadInputError

MOST_IN_ANY_ORDER = 10
"""`visit_all` has a state for every set of what has been visited."""


def visit_in_order(*propositions: str) -> GuardedAutomaton:
    """The propositions come true one after the other; one that is named twice in a row must end in between."""
    _check(propositions, "visit_in_order")
    rows: list[tuple[Edge, ...]] = []
    cuts = [i for i in range(1, len(propositions)) if propositions[i] == propositions[i - 1]]
    for begin, end in pairwise([0, *cuts, len(propositions)]):
        visits = propositions[begin:end]  # none follows itself
        first, count = len(rows), len(visits)
        for visited in range(count):
            together = range(count, visited, -1)
            rows.append(tuple(Edge(Guard(frozenset(visits[visited:after])), first + after) for after in together))
        rows.append((Edge(Guard(frozenset(), frozenset({visits[-1]})), first + count + 1),))
    rows[-1] = ()
    return GuardedAutomaton(tuple(rows), np.arange(len(rows)) == len(rows) - 1)


def visit_all(*propositions: str) -> GuardedAutomaton:
    """Every proposition comes true at some time, in any order."""
    _check(propositions, "visit_all")
    if len(propositions) > MOST_IN_ANY_ORDER:
        raise BadInputError(f"visit_all takes at most {MOST_IN_ANY_ORDER} propositions, not {len(propositions)}")
    sets = [frozenset(some) for size in range(len(propositions) + 1) for some in combinations(propositions, size)]
    number = {some: i for i, some in enumerate(sets)}
    rows = [
        tuple(Edge(Guard(after - visited), number[after]) for after in reversed(sets) if visited < after)
        for visited in sets
    ]
    return GuardedAutomaton(tuple(rows), np.arange(len(sets)) == len(sets) - 1)


def avoid(*propositions: str) -> GuardedAutomaton:
    """None of the propositions ever comes true; accepted until one does."""
    _check(propositions, "avoid")
    lost = tuple(Edge(Guard(frozenset({proposition})), DEAD) for proposition in propositions)
    return GuardedAutomaton((lost,), np.array([True]))


def before(first: str, second: str) -> GuardedAutomaton:
    """`second` does not come true before `first`, though perhaps at the same time; accepted until it does too early."""
    _check((first, second), "before")
    early = Edge(Guard(frozenset({second}), frozenset({first})), DEAD)
    return GuardedAutomaton(((Edge(Guard(frozenset({first})), 1), early), ()), np.array([True, True]))


def all_of(*rules: GuardedAutomaton) -> GuardedAutomaton:
    """All rules hold at once."""
    if not rules:
        raise BadInputError("all_of needs at least one rule")
    return reduce(intersect, rules)


def then(first: GuardedAutomaton, second: GuardedAutomaton) -> GuardedAutomaton:
    """First one rule is fulfilled, then the other, by the labels that follow.

    Raises:
        BadInputError: the first is fulfilled before anything happens.
    """
    if first.accepting[0]:
        raise BadInputError("the first of two rules is fulfilled before anything happens: state it with all_of")
    keep = [state for state in range(first.states) if not first.accepting[state]]
    number = {state: i for i, state in enumerate(keep)} | {DEAD: DEAD}
    number |= {state: len(keep) for state in range(first.states) if first.accepting[state]}
    shifted = [
        tuple(Edge(edge.guard, edge.target if edge.target == DEAD else edge.target + len(keep)) for edge in row)
        for row in second.edges
    ]
    rows = [tuple(Edge(edge.guard, number[edge.target]) for edge in first.edges[state]) for state in keep]
    return GuardedAutomaton((*rows, *shifted), np.concatenate([np.zeros(len(keep), bool), second.accepting]))


def _check(propositions: tuple[str, ...], name: str) -> None:
    if not propositions or not all(isinstance(one, str) for one in propositions):
        raise BadInputError(f'{name} takes names of propositions, such as {name}("key", "door")')
    if len(set(propositions)) != len(propositions) and name != "visit_in_order":
        raise BadInputError(f"{name} names a proposition twice")
