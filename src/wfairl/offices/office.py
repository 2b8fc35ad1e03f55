"""The office of the reward-machine papers, on its published map and with its objects on random cells.

Nine by twelve cells in rooms of three by three, x to the right from 0 to 11, y up from 0 to 8. A robot moves up, right,
down or left; a step into a wall leaves it in place. The object on a cell holds when the robot arrives there:

    a, b, c, d   places to patrol          f   coffee (two machines)
    e            mail                      g   the office
    n            decorations (six), which end every task in failure

The map is that of Toro Icarte, Klassen, Valenzano and McIlraith, "Using reward machines for high-level task
specification and decomposition in reinforcement learning" (ICML 2018).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, Automaton, Label
from wfairl.core.automata.rules import all_of, avoid, then, visit_all, visit_in_order
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.rendering import Places, Rendering
from wfairl.core.worlds.task import ModelTask
from wfairl.core.worlds.transitions import TransitionTable
from wfairl.pages.world_drawing import cell_centre, draw_grid

Cell = tuple[int, int]
"""(x, y), y upwards."""

WIDTH, HEIGHT, ROOM = 12, 9, 3

MOVES: dict[str, Cell] = {"up": (0, 1), "right": (1, 0), "down": (0, -1), "left": (-1, 0)}

DOORS_TO_THE_RIGHT = frozenset((x, y) for x in (2, 5, 8) for y in (1, 7))
"""Cells from which a door leads to the room on the right."""

DOORS_UPWARDS = frozenset({*((x, 5) for x in (1, 4, 7, 10)), *((x, 2) for x in (1, 10))})
"""Cells from which a door leads to the room above."""

PUBLISHED: Mapping[Cell, str] = {
    (1, 1): "a", (1, 7): "b", (10, 7): "c", (10, 1): "d", (7, 4): "e", (8, 2): "f", (3, 6): "f", (4, 4): "g",
    (4, 1): "n", (7, 1): "n", (4, 7): "n", (7, 7): "n", (1, 4): "n", (10, 4): "n",
}  # fmt: skip
"""The objects of the published map."""

PROPOSITIONS = ("a", "b", "c", "d", "e", "f", "g", "n")

RULES: Mapping[str, tuple[str, Automaton]] = {
    "coffee": ("bring coffee (f) to the office (g)", all_of(visit_in_order("f", "g"), avoid("n"))),
    "mail": ("bring mail (e) to the office (g)", all_of(visit_in_order("e", "g"), avoid("n"))),
    "coffee-mail": (
        "bring coffee (f) and mail (e), in any order, to the office (g)",
        all_of(then(visit_all("e", "f"), visit_in_order("g")), avoid("n")),
    ),
    "patrol": ("visit a, b, c and d in order", all_of(visit_in_order("a", "b", "c", "d"), avoid("n"))),
}
"""Summary and rule of each task; a decoration ends each in failure."""

HORIZON = 100

MAX_DRAWS = 1_000

CROWDED = 0.25
"""The probability that a cell is crowded."""

CROWD = 1
"""Part of the seed of crowds, which makes them independent of the office."""


class OfficeRenderer:
    """Draws an office: its rooms, its objects and the robot."""

    def __init__(self, objects: Mapping[Cell, str]):
        self.objects = objects

    @property
    def rendering(self) -> Rendering:
        """How the office looks."""
        return Rendering(self.render, Places(self.locate))

    def render(self, cell: Cell) -> NDArray[np.uint8]:
        rows = ["".join(self.objects.get((x, y), ".") for x in range(WIDTH)) for y in reversed(range(HEIGHT))]
        walls = [
            (_in_picture(one), _in_picture((one[0] + MOVES[move][0], one[1] + MOVES[move][1])))
            for one in cells()
            for move in ("up", "right")
            if _neighbour(one, move) == one
        ]
        return draw_grid(rows, {"n": "#f4d9d0"}, _in_picture(cell), walls=walls)

    def locate(self, cell: Cell) -> tuple[float, float]:
        return cell_centre(*_in_picture(cell))


def _in_picture(cell: Cell) -> Cell:
    """The column and the row from the top."""
    return cell[0], HEIGHT - 1 - cell[1]


def cells() -> Iterator[Cell]:
    """All cells, row by row from below."""
    return ((x, y) for y in range(HEIGHT) for x in range(WIDTH))


def _neighbour(cell: Cell, move: str) -> Cell:
    """The cell after a move: the cell itself if there is a wall."""
    (x, y), (dx, dy) = cell, MOVES[move]
    target = x + dx, y + dy
    if not (0 <= target[0] < WIDTH and 0 <= target[1] < HEIGHT):
        return cell
    if x // ROOM != target[0] // ROOM:
        return target if min(cell, target) in DOORS_TO_THE_RIGHT else cell
    if y // ROOM != target[1] // ROOM:
        return target if min(cell, target, key=lambda one: one[1]) in DOORS_UPWARDS else cell
    return target


@cache
def _table() -> TransitionTable:
    """The moves of the robot, the same in every office and with empty labels."""
    number = {cell: i for i, cell in enumerate(cells())}
    successors = np.array([[number[_neighbour(cell, move)] for move in MOVES] for cell in cells()], np.int32)
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


def office_world(objects: Mapping[Cell, str], start: Cell) -> GraphWorld:
    """An office with objects; all offices share the table of moves."""
    table = _table()
    marks: dict[int, Label] = {table.states.index(cell): frozenset({name}) for cell, name in objects.items()}
    return GraphWorld(table, PROPOSITIONS, table.states.index(start), marks, OfficeRenderer(objects))


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
    summary, rule = RULES[name]
    return ModelTask(
        name=f"random-office-{name}" if is_random else f"office-{name}",
        summary=f"{summary}; {'objects elsewhere in every scene' if is_random else 'the published map'}",
        propositions=PROPOSITIONS,
        rule=rule,
        horizon=HORIZON,
        scene=(lambda seed: random_office(seed, rule)) if is_random else published_office,
        default_cost="shared-linear",
    )


def crowded_office(seed: int) -> GraphWorld:
    """A random office for coffee in which a quarter of the cells are crowded, which only the features show."""
    office = random_office(seed, RULES["coffee"][1])
    crowd = np.random.default_rng([CROWD, seed]).random(WIDTH * HEIGHT) < CROWDED
    table = replace(
        office.table,
        feature_index=crowd[office.table.successors].astype(np.int32),
        features=np.array([[1.0, 0.0], [1.0, 1.0]]),
        feature_names=("step", "into a crowd"),
    )
    return replace(office, table=table)


CROWDED_COFFEE = ModelTask(
    name="crowded-office-coffee",
    summary=f"{RULES['coffee'][0]}; objects and crowds elsewhere in every scene, a crowd costs four steps",
    propositions=PROPOSITIONS,
    rule=RULES["coffee"][1],
    horizon=HORIZON,
    scene=crowded_office,
    default_cost="shared-linear",
    true_cost=lambda features: 1 + 3 * features[:, 1],
)

TASKS = (*(_task(name, is_random) for is_random in (False, True) for name in RULES), CROWDED_COFFEE)
