"""From what is to be kept of a scene to its `Pattern`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED
from wfairl.worlds.minigrid import rules
from wfairl.worlds.minigrid.abstraction import Keep
from wfairl.worlds.minigrid.pattern import (
    ANY_HAND,
    EMPTY_HAND,
    FIRST_CLASS,
    FORGOTTEN,
    SOMETHING,
    Pattern,
    Places,
)
from wfairl.worlds.minigrid.prices import price_classes
from wfairl.worlds.minigrid.rules import NOTHING
from wfairl.worlds.minigrid.scene_task import SceneTask

MOST_OBSTACLES = 64
"""They are bits of a word."""


def make_pattern(task: SceneTask, keep: Keep) -> tuple[Pattern, Places]:
    """The pattern that keeps these, and where objects and doors are to begin with."""
    layout, cells = task.layout, task.layout.cells
    hands, classes = _hands(task, keep)
    walkable = np.flatnonzero(cells[:, rules.TERRAIN] != rules.WALL)
    number_of = _numbers(walkable, len(cells))
    lying = task.places < len(cells)
    hand_of, is_box = np.full(len(cells), EMPTY_HAND, np.int64), np.zeros(len(cells), bool)
    hand_of[task.places[lying]] = hands[lying]
    is_box[task.places[lying]] = layout.objects[lying, rules.KIND] == rules.BOX
    hand_kind, alike, inside_of = _describe_hands(task, hands, FIRST_CLASS + classes)
    unlocks = np.zeros(max(1, layout.doors), np.int64)
    for door in range(layout.doors):
        unlocks[door] = _class_bits(hands[task.keys(door)])
    crowd = len(keep.blockers) if keep.crowd else NOTHING
    blocker = np.full(len(cells), NOTHING, np.int64)
    if keep.crowd:
        blocker[task.places[lying & (hands == SOMETHING)]] = crowd
    blocker[list(keep.blockers)] = np.arange(len(keep.blockers))
    atom_classes = _atom_classes(task, keep, hands)
    always_relevant = _class_bits(hand_of[list(keep.blockers)]) if keep.crowd else 0
    changes = np.array(task.changes, np.int64).reshape(-1, 4)
    sizes = (
        task.states,
        classes,
        len(keep.blockers) + keep.crowd,
        len(keep.gates),
        len(task.atoms),
        4 * len(walkable),
        crowd,
        len(keep.tracked),
    )
    pattern = Pattern(
        walkable=walkable,
        number_of=number_of,
        hand_of=hand_of,
        is_box=is_box,
        hand_kind=hand_kind,
        alike=alike,
        inside_of=inside_of,
        unlocks=unlocks,
        blocker=blocker,
        gate=_numbers(keep.gates, max(1, layout.doors)),
        was_locked=np.array([task.is_locked(door) for door in range(layout.doors)] or [False]),
        atom_rows=task.atoms,
        atom_classes=atom_classes,
        relevant=_relevant(task, atom_classes, unlocks[list(keep.gates)], inside_of) | always_relevant,
        changes=changes,
        first_change=np.searchsorted(changes[:, 0], np.arange(task.states + 1)),
        price_class=price_classes(layout, walkable)[1],
        tracked_hand=hands[list(keep.tracked)],
        sizes=np.array(sizes),
    )
    return pattern, _places(task, keep, hands, blocker)


def _hands(task: SceneTask, keep: Keep) -> tuple[NDArray[np.int64], int]:
    """The hand that holds each object, and how many classes there are."""
    objects = task.layout.objects
    groups = objects[:, rules.GROUP_FIRST]
    known = task.groups_on(keep.blockers) if keep.crowd else []
    keys = [task.keys(door) for door in keep.gates if task.is_locked(door)]

    def signature(thing: int) -> tuple[int, ...]:
        if thing == NOTHING:
            return ()
        said = [task.speaks_of(i, thing, other) for i in keep.atoms for other in (False, True)]
        own = [*said, *(bool(key[thing]) for key in keys), *(groups[thing] == group for group in known)]
        return (*map(int, own), *signature(int(objects[thing, rules.CONTENTS])))

    found = [signature(thing) for thing in range(len(objects))]
    classes = sorted({one for one in found if any(one)})
    hands = [FIRST_CLASS + classes.index(one) if any(one) else SOMETHING for one in found]
    return np.array(hands, np.int64), len(classes)


def _numbers(members: Sequence[int] | NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The position of each of so many among the members, or `NOTHING`."""
    numbers = np.full(count, NOTHING, np.int64)
    numbers[np.asarray(members, np.int64)] = np.arange(len(members))
    return numbers


def _class_bits(hands: NDArray[np.int64]) -> int:
    """Bits of the classes of some hands."""
    bits = 0
    for hand in hands[hands >= FIRST_CLASS].tolist():
        bits |= 1 << (hand - FIRST_CLASS)
    return bits


