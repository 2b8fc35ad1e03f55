"""Random worlds whose steps have hidden prices.

A family draws prices and the kind of features; a problem is one draw of it, with scenes by seed: grids and road graphs,
to be crossed from a start to a goal, sometimes with an errand on the way. Only the scene knows what a step costs.
The features that the learner sees may be idle, collinear, negative, on another scale, or not there at all.

Families marked as held out are for tests: nothing may be tuned on them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.rule_families.rules import Rule, Stage, cheapest
from experiments.rule_families.scenes import Place, Scene, Step
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning.product import Product
from wfairl.core.worlds.graph import GraphWorld, explore_world
from wfairl.core.worlds.task import ModelTask

MOVES = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
ROADS = tuple(f"road {i}" for i in range(5))
SIZE, PLACES, ROUGH, WALLS = 8, 45, 0.35, 0.1
HORIZON = 200

Leg = tuple[Place, float, tuple[float, ...]]
"""Where a step leads, what it costs, what is seen of it."""


class Draw(NamedTuple):
    """What a family has drawn: from the properties of a step to its named features, and with its control to its cost.

    `true_prices` is the cost in plain steps of transitions with a feature alone, by name, where that is one number.
    """

    names: tuple[str, ...]
    see: Callable[[NDArray[np.float64]], Iterable[float]]
    price: Callable[[NDArray[np.float64], str], float]
    true_prices: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Family:
    """Problems of one shape: on road graphs or grids, perhaps with something to fetch first."""

    draw: Callable[[np.random.Generator], Draw]
    is_graph: bool = False
    errand: bool = False
    held_out: bool = False


@dataclass(frozen=True, eq=False)
class PricedProblem:
    """One draw of a family."""

    family: str
    number: int

    @property
    def order(self) -> tuple[str, ...]:
        return ("parcel", "goal") if FAMILIES[self.family].errand else ("goal",)

    @lru_cache(maxsize=1)  # noqa: B019 - problems are few
    def drawn(self) -> Draw:
        return FAMILIES[self.family].draw(self._rng(0))

    @property
    def rule(self) -> Rule:
        """The judge's machine."""
        return Rule(tuple(Stage((name,)) for name in self.order))

    @lru_cache(maxsize=256)  # noqa: B019
    def scene(self, seed: int) -> Scene:
        """The scene of a seed, in which the goal can be reached."""
        rng = self._rng(1, seed)
        while True:
            scene = (draw_graph if FAMILIES[self.family].is_graph else draw_grid)(self.drawn(), self.order, rng)
            if cheapest(scene, self.rule):
                return scene

    @lru_cache(maxsize=256)  # noqa: B019
    def world(self, seed: int) -> GraphWorld:
        return explore_world(self.scene(seed))

    @lru_cache(maxsize=1)  # noqa: B019
    def task(self) -> ModelTask:
        name = f"{self.family}-{self.number}"
        return ModelTask(name, "hidden prices", self.order, visit_in_order(*self.order), HORIZON, self.world)

    def cost(self, explored: Product) -> NDArray[np.float64]:
        """The hidden cost as the package's expert takes it; shape [nodes, controls]."""
        world: Any = explored.world
        costs = np.ones(world.table.successors.shape)
        for state, place in enumerate(world.table.states):
            for control, step in world.source.steps[place].items():
                costs[state, control] = step.cost
        return costs[[explored.state(node) for node in range(len(explored))]]

    def _rng(self, *more: int) -> np.random.Generator:
        return np.random.default_rng([list(FAMILIES).index(self.family), self.number, *more])


LAYERS = 5
"""Properties of a step: whether it has each of these, of which the first three exclude each other, and then a number:
the difference of heights in a grid, the length in a graph."""


def draw_grid(drawn: Draw, order: Sequence[str], rng: np.random.Generator) -> Scene:
    """Cells with grounds and heights; who bumps into a wall stays."""
    cells = [cell for cell in product(range(SIZE), repeat=2) if rng.random() > WALLS]
    grounds = {cell: _layers(rng) for cell in cells}
    heights = {cell: rng.normal() for cell in cells}

    def leg(cell: Place, control: str) -> Leg:
        after = cell[0] + MOVES[control][0], cell[1] + MOVES[control][1]
        after = after if after in grounds else cell
        properties = np.append(grounds[after], heights[after] - heights[cell])
        return after, drawn.price(properties, control), tuple(drawn.see(properties))

    legs = {cell: {u: leg(cell, control) for u, control in enumerate(MOVES)} for cell in cells}
    return _scene(drawn, order, tuple(MOVES), legs, rng)


def draw_graph(drawn: Draw, order: Sequence[str], rng: np.random.Generator) -> Scene:
    """Roads to the nearest neighbours."""
    points = rng.random((PLACES, 2))
    distances = 10 * np.linalg.norm(points[:, None] - points[None], axis=2)
    legs: dict[Place, dict[int, Leg]] = {}
    for i, near in enumerate(distances.argsort()[:, 1 : len(ROADS)].tolist()):
        legs[i] = {}
        for u, j in enumerate(near):
            properties = np.append(_layers(rng), distances[i, j])
            legs[i][u] = j, drawn.price(properties, ROADS[u]), tuple(drawn.see(properties))
    return _scene(drawn, order, ROADS, legs, rng)


