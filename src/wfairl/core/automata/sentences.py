"""Sentences: what an automaton asks for, in plain English that says exactly the same.

    coffee and mail in any order, then office; never plant; after coffee, never stairs until lift

A neighbour finds the clauses of a sentence: `wfairl.pages.sentences`. The core only has to say where in an automaton
something happens (`describe_state`).
"""

from collections.abc import Callable, Iterable, Sequence

from wfairl.core.automata.automaton import DEAD, Automaton, Label
from wfairl.core.support.registry import Registry

Clauses = tuple[str, ...]

LANGUAGES: Registry[Callable[[Automaton, Iterable[Label] | None], Clauses]] = Registry("language of sentences", {})
"""What finds the clauses of an automaton; a neighbour offers it."""

RESERVED = {"no", "one", "two", "three", "four", "five", "and", "or", "with", "without", "then", "later", "again"}
RESERVED |= {"never", "before", "after", "until", "either", "of", "in", "the", "its", "just", "anything", "starts"}
RESERVED |= {"counts", "more", "twice", "times", "if", "comes", "each", "next"}
"""Words that have a meaning in sentences."""


def describe(automaton: Automaton, labels: Iterable[Label] | None = None) -> Clauses:
    """What an automaton asks for until it accepts, as clauses of a sentence.

    The clauses say the same as the automaton on words of some labels, all unless given.
    """
    return LANGUAGES["English"](automaton, labels)


def join_clauses(clauses: Iterable[str]) -> str:
    """Clauses as one sentence."""
    return "; ".join(clauses)


def describe_state(automaton: Automaton, state: int) -> str:
    """When an automaton is in a state: what has held, one after the other, on a shortest way there."""
    ways: dict[int, tuple[str, ...]] = {0: ()}
    for q in (queue := [0]):  # which grows meanwhile
        for name in sorted(automaton.propositions):
            after = automaton.read(q, frozenset({name}))
            if after not in ways and after != DEAD:
                ways[after] = (*ways[q], quote(name))
                queue.append(after)
    if state not in ways:
        return f"in state {state}"
    return f"after {', then '.join(ways[state])}" if state else "at the beginning"


def listed(names: Sequence[str], last: str) -> str:
    """Names as a list: `a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def quote(name: str) -> str:
    """A name in a sentence, in quotation marks if it could be read as something else."""
    is_plain = not RESERVED.intersection(name.lower().split()) and not set(name) & set(",;:\"'!&|()")
    return name if is_plain and name.strip() == name and name else f'"{name}"'
