"""The product of a MiniGrid scene and an automaton, built only where searches expand it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning.cost import CostScope
from wfairl.minigrid import physics
from wfairl.minigrid.atoms import DOOR_IS_OPEN
from wfairl.minigrid.exploration import FIRST_CAPACITY, ProductNodes
from wfairl.minigrid.focused.abstraction import UNKNOWN, Abstraction
from wfairl.minigrid.focused.corridor import Corridor
from wfairl.minigrid.focused.estimate import estimate_states
from wfairl.minigrid.focused.refinement import AbstractionRefiner
from wfairl.minigrid.focused.scene_task import SceneTask
from wfairl.minigrid.focused.situations import Situations, price_count
from wfairl.minigrid.labeller import MaskNumbers
from wfairl.minigrid.physics import NOTHING, unpack
from wfairl.minigrid.world import MiniGridWorld

PATTERN_STATES = (100_000, 250_000, 700_000)
"""Of the abstraction at each stage: at first, and where searches turn out to be hard."""

CORRIDOR_STATES = (0, 30_000, 300_000)
"""Of the corridor, likewise."""


class MiniGridLazyProduct:
    """A `LazyProduct` of a MiniGrid scene."""

    def __init__(self, world: MiniGridWorld, automaton: Automaton, start: tuple[int, int], scope: CostScope):
        self.world, self.automaton, self.scope = world, automaton, scope
        self._nodes = ProductNodes(world.layout, world.atoms, MaskNumbers(automaton, world.propositions))
        self._stage = 0
        self._abstraction: Abstraction | None = None
        self._corridor: Corridor | None = None
        self._situated, self._situation_numbers = 0, np.zeros(FIRST_CAPACITY, np.int32)
        self.add(*start)

    def __len__(self) -> int:
        """The number of nodes met so far."""
        return self._nodes.count

    @property
    def automaton_states(self) -> NDArray[np.int32]:
        return self._nodes.tables.automaton_states[: len(self)]

    @property
    def successors(self) -> NDArray[np.int32]:
        return self._nodes.tables.successors[: len(self)]

    @property
    def label_index(self) -> NDArray[np.uint16]:
        return self._nodes.tables.labels[: len(self)]

    @property
    def labels(self) -> Sequence[Label]:
        return self._nodes.masks.table.labels

    @property
    def situations(self) -> NDArray[np.int32]:
        count = len(self)
        if count > len(self._situation_numbers):
            more = max(count, 2 * len(self._situation_numbers)) - self._situated
            self._situation_numbers = np.pad(self._situation_numbers[: self._situated], (0, more))
        if count > self._situated:
            new = slice(self._situated, count)
            if self.scope is CostScope.LOCAL:
                self._situation_numbers[new] = self._situations.number(self._states[new])
            elif self.scope is CostScope.GLOBAL:
                self._situation_numbers[new] = np.arange(self._situated, count)
            self._situated = count
        return self._situation_numbers[:count]

    @property
    def situation_states(self) -> Sequence[int]:
        if self.scope is CostScope.CONSTANT:
            return (self.world.initial_state,)
        words = self._situations.states if self.scope is CostScope.LOCAL else self._states
        return [self.world.unpack(row) for row in words]

    def state(self, node: int) -> int:
        return self.world.unpack(self._states[node])

    def add(self, state: int, automaton_state: int) -> int:
        return self._nodes.add(self.world.pack(state), automaton_state)

    def expand(self, nodes: NDArray[np.int64]) -> None:
        self._nodes.expand(nodes)

    @property
    def abstraction(self) -> Abstraction:
        """The abstraction, as seen from the first node."""
        if self._abstraction is None:
            self._abstraction = self._refiner.abstract(PATTERN_STATES[self._stage], self._stage > 1)
        return self._abstraction

    @cached_property
    def _refiner(self) -> AbstractionRefiner:
        return AbstractionRefiner(SceneTask(self.world, self._fields(0), self.automaton, int(self.automaton_states[0])))

    def refine(self, stage: int) -> bool:
        if self.scope is CostScope.GLOBAL:
            return False
        if stage > self._stage and (stage > 1 or self.abstraction.spec.atoms != self._refiner.task.atoms_used):
            self._abstraction = None
        self._stage = max(self._stage, stage)
        return True

    def abstract(self, first: int) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.float64]]:
        count = len(self) - first
        if self.scope is CostScope.GLOBAL:
            return np.full(count, UNKNOWN, np.int32), np.zeros(count, np.uint64), np.zeros(count)
        new = self._states[first:], self.automaton_states[first:]
        bounds = np.zeros(count) if self._corridor is None else self._corridor.bound(*new)
        return *self.abstraction.number(*new), bounds

    def estimate(self, first: int, cost_to_go: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.scope is CostScope.GLOBAL:
            return np.zeros(len(self) - first)
        new = self._states[first:], self.automaton_states[first:]
        return estimate_states(self.abstraction, cost_to_go, self._step * self._distances, *new)

    def preparations(self, state: int) -> list[tuple[MiniGridWorld, Automaton]]:
        """See `LazyProduct`: to open each of the doors that are still locked."""
        doors = self._unpack(self.world.pack(state))[physics.FIRST_OBJECT + len(self.world.layout.objects) :]
        return [
            (self.world.asking({"open": (DOOR_IS_OPEN, int(door), 0, 0, 0)}), visit_in_order("open"))
            for door in np.flatnonzero(doors & physics.IS_LOCKED)
        ]

    def least_costs(self, costs: NDArray[np.float64]) -> tuple[NDArray[np.float64], float] | None:
        """See `LazyProduct`; there are no bounds for costs that depend on the whole state."""
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
        if self._stage:
            self._corridor = self._refiner.corridor(
                self.abstraction, cost_to_go, self._prices, self._removal, CORRIDOR_STATES[self._stage],
                self._fields(start), int(self.automaton_states[start]),
            )  # fmt: skip

    @cached_property
    def _distances(self) -> NDArray[np.float64]:
        """The steps between walkable cells in free space, without turns; shape [walkable, walkable]."""
        walkable, number_of = self.abstraction.pattern.walkable, self.abstraction.pattern.number_of
        fronts = self.world.layout.cells[walkable, physics.FRONT :]
        neighbours = np.where(fronts == NOTHING, NOTHING, number_of[fronts])
        sources, directions = np.nonzero(neighbours != NOTHING)
        edges = np.ones(len(sources)), (sources, neighbours[sources, directions])
        return shortest_path(csr_array(edges, shape=(len(walkable), len(walkable))), unweighted=True)

    @cached_property
    def _situations(self) -> Situations:
        return Situations.of(self.world.layout, self._fields(0))

    @property
    def _states(self) -> NDArray[np.uint64]:
        """Packed states of the nodes, shape [nodes, words]."""
        return self._nodes.tables.states[: len(self)]

    def _fields(self, node: int) -> NDArray[np.int32]:
        return self._unpack(self._states[node])

    def _unpack(self, words: NDArray[np.uint64]) -> NDArray[np.int32]:
        fields = np.empty(self.world.layout.largest_values.size, np.int32)
        unpack(self.world.layout.table, words, fields)
        return fields
