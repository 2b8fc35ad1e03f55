"""Demonstrations of a task as evidence: each with its world, explored as far as any demonstration goes.

A small world is explored completely. A large one is explored until one of the propositions holds that demonstrations
have at their last step and never before, since no demonstration goes on after it. For MiniGrid that is a few per cent
of the reachable states. All states behind it are one state, whose transitions have the empty label.

A world too large for that is explored only along cheapest paths (`OwnPlanning.explore_paths`): from each demonstrated
state, after each control there, to the propositions that occur in demonstrations, and from one of those to another.
"""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, UNAVAILABLE, Automaton, Guard, Label
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.demonstration import Dataset, Demonstration, follow_controls
from wfairl.core.demonstrations.tracing import trace
from wfairl.core.planning.cost import Cost, nominal_cost, unit_cost
from wfairl.core.planning.planner import planning_of_large_world
from wfairl.core.planning.product import Product, ProductTooLargeError, build_product
from wfairl.core.rational.evidence import NO_SUCCESSOR, ArrayWorld, DemonstratedScene, JudgedWord
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.support.progress import track
from wfairl.core.worlds.compiled import IGNORE_LABELS, LabelNumbers
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import World

SMALL_WORLD = 100_000
"""States up to which a world is explored completely."""

MOST_PROPOSITIONS, LONGEST_ORDER = 4, 3
"""In a world too large to explore: propositions whose orders are planned for, and how many of them in a row."""


def scenes_of(
    demonstrations: Sequence[Demonstration],
    make_world: Callable[[int], World[Any]],
    cost: Cost = unit_cost,
    n_jobs: int = 2,
) -> tuple[tuple[Label, ...], list[DemonstratedScene]]:
    """The demonstrations as evidence.

    Args:
        demonstrations: of one task; of those that failed only the words matter.
        make_world: the world of a demonstration's seed.
        cost: of transitions.
        n_jobs: worlds to explore at once.

    Returns:
        The distinct labels, and a scene for each demonstration, whose label indices are into them.

    Raises:
        BadDemonstrationError: a world gives other labels than a demonstration has, or cannot follow it.
    """
    words = [one.labels for one in demonstrations if one.is_success]
    until, orders = _until_the_end(words), _orders(words)
    numbers = LabelNumbers()

    def explore(demonstration: Demonstration) -> Product | None:
        if not demonstration.is_success:
            return None
        world = make_world(demonstration.seed)
        own = planning_of_large_world(world)
        if own is None:
            return _explore(world, until)
        states, labels = follow_controls(world, demonstration.controls, demonstration.seed)
        return own.explore_paths(states, labels, orders, cost)

    explored = track(map_in_threads(explore, demonstrations, n_jobs), "worlds", total=len(demonstrations))
    scenes = [
        _failure(demonstration, numbers) if product is None else _scene(demonstration, product, cost, numbers)
        for demonstration, product in zip(demonstrations, explored, strict=True)
    ]
    return tuple(numbers.labels), scenes


@dataclass(frozen=True, eq=False)
class ExploredScenes:
    """Scenes of a task to plan in.

    Attributes:
        seeds: of the scenes.
        worlds: of each scene, with label indices into `labels`.
        labels: the distinct labels of all worlds.
        horizon: largest number of steps of a plan.
    """

    seeds: tuple[int, ...]
    worlds: tuple[ArrayWorld, ...]
    labels: tuple[Label, ...]
    horizon: int

    def labels_along(self, scene: DemonstratedScene) -> tuple[Label, ...]:
        """What holds after each step in one of the worlds."""
        return tuple(self.labels[i] for i in scene.word)


def explore_scenes(
    seeds: Sequence[int], dataset: Dataset, task: Task, cost: Cost | None = None, n_jobs: int = 2
) -> ExploredScenes:
    """Explore scenes of a task as those of the demonstrations are.

    Args:
        seeds: the scenes.
        dataset: demonstrations of the task, which decide how far large worlds are explored.
        task: its rule is not used.
        cost: of transitions; the task's nominal cost if None.
        n_jobs: worlds to explore at once.

    Raises:
        BadInputError: there are no scenes.
    """
    if not seeds:
        raise BadInputError("there are no scenes to choose from")
    price = nominal_cost(task) if cost is None else cost
    until = _until_the_end([one.labels for one in dataset if one.is_success])
    numbers = LabelNumbers()
    products = map_in_threads(lambda seed: _explore(task.make_world(seed), until), seeds, n_jobs)
    worlds = tuple(_to_arrays(product, price, numbers) for product in track(products, "worlds", len(seeds)))
    return ExploredScenes(tuple(seeds), worlds, tuple(numbers.labels), task.horizon)


