"""Demonstrations on their products: the training examples.

Only a demonstration that the automaton accepts is one: otherwise its controls have probability 0 under every cost.
The others are left out and reported.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Automaton
from wfairl.core.automata.words import format_label
from wfairl.core.demonstrations.demonstration import Demonstration
from wfairl.core.demonstrations.tracing import trace
from wfairl.core.planning.product import Product, build_product
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.support.progress import track
from wfairl.core.worlds.world import World
from wfairl.minigrid.focused.auto import is_large
from wfairl.minigrid.focused.focused_search import FocusedSearch
from wfairl.minigrid.focused.lazy_world import CostScope

MakeWorld = Callable[[int], World[Any]]
"""From the seed of a demonstration to its world."""


class NoSuccessfulDemonstrationError(BadInputError):
    """No demonstration has a score that counts as success."""


class NoUsableDemonstrationError(BadInputError):
    """The automaton accepts none of the successful demonstrations."""


@dataclass(frozen=True, eq=False)
class TrainingScene:
    """A successful demonstration on the product of its world and the automaton.

    Attributes:
        product: world and automaton; in a world too large to enumerate, its situations.
        nodes: of the product before each step, shape [steps] of int64.
        controls: the demonstrated controls, shape [steps] of int64.
        search: in a world too large to enumerate, the search whose nodes these are; None otherwise.
    """

    product: Product
    nodes: NDArray[np.int64]
    controls: NDArray[np.int64]
    search: FocusedSearch | None = None


@dataclass(frozen=True)
class LeftOut:
    """A successful demonstration that the automaton does not accept.

    Attributes:
        number: of the demonstration, from 0.
        seed: of its scene.
        reason: why, as text.
    """

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
        planner: `exact` builds whole products, `focused` only the nodes that searches expand; `auto` decides by the
            size of the world.

    Raises:
        NoSuccessfulDemonstrationError: no score reaches the threshold.
        NoUsableDemonstrationError: the automaton accepts none of them.
        ContradictionError: the labels of a world differ from those of a demonstration.
        ForeignLabelError: the automaton has propositions that the worlds lack.
    """
    successes = [i for i, demonstration in enumerate(demonstrations) if demonstration.score >= threshold]
    if not successes:
        raise NoSuccessfulDemonstrationError(
            f"none of the {len(demonstrations)} demonstrations has a score of {threshold:g} or more:"
            " a cost is learned from successes. Collect some, or lower the threshold"
        )
    worlds = [make_world(demonstrations[i].seed) for i in successes]
    products = _products(worlds, automaton, n_jobs, planner)
    scenes, left_out = [], []
    for i, product in zip(successes, products, strict=True):
        scene = _follow(demonstrations[i], product)
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


def _products(
    worlds: Sequence[World[Any]], automaton: Automaton, n_jobs: int, planner: str
) -> list[Product | FocusedSearch]:
    """The product of each world, built once for each world object and ready for searches."""
    distinct = {id(world): world for world in worlds}

    def build(world: World[Any]) -> Product | FocusedSearch:
        if planner == "focused" or (planner == "auto" and is_large(world)):
            return FocusedSearch(world, automaton, (world.initial_state, 0), CostScope.LOCAL)
        product = build_product(world, automaton)
        _ = product.graph
        return product

    built = track(map_in_threads(build, distinct.values(), n_jobs=n_jobs), "products", total=len(distinct))
    product_of = dict(zip(distinct, built, strict=True))
    return [product_of[id(world)] for world in worlds]


def _follow(demonstration: Demonstration, product: Product | FocusedSearch) -> TrainingScene | str:
    """The demonstration on its product up to acceptance, or why it is not accepted.

    Raises:
        ContradictionError: the labels of the world differ from the demonstration's, or a control is not available.
    """
    graph = product.lazy if isinstance(product, FocusedSearch) else product
    controls, labels, nodes = demonstration.controls, demonstration.labels, []
    for step, node, after in trace(demonstration, graph):
        nodes.append(node)
        if after == ACCEPTED:
            taken = np.array(controls[: step + 1], np.int64)
            if isinstance(product, FocusedSearch):
                return TrainingScene(product.situations, np.array(nodes), taken, product)
            return TrainingScene(product, np.array(nodes), taken)
        if after == DEAD:
            name, label = graph.world.controls[controls[step]], format_label(labels[step])
            return f"after '{name}' at step {step}, with the label '{label}', nothing can be accepted"
    return f"its word is not accepted: after {len(controls)} steps something is still missing"
