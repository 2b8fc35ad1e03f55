"""Which objects, blockers and gates the abstractions of one scene keep.

An abstraction is refined where its cheapest plan has a *flaw*: the plan walks through a door or an object that the
abstraction does not keep (counterexample-guided abstraction refinement).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wfairl.minigrid import physics
from wfairl.minigrid.focused.abstraction import (
    Abstraction,
    AbstractStates,
    cells_of_plan,
    costs_to_acceptance,
    explore_pattern,
    sort_by_target,
    unavoidable_obstacles,
)
from wfairl.minigrid.focused.corridor import Corridor, coarse_bounds, explore_corridor
from wfairl.minigrid.focused.pattern import EMPTY_HAND, FIRST_CLASS, MOST_TRACKED, Pattern, PatternSpec
from wfairl.minigrid.focused.pattern_making import make_pattern
from wfairl.minigrid.focused.task_demands import TaskDemands
from wfairl.minigrid.physics import NOTHING

MOST_COMBINATIONS = 1 << 24
"""Dense numbers of an abstraction, four bytes each; most of them are never met."""

REFINED_PART = 8
"""Blockers and gates that only stand in the way are kept while the abstraction stays below this part of its room. The
bounds of obstacles account for most of what such refinement would gain."""

MOST_BITS = 62
"""Bits of a dense number in a corridor."""

CORRIDOR_FACTOR = 8
"""A corridor closes this many times the states that it takes to find its cheapest plan, if there is room."""


class AbstractionRefiner:
    """Builds abstractions and corridors of one scene and one automaton."""

    def __init__(self, task: TaskDemands) -> None:
        self.task, self.layout = task, task.layout

    def abstract(self, most_states: int, is_hard: bool = False) -> Abstraction:
        """An abstraction, refined where its cheapest plan has flaws.

        Args:
            most_states: the largest number of its states.
            is_hard: use all this room for locked doors.
        """
        spec = PatternSpec(self.task.atoms_used, *self._needed())
        abstraction = self._build(spec, most_states)
        while abstraction is None:
            spec = spec.coarser()
            abstraction = self._build(spec, most_states)
        while True:
            has_room = 2 * len(abstraction) <= most_states // REFINED_PART
            finer = next(self._flaws(abstraction), None) if has_room or is_hard else None
            if finer is None or not (has_room or self._locks(finer) > self._locks(abstraction.spec)):
                return abstraction
            refined = self._build(finer, most_states)
            if refined is None:
                return abstraction
            abstraction = refined

    def _locks(self, spec: PatternSpec) -> int:
        """The number of locked doors that are kept."""
        return sum(self.task.is_locked(door) for door in spec.gates)

    def _needed(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Blockers and gates to begin with: boxes that the task is about and could destroy, and doors that it names."""
        blockers = [
            int(place)
            for obj, place in enumerate(self.task.places)
            if place < len(self.layout.cells) and self.layout.objects[obj, physics.OBJECT_KIND] == physics.BOX
            if any(self.task.is_about(i, obj) for i in self.task.atoms_used)
        ]
        gates = [door for door in range(self.layout.doors) if self.task.is_shut(door) and self.task.is_named(door)]
        return tuple(blockers[:2]), tuple(gates[:3])

    def _build(self, spec: PatternSpec, most_states: int) -> Abstraction | None:
        """The abstraction of a specification; None if it has too many states, unless it cannot be coarser."""
        pattern = make_pattern(self.task, spec)
        dense = pattern.combinations
        if (dense > MOST_COMBINATIONS or self._most_states(pattern) > 2 * most_states) and not spec.is_coarsest:
            return None
        start = pattern.index(self.task.start, self.task.automaton_state)
        most = dense if spec.is_coarsest else most_states
        number_of, queue, sources, targets, prices, count = explore_pattern(pattern.table, start, dense, most)
        if count == 0:
            return None
        first, source, price = sort_by_target(sources, targets, prices, count)
        cells = pattern.walkable[queue // (dense // pattern.cells)]
        obstacle = np.full(len(self.layout.cells), NOTHING, np.int64)
        for bit, (what, group) in enumerate(pattern.places.obstacles.tolist()):
            obstacle[self.task.door_cells[what] if group == NOTHING else what] = bit
        unavoidable = unavoidable_obstacles(first, source, cells, obstacle)
        states = AbstractStates(pattern.table, pattern.places, number_of, unavoidable)
        return Abstraction(spec, pattern, states, first, source, price)

    def _most_states(self, pattern: Pattern) -> int:
        """An upper bound on the number of abstract states; at least about half of this bound is met."""
        relevant = [int(pattern.relevant[state]).bit_count() for state in self.task.reachable()]
        per_pose = sum((FIRST_CLASS + count) << count for count in relevant)
        return 4 * pattern.cells * per_pose << (pattern.blocker_bits + pattern.gate_bits)

    def _flaws(self, abstraction: Abstraction) -> Iterator[PatternSpec]:
        """Specifications that also keep a flaw of the shortest plan: a locked door first, then objects, then doors."""
        spec, pattern = abstraction.spec, abstraction.pattern
        start = pattern.index(self.task.start, self.task.automaton_state)
        steps = costs_to_acceptance(abstraction.first, abstraction.source, np.ones(len(abstraction.source)))
        path = cells_of_plan(pattern.table, abstraction.states.number_of, steps, start)
        shut, cells = self._missing(spec, pattern, path.tolist())
        shut.sort(key=lambda door: not self.task.is_locked(door))
        if shut and self.task.is_locked(shut[0]):
            yield replace(spec, gates=(*spec.gates, shut[0]))
        for cell in cells:
            yield replace(spec, blockers=(*spec.blockers, cell))
        for door in shut:
            yield replace(spec, gates=(*spec.gates, door))

    def _missing(self, spec: PatternSpec, pattern: Pattern, path: Sequence[int]) -> tuple[list[int], list[int]]:
        """The shut doors, and the cells of objects, on a path of cells that a pattern does not keep."""
        doors = dict.fromkeys(int(self.layout.cells[cell, physics.DOOR_AT]) for cell in path)
        cells = dict.fromkeys(cell for cell in path if pattern.hand_at[cell] and cell != self.task.start[physics.AGENT])
        shut = [door for door in doors if door != NOTHING and door not in spec.gates and self.task.is_shut(door)]
        return shut, [cell for cell in cells if cell not in spec.blockers]

    def corridor(
        self,
        abstraction: Abstraction,
        cost_to_go: NDArray[np.float64],
        prices: NDArray[np.float64],
        removal: float,
        most: int,
        start: NDArray[np.int32],
        automaton_state: int,
    ) -> Corridor:
        """The corridor of the cheapest plans from one state.

        Its pattern is refined until the cheapest plan has no flaw and drops no object that is not tracked.

        Args:
            abstraction: a coarse abstraction.
            cost_to_go: of its states, shape [states].
            prices: the least cost of each price, shape [prices].
            removal: the least cost to remove an obstacle.
            most: states to close at most.
            start, automaton_state: where plans begin; the fields of the state, shape [fields].
        """
        spec = replace(abstraction.spec, atoms=self.task.atoms_used, crowd=True)
        pattern = make_pattern(self.task, spec)
        while True:
            coarse = coarse_bounds(pattern, abstraction, cost_to_go, removal)
            index = pattern.index(start, automaton_state)
            corridor = explore_corridor(pattern, coarse, prices, index, most, CORRIDOR_FACTOR)
            doors, cells = self._missing(spec, pattern, corridor.path[:, 0].tolist())
            dropped = self._dropped(spec, pattern, corridor.path[:, 1])
            spec = replace(
                spec,
                blockers=(*spec.blockers, *cells),
                gates=(*spec.gates, *doors),
                tracked=(*spec.tracked, *dropped)[:MOST_TRACKED],
            )
            pattern = make_pattern(self.task, spec)
            if not (doors or cells or dropped) or pattern.combinations.bit_length() > MOST_BITS:
                return corridor

    def _dropped(self, spec: PatternSpec, pattern: Pattern, hands: NDArray[np.int64]) -> list[int]:
        """The objects that a plan drops although they are not tracked, as far as there is room to track them.

        Args:
            spec, pattern: what is kept.
            hands: along the plan, the last first; shape [steps].
        """
        held = dict.fromkeys(hands[1:][(hands[1:] >= FIRST_CLASS) & (hands[:-1] == EMPTY_HAND)].tolist())
        objects = [np.flatnonzero(pattern.places.hands == hand) for hand in held]
        alone = [int(members[0]) for members in objects if len(members) == 1]
        return [obj for obj in alone if obj not in spec.tracked][: MOST_TRACKED - len(spec.tracked)]
