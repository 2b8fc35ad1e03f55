"""Worlds as arrays for `rational.py`: the office of the reward-machine papers, DISS's grid, and MiniGrid's tasks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD, Guard, Label
from wfairl.automata.guarded import Edge, GuardedAutomaton
from wfairl.logic.evidence import Scene
from wfairl.logic.plan import ArrayWorld, Plan, plan

EMPTY: Label = frozenset()
MOVES = ((0, 1), (0, -1), (-1, 0), (1, 0))

OFFICE_PROPOSITIONS = ("a", "b", "c", "d", "e", "f", "g", "n")
OFFICE_LABELS: tuple[Label, ...] = (EMPTY, *(frozenset(p) for p in OFFICE_PROPOSITIONS))
OFFICE_MAP: Mapping[str, tuple[tuple[int, int], ...]] = {
    "a": ((1, 1),),
    "b": ((1, 7),),
    "c": ((10, 7),),
    "d": ((10, 1),),
    "e": ((7, 4),),
    "f": ((8, 2), (3, 6)),
    "g": ((4, 4),),
    "n": ((4, 1), (7, 1), (4, 7), (7, 7), (1, 4), (10, 4)),
}
OFFICE_WIDTH, OFFICE_HEIGHT = 12, 9


def chain(*steps: str, avoid: str = "") -> GuardedAutomaton:
    """Propositions in this order, nothing of `avoid` before the end."""
    edges = [(*_deadly(avoid), Edge(Guard(frozenset({p})), i + 1)) for i, p in enumerate(steps)]
    return GuardedAutomaton((*edges, ()), np.arange(len(steps) + 1) == len(steps))


def _deadly(avoid: str) -> tuple[Edge, ...]:
    return tuple(Edge(Guard(frozenset(p)), DEAD) for p in avoid)


def diamond() -> GuardedAutomaton:
    """Coffee and mail in any order, then the office."""
    n = _deadly("n")
    f, e, g = (Guard(frozenset(p)) for p in "feg")
    edges = ((*n, Edge(f, 1), Edge(e, 2)), (*n, Edge(e, 3)), (*n, Edge(f, 3)), (*n, Edge(g, 4)), ())
    return GuardedAutomaton(edges, np.arange(5) == 4)


OFFICE_RULES = {
    "coffee": chain("f", "g", avoid="n"),
    "mail": chain("e", "g", avoid="n"),
    "coffee-mail": diamond(),
    "patrol": chain("a", "b", "c", "d", avoid="n"),
}


def office_world(rule: GuardedAutomaton, seed: int, shuffled: bool) -> ArrayWorld:
    """The office of one scene: a random start cell, objects elsewhere if shuffled; drawn anew until it can be done."""
    rng = np.random.default_rng([7, seed])
    while True:
        labels = np.zeros((OFFICE_WIDTH, OFFICE_HEIGHT), np.int16)
        if shuffled:
            cells = rng.permutation(OFFICE_WIDTH * OFFICE_HEIGHT)
            names = [p for p in OFFICE_PROPOSITIONS for _ in OFFICE_MAP[p]]
            for cell, name in zip(cells, names, strict=False):
                labels[cell // OFFICE_HEIGHT, cell % OFFICE_HEIGHT] = 1 + OFFICE_PROPOSITIONS.index(name)
        else:
            for name, places in OFFICE_MAP.items():
                for x, y in places:
                    labels[x, y] = 1 + OFFICE_PROPOSITIONS.index(name)
        free = np.flatnonzero(labels.ravel() == 0)
        world = _grid_world(labels, OFFICE_LABELS, int(rng.choice(free)), _office_wall)
        if np.isfinite(plan(world, rule).start_cost):
            return world


def _office_wall(x: int, y: int, dx: int, dy: int) -> bool:
    """Whether a wall is between a cell and its neighbour."""
    if dx:
        left = min(x, x + dx)
        return left in (2, 5, 8) and y not in (1, 7)
    low = min(y, y + dy)
    return (low == 5 and x not in (1, 4, 7, 10)) or (low == 2 and x not in (1, 10))


def _grid_world(
    cells: NDArray[np.int16], labels: tuple[Label, ...], start: int, wall: Callable[[int, int, int, int], bool]
) -> ArrayWorld:
    width, height = cells.shape
    successors = np.empty((cells.size, len(MOVES)), np.int32)
    for x in range(width):
        for y in range(height):
            for u, (dx, dy) in enumerate(MOVES):
                inside = 0 <= x + dx < width and 0 <= y + dy < height
                moves = inside and not wall(x, y, dx, dy)
                successors[x * height + y, u] = (x + dx) * height + y + dy if moves else x * height + y
    return ArrayWorld(labels, successors, cells.ravel()[successors].astype(np.int16), start, np.ones(successors.shape))


CROWDED_WEIGHTS = np.array([1.0, 3.0])

DISS_ROWS = ("y....g..", "........", ".b.b...r", ".b.b...r", ".b.b....", ".b.b....", "rrrrrr.r", "g.y.....")
DISS_LABELS: tuple[Label, ...] = (EMPTY, *(frozenset({p}) for p in ("yellow", "green", "blue", "red")))
DISS_DEMONSTRATIONS = (((3, 5), "uuull"), ((2, 5), "uururrrlllll"))


def diss_rule() -> GuardedAutomaton:
    """Reach yellow, never red, and after blue green must come before yellow."""
    y, g, b, r = (Guard(frozenset({p})) for p in ("yellow", "green", "blue", "red"))
    edges = ((Edge(r, DEAD), Edge(y, 2), Edge(b, 1)), (Edge(r, DEAD), Edge(y, DEAD), Edge(g, 0)), ())
    return GuardedAutomaton(edges, np.array([False, False, True]))


def diss_scenes() -> list[Scene]:
    """DISS's two demonstrations, in its world made deterministic."""
    cells = np.zeros((8, 8), np.int16)
    for row, text in enumerate(DISS_ROWS):
        for x, symbol in enumerate(text):
            cells[x, 7 - row] = ".ygbr".index(symbol)
    scenes = []
    for (x, y), moves in DISS_DEMONSTRATIONS:
        world = _read_start(_grid_world(cells, DISS_LABELS, (x - 1) * 8 + y - 1, lambda *_: False), cells.ravel())
        scenes.append(world.scene(np.array([0, *("udlr".index(m) for m in moves)])))
    return scenes


