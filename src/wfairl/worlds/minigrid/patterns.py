"""The abstraction of one scene for one automaton: which objects, blockers and gates it keeps; see `abstraction`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, Automaton
from wfairl.worlds.minigrid import abstraction, rules
from wfairl.worlds.minigrid.abstraction import Abstraction, Keep
from wfairl.worlds.minigrid.corridor import Corridor, explore_corridor, link
from wfairl.worlds.minigrid.pattern import (
    AHEADS,
    ANY_HAND,
    EFFECT_COLUMNS,
    EMPTY_HAND,
    FIRST_CLASS,
    FORGOTTEN,
    IDLE,
    MOST_TRACKED,
    POSES,
    SOMETHING,
    Pattern,
    Places,
    abstract_index,
)
from wfairl.worlds.minigrid.rules import NOTHING, Layout
from wfairl.worlds.minigrid.view import OPEN_DOOR

MOST_DENSE = 1 << 24
"""Combinations of what a pattern keeps, most of which are never met; four bytes each."""

REFINED_PART = 8
"""What only stands in the way is kept up to this part of the states that there may be for what the task speaks of: the
obstacles account for most of it."""

MOST_BITS = 62
"""Of a dense number in a corridor."""

CORRIDOR_FACTOR = 8
"""A corridor has so many times the states that it takes to find its cheapest plan, if there is room."""

MOST_OBSTACLES = 64
"""They are bits of a word."""

Changes = Sequence[tuple[int, int, int, int]]
"""Automaton state, bits of atoms that must hold, of those that must not, and the state after or `ACCEPTED`."""


def _changes(automaton: Automaton, propositions: Sequence[str], atoms: NDArray[np.int32]) -> Changes:
    """The changes of an automaton that can be reached, without what always or never holds in this scene.

    Of two changes of a state, the first is taken where both could be: one that needs more than an earlier one is none.
    """
    bit = {name: 1 << i for i, name in enumerate(propositions)}
    always = sum(1 << i for i, atom in enumerate(atoms) if atom[0] == rules.ALWAYS)
    never = sum(1 << i for i, atom in enumerate(atoms) if atom[0] == rules.ANY_AT and atom[1] == atom[2])
    kept: list[tuple[int, int, int, int]] = []
    for source, guard, target in automaton.changes(propositions):
        true, false = sum(bit[name] for name in guard.true), sum(bit[name] for name in guard.false)
        true, false, can_be = true & ~always, false & ~never, not (true & never or false & always)
        earlier = [one for one in kept if one[0] == source and not one[1] & ~true and not one[2] & ~false]
        if can_be and not earlier and not automaton.accepting[source]:
            kept.append((source, true, false, ACCEPTED if automaton.accepting[target] else target))
    return kept


class ScenePatterns:
    """The patterns of one scene and one automaton, more or less fine.

    Args:
        layout, atoms, propositions: the scene and its labels.
        start: the fields of the state that the search begins with.
        automaton: the task.
        automaton_state: where it begins.
    """

    def __init__(
        self,
        layout: Layout,
        atoms: NDArray[np.int32],
        propositions: Sequence[str],
        start: NDArray[np.int32],
        automaton: Automaton,
        automaton_state: int,
    ) -> None:
        self.layout, self.atoms, self.start = layout, atoms, start
        self.states, self.automaton_state = automaton.states, automaton_state
        self.changes = sorted(_changes(automaton, propositions, atoms))
        self.used = 0
        for _, true, false, _ in self.changes:
            self.used |= true | false
        objects, cells = len(layout.objects), len(layout.cells)
        self.places = start[rules.FIRST_OBJECT : rules.FIRST_OBJECT + objects].astype(np.int64)
        self.doors = start[rules.FIRST_OBJECT + objects :]
        self.door_cells = np.argsort(
            np.where(layout.cells[:, rules.DOOR_AT] >= 0, layout.cells[:, rules.DOOR_AT], cells)
        )
        self.door_cells = self.door_cells[: layout.doors]

    def abstract(self, most_states: int, is_hard: bool = False) -> Abstraction:
        """An abstraction of at most so many states, refined where its cheapest plan meets what it has forgotten.

        Args:
            most_states: at most.
            is_hard: use all of them for locked doors.
        """
        keep = Keep(self.atoms_used(), *self.needed())
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
        return sum(bool(self.doors[door] & rules.IS_LOCKED) for door in keep.gates)

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
        keep = Keep(self.atoms_used(), found.keep.blockers, found.keep.gates, crowd=True)
        while True:
            pattern, places = self._pattern(keep)
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
            if not (doors or cells or dropped) or self._pattern(keep)[0].combinations.bit_length() > MOST_BITS:
                return corridor

    def _forgotten(self, keep: Keep, pattern: Pattern, walk: Sequence[int]) -> tuple[list[int], list[int]]:
        """The shut doors and the cells of objects that a walk goes through although they are not kept."""
        doors = dict.fromkeys(int(self.layout.cells[cell, rules.DOOR_AT]) for cell in walk)
        things = dict.fromkeys(cell for cell in walk if pattern.hand_of[cell] and cell != self.start[rules.AGENT])
        shut = [door for door in doors if door != NOTHING and door not in keep.gates and self._is_shut(door)]
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
            for thing, place in enumerate(self.places)
            if place < len(self.layout.cells) and self.layout.objects[thing, rules.KIND] == rules.BOX
            if any(self._speaks_of(i, thing) for i in self.atoms_used())
        ]
        gates = [door for door in range(self.layout.doors) if self._is_shut(door) and self._is_named(door)]
        return tuple(blockers[:2]), tuple(gates[:3])

    def atoms_used(self) -> tuple[int, ...]:
        """The atoms that the automaton asks for."""
        return tuple(i for i in range(len(self.atoms)) if self.used >> i & 1)

    def _door_roles(self, door: int) -> int:
        return int(self.layout.cells[self.door_cells[door], rules.DOOR_ROLES])

    def _is_shut(self, door: int) -> bool:
        return not self.doors[door] & rules.IS_OPEN

    def _is_named(self, door: int) -> bool:
        roles = self._door_roles(door)
        for i in self.atoms_used():
            question, first = self.atoms[i, :2]
            if question == rules.DOOR_IS_OPEN and first == door:
                return True
            if question == rules.ROLE_OPENED and roles >> first & 1 and self.doors[door] & rules.IS_LOCKED:
                return True
        return False

    def _speaks_of(self, i: int, thing: int, other: bool = False) -> bool:
        """Whether an atom is about an object, or about what others are put next to."""
        question, first, second = map(int, self.atoms[i, :3])
        if question in (rules.ANY_AT, rules.ANY_IN_FRONT, rules.ALL_APART):
            return not other and first <= thing < second
        roles = int(self.layout.objects[thing, rules.ROLES])
        if question == rules.ROLE_PUT_NEXT:
            return bool(roles >> (second if other else first) & 1)
        return not other and question in (rules.ROLE_REACHED, rules.ROLE_PICKED_UP) and bool(roles >> first & 1)

    def build(self, keep: Keep, most_states: int) -> Abstraction | None:
        """The abstraction that keeps these; None if it has too many states, unless it cannot be coarser."""
        pattern, places = self._pattern(keep)
        dense = pattern.combinations
        is_coarsest = not (keep.atoms or keep.blockers or keep.gates)
        if (dense > MOST_DENSE or self._most(pattern) > 2 * most_states) and not is_coarsest:
            return None
        begin = self._begin(pattern, places, self.start, self.automaton_state)
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
            obstacle[self.door_cells[what] if group == NOTHING else what] = bit
        sets = abstraction.unavoidable(first, source, cells, obstacle)
        return Abstraction(first, source, price, self.layout, pattern, places, number_of, sets, keep)

    def _most(self, pattern: Pattern) -> int:
        """How many abstract states there can be; about half of them are met, or more."""
        reached = [self.automaton_state]
        for state in reached:  # grows while we walk it
            reached += [
                after for one, _, _, after in self.changes if one == state and after not in (*reached, ACCEPTED)
            ]
        _, _, blockers, gates, _, poses, _, _ = map(int, pattern.sizes)
        matter = [int(pattern.relevant[state]).bit_count() for state in reached]
        return poses * sum((FIRST_CLASS + count) << count for count in matter) << (blockers + gates)

    def _obstacles(self, keep: Keep, hands: NDArray[np.int64]) -> list[tuple[int, int]]:
        """What may stand in the way and is forgotten: shut doors, those of a role first, and objects of no class."""
        doors = [door for door in range(self.layout.doors) if self._is_shut(door) and door not in keep.gates]
        doors.sort(key=lambda door: not self._door_roles(door))
        things = [
            (int(place), int(self.layout.objects[thing, rules.GROUP_FIRST]))
            for thing, place in enumerate(self.places)
            if place < len(self.layout.cells) and hands[thing] == SOMETHING and place not in keep.blockers
            if not self._is_spoken_of(thing)
        ]
        return [*((door, NOTHING) for door in doors), *things][:MOST_OBSTACLES]

    def _is_spoken_of(self, thing: int) -> bool:
        """Whether the task speaks of an object, or of what is inside it."""
        inside = int(self.layout.objects[thing, rules.CONTENTS])
        said = any(self._speaks_of(i, thing, other) for i in self.atoms_used() for other in (False, True))
        return said or (inside != NOTHING and self._is_spoken_of(inside))

    def _spare(self, obstacles: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
        """See `Places`.

        The last change does not count: what has to be entered after its removal is not removed by the last step.
        """
        spare = np.zeros((self.states, 2), np.int64)
        roles = 0
        for door in (what for what, group in obstacles if group == NOTHING):
            roles |= self._door_roles(door)
        for column, of_doors in enumerate((0, roles)):
            for _ in range(self.states + 1):
                before = spare[:, column].copy()
                for state, true, _, after in self.changes:
                    if after != ACCEPTED:
                        more = spare[after, column] + self._may_hold_at_removal(true, of_doors)
                        spare[state, column] = max(spare[state, column], more)
            if (spare[:, column] != before).any():
                spare[:, column] = MOST_OBSTACLES  # there is no end to such changes
        return spare

    def _may_hold_at_removal(self, true: int, roles: int) -> bool:
        """Whether atoms may hold when a door of these roles was just opened, or something picked up or opened."""
        for i in (i for i in self.atoms_used() if true >> i & 1):
            question, first = map(int, self.atoms[i, :2])
            if question in (rules.ROLE_PICKED_UP, rules.ROLE_PUT_NEXT, rules.ANY_IN_FRONT):
                return False
            if question in (rules.ROLE_REACHED, rules.ROLE_OPENED) and not roles >> first & 1:
                return False
        return True

    def _begin(self, pattern: Pattern, places: Places, start: NDArray[np.int32], automaton_state: int) -> int:
        """The dense number of a state."""
        row = np.empty(EFFECT_COLUMNS, np.int64)
        return int(abstract_index(self.layout.table, pattern.table, places, start, automaton_state, row))

    def flaws(self, found: Abstraction) -> Iterator[Keep]:
        """What to keep besides, because the cheapest plan walks through it: locked doors first, then objects."""
        begin = self._begin(found.pattern, found.places, self.start, self.automaton_state)
        keep = found.keep
        steps = abstraction.count_steps(found.first, found.source)
        walk = abstraction.cheapest_walk(self.layout.table, found.pattern.table, found.number_of, steps, begin)
        shut, cells = self._forgotten(keep, found.pattern, walk.tolist())
        shut.sort(key=lambda door: not self.doors[door] & rules.IS_LOCKED)
        if shut and self.doors[shut[0]] & rules.IS_LOCKED:
            yield replace(keep, gates=(*keep.gates, shut[0]))
        for cell in cells:
            yield replace(keep, blockers=(*keep.blockers, cell))
        for door in shut:
            yield replace(keep, gates=(*keep.gates, door))

    def _pattern(self, keep: Keep) -> tuple[Pattern, Places]:
        layout, cells = self.layout, self.layout.cells
        blockers, gates = list(keep.blockers), list(keep.gates)
        walkable = np.flatnonzero(cells[:, rules.TERRAIN] != rules.WALL)
        number_of = np.full(len(cells), NOTHING, np.int64)
        number_of[walkable] = np.arange(len(walkable))
        hands, signatures = self._hands(keep)
        classes = len(signatures)
        hand_of, is_box = np.zeros(len(cells), np.int64), np.zeros(len(cells), bool)
        lying = self.places < len(cells)
        hand_of[self.places[lying]] = hands[lying]
        is_box[self.places[lying]] = layout.objects[lying, rules.KIND] == rules.BOX
        hand_kind = np.full(FIRST_CLASS + classes, ANY_HAND, np.int64)
        hand_kind[0] = 0
        inside = np.zeros(FIRST_CLASS + classes, np.int64)
        for hand in range(SOMETHING, FIRST_CLASS + classes):
            kinds = {int(kind) for kind in layout.objects[hands == hand, rules.KIND]}
            if len(kinds) == 1 and hand != SOMETHING:
                hand_kind[hand] = 1 + kinds.pop()
            for contents in layout.objects[hands == hand, rules.CONTENTS].tolist():
                if contents != NOTHING and hands[contents] >= FIRST_CLASS:
                    inside[hand] |= 1 << int(hands[contents] - FIRST_CLASS)
        unlocks = np.zeros(max(1, layout.doors), np.int64)
        for door in range(layout.doors):
            for thing in np.flatnonzero(self._keys(door)).tolist():
                if hands[thing] >= FIRST_CLASS:
                    unlocks[door] |= 1 << int(hands[thing] - FIRST_CLASS)
        blocker = np.full(len(cells), NOTHING, np.int64)
        crowd = len(blockers) if keep.crowd else NOTHING
        if keep.crowd:
            blocker[self.places[lying & (hands == SOMETHING)]] = crowd
        blocker[blockers] = np.arange(len(blockers))
        known = 0  # classes that matter always
        for hand in hand_of[blockers] if keep.crowd else ():
            known |= 1 << int(hand - FIRST_CLASS)
        gate = np.full(max(1, layout.doors), NOTHING, np.int64)
        gate[gates] = np.arange(len(gates))
        atom_classes = np.full((len(self.atoms), 2), FORGOTTEN, np.int64)
        for i in keep.atoms:
            atom_classes[i] = 0
            for thing in range(len(layout.objects)):
                for column in range(2):
                    if hands[thing] >= FIRST_CLASS and self._speaks_of(i, thing, bool(column)):
                        atom_classes[i, column] |= 1 << int(hands[thing] - FIRST_CLASS)
        groups = layout.objects[:, rules.GROUP_FIRST]
        home = np.zeros((len(layout.objects), len(cells) + 3), bool)
        home[groups, self.places] = True
        standing = np.flatnonzero(blocker != NOTHING)
        changes = np.array(self.changes, np.int64).reshape(-1, 4)
        pattern = Pattern(
            walkable=walkable,
            number_of=number_of,
            hand_of=hand_of,
            is_box=is_box,
            hand_kind=hand_kind,
            alike=np.array(
                [hand >= FIRST_CLASS and len(set(groups[hands == hand])) == 1 for hand in range(len(inside))]
            ),
            inside_of=inside,
            unlocks=unlocks,
            blocker=blocker,
            gate=gate,
            was_locked=np.array([bool(state & rules.IS_LOCKED) for state in self.doors] or [False]),
            atom_rows=self.atoms,
            atom_classes=atom_classes,
            relevant=self._relevant(atom_classes, unlocks, gates, inside) | known,
            changes=changes,
            first_change=np.searchsorted(changes[:, 0], np.arange(self.states + 1)),
            price_class=price_classes(layout, walkable)[1],
            tracked_hand=hands[list(keep.tracked)],
            sizes=np.array(
                [
                    self.states,
                    classes,
                    len(blockers) + keep.crowd,
                    len(gates),
                    len(self.atoms),
                    4 * len(walkable),
                    crowd,
                    len(keep.tracked),
                ]
            ),
        )
        obstacles = self._obstacles(keep, hands)
        blocked = np.stack([standing, self._groups_on(standing), blocker[standing]], axis=1).astype(np.int64)
        named = sum(group == NOTHING and self._door_roles(what) != 0 for what, group in obstacles)
        places = Places(
            home[groups], hands, blocked, np.array(gates, np.int64), np.array(obstacles, np.int64).reshape(-1, 2),
            named, self._spare(obstacles), self.boxes_needed,
        )  # fmt: skip
        return pattern, places

    @cached_property
    def boxes_needed(self) -> NDArray[np.bool_]:
        """See `Places.needed`: boxes can be destroyed, and then a task that is about them cannot be fulfilled."""
        always = np.full(self.states, ~0, np.int64)  # bits of atoms that hold somewhere on every way to acceptance
        for _ in range(self.states):
            for state, true, _, after in self.changes:
                always[state] &= true | (0 if after == ACCEPTED else int(always[after]))
        atoms = [(i, other) for i in self.atoms_used() for other in (False, True)]
        sets = np.zeros((self.states, len(atoms), len(self.layout.objects)), bool)
        is_box = self.layout.objects[:, rules.KIND] == rules.BOX
        for column, (i, other) in enumerate(atoms):
            things = np.array([self._speaks_of(i, thing, other) for thing in range(len(is_box))], bool)
            if not (things & ~is_box).any() and not self._may_be_a_door(i, other):
                sets[always >> i & 1 != 0, column] = things
        return sets[:, sets.any(axis=(0, 2))]

    def _may_be_a_door(self, i: int, other: bool) -> bool:
        """Whether a door will do for what an atom speaks of."""
        role = int(self.atoms[i, 2 if other else 1])
        is_role = self.atoms[i, 0] in (rules.ROLE_REACHED, rules.ROLE_PUT_NEXT)
        return bool(is_role and (self.layout.cells[:, rules.DOOR_ROLES] >> role & 1).any())

    def _groups_on(self, cells: Sequence[int] | NDArray[np.int64]) -> list[int]:
        """The group of what lies on each cell at the start."""
        groups = self.layout.objects[:, rules.GROUP_FIRST]
        return [int(groups[np.flatnonzero(self.places == cell)[0]]) for cell in cells]

    def _keys(self, door: int) -> NDArray[np.bool_]:
        """Which objects unlock a door."""
        color = self.layout.cells[self.door_cells[door], rules.TERRAIN_COLOR]
        objects = self.layout.objects
        return (objects[:, rules.KIND] == rules.KEY) & (objects[:, rules.COLOR] == color)

    def _hands(self, keep: Keep) -> tuple[NDArray[np.int64], list[tuple[int, ...]]]:
        """The hand that holds each object, and what tells the classes apart."""
        locked = [door for door in keep.gates if self.doors[door] & rules.IS_LOCKED]
        groups = self.layout.objects[:, rules.GROUP_FIRST]
        known = self._groups_on(keep.blockers) if keep.crowd else []
        keys = [self._keys(door) for door in locked]

        def signature(thing: int) -> tuple[int, ...]:
            if thing == NOTHING:
                return ()
            said = [self._speaks_of(i, thing, other) for i in keep.atoms for other in (False, True)]
            own = [*said, *(bool(key[thing]) for key in keys), *(groups[thing] == group for group in known)]
            contents = signature(int(self.layout.objects[thing, rules.CONTENTS]))
            return (*map(int, own), *contents)

        found = [signature(thing) for thing in range(len(self.layout.objects))]
        classes = sorted({one for one in found if any(one)})
        hands = [FIRST_CLASS + classes.index(one) if any(one) else SOMETHING for one in found]
        return np.array(hands, np.int64), classes

    def _relevant(
        self,
        atom_classes: NDArray[np.int64],
        unlocks: NDArray[np.int64],
        gates: Sequence[int],
        inside: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Bits of the classes that matter in each automaton state: those of what may still be read, and keys."""
        relevant = np.zeros(self.states, np.int64)
        for door in gates:
            relevant |= unlocks[door]
        for _ in range(self.states + 1):
            for state, true, false, after in self.changes:
                for i in range(len(self.atoms)):
                    if (true | false) >> i & 1 and atom_classes[i, 0] != FORGOTTEN:
                        relevant[state] |= atom_classes[i, 0] | atom_classes[i, 1]
                if after >= 0:
                    relevant[state] |= relevant[after]
        for hand in range(FIRST_CLASS, len(inside)):
            relevant |= np.where(relevant & inside[hand], 1 << (hand - FIRST_CLASS), 0)
        return relevant


