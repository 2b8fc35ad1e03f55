"""The part of a world too large to enumerate in which the logic of a task is learned."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import permutations
from typing import Any

import numpy as np

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Label
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning.cost import Cost, CostScope
from wfairl.core.planning.product import Product
from wfairl.core.planning.shortest_path import NO_CONTROL
from wfairl.core.rational.observations import last_propositions
from wfairl.core.worlds.compiled import IGNORE_LABELS
from wfairl.minigrid.focused.focused_search import TooManyNodesMetError
from wfairl.minigrid.focused.planner import FocusedPlanner
from wfairl.minigrid.focused.scene_product import SceneProduct
from wfairl.minigrid.world import MiniGridWorld

MOST_PROPOSITIONS, LONGEST_ORDER = 4, 3
"""How many propositions are planned for in all orders, and how many of them in a row."""

MOST_NODES_PER_ORDER = 300_000
"""Limit on the nodes that the searches for one order of propositions generate."""


def explore_paths(
    world: MiniGridWorld,
    states: Sequence[Any],
    labels: Sequence[Label],
    words: Sequence[Sequence[Label]],
    cost: Cost,
) -> Product:
    """The states on cheapest paths, and all transitions between them.

    The paths begin at each demonstrated state, after each control there. They lead to the propositions that occur in
    demonstrations, and from one of these to the next. See `OwnPlanning.explore_paths` for the arguments.
    """
    found = dict.fromkeys(states)
    for order in likely_orders(words):
        rule = visit_in_order(*order)
        search = FocusedPlanner(MOST_NODES_PER_ORDER).solve(world, rule, cost).search
        rule_states = [0, *rule.run(labels)[1:]]
        with suppress(TooManyNodesMetError):  # the states found so far must do
            for state, rule_state in reversed(list(zip(states[:-1], rule_states, strict=False))):
                if rule_state != DEAD and not rule.accepting[rule_state]:
                    search.control_cost_to_go(search.product.add(state, rule_state))
        for node in np.flatnonzero(search.best_control != NO_CONTROL):
            found[search.product.state(int(node))] = None
    return _transitions_between(world, list(found))


def likely_orders(words: Sequence[Sequence[Label]]) -> list[tuple[str, ...]]:
    """Orders of the propositions that come true in most words; nothing follows what the words end with."""
    times = Counter(name for word in words for name in frozenset().union(*word))
    often = sorted([name for name, count in times.most_common() if 2 * count >= len(words)][:MOST_PROPOSITIONS])
    last = last_propositions(words)
    orders = (order for size in range(1, LONGEST_ORDER + 1) for order in permutations(often, size))
    return [order for order in orders if last.isdisjoint(order[:-1])]


def _transitions_between(world: MiniGridWorld, states: Sequence[Any]) -> Product:
    """All transitions between some states, the first of which is the start; other states become `ACCEPTED`."""
    product = SceneProduct(world, IGNORE_LABELS, (states[0], 0), CostScope.CONSTANT)
    nodes = [product.add(state, 0) for state in states]
    product.expand(np.array(nodes))
    count = len(nodes)
    successors = product.successors[:count].copy()
    successors[successors >= count] = ACCEPTED
    packed = np.array([world.pack(state) for state in states])
    label_index, labels = product.label_index[:count].copy(), tuple(product.labels)
    start = np.zeros(count, np.int32)
    return Product(packed, start, successors, label_index, labels, world=world, automaton=IGNORE_LABELS)