def _read_start(world: ArrayWorld, cells: NDArray[np.int16]) -> ArrayWorld:
    """The world with a state before the start, whose only control enters it: so that the label of the start is read."""
    only = np.full((1, 4), -1, np.int32)
    only[0, 0] = world.start
    label = np.full((1, 4), cells[world.start], np.int16)
    successors = np.vstack([world.successors, only])
    label_index = np.vstack([world.label_index, label])
    return ArrayWorld(world.labels, successors, label_index, len(world.successors), np.ones(successors.shape))


def last_propositions(words: Sequence[Sequence[Label]]) -> frozenset[str]:
    """The propositions that hold at the end of every demonstration and never before."""
    at_the_end = frozenset.intersection(*(word[-1] for word in words))
    before = frozenset().union(*(label for word in words for label in word[:-1]))
    return at_the_end - before


def minigrid_world(task_name: str, seed: int, last: frozenset[str]) -> ArrayWorld:
    """A scene of a MiniGrid task, explored until one of the last propositions holds: nobody has been seen to go on."""
    from wfairl.worlds import find_task
    from wfairl.worlds.world import ACCEPTED, to_label

    task = find_task(task_name)
    world = task.make_world(seed)
    names = tuple(world.propositions)
    labels = tuple(to_label(mask, names) for mask in range(2 ** len(names)))
    table = np.array([[ACCEPTED if label & last else 0 for label in labels]], np.int32)
    exploration = world.explore(table)
    successors = exploration.successors
    end = len(successors)
    successors = np.vstack([np.where(successors == ACCEPTED, end, successors), np.full((1, successors.shape[1]), end)])
    label_index = np.vstack([exploration.labels, np.zeros((1, successors.shape[1]))]).astype(np.int16)
    ones = np.broadcast_to(np.ones(1), successors.shape)
    return ArrayWorld(labels, successors.astype(np.int32), label_index, 0, ones)


def minigrid_rule(task_name: str) -> GuardedAutomaton:
    """The true rule of a task of the package: its propositions in order, one label may serve several."""
    from wfairl.worlds import find_task

    visit = find_task(task_name).rule.visit
    edges = []
    for i in range(len(visit)):
        forward = [Edge(Guard(frozenset(visit[i:j])), j) for j in range(len(visit), i, -1)]
        edges.append(tuple(forward))
    return GuardedAutomaton((*edges, ()), np.arange(len(visit) + 1) == len(visit))


def crowded(world: ArrayWorld, seed: int) -> tuple[ArrayWorld, NDArray[np.float64]]:
    """The world with a quarter of its cells crowded, which costs 4 to enter; and the features [states, controls, 2]."""
    crowd = np.random.default_rng([11, seed]).random(len(world.successors)) < 0.25
    features = np.stack([np.ones(world.successors.shape), crowd[world.successors].astype(np.float64)], axis=-1)
    return replace(world, costs=features @ CROWDED_WEIGHTS), features


@dataclass(frozen=True)
class Demonstrated:
    """What a demonstrator did in a world."""

    world: ArrayWorld
    controls: NDArray[np.int32]

    @property
    def scene(self) -> Scene:
        """As evidence."""
        return self.world.scene(self.controls)


def demonstrate(
    world: ArrayWorld, rule: GuardedAutomaton, temperature: float, seed: int, horizon: int = 300
) -> Demonstrated:
    """A run of the Boltzmann policy of the true rule that succeeds within the horizon."""
    rng = np.random.default_rng([8, seed])
    solved: Plan = plan(world, rule)
    while True:
        controls = solved.act(temperature, horizon, rng)
        if controls is not None:
            return Demonstrated(world, controls)


def random_walk(world: ArrayWorld, steps: int, seed: int) -> Scene:
    """A walk without a task that claims success."""
    rng = np.random.default_rng([9, seed])
    state, controls = world.start, []
    for _ in range(steps):
        control = int(rng.choice(np.flatnonzero(world.successors[state] >= 0)))
        controls.append(control)
        state = int(world.successors[state, control])
    return world.scene(np.array(controls, np.int32))
