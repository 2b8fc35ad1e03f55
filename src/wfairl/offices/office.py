"""The tasks of the office, on its published map and with its objects on random cells."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np

from wfairl.core.automata.automaton import ACCEPTED, Automaton, Label
from wfairl.core.automata.rules import all_of, avoid, then, visit_all, visit_in_order
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.task import ModelTask
from wfairl.core.worlds.transitions import TransitionTable
from wfairl.offices.office_map import MOVES, PUBLISHED, OfficeCell, cells, neighbour
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

MAX_DRAWS = 1_000

CROWD_PROBABILITY = 0.25
"""The probability that a cell is crowded."""

CROWD_SEED = 1
"""Part of the seed of crowds, which makes crowds independent of the office."""


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
    names, everywhere = sorted(PUBLISHED.values()), list(cells())
    for _ in range(MAX_DRAWS):
        *placed, start = rng.choice(len(everywhere), size=len(names) + 1, replace=False)
        objects = {everywhere[cell]: name for cell, name in zip(placed, names, strict=True)}
        world = office_world(objects, everywhere[start])
        if (world.explore(rule).successors == ACCEPTED).any():
            return world
    raise RuntimeError(f"no office of {MAX_DRAWS} could be done")  # pragma: no cover - most can


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


def crowded_office(seed: int) -> GraphWorld:
    """A random office for coffee in which a quarter of the cells are crowded, which only the features show."""
    office = random_office(seed, OFFICE_RULES["coffee"][1])
    crowd = np.random.default_rng([CROWD_SEED, seed]).random(len(office.table.states)) < CROWD_PROBABILITY
    table = replace(
        office.table,
        feature_index=crowd[office.table.successors].astype(np.int32),
        features=np.array([[1.0, 0.0], [1.0, 1.0]]),
        feature_names=("step", "into a crowd"),
    )
    return replace(office, table=table)


CROWDED_COFFEE = ModelTask(
    name="crowded-office-coffee",
    summary=f"{OFFICE_RULES['coffee'][0]}; objects and crowds elsewhere in every scene, a crowd costs four steps",
    propositions=OFFICE_PROPOSITIONS,
    rule=OFFICE_RULES["coffee"][1],
    horizon=EPISODE_STEPS,
    scene=crowded_office,
    true_cost=lambda features: 1 + 3 * features[:, 1],
)

OFFICE_TASKS = (*(_task(name, is_random) for is_random in (False, True) for name in OFFICE_RULES), CROWDED_COFFEE)
