"""An automaton in words, stage by stage: what is said where no sentence says the same."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import numpy as np

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Automaton, Guard, Label
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.sentences import Clauses, listed, quote
from wfairl.pages.sentences.goals import Joint


def list_stages(automaton: Automaton) -> Clauses:
    """The stages of an automaton, a clause each; how many there are if that is too long."""
    if automaton.states > 10:
        names = sorted(automaton.propositions)
        return (f"a rule in {automaton.states} stages about {listed([quote(name) for name in names], 'and')}",)
    states = [q for q in range(automaton.states) if not automaton.accepting[q]]
    number = {q: i for i, q in enumerate(states, start=1)}
    clauses = []
    for state in states:
        parts = [f"{guard} {_verb(target, automaton, state, number)}" for guard, target in _edges(automaton, state)]
        clauses.append(f"in stage {number[state]}, {', else '.join(parts) or 'nothing helps'}")
    return tuple(clauses)


def _edges(automaton: Automaton, state: int) -> list[tuple[str, int]]:
    """What is read in a state, the first that fits, and the states after."""
    if isinstance(automaton, GuardedAutomaton):
        return [(_guard_text(edge.guard), edge.target) for edge in automaton.edges[state]]
    assert isinstance(automaton, FiniteAutomaton)
    after = zip(automaton.alphabet, automaton.transitions[state].tolist(), strict=True)
    edges = [(f"just {_guard_text(Guard(label))}", target) for label, target in after if target != DEAD]
    return [*edges, ("anything", DEAD)]


def _verb(target: int, automaton: Automaton, state: int, number: dict[int, int]) -> str:
    if target == DEAD:
        return "fails"
    if automaton.accepting[target]:
        return "completes it"
    return "changes nothing" if target == state else f"leads to stage {number[target]}"


def _guard_text(guard: Guard) -> str:
    if guard.true:
        return Joint.of(guard)
    false = listed([quote(name) for name in sorted(guard.false)], "or") if guard.false else ""
    return f"anything without {false}" if false else "anything"


def with_short_guards(labels: Sequence[Label], rows: Sequence[Sequence[int]]) -> GuardedAutomaton:
    """The automaton of a table over labels, with the shortest guards that will do; its last state is accepting."""
    done = len(rows)
    edges = [
        tuple(Edge(guard, done if target == ACCEPTED else target) for guard, target in _short_guards(labels, row, q))
        for q, row in enumerate(rows)
    ]
    return GuardedAutomaton((*edges, ()), np.arange(done + 1) == done)


def _short_guards(labels: Sequence[Label], row: Sequence[int], state: int) -> Iterator[tuple[Guard, int]]:
    """Guards and targets for all labels that change a state, in their order."""
    left = dict(zip(labels, row, strict=True))
    names = sorted(frozenset().union(*labels))
    short = [Guard(frozenset({name})) for name in names]
    short += [Guard(frozenset(), frozenset({name})) for name in names]
    short += [Guard(frozenset(pair)) for pair in combinations(names, 2)]
    short += [Guard(frozenset({one}), frozenset({other})) for one, other in permutations(names, 2)]
    while any(target != state for target in left.values()):
        for guard in (*short, *(Guard(label, frozenset(names) - label) for label in left)):
            held = [label for label in left if guard.holds(label)]
            targets = {left[label] for label in held}
            if len(targets) == 1 and state not in targets:
                yield guard, targets.pop()
                for label in held:
                    del left[label]
                break
