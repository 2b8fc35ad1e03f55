"""The abstraction of one scene for one automaton: which objects, blockers and gates it keeps; see `abstraction`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wfairl.worlds.minigrid import abstraction, rules
from wfairl.worlds.minigrid.abstraction import Abstraction, Keep
from wfairl.worlds.minigrid.corridor import Corridor, explore_corridor, link
from wfairl.worlds.minigrid.pattern import (
    EFFECT_COLUMNS,
    EMPTY_HAND,
    FIRST_CLASS,
    MOST_TRACKED,
    POSES,
    Pattern,
    Places,
    abstract_index,
)
from wfairl.worlds.minigrid.pattern_making import make_pattern
from wfairl.worlds.minigrid.rules import NOTHING
from wfairl.worlds.minigrid.scene_task import SceneTask

MOST_DENSE = 1 << 24
"""Combinations of what a pattern keeps, most of which are never met; four bytes each."""

REFINED_PART = 8
"""What only stands in the way is kept up to this part of the states that there may be for what the task speaks of: the
obstacles account for most of it."""

MOST_BITS = 62
"""Of a dense number in a corridor."""

CORRIDOR_FACTOR = 8
"""A corridor has so many times the states that it takes to find its cheapest plan, if there is room."""


class ScenePatterns:
    """The patterns of one scene and one automaton, more or less fine."""

    def __init__(self, task: SceneTask) -> None:
        self.task, self.layout = task, task.layout

    def abstract(self, most_states: int, is_hard: bool = False) -> Abstraction:
        """An abstraction of at most so many states, refined where its cheapest plan meets what it has forgotten.

        Args:
            most_states: at most.
            is_hard: use all of them for locked doors.
        """
        keep = Keep(self.task.atoms_used, *self.needed())
        found = self.build(keep, most_states)
        while found is None:
            keep = keep.coarser()
            found = self.build(keep, most_states)
        while True:
            has_room = 2 * len(found) <= most_states // REFINED_PART
            finer = next(self.flaws(found), None) if has_room or is_hard else None
            if finer is None or not (has_room or self._locks(finer) > self._locks(found.keep)):
                return found
            refined = self.build(finer, most_states)
            if refined is None:
                return found
            found = refined

    def _locks(self, keep: Keep) -> int:
        """How many locked doors are kept."""
        return sum(self.task.is_locked(door) for door in keep.gates)

    def corridor(
        self,
        found: Abstraction,
        cost_to_go: NDArray[np.float64],
        prices: NDArray[np.float64],
        removal: float,
        most: int,
        start: NDArray[np.int32],
        automaton_state: int,
    ) -> Corridor:
        """A finer abstraction, near the cheapest plans from one state alone.

        It keeps what the cheapest plan walks through, until this plan walks through nothing that it has forgotten.

        Args:
            found, cost_to_go: a coarse abstraction, and the cost-to-go of its states.
            prices, removal: the least cost of each price, and to remove an obstacle.
            most: states.
            start, automaton_state: where plans begin.
        """
        keep = Keep(self.task.atoms_used, found.keep.blockers, found.keep.gates, crowd=True)
        while True:
            pattern, places = make_pattern(self.task, keep)
            coarse = link(pattern, places, found, cost_to_go, removal)
            begin = self._begin(pattern, places, start, automaton_state)
            corridor = explore_corridor(self.layout, pattern, places, coarse, prices, begin, most, CORRIDOR_FACTOR)
            doors, cells = self._forgotten(keep, pattern, corridor.walk[:, 0].tolist())
            dropped = self._dropped(keep, places, corridor.walk[:, 1])
            keep = replace(
                keep,
                blockers=(*keep.blockers, *cells),
                gates=(*keep.gates, *doors),
                tracked=(*keep.tracked, *dropped)[:MOST_TRACKED],
            )
            finer, _ = make_pattern(self.task, keep)
            if not (doors or cells or dropped) or finer.combinations.bit_length() > MOST_BITS:
                return corridor

    def _forgotten(self, keep: Keep, pattern: Pattern, walk: Sequence[int]) -> tuple[list[int], list[int]]:
        """The shut doors and the cells of objects that a walk goes through although they are not kept."""
        doors = dict.fromkeys(int(self.layout.cells[cell, rules.DOOR_AT]) for cell in walk)
        things = dict.fromkeys(cell for cell in walk if pattern.hand_of[cell] and cell != self.task.start[rules.AGENT])
        shut = [door for door in doors if door != NOTHING and door not in keep.gates and self.task.is_shut(door)]
        return shut, [cell for cell in things if cell not in keep.blockers]

    def _dropped(self, keep: Keep, places: Places, hands: NDArray[np.int64]) -> list[int]:
        """The objects that a plan, told from its end, drops although they are not tracked; none if there is no room."""
        held = dict.fromkeys(hands[1:][(hands[1:] >= FIRST_CLASS) & (hands[:-1] == EMPTY_HAND)].tolist())
        things = [np.flatnonzero(places.hands == hand) for hand in held]
        alone = [int(members[0]) for members in things if len(members) == 1]
        return [thing for thing in alone if thing not in keep.tracked][: MOST_TRACKED - len(keep.tracked)]

    def needed(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What to keep from the beginning: boxes that the task needs and could destroy, and doors that it speaks of."""
        blockers = [
            int(place)
            for thing, place in enumerate(self.task.places)
            if place < len(self.layout.cells) and self.layout.objects[thing, rules.KIND] == rules.BOX
            if any(self.task.speaks_of(i, thing) for i in self.task.atoms_used)
        ]
        gates = [door for door in range(self.layout.doors) if self.task.is_shut(door) and self.task.is_named(door)]
        return tuple(blockers[:2]), tuple(gates[:3])

    def build(self, keep: Keep, most_states: int) -> Abstraction | None:
        """The abstraction that keeps these; None if it has too many states, unless it cannot be coarser."""
        pattern, places = make_pattern(self.task, keep)
        dense = pattern.combinations
        is_coarsest = not (keep.atoms or keep.blockers or keep.gates)
        if (dense > MOST_DENSE or self._most(pattern) > 2 * most_states) and not is_coarsest:
            return None
        begin = self._begin(pattern, places, self.task.start, self.task.automaton_state)
        most = dense if is_coarsest else most_states
        number_of, queue, sources, targets, prices, count = abstraction.explore_pattern(
            self.layout.table, pattern.table, begin, dense, most
        )
        if count == 0:
            return None
        first, source, price = abstraction.sort_by_target(sources, targets, prices, count)
        per_pose = dense // int(pattern.sizes[POSES])
        cells = pattern.walkable[queue // (4 * per_pose)]
        obstacle = np.full(len(self.layout.cells), NOTHING, np.int64)
        for bit, (what, group) in enumerate(places.obstacles.tolist()):
            obstacle[self.task.door_cells[what] if group == NOTHING else what] = bit
        sets = abstraction.unavoidable(first, source, cells, obstacle)
        return Abstraction(first, source, price, self.layout, pattern, places, number_of, sets, keep)

    def _most(self, pattern: Pattern) -> int:
        """How many abstract states there can be; about half of them are met, or more."""
        _, _, blockers, gates, _, poses, _, _ = map(int, pattern.sizes)
        matter = [int(pattern.relevant[state]).bit_count() for state in self.task.reachable()]
        return poses * sum((FIRST_CLASS + count) << count for count in matter) << (blockers + gates)

    def _begin(self, pattern: Pattern, places: Places, start: NDArray[np.int32], automaton_state: int) -> int:
        """The dense number of a state."""
        row = np.empty(EFFECT_COLUMNS, np.int64)
        return int(abstract_index(self.layout.table, pattern.table, places, start, automaton_state, row))

    def flaws(self, found: Abstraction) -> Iterator[Keep]:
        """What to keep besides, because the cheapest plan walks through it: locked doors first, then objects."""
        begin = self._begin(found.pattern, found.places, self.task.start, self.task.automaton_state)
        keep = found.keep
        steps = abstraction.count_steps(found.first, found.source)
        walk = abstraction.cheapest_walk(self.layout.table, found.pattern.table, found.number_of, steps, begin)
        shut, cells = self._forgotten(keep, found.pattern, walk.tolist())
        shut.sort(key=lambda door: not self.task.is_locked(door))
        if shut and self.task.is_locked(shut[0]):
            yield replace(keep, gates=(*keep.gates, shut[0]))
        for cell in cells:
            yield replace(keep, blockers=(*keep.blockers, cell))
        for door in shut:
            yield replace(keep, gates=(*keep.gates, door))
