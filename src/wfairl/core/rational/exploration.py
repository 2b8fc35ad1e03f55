"""Exploration: the worlds of demonstrations as arrays, each as far as any demonstration goes.

Thousands of automata are planned for in each world. So as little of it is explored as will do:

- A world of up to `SMALL_WORLD` states is explored completely.
- A larger one is explored until the end. The end is a proposition that demonstrations have at their last step and never
  before: no demonstration goes on after it. In MiniGrid these are a few per cent of the reachable states. One state
  stands for all that lie behind the end, and its transitions have the empty label.
- A world too large to enumerate explores itself, around the demonstration (`OwnPlanning.explore_paths`).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, Automaton, Guard, Label
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.demonstration import Demonstration
from wfairl.core.planning.cost import Cost, unit_cost
from wfairl.core.planning.planner import planning_of_large_world
from wfairl.core.planning.product import Product, ProductTooLargeError, build_product
from wfairl.core.rational.observations import NO_SUCCESSOR, ArrayWorld, DemonstratedScene, JudgedWord, Observations
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.support.progress import track
from wfairl.core.worlds.compiled import IGNORE_LABELS, LabelNumbers
from wfairl.core.worlds.world import World

SMALL_WORLD = 100_000
"""States up to which a world is explored completely."""


def observe(
    demonstrations: Sequence[Demonstration],
    make_world: Callable[[int], World[Any]],
    cost: Cost = unit_cost,
    n_jobs: int = 2,
    answers: Sequence[Answer] = (),
) -> Observations:
    """The observations of demonstrations of one task, and of answers to questions about it.

    Raises:
        BadDemonstrationError: a world gives other labels than a demonstration has, or cannot follow it.
    """
    words = [one.labels for one in demonstrations if one.is_success]
    end, numbers = end_of_words(words), LabelNumbers()

    def explore_demonstrated(demonstration: Demonstration) -> Product | None:
        if not demonstration.is_success:
            return None
        world = make_world(demonstration.seed)
        own = planning_of_large_world(world)
        if own is None:
            return explore(world, end)
        path = demonstration.follow(world)
        return own.explore_paths(path.states, path.labels, words, cost)

    def numbered(word: Sequence[Label]) -> NDArray[np.int32]:
        return np.array([numbers.number(label) for label in word], np.int32)

    scenes, failures = [], []
    products = map_in_threads(explore_demonstrated, demonstrations, n_jobs)
    for one, product in zip(demonstrations, track(products, "worlds", total=len(demonstrations)), strict=True):
        if product is None:
            failures.append(numbered(one.labels))
        else:
            world, nodes = to_arrays(product, cost, numbers), np.array(one.nodes(product), np.int32)
            visited = np.full(len(one) + 1, len(world.successors) - 1, np.int32)
            visited[: len(nodes)] = np.where(nodes == ACCEPTED, visited[-1], nodes)
            # A surprise is taken to cost what its control costs.
            effects = np.where(np.array(one.happened) < 0, one.controls, one.happened).astype(np.int32)
            scenes.append(
                DemonstratedScene(
                    world, np.array(one.controls, np.int32), visited, numbered(one.labels),
                    world.costs[visited[:-1], effects],
                )
            )  # fmt: skip
    judged = tuple(JudgedWord(numbered(one.labels), one.is_right, one.weight) for one in answers)
    return Observations(tuple(numbers.labels), tuple(scenes), tuple(failures), judged)


def explore(world: World[Any], end: Automaton) -> Product:
    """The reachable part of a small world; of a larger one, the part that is reached before an automaton accepts."""
    try:
        return build_product(world, IGNORE_LABELS, SMALL_WORLD)
    except ProductTooLargeError:
        return build_product(world, end)


def to_arrays(product: Product, cost: Cost, numbers: LabelNumbers) -> ArrayWorld:
    """The world of a product; one more state stands for all that lies behind acceptance, and leads to itself."""
    end, effects = product.successors.shape
    is_taken = (product.successors >= 0) | (product.successors == ACCEPTED)
    successors = np.where(is_taken, np.where(product.successors == ACCEPTED, end, product.successors), NO_SUCCESSOR)
    number = np.zeros(len(product.labels), np.int16)
    for i in np.unique(product.label_index[is_taken]):
        number[i] = numbers.number(product.labels[i])
    label_index, chances = number[product.label_index], product.chances
    costs: NDArray[np.float64] | None = None if cost is unit_cost else cost(product)
    if (successors == end).any():
        successors = np.vstack([successors, np.full(effects, end)])
        label_index = np.vstack([label_index, np.full(effects, numbers.number(frozenset()))])
        costs = None if costs is None else np.vstack([costs, np.ones(effects)])
        # All effects of the last state lead to itself, whatever their chances.
        chances = None if chances is None else chances.at(np.append(np.arange(end), 0))
    if costs is None:
        costs = np.broadcast_to(np.ones(1), successors.shape)  # one number for all of them
    return ArrayWorld(successors.astype(np.int32), label_index.astype(np.int16), 0, costs, chances)


def end_of_words(words: Sequence[Sequence[Label]]) -> Automaton:
    """Accepts as soon as one of the `last_propositions` holds."""
    ends = tuple(Edge(Guard(frozenset({name})), 1) for name in sorted(last_propositions(words)))
    return GuardedAutomaton((ends, ()), np.array([False, True]))


def last_propositions(words: Sequence[Sequence[Label]]) -> frozenset[str]:
    """The propositions that hold at the end of at least half of the words and nowhere before."""
    before = frozenset().union(*(label for word in words for label in word[:-1]))
    ends = Counter(name for word in words if word for name in word[-1])
    return frozenset(name for name, times in ends.items() if 2 * times >= len(words)) - before
