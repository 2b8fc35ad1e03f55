"""Random scenes for a rule: grids, one-way graphs and buildings, with places or events as labels and hidden prices."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.rule_families.rules import Device, Label, Rule, cheapest, judge

START = "start"
"""The state before the first step, in which one is where the scene begins."""

MOST_TRIES, TRIES_TO_MATTER = 400, 6
"""Scenes that are drawn until one can be done, and until one matters: who does not know the rule breaks it there."""

ZONE, IDLE = "carpet", ("bench", "fern", "poster")
"""What does not matter: an area, in which other labels hold too, and places."""

USE, WAIT = "use", "wait"
MOVES = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
ROADS = tuple(f"road {i}" for i in range(5))
SHAFTS = ("lift", "stairs")

Place = Any
Ways = dict[Place, dict[str, tuple[Place, bool]]]
"""Of each place the controls that are available, with the place where each leads and whether that is expensive."""


class Step(NamedTuple):
    """One transition of a scene."""

    after: Place
    label: Label
    cost: float
    features: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Scene:
    """A world of the package's contract, as plain dictionaries: `steps` has those of the available controls."""

    controls: tuple[str, ...]
    propositions: tuple[str, ...]
    feature_names: tuple[str, ...]
    steps: dict[Place, dict[int, Step]]
    initial_state: Place

    def is_available(self, state: Place, control: int) -> bool:
        return control in self.steps[state]

    def step(self, state: Place, control: int) -> Place:
        return self.steps[state][control].after

    def label(self, state: Place, control: int, next_state: Place) -> Label:  # noqa: ARG002
        return self.steps[state][control].label

    def features(self, state: Place, control: int, next_state: Place) -> NDArray[np.float64]:  # noqa: ARG002
        return np.array(self.steps[state][control].features)


class Kind(NamedTuple):
    """What scenes are like: `price` is what an expensive step costs beyond 1, 0 if no step is expensive."""

    ways: Callable[[np.random.Generator], Ways]
    controls: tuple[str, ...]
    price: float = 0.0
    offers_use: bool = False


def labels_of(rule: Rule, propositions: tuple[str, ...]) -> tuple[Label, ...]:
    """All labels that a scene may have: at most one place or event, in the zone or not, and what the device shows."""
    placed = [name for name in propositions if name != ZONE and not (rule.device and name in rule.device.shows)]
    alone = [frozenset[str](), *(frozenset({name}) for name in placed)]
    labels = (*alone, *(label | {ZONE} for label in alone if ZONE in propositions and rule.first not in label))
    if rule.device is None:
        return labels
    shown, memories = dict[Label, None](), list(rule.device.starts)
    for memory in memories:  # which grows meanwhile
        for after, label in filter(None, (rule.device.step(memory, label) for label in labels)):
            shown[label] = None
            memories += [after] if after not in memories else []
    return tuple(shown)


def draw_scene(rule: Rule, kind: Kind, propositions: tuple[str, ...], rng: np.random.Generator) -> Scene:
    """A scene in which the rule can be kept; every other one is such that it matters, if a few tries suffice."""
    tries = TRIES_TO_MATTER if rng.random() < 0.5 else 1
    for _ in range(MOST_TRIES):
        scene = _draw(rule, kind, propositions, rng)
        if cheapest(scene, rule):
            tries -= 1
            if tries <= 0 or breaks_blindly(scene, rule):
                return scene
    raise RuntimeError(f"no scene was found in which the rule can be kept: {rule}")


def breaks_blindly(scene: Scene, rule: Rule) -> bool:
    """Whether the cheapest path to the goal, for somebody who does not know the rule, does not keep it."""
    return judge(scene, rule, cheapest(scene, rule.blind)) == inf


