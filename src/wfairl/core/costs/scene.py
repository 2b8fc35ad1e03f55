"""Demonstrations on their products, and comparisons of paths: the evidence about a cost.

Only a demonstration that the automaton accepts is evidence: otherwise its controls have probability 0 under every cost.
The others are left out and reported.

Answers to "which would you rather?" count by Bradley and Terry, at the temperature of the demonstrators:

    p(one rather than the other) = 1 / (1 + exp((c(one) - c(other)) / temperature)),   c the cost of a whole path.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Automaton
from wfairl.core.automata.words import format_label
from wfairl.core.costs.expected_paths import expect_paths
from wfairl.core.costs.gradient import Paths, trace_paths
from wfairl.core.demonstrations.answers import Answer, BrokenAnswersError
from wfairl.core.demonstrations.demonstration import Demonstration
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.expected_cost import expected_cost_to_go
from wfairl.core.planning.path import SurpriseError
from wfairl.core.planning.planner import own_planning, planning_of_large_world
from wfairl.core.planning.product import Product, build_product, states_alone
from wfairl.core.planning.shortest_path import cost_to_go
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.support.progress import track
from wfairl.core.worlds.world import World, available_controls

MakeWorld = Callable[[int], World[Any]]
"""From the seed of a demonstration to its world."""


class NoSuccessfulDemonstrationError(BadInputError):
    """No demonstration has a score that counts as success."""


class NoUsableDemonstrationError(BadInputError):
    """The automaton accepts none of the successful demonstrations."""


class Solver(Protocol):
    """A world and an automaton, to be solved under one table of costs after another.

    Attributes:
        product: its nodes and controls are what `solve` takes the costs of.
    """

    @property
    def product(self) -> Product: ...

    def nodes(self, demonstration: Demonstration) -> tuple[int, ...]:
        """The nodes along a demonstration; see `Demonstration.nodes`."""
        ...

    def solve(self, costs: NDArray[np.float64], scenes: "Sequence[TrainingScene]") -> Sequence[Paths]:
        """The optimal paths from the nodes of each scene on this product, for its costs [nodes, controls]."""
        ...


@dataclass(frozen=True, eq=False)
class TrainingScene:
    """A successful demonstration on the product of its world and the automaton.

    Attributes:
        solver: solves the product of world and automaton.
        nodes: of the demonstration before each step, shape [steps] of int64.
        controls: the demonstrated controls, shape [steps] of int64.
    """

    solver: Solver
    nodes: NDArray[np.int64]
    controls: NDArray[np.int64]

    @cached_property
    def product(self) -> Product:
        """The product whose transitions the cost is learned on."""
        return self.solver.product


@dataclass(frozen=True, eq=False)
class ExactSolver:
    """Solves a whole product by one search."""

    product: Product

    def nodes(self, demonstration: Demonstration) -> tuple[int, ...]:
        return demonstration.nodes(self.product)

    def solve(self, costs: NDArray[np.float64], scenes: Sequence[TrainingScene]) -> Sequence[Paths]:
        successors, chances = self.product.successors, self.product.chances
        if chances is None:
            solution = cost_to_go(self.product.graph, costs)
            return [trace_paths(successors, solution, scene.nodes) for scene in scenes]
        solution = expected_cost_to_go(self.product.graph, chances, costs)
        return [expect_paths(successors, chances, solution, scene.nodes) for scene in scenes]


WORTH_THREADS = 200_000
"""Transitions of all products from which on threads save more time than they cost."""


def solve_scenes(scenes: Sequence[TrainingScene], costs_of: Cost, n_jobs: int = 2) -> list[Paths]:
    """The optimal paths from the nodes of each scene, by one search for each product; `n_jobs` products at once."""
    grouped = by_product(scenes)

    def solve(product: Product) -> Iterator[Paths]:
        return iter(grouped[product][0].solver.solve(costs_of(product), grouped[product]))

    worth_threads = sum(product.successors.size for product in grouped) >= WORTH_THREADS
    solved = dict(zip(grouped, map_in_threads(solve, grouped, n_jobs if worth_threads else 1), strict=True))
    return [next(solved[scene.product]) for scene in scenes]


def by_product(scenes: Sequence[TrainingScene]) -> dict[Product, list[TrainingScene]]:
    """The scenes of each product, in their order."""
    grouped: dict[Product, list[TrainingScene]] = {}
    for scene in scenes:
        grouped.setdefault(scene.product, []).append(scene)
    return grouped


@dataclass(frozen=True)
class LeftOut:
    """A successful demonstration that the automaton does not accept: its number, its scene, and why."""

    number: int
    seed: int
    reason: str


@dataclass(frozen=True, eq=False)
class TrainingScenes:
    """The usable demonstrations, and those left out."""

    scenes: tuple[TrainingScene, ...]
    left_out: tuple[LeftOut, ...]


def prepare_scenes(
    demonstrations: Sequence[Demonstration],
    make_world: MakeWorld,
    automaton: Automaton,
    threshold: float,
    n_jobs: int = 2,
    planner: str = "auto",
) -> TrainingScenes:
    """The successful demonstrations on their products, built once for all of the training.

    Args:
        demonstrations: of one task; those whose score is below the threshold are ignored.
        make_world: the world of a demonstration's seed; the same object for several of them shares its product.
        automaton: the task.
        threshold: xi, the score from which on a demonstration counts as success.
        n_jobs: products to build at once; it changes nothing in the result.
        planner: `exact` builds whole products, `own` leaves planning to the world; `auto` decides by the size of the
            world.

    Raises:
        NoSuccessfulDemonstrationError: no score reaches the threshold.
        NoUsableDemonstrationError: the automaton accepts none of them.
        BadDemonstrationError: the labels of a world differ from those of a demonstration.
        BadInputError: the automaton has propositions that the worlds lack.
    """
    successes = [i for i, demonstration in enumerate(demonstrations) if demonstration.score >= threshold]
    if not successes:
        raise NoSuccessfulDemonstrationError(
            f"none of the {len(demonstrations)} demonstrations has a score of {threshold:g} or more:"
            " a cost is learned from successes. Collect some, or lower the threshold"
        )
    worlds = [make_world(demonstrations[i].seed) for i in successes]
    solvers = _solvers(worlds, automaton, n_jobs, planner)
    scenes, left_out = [], []
    for i, solver in zip(successes, solvers, strict=True):
        scene = _follow(demonstrations[i], solver)
        if isinstance(scene, TrainingScene):
            scenes.append(scene)
        else:
            left_out.append(LeftOut(i, demonstrations[i].seed, scene))
    if not scenes:
        raise NoUsableDemonstrationError(
            f"the automaton accepts none of the {len(successes)} successful demonstrations: for the first,"
            f" {left_out[0].reason}. Learn the automaton from these demonstrations, or with the full basis"
        )
    return TrainingScenes(tuple(scenes), tuple(left_out))


def _solvers(worlds: Sequence[World[Any]], automaton: Automaton, n_jobs: int, planner: str) -> list[Solver]:
    """The solver of each world, made once for each world object."""
    distinct = {id(world): world for world in worlds}
    choose = {"auto": planning_of_large_world, "own": own_planning, "exact": lambda _: None}[planner]

    def make(world: World[Any]) -> Solver:
        own = choose(world)
        if own is not None:
            solver: Solver = own.solver(automaton)
            return solver
        product = build_product(world, automaton)
        _ = product.graph  # every search needs it
        return ExactSolver(product)

    made = track(map_in_threads(make, distinct.values(), n_jobs=n_jobs), "products", total=len(distinct))
    solver_of = dict(zip(distinct, made, strict=True))
    return [solver_of[id(world)] for world in worlds]


def _follow(demonstration: Demonstration, solver: Solver) -> TrainingScene | str:
    """The demonstration on its product up to acceptance, or why it is not accepted.

    Raises:
        BadDemonstrationError: the labels of the world differ from the demonstration's, or a control is not available.
    """
    try:
        nodes = solver.nodes(demonstration)
    except SurpriseError as error:
        return str(error)
    steps = len(nodes) - 1
    controls = demonstration.controls[:steps]
    if nodes[-1] == ACCEPTED:
        return TrainingScene(solver, np.array(nodes[:-1]), np.array(controls, np.int64))
    if nodes[-1] == DEAD:
        name, label = solver.product.world.controls[controls[-1]], format_label(demonstration.labels[steps - 1])
        return f"after '{name}' at step {steps - 1}, with the label '{label}', nothing can be accepted"
    return f"its word is not accepted: after {steps} steps something is still missing"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two ways through a scene, of which somebody would rather take the first.

    Attributes:
        product: the states of both, without an automaton.
        preferred, other: node * controls + control of each step.
    """

    product: Product
    preferred: NDArray[np.int64]
    other: NDArray[np.int64]


def comparisons_of(answers: Sequence[Answer], make_world: MakeWorld) -> tuple[Comparison, ...]:
    """The comparisons among some answers.

    Raises:
        BrokenAnswersError: a path cannot be taken in its scene.
    """
    return tuple(compare(make_world(one.seed), one.controls, one.than) for one in answers if one.than)


def compare(world: World[Any], preferred: Sequence[int], other: Sequence[int]) -> Comparison:
    """The comparison of two paths from the initial state of a world, each given by its controls."""
    states: list[Any] = []
    for controls in (preferred, other):
        state = world.initial_state
        for control in controls:
            if control >= len(world.controls) or not available_controls(world, state)[control]:
                raise BrokenAnswersError(f"an answer compares paths of which one has the impossible control {control}")
            states.append(state)
            state = world.step(state, control)
    transitions = np.arange(len(states)) * len(world.controls) + np.array([*preferred, *other], np.int64)
    return Comparison(states_alone(world, states), transitions[: len(preferred)], transitions[len(preferred) :])
