"""The `Pattern` of a scene that keeps what a `PatternSpec` says."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfairl.minigrid import physics
from wfairl.minigrid.focused.pattern import (
    EMPTY_HAND,
    FIRST_CLASS,
    NOT_KEPT,
    OTHER_OBJECT,
    Pattern,
    PatternSpec,
    StartPlaces,
)
from wfairl.minigrid.focused.prices import ANY_HAND, price_classes
from wfairl.minigrid.focused.task_demands import TaskDemands
from wfairl.minigrid.physics import NOTHING


def make_pattern(task: TaskDemands, spec: PatternSpec) -> Pattern:
    """The pattern that keeps what a specification says."""
    layout, cells, walkable = task.layout, task.layout.cells, task.layout.walkable
    doors = range(layout.doors)
    hands, classes = _hands(task, spec)
    lying = task.places < len(cells)
    hand_at, is_box = np.full(len(cells), EMPTY_HAND, np.int64), np.zeros(len(cells), bool)
    hand_at[task.places[lying]] = hands[lying]
    is_box[task.places[lying]] = layout.objects[lying, physics.OBJECT_KIND] == physics.BOX
    hand_kind, alike, inside_of = _describe_hands(task, hands, FIRST_CLASS + classes)
    unlocks = np.array([_class_bits(hands[task.keys(door)]) for door in doors] or [0], np.int64)
    crowd = len(spec.blockers) if spec.crowd else NOTHING
    blocker_at = np.full(len(cells), NOTHING, np.int64)
    if spec.crowd:
        blocker_at[task.places[lying & (hands == OTHER_OBJECT)]] = crowd
    blocker_at[list(spec.blockers)] = np.arange(len(spec.blockers))
    standing = np.flatnonzero(blocker_at != NOTHING)
    atom_classes = _atom_classes(task, spec, hands)
    always_relevant = _class_bits(hand_at[list(spec.blockers)]) if spec.crowd else 0
    changes = np.array(task.changes, np.int64).reshape(-1, 4)
    groups = layout.objects[:, physics.GROUP_FIRST]
    home = np.zeros((len(groups), len(cells) + 3), bool)
    home[groups, task.places] = True
    first_change = np.searchsorted(changes[:, 0], np.arange(task.states + 1))
    places = StartPlaces(
        home=home[groups],
        hands=hands,
        blockers=np.stack([standing, task.groups_on(standing), blocker_at[standing]], axis=1).astype(np.int64),
        gates=np.array(spec.gates, np.int64),
        needed=task.boxes_needed,
    )
    return Pattern(
        layout=layout,
        places=places,
        states=task.states,
        hands=len(hand_kind),
        cells=len(walkable),
        blocker_bits=len(spec.blockers) + spec.crowd,
        gate_bits=len(spec.gates),
        crowd=crowd,
        atom_count=len(task.atoms),
        most_changes=int(np.diff(first_change).max()),
        walkable=walkable,
        number_of=_numbers(walkable, len(cells)),
        hand_at=hand_at,
        is_box=is_box,
        hand_kind=hand_kind,
        alike=alike,
        inside_of=inside_of,
        unlocks=unlocks,
        was_locked=np.array([task.is_locked(door) for door in doors] or [False]),
        gate_of=_numbers(spec.gates, max(1, layout.doors)),
        blocker_at=blocker_at,
        atoms=task.atoms,
        atom_classes=atom_classes,
        relevant=_relevant(task, atom_classes, unlocks[list(spec.gates)], inside_of) | always_relevant,
        changes=changes,
        first_change=first_change,
        price_class=price_classes(layout)[1],
    )


def _hands(task: TaskDemands, spec: PatternSpec) -> tuple[NDArray[np.int64], int]:
    """The hand that holds each object, shape [objects], and the number of classes.

    Objects are of one class if the kept atoms, gates and blockers treat them and their contents alike.
    """
    objects = task.layout.objects
    groups = objects[:, physics.GROUP_FIRST]
    blocker_groups = task.groups_on(spec.blockers) if spec.crowd else []
    keys = [task.keys(door) for door in spec.gates if task.is_locked(door)]

    def signature(obj: int) -> tuple[int, ...]:
        if obj == NOTHING:
            return ()
        in_atoms = [task.is_about(i, obj, other) for i in spec.atoms for other in (False, True)]
        own = [*in_atoms, *(bool(key[obj]) for key in keys), *(groups[obj] == group for group in blocker_groups)]
        return (*map(int, own), *signature(int(objects[obj, physics.CONTENTS])))

    signatures = [signature(obj) for obj in range(len(objects))]
    classes = sorted({one for one in signatures if any(one)})
    hands = [FIRST_CLASS + classes.index(one) if any(one) else OTHER_OBJECT for one in signatures]
    return np.array(hands, np.int64), len(classes)


def _numbers(members: Sequence[int] | NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The position of each of 0, ..., count - 1 among the members, or `NOTHING`; shape [count]."""
    numbers = np.full(count, NOTHING, np.int64)
    numbers[np.asarray(members, np.int64)] = np.arange(len(members))
    return numbers