def _draw(rule: Rule, kind: Kind, propositions: tuple[str, ...], rng: np.random.Generator) -> Scene:
    ways = kind.ways(rng)
    marks = {place: place[-1] for place in ways if isinstance(place, tuple) and place[-1] in SHAFTS}
    free = [place for place in ways if place not in marks]
    order = [free[i] for i in rng.permutation(len(free))]
    start = order.pop()
    if rule.begins:
        marks[start] = rule.begins
    elsewhere = (ZONE, rule.first, rule.begins, *SHAFTS, *(rule.device.shows if rule.device else ()))
    for name in (one for one in propositions if one not in elsewhere):
        is_hazard, is_needed = name in rule.hazards, name in rule.needed
        most = 3 if is_needed else len(free) // 7 if is_hazard else 2
        count = int(rng.integers(2 if is_hazard else 1, most, endpoint=True))
        marked, order = order[:count], order[count:]
        marks |= dict.fromkeys(marked, name)
    zone = _around(ways, free[0], int(rng.integers(3, len(free) // 2))) if ZONE in propositions else set()

    def label(place: Place, control: str) -> Label:
        names = {marks[place]} if place in marks and (marks[place] not in rule.events or control == USE) else set()
        return frozenset(names | ({ZONE} if place in zone else set()))

    steps: dict[Place, dict[int, Step]] = {}
    for place, leading in ways.items():
        staying = dict.fromkeys((USE, WAIT), (place, False))
        steps[place] = {}
        for control, (after, is_expensive) in (leading | staying).items():
            if control in kind.controls and not (control == USE and kind.offers_use and place not in marks):
                cost, features = 1.0 + kind.price * is_expensive, (1.0, float(is_expensive))
                steps[place][kind.controls.index(control)] = Step(after, label(after, control), cost, features)
    steps[START] = steps[start]
    if rule.first and rng.random() < 0.5:  # at the first step, one sees nothing else
        shown = frozenset({rule.first})
        steps[START] = {control: step._replace(label=shown) for control, step in steps[START].items()}
    scene = Scene(kind.controls, propositions, ("step", "expensive"), steps, START)
    return scene if rule.device is None else _remembering(scene, rule.device, rng)


def _remembering(scene: Scene, device: Device, rng: np.random.Generator) -> Scene:
    """The scene with a device: its states are pairs of a place and what the device remembers."""
    first = (START, device.starts[rng.integers(len(device.starts))])
    steps: dict[Place, dict[int, Step]] = {}
    states = [first]
    for place, memory in states:  # which grows meanwhile
        steps[place, memory] = {}
        for control, step in scene.steps[place].items():
            shown = device.step(memory, step.label)
            if shown is not None:
                after = (step.after, shown[0])
                steps[place, memory][control] = step._replace(after=after, label=shown[1])
                states += [after] if after not in steps and after not in states else []
    return replace(scene, steps=steps, initial_state=first)


def _around(ways: Ways, centre: Place, count: int) -> set[Place]:
    """The places nearest to one."""
    near = [centre]
    for place in near:  # which grows meanwhile
        near += dict.fromkeys(after for after, _ in ways[place].values() if after not in near)
    return set(near[:count])


def grid(rng: np.random.Generator) -> Ways:
    """A grid with walls and rough ground; who bumps stays."""
    width, height = rng.integers(6, 8, size=2, endpoint=True).tolist()
    cells = [cell for cell in product(range(width), range(height)) if rng.random() > 0.1]
    rough = {cell for cell in cells if rng.random() < 0.25}

    def move(cell: tuple[int, int], by: tuple[int, int]) -> tuple[Place, bool]:
        after = (cell[0] + by[0], cell[1] + by[1])
        after = after if after in cells else cell
        return after, after in rough

    return {cell: {name: move(cell, by) for name, by in MOVES.items()} for cell in cells}


def one_way_graph(rng: np.random.Generator) -> Ways:
    """Roads to the nearest neighbours; some are one-way, some are steep."""
    points = rng.random((int(rng.integers(30, 46)), 2))
    nearest = np.linalg.norm(points[:, None] - points[None], axis=2).argsort()[:, 1:4].tolist()
    roads: list[set[int]] = [set() for _ in points]
    for i, j in ((i, j) for i, near in enumerate(nearest) for j in near):
        roads[i].add(j)
        if rng.random() < 0.75 and len(roads[j]) < len(ROADS):
            roads[j].add(i)
    return {
        i: {road: (j, bool(rng.random() < 0.25)) for road, j in zip(ROADS, sorted(after), strict=False)}
        for i, after in enumerate(roads)
    }


def building(rng: np.random.Generator) -> Ways:
    """Floors with a lift and stairs; the stairs are expensive, and elsewhere one cannot go up or down."""
    floors, width = rng.integers((4, 8), (5, 10), endpoint=True).tolist()
    lift, stairs = rng.permutation(width)[:2].tolist()
    kinds = {lift: "lift", stairs: "stairs"}
    cells = {(x, y): (x, y, kinds.get(x, "floor")) for x, y in product(range(width), range(floors))}
    return {
        place: {
            name: (cells[x + dx, y + dy], dy != 0 and x == stairs)
            for name, (dx, dy) in MOVES.items()
            if (x + dx, y + dy) in cells and (dy == 0 or x in kinds)
        }
        for (x, y), place in cells.items()
    }


KINDS = {
    "grid": Kind(grid, (*MOVES, WAIT)),
    "graph": Kind(one_way_graph, ROADS),
    "events": Kind(grid, (*MOVES, USE)),
    "priced grid": Kind(grid, tuple(MOVES), 3.0),
    "priced graph": Kind(one_way_graph, ROADS, 3.0),
    "press graph": Kind(one_way_graph, (*ROADS, USE), offers_use=True),
    "building": Kind(building, tuple(MOVES), 4.0),
}
