"""The demands of an automaton on one scene: the objects and doors that it is about, and the boxes that it needs."""

from collections.abc import Sequence
from functools import cached_property, reduce
from operator import or_

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, Automaton
from wfairl.minigrid import atoms, physics
from wfairl.minigrid.physics import NOTHING
from wfairl.minigrid.world import MiniGridWorld

Changes = Sequence[tuple[int, int, int, int]]
"""Automaton state, bits of atoms that must hold, bits of atoms that must fail, and the next state or `ACCEPTED`."""


class TaskDemands:
    """One scene, and an automaton that reads its labels from a state on, given by its fields of shape [fields]."""

    def __init__(
        self, world: MiniGridWorld, start: NDArray[np.int32], automaton: Automaton, automaton_state: int
    ) -> None:
        self.layout, self.atoms, self.start = world.layout, world.atoms, start
        self.states, self.automaton_state = automaton.states, automaton_state
        self.changes = sorted(_changes(automaton, world))
        first_door = self.layout.first_door
        self.places, self.doors = start[physics.FIRST_OBJECT : first_door].astype(np.int64), start[first_door:]
        self.door_cells = np.flatnonzero(self.layout.cells[:, physics.DOOR_AT] != NOTHING)

    @cached_property
    def atoms_used(self) -> tuple[int, ...]:
        """The atoms that the automaton asks for."""
        used = reduce(or_, (true | false for _, true, false, _ in self.changes), 0)
        return tuple(i for i in range(len(self.atoms)) if used >> i & 1)

    def reachable(self) -> list[int]:
        """The automaton states that can be reached, the first one included."""
        reached = [self.automaton_state]
        for state in reached:  # it grows meanwhile
            reached += [
                after for one, _, _, after in self.changes if one == state and after not in (*reached, ACCEPTED)
            ]
        return reached

    def is_shut(self, door: int) -> bool:
        """Whether a door was shut at the start."""
        return not self.doors[door] & physics.IS_OPEN

    def is_locked(self, door: int) -> bool:
        """Whether a door was locked at the start."""
        return bool(self.doors[door] & physics.IS_LOCKED)

    def keys(self, door: int) -> NDArray[np.bool_]:
        """Which objects unlock a door, shape [objects]."""
        color = self.layout.cells[self.door_cells[door], physics.TERRAIN_COLOR]
        objects = self.layout.objects
        return (objects[:, physics.OBJECT_KIND] == physics.KEY) & (objects[:, physics.OBJECT_COLOR] == color)

    def groups_on(self, cells: Sequence[int] | NDArray[np.int64]) -> list[int]:
        """The group of the object that lies on each cell at the start."""
        groups = self.layout.objects[:, physics.GROUP_FIRST]
        return [int(groups[np.flatnonzero(self.places == cell)[0]]) for cell in cells]

    def is_named(self, door: int) -> bool:
        """Whether the task asks whether a door is open, or to open it."""
        roles = int(self.layout.cells[self.door_cells[door], physics.DOOR_ROLES])
        for i in self.atoms_used:
            question, first = self.atoms[i, :2]
            if question == atoms.DOOR_IS_OPEN and first == door:
                return True
            if question == atoms.ROLE_OPENED and roles >> first & 1 and self.is_locked(door):
                return True
        return False

    def is_about(self, i: int, obj: int, other: bool = False) -> bool:
        """Whether an atom is about an object; with `other`, whether the atom puts something beside that object."""
        question, first, second = map(int, self.atoms[i, :3])
        if question in (atoms.ANY_AT, atoms.ANY_IN_FRONT, atoms.ALL_APART):
            return not other and first <= obj < second
        roles = int(self.layout.objects[obj, physics.ROLES])
        if question == atoms.ROLE_PUT_NEXT:
            return bool(roles >> (second if other else first) & 1)
        return not other and question in (atoms.ROLE_REACHED, atoms.ROLE_PICKED_UP) and bool(roles >> first & 1)

    @cached_property
    def boxes_needed(self) -> NDArray[np.bool_]:
        """Sets of boxes; every path from an automaton state to acceptance needs a box of each set.

        A box can be destroyed. If all boxes of a set are gone, the task cannot be fulfilled any more. Shape [automaton
        states, sets, objects].
        """
        always = np.full(self.states, ~0, np.int64)  # bits of atoms that hold somewhere on every path to acceptance
        for _ in range(self.states):
            for state, true, _, after in self.changes:
                always[state] &= true | (0 if after == ACCEPTED else int(always[after]))
        columns = [(i, other) for i in self.atoms_used for other in (False, True)]
        sets = np.zeros((self.states, len(columns), len(self.layout.objects)), bool)
        is_box = self.layout.objects[:, physics.OBJECT_KIND] == physics.BOX
        for column, (i, other) in enumerate(columns):
            objects = np.array([self.is_about(i, obj, other) for obj in range(len(is_box))], bool)
            if not (objects & ~is_box).any() and not self._may_be_a_door(i, other):
                sets[always >> i & 1 != 0, column] = objects
        return sets[:, sets.any(axis=(0, 2))]

    def _may_be_a_door(self, i: int, other: bool) -> bool:
        """Whether an atom may be about a door."""
        role = int(self.atoms[i, 2 if other else 1])
        is_role = self.atoms[i, 0] in (atoms.ROLE_REACHED, atoms.ROLE_PUT_NEXT)
        return bool(is_role and (self.layout.cells[:, physics.DOOR_ROLES] >> role & 1).any())


def _changes(automaton: Automaton, world: MiniGridWorld) -> Changes:
    """The changes of an automaton, without atoms that always or never hold in this scene.

    If two changes apply, the first one wins. A change that an earlier one covers is dropped. If an earlier change can
    only have failed because some atom holds, the later change requires that atom: after `key & !ball`, the change `key`
    means `ball & key`.
    """
    bit = {name: 1 << i for i, name in enumerate(world.propositions)}
    rows = world.atoms
    always = sum(1 << i for i, atom in enumerate(rows) if atom[0] == atoms.ALWAYS)
    never = sum(1 << i for i, atom in enumerate(rows) if atom[0] == atoms.ANY_AT and atom[1] == atom[2])
    changes: list[tuple[int, int, int, int]] = []
    read: list[tuple[int, int, int]] = []
    for source, guard, target in automaton.guarded_edges(world.propositions):
        true, false = sum(bit[name] for name in guard.true), sum(bit[name] for name in guard.false)
        for other, other_true, other_false in read:
            reason = other_false & ~false
            if other == source and not other_true & ~true and reason.bit_count() == 1:
                true |= reason
        read.append((source, true, false))
        true, false, can_be = true & ~always, false & ~never, not (true & never or false & always)
        earlier = [one for one in changes if one[0] == source and not one[1] & ~true and not one[2] & ~false]
        if can_be and not earlier and not automaton.accepting[source]:
            changes.append((source, true, false, ACCEPTED if automaton.accepting[target] else target))
    return [(source, _signed(true), _signed(false), after) for source, true, false, after in changes]


def _signed(bits: int) -> int:
    """64 bits as a signed integer, which arrays of int64 can hold."""
    return bits - (bits >> 63 << 64)