def price_count(layout: Layout) -> int:
    """How many prices there are."""
    walkable = np.flatnonzero(layout.cells[:, rules.TERRAIN] != rules.WALL)
    return len(price_classes(layout, walkable)[0]) * AHEADS * (ANY_HAND + 1) * (IDLE + 1)


def price_classes(layout: Layout, walkable: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What poses show whatever happens: terrain and floor under the agent, and the floor ahead.

    Returns:
        The distinct ones, shape [distinct, 3], and which of them each pose has, shape [walkable * 4].
    """
    cells = layout.cells
    terrain = np.where(cells[:, rules.TERRAIN] == rules.DOOR, OPEN_DOOR, cells[:, rules.TERRAIN])
    floor = np.where(cells[:, rules.TERRAIN] == rules.FLOOR, 1 + cells[:, rules.TERRAIN_COLOR], 0)
    fronts = cells[walkable][:, rules.FRONT :]
    ahead = np.where(fronts == NOTHING, 0, floor[fronts])
    under = np.repeat(np.stack([terrain[walkable], floor[walkable]], axis=1), 4, axis=0)
    distinct, number = np.unique(np.hstack([under, ahead.reshape(-1, 1)]), axis=0, return_inverse=True)
    return distinct.astype(np.int64), number.reshape(-1).astype(np.int64)
