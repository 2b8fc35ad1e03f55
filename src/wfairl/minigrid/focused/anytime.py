"""What a search does beyond its expansion limit: it finds some path, and better paths while that is easy.

Weighted A* continues with lower and lower weights, directed by estimates. Where it gets stuck, a path is joined from
segments. Each segment ends with the next change of the automaton state.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from wfairl.core.automata.automaton import DEAD

if TYPE_CHECKING:
    from wfairl.minigrid.focused.focused_search import FocusedSearch

SEARCH_WEIGHTS = (3.0, 2.0, 1.5, 1.2, 1.1)
"""Weights of the estimates, one search after the other."""

FIRST_NODES = 30_000
"""Nodes that the first weighted search may reach before a path is joined from segments."""

MAX_SEGMENTS = 20

NO_LIMIT = 2**63 - 1


def find_paths(search: "FocusedSearch", start: int) -> None:
    """Find a path from a node, and better ones until the expansion limit is reached a second time."""
    max_nodes = len(search.product) + FIRST_NODES
    if not search.run_search(SEARCH_WEIGHTS[0], start, max_nodes, NO_LIMIT) and not search.has_path(start):
        _join_segments(search, start)
    if not search.has_path(start):
        search.run_search(SEARCH_WEIGHTS[0], start, search.max_nodes, NO_LIMIT)
    for weight in SEARCH_WEIGHTS[1:]:
        left = search.expansions_left(2 * search.expansion_limit)
        if search.is_proven(start) or not search.run_search(weight, start, search.max_nodes, left):
            return


def _join_segments(search: "FocusedSearch", start: int) -> None:
    """Join a path from segments, each found by searches of its own, and add it to the search."""
    product = search.product
    world, automaton, guide = product.world, product.automaton, product.guide
    state, automaton_state = product.state(start), int(product.automaton_states[start])
    controls: list[int] = []
    for _ in range(MAX_SEGMENTS):
        until_change = replace(automaton, accepting=np.arange(automaton.states) != automaton_state)  # type: ignore[type-var]
        segment = search.find_segment(world, until_change, (state, automaton_state))
        if segment is None and guide is not None:
            segments = (search.find_segment(other, rule, (state, 0)) for other, rule in guide.preparations(state))
            segment = next(filter(None, segments), None)
        if segment is None:
            return
        for control in segment:
            before, state = state, world.step(state, control)
            automaton_state = automaton.read(automaton_state, world.label(before, control, state))
            controls.append(control)
            if automaton_state == DEAD:
                return
            if automaton.accepting[automaton_state]:
                search.add_path(start, controls)
                return
