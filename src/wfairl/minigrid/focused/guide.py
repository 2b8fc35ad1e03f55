"""Guides direct the searches of one scene: lower bounds and estimates of the cost-to-go.

The guide begins with a small abstraction. Where a search turns out to be hard, it builds a larger one and a corridor.

An abstraction is refined where its shortest plan has a *flaw*: the plan walks through a door or an object that the
abstraction does not keep (counterexample-guided abstraction refinement).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from wfairl.core.planning.cost import CostScope
from wfairl.minigrid import physics
from wfairl.minigrid.focused.abstraction import (
    Abstraction,
    AbstractStates,
    cells_of_plan,
    costs_to_acceptance,
    estimate_states,
    explore_pattern,
    sort_by_target,
)
from wfairl.minigrid.focused.corridor import Corridor, coarse_bounds, explore_corridor
from wfairl.minigrid.focused.pattern import FIRST_CLASS, Pattern, PatternSpec, make_pattern
from wfairl.minigrid.focused.prices import price_count
from wfairl.minigrid.focused.task_demands import TaskDemands
from wfairl.minigrid.physics import NOTHING, unpack_all

if TYPE_CHECKING:
    from wfairl.minigrid.focused.scene_product import SceneProduct

EASY_STATES, HARD_STATES = 100_000, 700_000
"""States of an abstraction at most: at first, and where a search has been hard."""

REFINED_PART = 8
"""Blockers and gates that only stand in the way are kept while the abstraction stays below this part of its room."""

MOST_COMBINATIONS = 1 << 24
"""Dense numbers of an abstraction, four bytes each; most of them are never met."""

MOST_BITS = 62
"""Bits of a dense number in a corridor."""


class SceneGuide:
    """Bounds and estimates for the nodes of one product, under one table of costs after the other."""

    def __init__(self, product: SceneProduct):
        self._product, self._layout, self._is_hard = product, product.world.layout, False
        self._corridor: Corridor | None = None

    def price(self, costs: NDArray[np.float64]) -> None:
        """Set the costs of the situations, shape [situations, controls]."""
        if self._product.scope is CostScope.LOCAL:
            self._prices = self._product.scene_situations.least_costs(costs)
        else:
            self._prices = np.resize(np.append(costs[0], costs.min()), price_count(self._layout))
        self._costs, self._step_cost, abstraction = costs, float(costs.mean()), self.abstraction
        transition_costs = self._prices[abstraction.price]
        self._cost_to_go = costs_to_acceptance(abstraction.first, abstraction.source, transition_costs)
        if self._corridor is not None:
            self.refine(0)

    def refine(self, start: int) -> None:
        """Find the corridor of the cheapest paths from a node, where a search has been hard.

        Its pattern is refined until the cheapest path has no flaw.
        """
        if not self._is_hard:
            self._is_hard = True
            del self.abstraction  # the next one is larger
            self.price(self._costs)
        fields, automaton_state = self._product.fields(start), int(self._product.automaton_states[start])
        spec = replace(self.abstraction.spec, atoms=self._task.atoms_used, crowd=True)
        pattern = make_pattern(self._task, spec)
        while True:
            coarse = coarse_bounds(pattern, self.abstraction, self._cost_to_go)
            index = pattern.index(fields, automaton_state)
            corridor = explore_corridor(pattern, coarse, self._prices, index)
            doors, cells = self._missing(spec, pattern, corridor.path.tolist())
            spec = replace(spec, blockers=(*spec.blockers, *cells), gates=(*spec.gates, *doors))
            pattern = make_pattern(self._task, spec)
            if not (doors or cells) or pattern.combinations.bit_length() > MOST_BITS:
                self._corridor = corridor
                return

    def lower_bounds(self, first: int) -> NDArray[np.float64]:
        """Lower bounds on the cost-to-go of the nodes from `first` on, inf without a path, 0 if unknown; [nodes]."""
        nodes = self._product.states[first:], self._product.automaton_states[first:]
        bounds = self.abstraction.bounds(self._cost_to_go, *nodes)
        if self._corridor is not None:
            bounds = np.where(bounds > 0, np.maximum(bounds, self._corridor.bound(*nodes)), 0.0)
        if self._task.boxes_needed.size:
            needed = self._task.boxes_needed[nodes[1]]  # [nodes, sets, objects]
            objects = unpack_all(self._layout.table, nodes[0])[:, None, physics.FIRST_OBJECT : self._layout.first_door]
            is_left = (needed & (objects != len(self._layout.cells) + physics.GONE)).any(axis=2)
            bounds[(needed.any(axis=2) & ~is_left).any(axis=1)] = np.inf
        return bounds

    def estimates(self, first: int) -> NDArray[np.float64]:
        """Estimates of the cost-to-go of the nodes from `first` on, 0 if unknown; [nodes]."""
        nodes = self._product.states[first:], self._product.automaton_states[first:]
        return estimate_states(self.abstraction.states, self._cost_to_go, self._distances, self._step_cost, *nodes)

    @cached_property
    def abstraction(self) -> Abstraction:
        """The abstraction of the scene as seen from the first node, refined while there is room.

        A hard one uses all its room for locked doors.
        """
        spec = PatternSpec(self._task.atoms_used, *self._needed())
        while (abstraction := self._build(spec)) is None:
            spec = spec.coarser()
        while True:
            has_room = 2 * len(abstraction) <= self._room // REFINED_PART
            finer = self._refined_spec(abstraction) if has_room or self._is_hard else None
            if finer is None or not (has_room or self._locks(finer) > self._locks(abstraction.spec)):
                return abstraction
            refined = self._build(finer)
            if refined is None:
                return abstraction
            abstraction = refined

    @property
    def _room(self) -> int:
        """States of an abstraction at most."""
        return HARD_STATES if self._is_hard else EASY_STATES

    def _locks(self, spec: PatternSpec) -> int:
        """The number of locked doors that are kept."""
        return sum(self._task.is_locked(door) for door in spec.gates)

    def _needed(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Blockers and gates to begin with: boxes that the task is about and could destroy, and doors that it names."""
        blockers = [
            int(place)
            for obj, place in enumerate(self._task.places)
            if place < len(self._layout.cells) and self._layout.objects[obj, physics.OBJECT_KIND] == physics.BOX
            if any(self._task.is_about(i, obj) for i in self._task.atoms_used)
        ]
        gates = [door for door in range(self._layout.doors) if self._task.is_shut(door) and self._task.is_named(door)]
        return tuple(blockers[:2]), tuple(gates[:3])

    def _build(self, spec: PatternSpec) -> Abstraction | None:
        """The abstraction of a specification; None if it has too many states, unless it cannot be coarser."""
        pattern = make_pattern(self._task, spec)
        dense = pattern.combinations
        if (dense > MOST_COMBINATIONS or self._most_states(pattern) > 2 * self._room) and not spec.is_coarsest:
            return None
        start = pattern.index(self._task.start, self._task.automaton_state)
        most = dense if spec.is_coarsest else self._room
        number_of, sources, targets, prices, count = explore_pattern(pattern.table, start, dense, most)
        if count == 0:
            return None
        first, source, price = sort_by_target(sources, targets, prices, count)
        states = AbstractStates(pattern.table, number_of)
        return Abstraction(spec, pattern, states, first, source, price)

    def _most_states(self, pattern: Pattern) -> int:
        """An upper bound on the number of abstract states; at least about half of this bound is met."""
        relevant = [int(pattern.relevant[state]).bit_count() for state in self._task.reachable()]
        per_pose = sum((FIRST_CLASS + count) << count for count in relevant)
        return 4 * pattern.cells * per_pose << (pattern.blocker_bits + pattern.gate_bits)

    def _refined_spec(self, abstraction: Abstraction) -> PatternSpec | None:
        """A specification that also keeps a flaw of the shortest plan: a locked door, else an object, else a door."""
        spec, pattern = abstraction.spec, abstraction.pattern
        start = pattern.index(self._task.start, self._task.automaton_state)
        steps = costs_to_acceptance(abstraction.first, abstraction.source, np.ones(len(abstraction.source)))
        path = cells_of_plan(pattern.table, abstraction.states.number_of, steps, start)
        shut, cells = self._missing(spec, pattern, path.tolist())
        doors = [door for door in shut if self._task.is_locked(door)] or ([] if cells else shut)
        if doors:
            return replace(spec, gates=(*spec.gates, doors[0]))
        return replace(spec, blockers=(*spec.blockers, cells[0])) if cells else None

    def _missing(self, spec: PatternSpec, pattern: Pattern, path: Sequence[int]) -> tuple[list[int], list[int]]:
        """The shut doors, and the cells of objects, on a path of cells that a pattern does not keep."""
        doors = dict.fromkeys(int(self._layout.cells[cell, physics.DOOR_AT]) for cell in path)
        cells = dict.fromkeys(
            cell for cell in path if pattern.hand_at[cell] and cell != self._task.start[physics.AGENT]
        )
        shut = [door for door in doors if door != NOTHING and door not in spec.gates and self._task.is_shut(door)]
        return shut, [cell for cell in cells if cell not in spec.blockers]

    @cached_property
    def _task(self) -> TaskDemands:
        product = self._product
        return TaskDemands(product.world, product.fields(0), product.automaton, int(product.automaton_states[0]))

    @cached_property
    def _distances(self) -> NDArray[np.float64]:
        """The steps between walkable cells in free space, without turns; shape [walkable, walkable]."""
        walkable, number_of = self._layout.walkable, self.abstraction.pattern.number_of
        fronts = self._layout.cells[walkable, physics.FRONT :]
        neighbours = np.where(fronts == NOTHING, NOTHING, number_of[fronts])
        sources, directions = np.nonzero(neighbours != NOTHING)
        edges = np.ones(len(sources)), (sources, neighbours[sources, directions])
        return shortest_path(csr_array(edges, shape=(len(walkable), len(walkable))), unweighted=True)
