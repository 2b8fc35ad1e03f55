"""Random worlds, tables and automata for `wfairl.core.rational`, and a small grid to demonstrate tasks in."""

from dataclasses import dataclass, replace

import numpy as np
from experts import solve

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.planning import UnsatisfiableTaskError
from wfairl.core.planning.cost import feature_cost
from wfairl.core.rational.compact_automaton import ANY, CompactAutomaton, CompactEdge, simplify
from wfairl.core.rational.observations import ArrayWorld, DemonstratedScene
from wfairl.core.worlds import GraphWorld, TransitionTable

NAMES = ("a", "b", "c", "n")
GRID_LABELS = (frozenset(), *(frozenset({name}) for name in NAMES))
WIDTH = 6


@dataclass(frozen=True, eq=False)
class LabelledWorld(ArrayWorld):
    """A world as arrays, and what its label indices mean."""

    labels: tuple[frozenset[str], ...] = GRID_LABELS

    @property
    def graph(self) -> GraphWorld:
        """The same world, to plan in; a transition has one feature, its cost."""
        index = np.arange(self.costs.size, dtype=np.int32).reshape(self.costs.shape)
        controls = tuple(map(str, range(self.costs.shape[1])))
        table = TransitionTable(
            controls, self.successors, self.label_index.astype(np.uint16), self.labels, index, self.costs.reshape(-1, 1)
        )
        return GraphWorld(table, tuple(sorted(frozenset().union(*self.labels))), self.start)

    def demonstrate(
        self, rule: GuardedAutomaton, temperature: float, rng: np.random.Generator
    ) -> DemonstratedScene | None:
        """What an expert does here, None if the rule cannot be fulfilled or takes too long."""
        try:
            expert = solve(self.graph, rule, feature_cost(lambda features: features[:, 0]))
        except UnsatisfiableTaskError:
            return None
        controls, succeeded = expert.act(temperature, 200, rng)
        return DemonstratedScene.along(self, controls) if succeeded else None


def random_scene(rng: np.random.Generator, unit: bool, labels: int = 4) -> DemonstratedScene:
    """A demonstration in a random world of a dozen states, some of whose controls are unavailable."""
    states, controls = int(rng.integers(5, 15)), 3
    successors = rng.integers(states, size=(states, controls)).astype(np.int32)
    successors[rng.random(successors.shape) < 0.2] = -1
    successors[:, 0] = rng.integers(states, size=states)
    label_index = rng.integers(labels, size=successors.shape)
    costs = np.ones(successors.shape) if unit else rng.uniform(0.5, 3.0, successors.shape)
    state, taken = 0, []
    for _ in range(int(rng.integers(1, 12))):
        taken.append(int(rng.choice(np.flatnonzero(successors[state] >= 0))))
        state = successors[state, taken[-1]]
    return DemonstratedScene.along(ArrayWorld(successors, label_index, 0, costs), taken)


def random_table(rng: np.random.Generator, labels: int = 4) -> np.ndarray:
    """A random automaton of up to four states."""
    states = int(rng.integers(1, 5))
    targets = [*range(states), *range(states), DEAD, ACCEPTED]
    return rng.choice(targets, size=(states, labels)).astype(np.int32)


def random_automaton(rng: np.random.Generator, propositions: tuple[str, ...] = NAMES) -> CompactAutomaton:
    """A random automaton of up to four states and eight edges."""
    states = int(rng.integers(1, 5))
    edges = []
    for _ in range(int(rng.integers(1, 9))):
        chosen = rng.permutation(propositions)[: rng.integers(1, 3)]
        negative = rng.random(len(chosen)) < 0.3
        guard = Guard(frozenset(chosen[~negative].tolist()), frozenset(chosen[negative].tolist()))
        source = int(rng.choice([*range(states), ANY]))
        edges.append(CompactEdge(source, guard, int(rng.choice([*range(states), DEAD, ACCEPTED]))))
    return simplify(edges)


def grid(rng: np.random.Generator) -> LabelledWorld:
    """An open grid with one a, b and c, and five n, somewhere; four moves, a wall costs as much as a step."""
    cells = np.zeros(WIDTH * WIDTH, np.int16)
    places = rng.permutation(len(cells))
    cells[places[:8]] = [1, 2, 3, 4, 4, 4, 4, 4]
    successors = np.empty((len(cells), 4), np.int32)
    for cell in range(len(cells)):
        x, y = divmod(cell, WIDTH)
        for u, (dx, dy) in enumerate(((0, 1), (0, -1), (-1, 0), (1, 0))):
            inside = 0 <= x + dx < WIDTH and 0 <= y + dy < WIDTH
            successors[cell, u] = cell + dx * WIDTH + dy if inside else cell
    return LabelledWorld(successors, cells[successors], int(places[9]), np.ones(successors.shape))


def dusky(world: LabelledWorld, rng: np.random.Generator) -> LabelledWorld:
    """The world with `dark` in half of its cells, beside whatever lies there."""
    labels = (*world.labels, *(label | {"dark"} for label in world.labels))
    dark = rng.random(len(world.successors)) < 0.5
    index = world.label_index + len(world.labels) * dark[world.successors]
    return replace(world, labels=labels, label_index=index.astype(np.int16))


def hidden(world: LabelledWorld) -> LabelledWorld:
    """A grid in which c is there only after a and b have been shown: the world asks for both, in any order."""
    cells, a, b, c = len(world.successors), 1, 2, 3
    shown = np.repeat(np.arange(4), cells)[:, None]
    cell = np.tile(world.label_index, (4, 1))
    after = shown | (cell == a) | 2 * (cell == b)
    labels = np.where((cell == c) & (after < 3), 0, cell).astype(np.int16)
    successors = (np.tile(world.successors, (4, 1)) + cells * after).astype(np.int32)
    return replace(world, successors=successors, label_index=labels, costs=np.ones(successors.shape))


def chain(*names: str, avoid: str | None = "n") -> GuardedAutomaton:
    """Names in this order, `avoid` never."""
    deadly = () if avoid is None else (Edge(Guard(frozenset({avoid})), DEAD),)
    edges = [(*deadly, Edge(Guard(frozenset({name})), i + 1)) for i, name in enumerate(names)]
    return GuardedAutomaton((*edges, ()), np.arange(len(names) + 1) == len(names))


def demonstrations(rule: GuardedAutomaton, number: int, rng: np.random.Generator) -> list[DemonstratedScene]:
    """Runs at temperature 0.5, each in a grid of its own."""
    scenes: list[DemonstratedScene] = []
    while len(scenes) < number:
        scene = grid(rng).demonstrate(rule, 0.5, rng)
        if scene is not None:
            scenes.append(scene)
    return scenes
