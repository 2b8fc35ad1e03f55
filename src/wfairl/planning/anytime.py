"""What a search does that has spent its patience: it finds a way, and better ones while that is not too hard.

Weighted A* goes on, with lower and lower weights, directed by estimates. Where it gets stuck, a way is found in parts,
from one change of the automaton to the next.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from wfairl.automata.automaton import DEAD

if TYPE_CHECKING:
    from wfairl.planning.focused_search import FocusedSearch

WEIGHTS = (3.0, 2.0, 1.5, 1.2, 1.1)
"""Of estimates, one after the other."""

QUICK = 30_000
"""Nodes that the first of these searches may meet before a way is found in parts."""

MOST_PARTS = 20

NO_LIMIT = 2**63 - 1


def find_ways(search: "FocusedSearch", start: int) -> None:
    """Find a way from a node, and better ones as long as once more the patience lasts."""
    quick = len(search.lazy) + QUICK
    if not search.search_with(WEIGHTS[0], start, quick, NO_LIMIT) and not search.has_way(start):
        _go_in_parts(search, start)
    if not search.has_way(start):
        search.search_with(WEIGHTS[0], start, search.max_nodes, NO_LIMIT)
    for weight in WEIGHTS[1:]:
        left = search.left(2 * search.patience)
        if search.is_proven(start) or not search.search_with(weight, start, search.max_nodes, left):
            return


def _go_in_parts(search: "FocusedSearch", start: int) -> None:
    """Find a way from one change of the automaton to the next, each by searches of its own."""
    lazy = search.lazy
    state, read = lazy.state(start), int(lazy.automaton_states[start])
    controls: list[int] = []
    for _ in range(MOST_PARTS):
        until_change = replace(lazy.automaton, accepting=np.arange(lazy.automaton.states) != read)  # type: ignore[type-var]
        part = search.find_part(lazy.world, until_change, (state, read))
        if part is None:
            parts = (search.find_part(world, rule, (state, 0)) for world, rule in lazy.preparations(state))
            part = next((one for one in parts if one), None)
        if part is None:
            return
        for control in part:
            before, state = state, lazy.world.step(state, control)
            read = lazy.automaton.read(read, lazy.world.label(before, control, state))
            controls.append(control)
            if read == DEAD:
                return
            if lazy.automaton.accepting[read]:
                search.take_way(start, controls)
                return
