"""The tasks of the office, on its published map and with its objects on random cells.

In the task of the demo, `coffee-and-mail`, nothing in the world forbids plants or carpets. The rule is shown by
demonstrations alone, and what a carpet costs can only be told from detours.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from wfairl.core.automata.automaton import ACCEPTED, Automaton, Label
from wfairl.core.automata.rules import all_of, avoid, then, visit_all, visit_in_order
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.task import ModelTask
from wfairl.core.worlds.transitions import TransitionTable
from wfairl.offices.office_map import COLUMNS, MOVES, PUBLISHED, ROWS, OfficeCell, cells, neighbour
from wfairl.offices.renderer import OfficeRenderer

OFFICE_PROPOSITIONS = ("a", "b", "c", "d", "e", "f", "g", "n")

OFFICE_RULES: Mapping[str, tuple[str, Automaton]] = {
    "coffee": ("bring coffee (f) to the office (g)", all_of(visit_in_order("f", "g"), avoid("n"))),
    "mail": ("bring mail (e) to the office (g)", all_of(visit_in_order("e", "g"), avoid("n"))),
    "coffee-mail": (
        "bring coffee (f) and mail (e), in any order, to the office (g)",
        all_of(then(visit_all("e", "f"), visit_in_order("g")), avoid("n")),
    ),
    "patrol": ("visit a, b, c and d in order", all_of(visit_in_order("a", "b", "c", "d"), avoid("n"))),
}
"""Summary and rule of each task; a decoration ends each in failure."""

EPISODE_STEPS = 100

EXTRA_COST = 3.0
"""What a step into a crowd or onto a carpet costs more than any other."""

OBJECTS: Mapping[str, int] = {"coffee": 2, "mail": 2, "office": 1, "plant": 6}
"""How many of each there are in an office with carpets."""

CARPETS, CARPET_SIDES = 6, (2, 3)
"""Number of carpets in an office, and their sides in cells."""

CARPET_RULE = all_of(then(visit_all("coffee", "mail"), visit_in_order("office")), avoid("plant"))


@cache
def _table() -> TransitionTable:
    """The moves of the robot, the same in every office and with empty labels."""
    number = {cell: i for i, cell in enumerate(cells())}
    successors = np.array([[number[neighbour(cell, move)] for move in MOVES] for cell in cells()], np.int32)
    return TransitionTable(
        controls=tuple(MOVES),
        successors=successors,
        label_index=np.zeros(successors.shape, np.uint16),
        labels=(frozenset(),),
        feature_index=np.zeros(successors.shape, np.int32),
        features=np.ones((1, 1)),
        feature_names=("step",),
        states=tuple(cells()),
    )


def office_world(
    objects: Mapping[OfficeCell, str],
    start: OfficeCell,
    propositions: tuple[str, ...] = OFFICE_PROPOSITIONS,
    carpet: frozenset[OfficeCell] = frozenset(),
) -> GraphWorld:
    """An office with objects, and with cells that look like carpet; all offices share the table of moves."""
    table = _table()
    marks: dict[int, Label] = {table.states.index(cell): frozenset({name}) for cell, name in objects.items()}
    return GraphWorld(table, propositions, table.states.index(start), marks, OfficeRenderer(objects, carpet))


def published_office(seed: int) -> GraphWorld:
    """The published map; the seed draws the cell where the robot starts, one without an object."""
    free = [cell for cell in cells() if cell not in PUBLISHED]
    return office_world(PUBLISHED, free[np.random.default_rng(seed).integers(len(free))])


def random_office(seed: int, rule: Automaton) -> GraphWorld:
    """The same objects on random cells; an office in which the rule cannot be fulfilled is drawn again."""
    rng = np.random.default_rng(seed)
    while True:
        world = office_world(*_place(rng, sorted(PUBLISHED.values())))
        if _can_fulfil(world, rule):
            return world


def crowded_office(seed: int) -> GraphWorld:
    """A random office for coffee in which a quarter of the cells are crowded, which only the features show."""
    office = random_office(seed, OFFICE_RULES["coffee"][1])
    crowd = np.random.default_rng([1, seed]).random(len(office.table.states)) < 0.25  # independent of the office
    return _with_feature(office, crowd, "into a crowd")


def carpet_office(seed: int) -> GraphWorld:
    """An office with objects and carpets on random cells; one in which the rule cannot be kept is drawn again."""
    rng = np.random.default_rng(seed)
    names = [name for name, count in OBJECTS.items() for _ in range(count)]
    while True:
        objects, start = _place(rng, names)
        carpet = frozenset(cell for _ in range(CARPETS) for cell in _carpet(rng))
        world = office_world(objects, start, tuple(OBJECTS), carpet)
        if _can_fulfil(world, CARPET_RULE):
            return _with_feature(world, [cell in carpet for cell in world.table.states], "onto carpet")


def _place(rng: np.random.Generator, names: list[str]) -> tuple[dict[OfficeCell, str], OfficeCell]:
    """Objects on random cells, and the cell where the robot starts."""
    everywhere = list(cells())
    *placed, start = rng.choice(len(everywhere), size=len(names) + 1, replace=False)
    return {everywhere[cell]: name for cell, name in zip(placed, names, strict=True)}, everywhere[start]


def _carpet(rng: np.random.Generator) -> list[OfficeCell]:
    """The cells of a carpet, which ends at the walls of the office."""
    width, height = rng.permutation(CARPET_SIDES).tolist()
    left, bottom = int(rng.integers(COLUMNS)), int(rng.integers(ROWS))
    columns, rows = range(left, min(left + width, COLUMNS)), range(bottom, min(bottom + height, ROWS))
    return [(x, y) for x in columns for y in rows]


def _can_fulfil(world: GraphWorld, rule: Automaton) -> bool:
    return bool((world.explore(rule).successors == ACCEPTED).any())


def _with_feature(world: GraphWorld, cells_with_it: ArrayLike, name: str) -> GraphWorld:
    """The office with a second feature: whether a step leads to one of some cells."""
    table = replace(
        world.table,
        feature_index=np.array(cells_with_it)[world.table.successors].astype(np.int32),
        features=np.array([[1.0, 0.0], [1.0, 1.0]]),
        feature_names=("step", name),
    )
    return replace(world, table=table)


def _task(name: str, is_random: bool) -> ModelTask:
    summary, rule = OFFICE_RULES[name]
    return ModelTask(
        name=f"random-office-{name}" if is_random else f"office-{name}",
        summary=f"{summary}; {'objects elsewhere in every scene' if is_random else 'the published map'}",
        propositions=OFFICE_PROPOSITIONS,
        rule=rule,
        horizon=EPISODE_STEPS,
        scene=(lambda seed: random_office(seed, rule)) if is_random else published_office,
    )


CROWDED_COFFEE = ModelTask(
    name="crowded-office-coffee",
    summary=f"{OFFICE_RULES['coffee'][0]}; objects and crowds elsewhere in every scene, a crowd costs four steps",
    propositions=OFFICE_PROPOSITIONS,
    rule=OFFICE_RULES["coffee"][1],
    horizon=EPISODE_STEPS,
    scene=crowded_office,
    true_cost=lambda features: 1 + EXTRA_COST * features[:, 1],
)

CARPET_TASK = ModelTask(
    name="coffee-and-mail",
    summary="bring coffee and mail, in any order, to the office, never touch a plant; a step onto carpet costs four",
    propositions=tuple(OBJECTS),
    rule=CARPET_RULE,
    horizon=EPISODE_STEPS,
    scene=carpet_office,
    true_cost=CROWDED_COFFEE.true_cost,
)

OFFICE_TASKS = (
    *(_task(name, is_random) for is_random in (False, True) for name in OFFICE_RULES),
    CROWDED_COFFEE,
    CARPET_TASK,
)
