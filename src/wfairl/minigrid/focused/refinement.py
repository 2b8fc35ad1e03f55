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
)
from wfairl.minigrid.focused.corridor import Corridor, coarse_bounds, explore_corridor
from wfairl.minigrid.focused.pattern import FIRST_CLASS, Pattern, PatternSpec
from wfairl.minigrid.focused.pattern_making import make_pattern
from wfairl.minigrid.focused.task_demands import TaskDemands
from wfairl.minigrid.physics import NOTHING

MOST_COMBINATIONS = 1 << 24
"""Dense numbers of an abstraction, four bytes each; most of them are never met."""

REFINED_PART = 8
"""Blockers and gates that only stand in the way are kept while the abstraction stays below this part of its room."""

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
        number_of, sources, targets, prices, count = explore_pattern(pattern.table, start, dense, most)
        if count == 0:
            return None
        first, source, price = sort_by_target(sources, targets, prices, count)
        states = AbstractStates(pattern.table, pattern.places, number_of)
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
        most: int,
        start: NDArray[np.int32],
        automaton_state: int,
    ) -> Corridor:
        """The corridor of the cheapest plans from one state.

        Its pattern is refined until the cheapest plan has no flaw.

        Args:
            abstraction: a coarse abstraction.
            cost_to_go: of its states, shape [states].
            prices: the least cost of each price, shape [prices].
            most: states to close at most.
            start, automaton_state: where plans begin; the fields of the state, shape [fields].
        """
        spec = replace(abstraction.spec, atoms=self.task.atoms_used, crowd=True)
        pattern = make_pattern(self.task, spec)
        while True:
            coarse = coarse_bounds(pattern, abstraction, cost_to_go)
            index = pattern.index(start, automaton_state)
            corridor = explore_corridor(pattern, coarse, prices, index, most, CORRIDOR_FACTOR)
            doors, cells = self._missing(spec, pattern, corridor.path.tolist())
            spec = replace(spec, blockers=(*spec.blockers, *cells), gates=(*spec.gates, *doors))
            pattern = make_pattern(self.task, spec)
            if not (doors or cells) or pattern.combinations.bit_length() > MOST_BITS:
                return corridor
