"""The product of a MiniGrid scene and an automaton, built only where searches look."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Automaton, Label
from wfairl.automata.rules import visit_in_order
from wfairl.worlds.lazy_world import CostScope
from wfairl.worlds.minigrid import rules
from wfairl.worlds.minigrid.abstraction import UNKNOWN, Abstraction
from wfairl.worlds.minigrid.atoms import DOOR_IS_OPEN
from wfairl.worlds.minigrid.corridor import Corridor
from wfairl.worlds.minigrid.estimate import count_ways, estimate_states
from wfairl.worlds.minigrid.mask_numbers import MaskNumbers
from wfairl.worlds.minigrid.node_tables import FIRST_CAPACITY, grown, make_tables
from wfairl.worlds.minigrid.packing import unpack
from wfairl.worlds.minigrid.patterns import ScenePatterns
from wfairl.worlds.minigrid.prices import price_count
from wfairl.worlds.minigrid.scene_task import SceneTask
from wfairl.worlds.minigrid.search import add_node, expand_nodes
from wfairl.worlds.minigrid.situations import Situations
from wfairl.worlds.minigrid.world import MiniGridWorld

NO_LIMIT = 2**31 - 1

PATTERN_STATES = (100_000, 250_000, 700_000)
"""Of the abstraction: at first, and where searches turn out to be hard."""

CORRIDOR_STATES = (0, 30_000, 300_000)
"""Of the corridor, likewise."""


class MiniGridLazyProduct:
    """A `LazyProduct` of a MiniGrid scene."""

    def __init__(self, world: MiniGridWorld, automaton: Automaton, start: tuple[int, int], scope: CostScope):
        self.world, self.automaton, self.scope = world, automaton, scope
        self._masks = MaskNumbers(automaton, world.propositions)
        self._tables = make_tables(FIRST_CAPACITY, world.layout.words)
        self._count, self._situated = 0, 0
        self._effort = 0
        self._abstraction: Abstraction | None = None
        self._corridor: Corridor | None = None
        self._situation_numbers = np.zeros(FIRST_CAPACITY, np.int32)
        self.add(*start)

    def __len__(self) -> int:
        """The number of nodes met so far."""
        return self._count

    @property
    def automaton_states(self) -> NDArray[np.int32]:
        """See `LazyProduct`."""
        return self._tables[1][: self._count]

    @property
    def successors(self) -> NDArray[np.int32]:
        """See `LazyProduct`."""
        return self._tables[3][: self._count]

    @property
    def label_index(self) -> NDArray[np.uint16]:
        """See `LazyProduct`."""
        return self._tables[4][: self._count]

    @property
    def labels(self) -> Sequence[Label]:
        """See `LazyProduct`."""
        return self._masks.table.labels

    @property
    def situations(self) -> NDArray[np.int32]:
        """See `LazyProduct`."""
        if self._situated < self._count:
            self._situate()
        return self._situation_numbers[: self._count]

    @property
    def situation_states(self) -> Sequence[int]:
        """See `LazyProduct`."""
        if self.scope is CostScope.CONSTANT:
            return (self.world.initial_state,)
        words = self._situations.states if self.scope is CostScope.LOCAL else self._tables[0][: self._count]
        return [self.world.unpack(row) for row in words]

    def state(self, node: int) -> int:
        """See `LazyProduct`."""
        return self.world.unpack(self._tables[0][node])

    def add(self, state: int, automaton_state: int) -> int:
        """See `LazyProduct`."""
        if self._count + 1 > len(self._tables[0]):
            self._tables = grown(self._tables, self._count)
        table, atoms, words = self.world.layout.table, self.world.atoms, self.world.pack(state)
        node, self._count = add_node(table, atoms, self._masks, words, automaton_state, self._count, self._tables)
        return node

    def expand(self, nodes: NDArray[np.int64]) -> None:
        """See `LazyProduct`."""
        table, atoms, done = self.world.layout.table, self.world.atoms, 0
        while done < len(nodes):
            self._tables, done, self._count = expand_nodes(
                table, atoms, self._masks, nodes, done, self._count, NO_LIMIT, self._tables
            )

    @property
    def abstraction(self) -> Abstraction:
        """The abstraction, as seen from the first node."""
        if self._abstraction is None:
            self._abstraction = self._patterns.abstract(PATTERN_STATES[self._effort], self._effort > 1)
        return self._abstraction

    @cached_property
    def _patterns(self) -> ScenePatterns:
        world = self.world
        start, read = self._first_fields, int(self.automaton_states[0])
        return ScenePatterns(SceneTask(world.layout, world.atoms, world.propositions, start, self.automaton, read))

    def refine(self, stage: int) -> bool:
        """See `LazyProduct`."""
        if self.scope is CostScope.GLOBAL:
            return False
        if stage > self._effort and (stage > 1 or self.abstraction.keep.atoms != self._patterns.task.atoms_used):
            self._abstraction = None
        self._effort = max(self._effort, stage)
        return True

    def abstract(self, first: int) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.float64]]:
        """See `LazyProduct`."""
        count = self._count - first
        if self.scope is CostScope.GLOBAL:
            return np.full(count, UNKNOWN, np.int32), np.zeros(count, np.uint64), np.zeros(count)
        states, automaton_states = self._tables[0][first : self._count], self.automaton_states[first:]
        bounds = np.zeros(count) if self._corridor is None else self._corridor.bound(states, automaton_states)
        return *self.abstraction.number(states, automaton_states), bounds

    def estimate(self, first: int, cost_to_go: NDArray[np.float64]) -> NDArray[np.float64]:
        """See `LazyProduct`."""
        if self.scope is CostScope.GLOBAL:
            return np.zeros(self._count - first)
        states, automaton_states = self._tables[0][first : self._count], self.automaton_states[first:]
        return estimate_states(self.abstraction, cost_to_go, self._step * self._ways, states, automaton_states)

    def preparations(self, state: int) -> list[tuple[MiniGridWorld, Automaton]]:
        """See `LazyProduct`: to open each of the doors that are still locked."""
        fields = self.world.layout.largest_values.astype(np.int32)
        unpack(self.world.layout.table, self.world.pack(state), fields)
        doors = fields[rules.FIRST_OBJECT + len(self.world.layout.objects) :]
        return [
            (self.world.asking({"open": (DOOR_IS_OPEN, int(door), 0, 0, 0)}), visit_in_order("open"))
            for door in np.flatnonzero(doors & rules.IS_LOCKED)
        ]

    def least_costs(self, costs: NDArray[np.float64]) -> tuple[NDArray[np.float64], float] | None:
        """See `LazyProduct`; nothing is known of costs that look at the whole state."""
        if self.scope is CostScope.GLOBAL:
            return None
        if self.scope is CostScope.LOCAL:
            prices, self._removal = self._situations.least_costs(costs)
        else:
            count = price_count(self.world.layout)
            prices, self._removal = np.resize(np.append(costs[0], costs.min()), count), float(costs.min())
        self._prices, self._step, self._corridor = prices, float(costs.mean()), None
        return prices[self.abstraction.price], self._removal

    def deepen(self, cost_to_go: NDArray[np.float64], start: int) -> None:
        """See `LazyProduct`."""
        if self._effort:
            self._corridor = self._patterns.corridor(
                self.abstraction, cost_to_go, self._prices, self._removal, CORRIDOR_STATES[self._effort],
                self._fields(start), int(self.automaton_states[start]),
            )  # fmt: skip

    @cached_property
    def _ways(self) -> NDArray[np.float64]:
        return count_ways(self.world.layout.table, self.abstraction.pattern.table)

    @cached_property
    def _situations(self) -> Situations:
        return Situations.of(self.world.layout, self._first_fields)

    @cached_property
    def _first_fields(self) -> NDArray[np.int32]:
        return self._fields(0)

    def _fields(self, node: int) -> NDArray[np.int32]:
        fields = np.empty(self.world.layout.largest_values.size, np.int32)
        unpack(self.world.layout.table, self._tables[0][node], fields)
        return fields

    def _situate(self) -> None:
        """Find the situations of new nodes."""
        if self._count > len(self._situation_numbers):
            larger = np.zeros(max(self._count, 2 * len(self._situation_numbers)), np.int32)
            larger[: self._situated] = self._situation_numbers[: self._situated]
            self._situation_numbers = larger
        new = slice(self._situated, self._count)
        if self.scope is CostScope.LOCAL:
            self._situation_numbers[new] = self._situations.number(self._tables[0][new])
        elif self.scope is CostScope.GLOBAL:
            self._situation_numbers[new] = np.arange(self._situated, self._count)
        self._situated = self._count
