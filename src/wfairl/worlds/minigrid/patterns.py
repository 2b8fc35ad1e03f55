"""The abstraction of one scene for one automaton: which objects, blockers and gates it keeps; see `abstraction`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, Automaton
from wfairl.worlds.minigrid import abstraction, rules
from wfairl.worlds.minigrid.abstraction import ANY_HAND, FIRST_CLASS, FORGOTTEN, SOMETHING, Pattern, Places
from wfairl.worlds.minigrid.rules import NOTHING, Layout

MOST_DENSE = 1 << 24
"""Combinations of what a pattern keeps, most of which are never met; four bytes each."""

REFINED_PART = 8
"""What only stands in the way is kept up to this part of the states that there may be for what the task speaks of: the
obstacles account for most of it."""

MOST_OBSTACLES = 64
"""They are bits of a word."""

Changes = Sequence[tuple[int, int, int, int]]
"""Automaton state, bits of atoms that must hold, of those that must not, and the state after or `ACCEPTED`."""


@dataclass(frozen=True, eq=False)
class Abstraction:
    """A smaller scene, explored whole, with its transitions sorted by where they lead.

    Attributes:
        first: transitions into n are those from first[n] to first[n + 1], n = 0 being acceptance; shape [states + 1].
        source: where a transition comes from, shape [transitions].
        price: what it costs, an index into `price_list`; shape [transitions].
        layout, pattern, places, number_of: what numbers states.
        unavoidable: the obstacles on every way from each abstract state, as bits; shape [states].
    """

    first: NDArray[np.uint32]
    source: NDArray[np.uint32]
    price: NDArray[np.int64]
    layout: Layout
    pattern: Pattern
    places: Places
    number_of: NDArray[np.int32]
    unavoidable: NDArray[np.uint64]

    def __len__(self) -> int:
        """The number of abstract states, with acceptance."""
        return len(self.first) - 1

    def number(
        self, states: NDArray[np.uint64], automaton_states: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
        """The abstract states of packed states, and bits of what stands in the way of each; shape [states] each."""
        numbers, in_the_way = np.empty(len(states), np.int32), np.empty(len(states), np.uint64)
        abstraction.number_states(
            self.layout.table, self.pattern.table, self.places, self.number_of, self.unavoidable, states,
            automaton_states, numbers, in_the_way,
        )  # fmt: skip
        return numbers, in_the_way


def abstract_scene(
    layout: Layout,
    atoms: NDArray[np.int32],
    propositions: Sequence[str],
    start: NDArray[np.int32],
    automaton: Automaton,
    automaton_state: int,
    most_states: int,
) -> Abstraction:
    """An abstraction of at most so many states, refined where its cheapest plan meets what it has forgotten.

    Args:
        layout, atoms, propositions: the scene and its labels.
        start: the fields of the state that the search begins with.
        automaton: the task.
        automaton_state: where it begins.
        most_states: of the abstraction.
    """
    builder = _Builder(layout, atoms, start, _changes(automaton, propositions, atoms), automaton.states)
    keep = _Keep(builder.atoms_used(), *builder.needed())
    found = builder.build(keep, automaton_state, most_states)
    while found is None:
        keep = keep.coarser()
        found = builder.build(keep, automaton_state, most_states)
    while 2 * len(found) <= most_states // REFINED_PART:
        finer = next(builder.flaws(found, keep, automaton_state), None)
        refined = None if finer is None else builder.build(finer, automaton_state, most_states)
        if finer is None or refined is None:
            return found
        keep, found = finer, refined
    return found


@dataclass(frozen=True)
class _Keep:
    """What a pattern keeps: atoms, cells of blockers, and doors that are gates."""

    atoms: tuple[int, ...]
    blockers: tuple[int, ...]
    gates: tuple[int, ...]

    def coarser(self) -> "_Keep":
        """Without the last blocker, or else atom, or else gate."""
        if self.blockers:
            return replace(self, blockers=self.blockers[:-1])
        if self.atoms:
            return replace(self, atoms=self.atoms[:-1])
        return replace(self, gates=self.gates[:-1])


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


class _Builder:
    """Patterns of one scene, more or less fine."""

    def __init__(
        self, layout: Layout, atoms: NDArray[np.int32], start: NDArray[np.int32], changes: Changes, states: int
    ) -> None:
        self.layout, self.atoms, self.start, self.states = layout, atoms, start, states
        self.changes = sorted(changes)
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

    def _is_shut(self, door: int) -> bool:
        return not self.doors[door] & rules.IS_OPEN

    def _is_named(self, door: int, locked_only: bool = True) -> bool:
        roles = self.layout.cells[self.door_cells[door], rules.DOOR_ROLES]
        for i in self.atoms_used():
            question, first = self.atoms[i, :2]
            if question == rules.DOOR_IS_OPEN and first == door:
                return True
            if (
                question == rules.ROLE_OPENED
                and roles >> first & 1
                and (self.doors[door] & rules.IS_LOCKED or not locked_only)
            ):
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

    def build(self, keep: _Keep, automaton_state: int, most_states: int) -> Abstraction | None:
        """The abstraction that keeps these; None if it has too many states, unless it cannot be coarser."""
        pattern, places = self._pattern(keep)
        dense = pattern.combinations
        is_coarsest = not (keep.atoms or keep.blockers or keep.gates)
        if (dense > MOST_DENSE or self._most(pattern, automaton_state) > 2 * most_states) and not is_coarsest:
            return None
        begin = self._begin(pattern, places, automaton_state)
        most = dense if is_coarsest else most_states
        number_of, queue, sources, targets, prices, count = abstraction.explore_pattern(
            self.layout.table, pattern.table, begin, dense, most
        )
        if count == 0:
            return None
        first, source, price = abstraction.sort_by_target(sources, targets, prices, count)
        per_pose = dense // int(pattern.sizes[abstraction.POSES])
        cells = pattern.walkable[queue // (4 * per_pose)]
        obstacle = np.full(len(self.layout.cells), NOTHING, np.int64)
        for bit, (what, group) in enumerate(places.obstacles.tolist()):
            obstacle[self.door_cells[what] if group == NOTHING else what] = bit
        sets = abstraction.unavoidable(first, source, cells, obstacle)
        return Abstraction(first, source, price, self.layout, pattern, places, number_of, sets)

    def _most(self, pattern: Pattern, automaton_state: int) -> int:
        """How many abstract states there can be; about half of them are met, or more."""
        reached = [automaton_state]
        for state in reached:  # grows while we walk it
            reached += [
                after for one, _, _, after in self.changes if one == state and after not in (*reached, ACCEPTED)
            ]
        _, _, blockers, gates, _, poses = map(int, pattern.sizes)
        matter = [int(pattern.relevant[state]).bit_count() for state in reached]
        return poses * sum((FIRST_CLASS + count) << count for count in matter) << (blockers + gates)

    def _obstacles(self, keep: _Keep, hands: NDArray[np.int64]) -> list[tuple[int, int]]:
        """What may stand in the way and is forgotten: shut doors, and objects that do not matter otherwise."""
        doors = [
            (door, NOTHING)
            for door in range(self.layout.doors)
            if self._is_shut(door) and door not in keep.gates and not self._is_named(door, locked_only=False)
        ]
        things = [
            (int(place), int(self.layout.objects[thing, rules.GROUP_FIRST]))
            for thing, place in enumerate(self.places)
            if place < len(self.layout.cells) and hands[thing] == SOMETHING and place not in keep.blockers
        ]
        return [*doors, *things][:MOST_OBSTACLES]

    def _begin(self, pattern: Pattern, places: Places, automaton_state: int) -> int:
        row = np.empty(abstraction.EFFECT_COLUMNS, np.int64)
        return int(
            abstraction.abstract_index(self.layout.table, pattern.table, places, self.start, automaton_state, row)
        )

    def flaws(self, found: Abstraction, keep: _Keep, automaton_state: int) -> Iterator[_Keep]:
        """What to keep besides, because the cheapest plan walks through it: locked doors first, then objects."""
        begin = self._begin(found.pattern, found.places, automaton_state)
        steps = abstraction.count_steps(found.first, found.source)
        cells = abstraction.cheapest_walk(
            self.layout.table, found.pattern.table, found.number_of, steps, begin
        ).tolist()
        doors = [int(self.layout.cells[cell, rules.DOOR_AT]) for cell in cells]
        shut = [door for door in doors if door != NOTHING and door not in keep.gates and self._is_shut(door)]
        shut.sort(key=lambda door: not self.doors[door] & rules.IS_LOCKED)
        if shut and self.doors[shut[0]] & rules.IS_LOCKED:
            yield replace(keep, gates=(*keep.gates, shut[0]))
        for cell in cells:
            if found.pattern.hand_of[cell] and cell != self.start[rules.AGENT] and cell not in keep.blockers:
                yield replace(keep, blockers=(*keep.blockers, cell))
        for door in shut:
            yield replace(keep, gates=(*keep.gates, door))

    def _pattern(self, keep: _Keep) -> tuple[Pattern, Places]:
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
        blocker[blockers] = np.arange(len(blockers))
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
        things = [int(groups[np.flatnonzero(self.places == cell)[0]]) for cell in blockers]
        changes = np.array(self.changes, np.int64).reshape(-1, 4)
        pattern = Pattern(
            walkable=walkable,
            number_of=number_of,
            hand_of=hand_of,
            is_box=is_box,
            hand_kind=hand_kind,
            inside_of=inside,
            unlocks=unlocks,
            blocker=blocker,
            gate=gate,
            was_locked=np.array([bool(state & rules.IS_LOCKED) for state in self.doors] or [False]),
            atom_rows=self.atoms,
            atom_classes=atom_classes,
            relevant=self._relevant(atom_classes, unlocks, gates, inside),
            changes=changes,
            first_change=np.searchsorted(changes[:, 0], np.arange(self.states + 1)),
            price_class=price_classes(layout, walkable)[1],
            sizes=np.array([self.states, classes, len(blockers), len(gates), len(self.atoms), 4 * len(walkable)]),
        )
        places = Places(
            home[groups], hands, np.array([*zip(blockers, things, strict=True)], np.int64).reshape(-1, 2),
            np.array(gates, np.int64), np.array(self._obstacles(keep, hands), np.int64).reshape(-1, 2),
        )  # fmt: skip
        return pattern, places

    def _keys(self, door: int) -> NDArray[np.bool_]:
        """Which objects unlock a door."""
        color = self.layout.cells[self.door_cells[door], rules.TERRAIN_COLOR]
        objects = self.layout.objects
        return (objects[:, rules.KIND] == rules.KEY) & (objects[:, rules.COLOR] == color)

    def _hands(self, keep: _Keep) -> tuple[NDArray[np.int64], list[tuple[int, ...]]]:
        """The hand that holds each object, and what tells the classes apart."""
        locked = [door for door in keep.gates if self.doors[door] & rules.IS_LOCKED]
        keys = [self._keys(door) for door in locked]

        def signature(thing: int) -> tuple[int, ...]:
            if thing == NOTHING:
                return ()
            said = [self._speaks_of(i, thing, other) for i in keep.atoms for other in (False, True)]
            own = [*said, *(bool(key[thing]) for key in keys)]
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


def price_classes(layout: Layout, walkable: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What poses show whatever happens: terrain and floor under the agent, and the floor ahead.

    Returns:
        The distinct ones, shape [distinct, 3], and which of them each pose has, shape [walkable * 4].
    """
    cells = layout.cells
    terrain = np.where(cells[:, rules.TERRAIN] == rules.DOOR, abstraction.OPEN_DOOR, cells[:, rules.TERRAIN])
    floor = np.where(cells[:, rules.TERRAIN] == rules.FLOOR, 1 + cells[:, rules.TERRAIN_COLOR], 0)
    fronts = cells[walkable][:, rules.FRONT :]
    ahead = np.where(fronts == NOTHING, 0, floor[fronts])
    under = np.repeat(np.stack([terrain[walkable], floor[walkable]], axis=1), 4, axis=0)
    distinct, number = np.unique(np.hstack([under, ahead.reshape(-1, 1)]), axis=0, return_inverse=True)
    return distinct.astype(np.int64), number.reshape(-1).astype(np.int64)
