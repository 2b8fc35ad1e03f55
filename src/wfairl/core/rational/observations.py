"""Observations: all that the rational learner is given, as arrays.

A demonstration that succeeded comes with the world in which it happened. Of one that failed only the word counts, and
so it does of a path that a person judged in an answer. Labels are numbers into one list that all of them share.

Thousands of automata are planned for in each world. So `observe` explores as little of it as will do:

- A world of up to `SMALL_WORLD` states is explored completely.
- A larger one is explored until the end: a proposition that at least half of the demonstrations have at their last step
  and none before. In MiniGrid these are a few per cent of the reachable states. One state stands for all that lie
  behind the end, and its transitions have the empty label.
- A world too large to enumerate explores itself, around the demonstration (`OwnPlanning.explore_paths`).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, Automaton, Guard, Label
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.demonstrations.answers import Answer
from wfairl.core.demonstrations.demonstration import Demonstration
from wfairl.core.planning.cost import Cost, unit_cost
from wfairl.core.planning.planner import planning_of_large_world
from wfairl.core.planning.product import Product, ProductTooLargeError, build_product
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.support.progress import track
from wfairl.core.worlds.chances import Chances
from wfairl.core.worlds.compiled import IGNORE_LABELS, LabelNumbers
from wfairl.core.worlds.world import World

NO_SUCCESSOR = -1
"""Successor of a control that is unavailable."""

SMALL_WORLD = 100_000
"""States up to which a world is explored completely."""


class BadSceneError(BadInputError):
    """A demonstration that cannot have happened in its scene."""


@dataclass(frozen=True, eq=False)
class ArrayWorld:
    """A world as arrays; its columns are effects: the controls, unless the world slips (`worlds.chances`)."""

    successors: NDArray[np.int32]  # state after each effect, or `NO_SUCCESSOR`; [states, effects]
    label_index: NDArray[np.integer]  # index of the label of each transition; [states, effects]
    start: int  # the initial state
    costs: NDArray[np.float64]  # of each transition, above zero; [states, effects]
    chances: Chances | None = None  # of the effects under each control; None where the effects are the controls

    def __post_init__(self) -> None:
        if self.successors.shape != self.label_index.shape or self.successors.shape != self.costs.shape:
            raise BadSceneError(
                f"successors {self.successors.shape}, labels {self.label_index.shape} and costs {self.costs.shape} "
                "must have the same shape [states, controls]"
            )
        if not (self.costs.min() > 0 and self.costs.max() < np.inf):
            raise BadSceneError("costs must be finite and above zero")

    @property
    def available(self) -> NDArray[np.bool_]:
        """Which controls can be chosen, [states, controls]."""
        return self.successors >= 0 if self.chances is None else self.chances.available


@dataclass(frozen=True, eq=False)
class DemonstratedScene:
    """A successful demonstration from the initial state of a world."""

    world: ArrayWorld  # the world
    controls: NDArray[np.int32]  # [steps]
    # the states s_0, ..., s_T, [steps + 1]. Where the world slips, or did what its model does not foresee, they do not
    # follow from the controls
    visited: NDArray[np.int32]
    word: NDArray[np.int32]  # index of the label of every step, [steps]
    effects: NDArray[np.int32]  # what happened in every step, [steps]; the control itself in place of a surprise

    def __post_init__(self) -> None:
        if not len(self.controls):
            raise BadSceneError("a demonstration needs at least one control")
        if not self.world.available[self.visited[:-1], self.controls].all():
            raise BadSceneError("the demonstration takes a control where it is not available")

    @classmethod
    def along(cls, world: ArrayWorld, controls: Sequence[int], effects: Sequence[int] | None = None) -> Self:
        """The demonstration of controls, and of what happened where the world slips."""
        happened = np.array(controls if effects is None else effects, np.int32)
        visited = [world.start]
        for effect in happened:
            visited.append(int(world.successors[visited[-1], effect]))
        at, word = np.array(visited, np.int32), world.label_index[visited[:-1], happened].astype(np.int32)
        return cls(world, np.array(controls, np.int32), at, word, happened)

    @property
    def costs(self) -> NDArray[np.float64]:
        """The cost of every step, [steps]; a surprise is taken to cost what its control costs."""
        return self.world.costs[self.visited[:-1], self.effects]

    @property
    def log_uniform(self) -> float:
        """log(1 / prod_t available controls): of the demonstrated controls, if controls are drawn uniformly."""
        return -float(np.log(self.world.available[self.visited[:-1]].sum(axis=1)).sum())


@dataclass(frozen=True, eq=False)
class JudgedWord:
    """A word, and a person's answer whether it fulfils the task."""

    word: NDArray[np.int32]  # index of the label of every step, [steps]
    is_right: bool  # whether the task is fulfilled by its end
    weight: float = 1.0  # how many answers it counts for


@dataclass(frozen=True, eq=False)
class Observations:
    """What is known of a task; `labels` is what the label indices of worlds and words mean."""

    labels: tuple[Label, ...]
    scenes: tuple[DemonstratedScene, ...]  # the successful demonstrations
    failures: tuple[NDArray[np.int32], ...] = ()  # words of the failed demonstrations, each [steps]
    answers: tuple[JudgedWord, ...] = ()  # words that a person has judged


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
            effects = np.where(np.array(one.happened) < 0, one.controls, one.happened).astype(np.int32)
            controls = np.array(one.controls, np.int32)
            scenes.append(DemonstratedScene(world, controls, visited, numbered(one.labels), effects))
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
    for i in np.flatnonzero(np.bincount(product.label_index[is_taken])):
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