def _describe_hands(
    task: SceneTask, hands: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
    """What each hand shows, whether its objects are alike, and what is inside them; see `Pattern`."""
    objects = task.layout.objects
    kind, alike, inside = np.full(count, ANY_HAND, np.int64), np.zeros(count, bool), np.zeros(count, np.int64)
    kind[EMPTY_HAND] = 0
    for hand in range(SOMETHING, count):
        members = objects[hands == hand]
        contents = members[:, rules.CONTENTS]
        inside[hand] = _class_bits(hands[contents[contents != NOTHING]])
        if hand >= FIRST_CLASS:
            kinds = set(members[:, rules.KIND].tolist())
            kind[hand] = 1 + kinds.pop() if len(kinds) == 1 else ANY_HAND
            alike[hand] = len(set(members[:, rules.GROUP_FIRST].tolist())) == 1
    return kind, alike, inside


def _atom_classes(task: SceneTask, keep: Keep, hands: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bits of the classes that each atom speaks of, and of those that it puts them next to; see `Pattern`."""
    things = range(len(hands))
    bits = np.full((len(task.atoms), 2), FORGOTTEN, np.int64)
    for i in keep.atoms:
        for column in range(2):
            said = np.array([task.speaks_of(i, thing, bool(column)) for thing in things], bool)
            bits[i, column] = _class_bits(hands[said])
    return bits


def _relevant(
    task: SceneTask, atom_classes: NDArray[np.int64], keys: NDArray[np.int64], inside: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Bits of the classes that matter in each automaton state: those of what may still be read, and keys of gates."""
    relevant = np.full(task.states, np.bitwise_or.reduce(keys, initial=0), np.int64)
    for _ in range(task.states + 1):
        for state, true, false, after in task.changes:
            for i in range(len(task.atoms)):
                if (true | false) >> i & 1 and atom_classes[i, 0] != FORGOTTEN:
                    relevant[state] |= atom_classes[i, 0] | atom_classes[i, 1]
            if after >= 0:
                relevant[state] |= relevant[after]
    for hand in range(FIRST_CLASS, len(inside)):
        relevant |= np.where(relevant & inside[hand], 1 << (hand - FIRST_CLASS), 0)
    return relevant


def _places(task: SceneTask, keep: Keep, hands: NDArray[np.int64], blocker: NDArray[np.int64]) -> Places:
    groups = task.layout.objects[:, rules.GROUP_FIRST]
    home = np.zeros((len(groups), len(task.layout.cells) + 3), bool)
    home[groups, task.places] = True
    standing = np.flatnonzero(blocker != NOTHING)
    obstacles = _obstacles(task, keep, hands)
    return Places(
        home=home[groups],
        hands=hands,
        blockers=np.stack([standing, task.groups_on(standing), blocker[standing]], axis=1).astype(np.int64),
        gates=np.array(keep.gates, np.int64),
        obstacles=np.array(obstacles, np.int64).reshape(-1, 2),
        role_doors=sum(group == NOTHING and task.door_roles(what) != 0 for what, group in obstacles),
        spare=_spare(task, obstacles),
        needed=task.boxes_needed,
    )


def _obstacles(task: SceneTask, keep: Keep, hands: NDArray[np.int64]) -> list[tuple[int, int]]:
    """What may stand in the way and is forgotten: shut doors, those of a role first, and objects of no class."""
    doors = [door for door in range(task.layout.doors) if task.is_shut(door) and door not in keep.gates]
    doors.sort(key=lambda door: not task.door_roles(door))
    things = [
        (int(place), int(task.layout.objects[thing, rules.GROUP_FIRST]))
        for thing, place in enumerate(task.places)
        if place < len(task.layout.cells) and hands[thing] == SOMETHING and place not in keep.blockers
        if not task.is_spoken_of(thing)
    ]
    return [*((door, NOTHING) for door in doors), *things][:MOST_OBSTACLES]


def _spare(task: SceneTask, obstacles: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """See `Places`.

    The last change does not count: what has to be entered after its removal is not removed by the last step.
    """
    spare = np.zeros((task.states, 2), np.int64)
    roles = 0
    for door in (what for what, group in obstacles if group == NOTHING):
        roles |= task.door_roles(door)
    for column, of_doors in enumerate((0, roles)):
        for _ in range(task.states + 1):
            before = spare[:, column].copy()
            for state, true, _, after in task.changes:
                if after != ACCEPTED:
                    more = spare[after, column] + task.may_hold_at_removal(true, of_doors)
                    spare[state, column] = max(spare[state, column], more)
        if (spare[:, column] != before).any():
            spare[:, column] = MOST_OBSTACLES  # there is no end to such changes
    return spare
