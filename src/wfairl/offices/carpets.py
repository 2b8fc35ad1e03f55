"""The task of the demo: coffee and mail to the office, around plants, and better not over carpets.

Nothing in the world says so. A robot can enter every cell, the order is shown by demonstrations alone, and what a
carpet costs can only be told from detours. Objects and carpets lie elsewhere in every scene.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.automata.rules import all_of, avoid, then, visit_all, visit_in_order
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.task import ModelTask
from wfairl.offices.office import EPISODE_STEPS, office_world
from wfairl.offices.office_map import COLUMNS, ROWS, OfficeCell, cells

OBJECTS: Mapping[str, int] = {"coffee": 2, "mail": 2, "office": 1, "plant": 6}
"""How many of each there are."""

CARPETS, CARPET_SIDES, CARPET_COST = 6, (2, 3), 4.0
"""Number of carpets in an office, their sides in cells, and what a step onto one costs."""

RULE = all_of(then(visit_all("coffee", "mail"), visit_in_order("office")), avoid("plant"))


def carpet_office(seed: int) -> GraphWorld:
    """An office with objects on random cells and carpets; one in which the rule cannot be kept is drawn again."""
    rng = np.random.default_rng(seed)
    names = [name for name, count in OBJECTS.items() for _ in range(count)]
    everywhere = list(cells())
    while True:
        *placed, start = rng.choice(len(everywhere), size=len(names) + 1, replace=False)
        objects = {everywhere[cell]: name for cell, name in zip(placed, names, strict=True)}
        carpet = frozenset(cell for _ in range(CARPETS) for cell in _carpet(rng))
        world = office_world(objects, everywhere[start], tuple(OBJECTS), carpet)
        if (world.explore(RULE).successors == ACCEPTED).any():
            return _with_prices(world, carpet)


def _carpet(rng: np.random.Generator) -> list[OfficeCell]:
    """The cells of a carpet, which ends at the walls of the office."""
    width, height = rng.permutation(CARPET_SIDES).tolist()
    left, bottom = int(rng.integers(COLUMNS)), int(rng.integers(ROWS))
    columns, rows = range(left, min(left + width, COLUMNS)), range(bottom, min(bottom + height, ROWS))
    return [(x, y) for x in columns for y in rows]


def _with_prices(world: GraphWorld, carpet: frozenset[OfficeCell]) -> GraphWorld:
    is_carpet = np.array([cell in carpet for cell in world.table.states])
    table = replace(
        world.table,
        feature_index=is_carpet[world.table.successors].astype(np.int32),
        features=np.array([[1.0, 0.0], [1.0, 1.0]]),
        feature_names=("step", "onto carpet"),
    )
    return replace(world, table=table)


CARPET_TASK = ModelTask(
    name="coffee-and-mail",
    summary="bring coffee and mail, in any order, to the office, never touch a plant; a step onto carpet costs four",
    propositions=tuple(OBJECTS),
    rule=RULE,
    horizon=EPISODE_STEPS,
    scene=carpet_office,
    true_cost=lambda features: 1 + (CARPET_COST - 1) * features[:, 1],
)
