"""Demonstrations of a task as evidence: each with its world, explored as far as any demonstration goes.

A small world is explored whole. In a large one nobody has been seen to go on after what the demonstrations end with:
it is explored until one of the propositions holds that demonstrations show at their last step and never before. For
MiniGrid that is a few per cent of what its physics allow. What lies behind is one state that shows nothing more.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, UNAVAILABLE, Automaton, Guard, Label
from wfairl.automata.guarded import Edge, GuardedAutomaton
from wfairl.demonstrations.answers import Answer
from wfairl.demonstrations.demonstration import Demonstration
from wfairl.demonstrations.tracing import trace
from wfairl.logic.evidence import UNAVAILABLE as NO_SUCCESSOR
from wfairl.logic.evidence import JudgedWord, Scene
from wfairl.logic.table_plans import ArrayWorld
from wfairl.parallel import map_in_threads
from wfairl.planning.cost import Cost, unit_cost
from wfairl.planning.product import Product, ProductTooLargeError, build_product
from wfairl.progress import track
from wfairl.worlds.graph import IGNORE_LABELS, LabelNumbers
from wfairl.worlds.world import World

SMALL_WORLD = 100_000
"""States up to which a world is explored whole."""


def scenes_of(
    demonstrations: Sequence[Demonstration],
    make_world: Callable[[int], World[Any]],
    cost: Cost = unit_cost,
    n_jobs: int = 2,
) -> tuple[tuple[Label, ...], list[Scene]]:
    """The demonstrations as evidence.

    Args:
        demonstrations: of one task; of those that failed only the words matter.
        make_world: the world of a demonstration's seed.
        cost: of transitions.
        n_jobs: worlds to explore at once.

    Returns:
        The distinct labels, and a scene for each demonstration, whose label indices are into them.

    Raises:
        ContradictionError: a world gives other labels than a demonstration tells, or cannot follow it.
    """
    until = _until_the_end([one.labels for one in demonstrations if one.is_success])
    numbers = LabelNumbers()

    def explore(demonstration: Demonstration) -> Product | None:
        return _explore(make_world(demonstration.seed), until) if demonstration.is_success else None

    explored = track(map_in_threads(explore, demonstrations, n_jobs), "worlds", total=len(demonstrations))
    scenes = [
        _failure(demonstration, numbers) if product is None else _scene(demonstration, product, cost, numbers)
        for demonstration, product in zip(demonstrations, explored, strict=True)
    ]
    return tuple(numbers.labels), scenes


def worlds_of(
    seeds: Sequence[int],
    demonstrations: Sequence[Demonstration],
    make_world: Callable[[int], World[Any]],
    cost: Cost = unit_cost,
    n_jobs: int = 2,
) -> list[ArrayWorld]:
    """Scenes without a demonstration, as arrays over the same labels; explored as those of demonstrations are."""
    until = _until_the_end([one.labels for one in demonstrations if one.is_success])
    numbers = LabelNumbers()
    explored = track(
        map_in_threads(lambda seed: _explore(make_world(seed), until), seeds, n_jobs), "worlds", len(seeds)
    )
    arrays = [_to_arrays(product, cost, numbers) for product in explored]
    labels = tuple(numbers.labels)
    return [ArrayWorld(labels, successors, label_index, 0, costs) for successors, label_index, costs in arrays]


def judged_words(answers: Sequence[Answer], labels: Sequence[Label]) -> tuple[tuple[Label, ...], list[JudgedWord]]:
    """Answers as evidence: the labels with those that only answers show behind them, and the words over these."""
    numbers = LabelNumbers()
    for label in labels:
        numbers.number(label)
    judged = [
        JudgedWord(np.array([numbers.number(label) for label in one.labels], np.int32), one.is_right) for one in answers
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


def _scene(demonstration: Demonstration, product: Product, cost: Cost, numbers: LabelNumbers) -> Scene:
    """The demonstration in its world.

    Raises:
        ContradictionError: the world gives other labels than the demonstration tells, or cannot follow it.
    """
    for _ in trace(demonstration, product):
        pass
    successors, label_index, costs = _to_arrays(product, cost, numbers)
    return Scene(successors, label_index, 0, costs, np.array(demonstration.controls, np.int32))


def _to_arrays(
    product: Product, cost: Cost, numbers: LabelNumbers
) -> tuple[NDArray[np.int32], NDArray[np.int16], NDArray[np.float64]]:
    """Successors, label indices and costs; the state behind the last is where everything has ended."""
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
    return successors, label_index, costs


def _failure(demonstration: Demonstration, numbers: LabelNumbers) -> Scene:
    """A failed demonstration as a chain of states: only its word counts."""
    steps = len(demonstration)
    successors = np.minimum(np.arange(1, steps + 2, dtype=np.int32), steps)[:, None]
    shown = [numbers.number(label) for label in demonstration.labels]
    label_index = np.array([*shown, numbers.number(frozenset())], np.int16)[:, None]
    return Scene(successors, label_index, 0, np.ones(successors.shape), np.zeros(steps, np.int32), success=False)
