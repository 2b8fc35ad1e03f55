"""Observations: all that the rational learner is given, as arrays.

A demonstration that succeeded comes with the world in which it happened. Of one that failed only the word counts, and
so it does of a path that a person judged in an answer. Labels are numbers into one list that all of them share.
`exploration` makes the observations of a data set.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.chances import Chances

NO_SUCCESSOR = -1
"""Successor of a control that is unavailable."""


class BadSceneError(BadInputError):
    """A demonstration that cannot have happened in its scene."""


@dataclass(frozen=True, eq=False)
class ArrayWorld:
    """A world as arrays; its columns are effects: the controls, unless the world slips (`worlds.chances`)."""

    successors: NDArray[np.int32]  # state after each effect, or `NO_SUCCESSOR`; [states, effects] of int32
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
    costs: NDArray[np.float64]  # of every step, [steps]

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
        return cls(world, np.array(controls, np.int32), at, word, world.costs[visited[:-1], happened])

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
