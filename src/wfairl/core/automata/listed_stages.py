"""An automaton in words, stage by stage: what is said where no sentence says the same."""

from wfairl.core.automata.automaton import DEAD, Automaton, Guard
from wfairl.core.automata.clauses import Clauses, Joint, listed, quote
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.automata.guarded import GuardedAutomaton

MOST_LISTED = 9
"""States of an automaton that is listed in words."""


def list_stages(automaton: Automaton) -> Clauses:
    """The stages of an automaton, a clause each; how many there are if that is too long."""
    if automaton.states > MOST_LISTED + 1:
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
    false = listed([quote(name) for name in sorted(guard.false)], "or") if guard.false else ""
    if not guard.true:
        return f"anything without {false}" if false else "anything"
    true = Joint.of(guard.true) if len(guard.true) > 1 else quote(*guard.true)
    return f"{true} without {false}" if false else true