def _class_bits(hands: NDArray[np.int64]) -> int:
    """Bits of the classes of hands, shape [hands]."""
    return int(np.bitwise_or.reduce(1 << (hands[hands >= FIRST_CLASS] - FIRST_CLASS), initial=0))


def _describe_hands(
    task: TaskDemands, hands: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
    """`hand_kind`, `alike` and `inside_of` of a `Pattern`, for `count` hands."""
    objects = task.layout.objects
    kind, alike, inside = np.full(count, ANY_HAND, np.int64), np.zeros(count, bool), np.zeros(count, np.int64)
    kind[EMPTY_HAND] = 0
    for hand in range(OTHER_OBJECT, count):
        members = objects[hands == hand]
        contents = members[:, physics.CONTENTS]
        inside[hand] = _class_bits(hands[contents[contents != NOTHING]])
        if hand >= FIRST_CLASS:
            kinds = set(members[:, physics.OBJECT_KIND].tolist())
            kind[hand] = 1 + kinds.pop() if len(kinds) == 1 else ANY_HAND
            alike[hand] = len(set(members[:, physics.GROUP_FIRST].tolist())) == 1
    return kind, alike, inside


def _atom_classes(task: TaskDemands, spec: PatternSpec, hands: NDArray[np.int64]) -> NDArray[np.int64]:
    """`atom_classes` of a `Pattern`."""
    bits = np.full((len(task.atoms), 2), NOT_KEPT, np.int64)
    for i in spec.atoms:
        for column in range(2):
            is_about = np.array([task.is_about(i, obj, bool(column)) for obj in range(len(hands))], bool)
            bits[i, column] = _class_bits(hands[is_about])
    return bits


def _relevant(
    task: TaskDemands, atom_classes: NDArray[np.int64], keys: NDArray[np.int64], inside: NDArray[np.int64]
) -> NDArray[np.int64]:
    """`relevant` of a `Pattern`: classes of atoms that are still to be read, keys of gates, and boxes around these.

    `keys` are bits of the classes whose keys fit each gate; `inside` is `inside_of`.
    """
    relevant = np.full(task.states, np.bitwise_or.reduce(keys, initial=0), np.int64)
    for _ in range(task.states + 1):
        for state, true, false, after in task.changes:
            for i in range(len(task.atoms)):
                if (true | false) >> i & 1 and atom_classes[i, 0] != NOT_KEPT:
                    relevant[state] |= atom_classes[i, 0] | atom_classes[i, 1]
            if after >= 0:
                relevant[state] |= relevant[after]
    for hand in range(FIRST_CLASS, len(inside)):
        relevant |= np.where(relevant & inside[hand], 1 << (hand - FIRST_CLASS), 0)
    return relevant
