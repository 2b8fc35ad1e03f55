"""The abstraction of one scene for one automaton: which objects, blockers and gates it keeps; see `abstraction`.

It is refined where its cheapest plan has *flaws*, as in counterexample-guided abstraction refinement: where it goes
through doors and objects that the abstraction has forgotten.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wfairl.minigrid import physics
from wfairl.minigrid.focused.abstraction import (
    Abstraction,
    count_steps,
    explore_pattern,
    shortest_path,
    sort_by_target,
    unavoidable_obstacles,
)
from wfairl.minigrid.focused.corridor import Corridor, coarse_bounds, explore_corridor
from wfairl.minigrid.focused.pattern import (
    EFFECT_COLUMNS,
    EMPTY_HAND,
    FIRST_CLASS,
    MOST_TRACKED,
    Pattern,
    PatternSpec,
    abstract_index,
)
from wfairl.minigrid.focused.pattern_making import make_pattern
from wfairl.minigrid.focused.scene_task import SceneTask
from wfairl.minigrid.physics import NOTHING

MOST_DENSE = 1 << 24
"""Combinations of what a pattern keeps, most of which are never met; four bytes each."""

REFINED_PART = 8
"""What only blocks the path is kept up to this part of the states that there may be for what the task is about: the
obstacles account for most of it."""

MOST_BITS = 62
"""Of a dense number in a corridor."""

CORRIDOR_FACTOR = 8
"""A corridor has so many times the states that it takes to find its cheapest plan, if there is room."""


class AbstractionRefiner:
    """Builds abstractions of one scene and one automaton, more or less fine."""

    def __init__(self, task: SceneTask) -> None:
        self.task, self.layout = task, task.layout

    def abstract(self, most_states: int, is_hard: bool = False) -> Abstraction:
        """An abstraction of at most so many states, refined where its cheapest plan meets what it has forgotten.

        Args:
            most_states: at most.
            is_hard: use all of them for locked doors.
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
        """How many locked doors are kept."""
        return sum(self.task.is_locked(door) for door in spec.gates)

    def _needed(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What to keep from the beginning: boxes that the task needs and could destroy, and doors that it is about."""
        blockers = [
            int(place)
            for obj, place in enumerate(self.task.places)
            if place < len(self.layout.cells) and self.layout.objects[obj, physics.OBJECT_KIND] == physics.BOX
            if any(self.task.is_about(i, obj) for i in self.task.atoms_used)
        ]
        gates = [door for door in range(self.layout.doors) if self.task.is_shut(door) and self.task.is_named(door)]
        return tuple(blockers[:2]), tuple(gates[:3])

    def _build(self, spec: PatternSpec, most_states: int) -> Abstraction | None:
        """The abstraction that keeps these; None if it has too many states, unless it cannot be coarser."""
        pattern = make_pattern(self.task, spec)
        dense = pattern.combinations
        if (dense > MOST_DENSE or self._most(pattern) > 2 * most_states) and not spec.is_coarsest:
            return None
        start = self._index(pattern, self.task.start, self.task.automaton_state)
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
        return Abstraction(spec, pattern, number_of, first, source, price, unavoidable)

    def _most(self, pattern: Pattern) -> int:
        """How many abstract states there can be; about half of them are met, or more."""
        relevant = [int(pattern.relevant[state]).bit_count() for state in self.task.reachable()]
        per_pose = sum((FIRST_CLASS + count) << count for count in relevant)
        return 4 * pattern.cells * per_pose << (pattern.blocker_bits + pattern.gate_bits)

    def _index(self, pattern: Pattern, fields: NDArray[np.int32], automaton_state: int) -> int:
        """The dense number of a state."""
        row = np.empty((1, EFFECT_COLUMNS), np.int64)
        return int(abstract_index(pattern.table, pattern.places, fields, automaton_state, row))

    def _flaws(self, abstraction: Abstraction) -> Iterator[PatternSpec]:
        """What to keep besides, because the cheapest plan goes through it: locked doors first, then objects."""
        spec, pattern = abstraction.spec, abstraction.pattern
        start = self._index(pattern, self.task.start, self.task.automaton_state)
        steps = count_steps(abstraction.first, abstraction.source)
        path = shortest_path(pattern.table, abstraction.number_of, steps, start)
        shut, cells = self._forgotten(spec, pattern, path.tolist())
        shut.sort(key=lambda door: not self.task.is_locked(door))
        if shut and self.task.is_locked(shut[0]):
            yield replace(spec, gates=(*spec.gates, shut[0]))
        for cell in cells:
            yield replace(spec, blockers=(*spec.blockers, cell))
        for door in shut:
            yield replace(spec, gates=(*spec.gates, door))

    def _forgotten(self, spec: PatternSpec, pattern: Pattern, path: Sequence[int]) -> tuple[list[int], list[int]]:
        """The shut doors and the cells of objects that a path goes through although they are not kept."""
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
        """A finer abstraction, near the cheapest plans from one state alone.

        It keeps what the cheapest plan goes through, until this plan goes through nothing that it has forgotten.

        Args:
            abstraction, cost_to_go: a coarse abstraction, and the cost-to-go of its states.
            prices, removal: the least cost of each price, and to remove an obstacle.
            most: states.
            start, automaton_state: where plans begin.
        """
        spec = replace(abstraction.spec, atoms=self.task.atoms_used, crowd=True)
        pattern = make_pattern(self.task, spec)
        while True:
            coarse = coarse_bounds(pattern, abstraction, cost_to_go, removal)
            index = self._index(pattern, start, automaton_state)
            corridor = explore_corridor(pattern, coarse, prices, index, most, CORRIDOR_FACTOR)
            doors, cells = self._forgotten(spec, pattern, corridor.path[:, 0].tolist())
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
        """The objects that a plan, from its end on, drops although they are not tracked; none if there is no room."""
        held = dict.fromkeys(hands[1:][(hands[1:] >= FIRST_CLASS) & (hands[:-1] == EMPTY_HAND)].tolist())
        objects = [np.flatnonzero(pattern.places.hands == hand) for hand in held]
        alone = [int(members[0]) for members in objects if len(members) == 1]
        return [obj for obj in alone if obj not in spec.tracked][: MOST_TRACKED - len(spec.tracked)]