def _layers(rng: np.random.Generator) -> NDArray[np.float64]:
    ground = rng.choice(4, p=[ROUGH, ROUGH / 2, ROUGH / 2, 1 - 2 * ROUGH])
    return np.append(np.eye(4)[ground, :3], rng.random(LAYERS - 3) < ROUGH)


def _scene(
    drawn: Draw, order: Sequence[str], controls: tuple[str, ...], legs: dict[Place, dict[int, Leg]], rng: Any
) -> Scene:
    places = list(legs)
    start, *others = (places[i] for i in rng.permutation(len(places))[: 1 + len(order)])
    marks = dict(zip(others, map(frozenset, zip(order)), strict=True))
    steps = {
        place: {u: Step(after, marks.get(after, frozenset()), cost, seen) for u, (after, cost, seen) in leading.items()}
        for place, leading in legs.items()
    }
    return Scene(controls, tuple(order), drawn.names, steps, start)


def _price(rng: np.random.Generator, low: float = 2.0, high: float = 12.0) -> float:
    """Between two prices, evenly in its logarithm."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _grounds(rng: np.random.Generator, prices: Sequence[float], seen: int = LAYERS) -> Draw:
    """Prices of the first layers; so many layers are seen, in random order."""
    extra, order = np.zeros(LAYERS), rng.permutation(seen)
    extra[: len(prices)] = np.array(prices) - 1.0
    names = tuple(f"on ground {i}" for i in order)
    true_prices = {f"on ground {i}": price for i, price in enumerate(prices) if price != 1.0}
    return Draw(names, lambda one: one[order], lambda one, _: 1.0 + float(extra @ one[:LAYERS]), true_prices)


def slopes(rng: np.random.Generator) -> Draw:
    """Climbing costs by the metre; climbs are seen in millimetres, descents as negative metres."""
    weight = rng.uniform(0.5, 4.0)
    return Draw(
        ("climb in mm", "descent", "on ground 3"),
        lambda one: (1000.0 * max(one[5], 0.0), min(one[5], 0.0), one[3]),
        lambda one, _: 1.0 + weight * max(one[5], 0.0),
    )


def lengths(rng: np.random.Generator) -> Draw:
    """Roads cost their length, and a toll on some."""
    toll = _price(rng)
    return Draw(("length", "toll"), lambda one: (one[5], one[0]), lambda one, _: float(one[5] + toll * one[0]))


def lengths_by_class(rng: np.random.Generator) -> Draw:
    """Metres on three kinds of road, in metres, each with a price of its own."""
    prices = np.array([1.0, _price(rng), _price(rng, 0.3, 3.0)])

    def amounts(one: NDArray[np.float64]) -> NDArray[np.float64]:
        shares = np.array([1.0 - one[0] - one[1], one[0], one[1]])
        return 1000.0 * one[5] * shares

    return Draw(
        ("m of street", "m of track", "m of path"), amounts, lambda one, _: float(prices @ amounts(one)) / 1000.0
    )


def collinear(rng: np.random.Generator) -> Draw:
    """One ground is dear; it is seen twice, once in other units, beside its opposite and the sum with another one."""
    price = _price(rng)
    return Draw(
        ("constant", "sum", "on ground 0", "twice", "not on ground 0", "negative"),
        lambda one: (7.0, one[0] + one[3], one[0], 2000.0 * one[0], 1.0 - one[0], -one[3]),
        lambda one, _: 1.0 + (price - 1.0) * one[0],
    )


def one_control(rng: np.random.Generator) -> Draw:
    """One control is dear, whatever is seen of the ground."""
    dear, price = ROADS[rng.integers(3)], _price(rng, 2.0, 6.0)
    return Draw(
        ("on ground 0", "on ground 3"),
        lambda one: (one[0], one[3]),
        lambda _, control: price if control == dear else 1.0,
        {dear: price},
    )


def _three_grounds(rng: np.random.Generator) -> Draw:
    """Three grounds, of which one may be cheap."""
    return _grounds(rng, [_price(rng), _price(rng), _price(rng, 0.3, 3.0)], seen=3)


def _overlapping(rng: np.random.Generator) -> Draw:
    """Five grounds that may overlap, three of which have a price."""
    return _grounds(rng, [_price(rng), 1.0, _price(rng), _price(rng)])


FAMILIES = {
    "one ground": Family(lambda rng: _grounds(rng, [_price(rng, 1.5)], seen=1)),
    "three grounds": Family(_three_grounds),
    "idle grounds": Family(lambda rng: _grounds(rng, [_price(rng)])),
    "lengths": Family(lengths, is_graph=True),
    "one control": Family(one_control, is_graph=True),
    "slopes": Family(slopes),
    "no preference": Family(lambda rng: _grounds(rng, [])),
    "overlapping": Family(_overlapping, held_out=True),
    "overlapping roads": Family(_overlapping, is_graph=True, held_out=True),
    "errand": Family(_three_grounds, errand=True, held_out=True),
    "cheap ground": Family(lambda rng: _grounds(rng, [_price(rng, 0.15, 0.5)], seen=3), held_out=True),
    "collinear": Family(collinear, held_out=True),
    "lengths by class": Family(lengths_by_class, is_graph=True, held_out=True),
    "no preference on roads": Family(lambda rng: _grounds(rng, []), is_graph=True, held_out=True),
}