def judged_words(answers: Sequence[Answer], labels: Sequence[Label]) -> tuple[tuple[Label, ...], list[JudgedWord]]:
    """Answers as evidence: the labels, followed by those that only answers have, and the words over these."""
    numbers = LabelNumbers()
    for label in labels:
        numbers.number(label)
    judged = [
        JudgedWord(np.array([numbers.number(label) for label in one.labels], np.int32), one.is_right, one.weight)
        for one in answers
    ]
    return tuple(numbers.labels), judged


def last_propositions(words: Sequence[Sequence[Label]]) -> frozenset[str]:
    """The propositions that hold at the end of at least half of the words and nowhere before."""
    before = frozenset().union(*(label for word in words for label in word[:-1]))
    ends = Counter(name for word in words if word for name in word[-1])
    return frozenset(name for name, times in ends.items() if 2 * times >= len(words)) - before


def _until_the_end(words: Sequence[Sequence[Label]]) -> Automaton:
    ends = tuple(Edge(Guard(frozenset({name})), 1) for name in sorted(last_propositions(words)))
    return GuardedAutomaton((ends, ()), np.array([False, True]))


def _explore(world: World[Any], until: Automaton) -> Product:
    try:
        return build_product(world, IGNORE_LABELS, SMALL_WORLD)
    except ProductTooLargeError:
        return build_product(world, until)


def _orders(words: Sequence[Sequence[Label]]) -> list[tuple[str, ...]]:
    """Orders of the propositions that a task may be about, which are those that come true in most words.

    No order goes on after what the demonstrations end with.
    """
    times = Counter(name for word in words for name in frozenset().union(*word))
    often = sorted([name for name, count in times.most_common() if 2 * count >= len(words)][:MOST_PROPOSITIONS])
    last = last_propositions(words)
    orders = (order for size in range(1, LONGEST_ORDER + 1) for order in permutations(often, size))
    return [order for order in orders if last.isdisjoint(order[:-1])]


def _scene(demonstration: Demonstration, product: Product, cost: Cost, numbers: LabelNumbers) -> DemonstratedScene:
    """The demonstration in its world; raises `ContradictionError` as `trace` does."""
    deque(trace(demonstration, product), maxlen=0)  # check every step
    return DemonstratedScene(_to_arrays(product, cost, numbers), np.array(demonstration.controls, np.int32))


def _to_arrays(product: Product, cost: Cost, numbers: LabelNumbers) -> ArrayWorld:
    """The world of a product; its last state stands for acceptance, and leads to itself."""
    end, controls = product.successors.shape
    successors = np.full((end + 1, controls), end, np.int32)
    successors[:-1] = np.where(product.successors == ACCEPTED, end, product.successors)
    successors[:-1][product.successors == UNAVAILABLE] = NO_SUCCESSOR
    number = np.array([numbers.number(label) for label in product.labels], np.int16)
    label_index = np.full((end + 1, controls), numbers.number(frozenset()), np.int16)
    label_index[:-1] = number[product.label_index]
    costs: NDArray[np.float64] = np.broadcast_to(np.ones(1), successors.shape)  # one number for all of them
    if cost is not unit_cost:
        costs = np.vstack([cost(product), np.ones(controls)])
    return ArrayWorld(successors, label_index, 0, costs)


def _failure(demonstration: Demonstration, numbers: LabelNumbers) -> DemonstratedScene:
    """A failed demonstration as a chain of states: only its word counts."""
    steps = len(demonstration)
    successors = np.minimum(np.arange(1, steps + 2, dtype=np.int32), steps)[:, None]
    word = [numbers.number(label) for label in demonstration.labels]
    label_index = np.array([*word, numbers.number(frozenset())], np.int16)[:, None]
    world = ArrayWorld(successors, label_index, 0, np.ones(successors.shape))
    return DemonstratedScene(world, np.zeros(steps, np.int32), success=False)
