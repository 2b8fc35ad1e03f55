"""What a world enforces by itself: that one proposition cannot hold before another has held.

A door that is locked asks for its key. A task need not say so, and no demonstration shows whether it does.
"""

from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Any

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.planning.product import ProductTooLargeError, build_product
from wfairl.core.worlds.world import World

MOST_STATES, MOST_PROPOSITIONS = 20_000, 5
"""Of worlds that are searched; of others nothing is said."""


def enforced_orders(worlds: Iterable[World[Any]], propositions: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs (first, second): in every world the second can hold, but not before the first has held or holds too.

    A pair that follows from two others is left out. Nothing is said of worlds with many states or propositions.
    """
    if len(propositions) > MOST_PROPOSITIONS:
        return []
    pairs = set(permutations(propositions, 2))
    try:
        for world in worlds:
            possible = {name for name in propositions if _can(world, visit_in_order(name))}
            pairs = {(a, b) for a, b in pairs if b in possible and not _can(world, all_of(visit_in_order(b), avoid(a)))}
    except ProductTooLargeError:
        return []
    return [(a, b) for a, b in sorted(pairs) if not any((a, c) in pairs and (c, b) in pairs for c in propositions)]


def enforced_sentence(orders: Sequence[tuple[str, str]]) -> str:
    """What a world enforces, in words; empty if nothing."""
    if not orders:
        return ""
    return "the world itself asks for " + ", and for ".join(f"{first} before {second}" for first, second in orders)


def _can(world: World[Any], rule: GuardedAutomaton) -> bool:
    return bool((build_product(world, rule, MOST_STATES).successors == ACCEPTED).any())
