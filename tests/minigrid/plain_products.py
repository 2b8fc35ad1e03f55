"""A product of any world in plain Python for the focused searches, for laws on random worlds without a guide."""

import numpy as np

from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.worlds.compiled import LabelTable
from wfairl.core.worlds.world import available_controls
from wfairl.minigrid.focused.focused_search import FocusedSearch
from wfairl.minigrid.focused.planner import FocusedSolution
from wfairl.minigrid.product_nodes import NOT_EXPANDED


def solve_plain(world, automaton, cost, **limits) -> FocusedSolution:
    """What the focused planner would give for a plain world."""
    search = FocusedSearch(PlainProduct(world, automaton, (world.initial_state, 0)), **limits)
    search.price(cost)
    return FocusedSolution(search)


class PlainProduct:
    """What `FocusedSearch` needs of a `SceneProduct`; every state is a situation, and nothing is known beforehand."""

    guide = None

    def __init__(self, world, automaton, start):
        self.world, self.automaton, self._table = world, automaton, LabelTable(automaton)
        self._numbers, self._rows, self._index, self._situation_of = {}, [], [], {}
        self.add(*start)

    def __len__(self):
        return len(self._numbers)

    @property
    def _pairs(self):
        return list(self._numbers)

    automaton_states = property(lambda self: np.array([state for _, state in self._pairs], np.int32))
    situations = property(lambda self: np.array([self._situation_of[state] for state, _ in self._pairs], np.int32))
    situation_states = property(lambda self: tuple(self._situation_of))
    successors = property(lambda self: np.array(self._rows, np.int32))
    label_index = property(lambda self: np.array(self._index, np.uint16))
    labels = property(lambda self: self._table.labels)

    def state(self, node):
        return self._pairs[node][0]

    def add(self, state, automaton_state):
        node = self._numbers.setdefault((state, automaton_state), len(self._numbers))
        if node == len(self._rows):
            self._rows.append([NOT_EXPANDED] * len(self.world.controls))
            self._index.append([0] * len(self.world.controls))
            self._situation_of.setdefault(state, len(self._situation_of))
        return node

    def expand(self, nodes):
        for node in nodes.tolist():
            state, automaton_state = self._pairs[node]
            available = available_controls(self.world, state)
            for control in range(len(self.world.controls)):
                after, number = UNAVAILABLE, 0
                if available[control]:
                    next_state = self.world.step(state, control)
                    number = self._table.number(self.world.label(state, control, next_state))
                    after = int(self._table.rows[number, automaton_state])
                    if after >= 0:
                        after = self.add(next_state, after)
                self._rows[node][control], self._index[node][control] = after, number

    def other(self, automaton, start):
        return PlainProduct(self.world, automaton, start)
