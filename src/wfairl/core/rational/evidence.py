"""Evidence about a task: the likelihood of demonstrations if a given automaton were the task.

For demonstration i in its scene, on the product of scene and automaton A with exact cost-to-go Q_A,

    pi_A(u | s) = exp(-Q_A(s, u) / eta) / sum over available u' of exp(-Q_A(s, u') / eta)
    evidence_i(A, eta) = log((1 - e) prod_t pi_A(u_t | s_t) + e / prod_t number of controls available at s_t)

where e is the probability that a demonstration follows no task at all. A demonstration that A does not accept exactly
at its last step has only the second part. The temperature eta is unknown: evidence is averaged over a grid of
temperatures, on which the cost-to-go does not depend.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.rational import kernels
from wfairl.core.rational.kernels import PackedScenes, Steps
from wfairl.core.rational.table_cost_to_go import PackedWorld, pack_world
from wfairl.core.support.errors import BadInputError

NO_SUCCESSOR = -1
"""Successor of a control that is unavailable."""


class BadSceneError(BadInputError):
    """A demonstration that cannot have happened in its scene."""


@dataclass(frozen=True, eq=False)
class ArrayWorld:
    """A world as arrays.

    Attributes:
        successors: state after each control, or `NO_SUCCESSOR`; [states, controls] of int32.
        label_index: index of the label of each transition; [states, controls].
        start: the initial state.
        costs: of each transition, above zero; [states, controls].
    """

    successors: NDArray[np.int32]
    label_index: NDArray[np.integer]
    start: int
    costs: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.successors.shape != self.label_index.shape or self.successors.shape != self.costs.shape:
            raise BadSceneError(
                f"successors {self.successors.shape}, labels {self.label_index.shape} and costs {self.costs.shape} "
                "must have the same shape [states, controls]"
            )
        if not (self.costs.min() > 0 and self.costs.max() < np.inf):
            raise BadSceneError("costs must be finite and above zero")


@dataclass(frozen=True, eq=False)
class DemonstratedScene:
    """One demonstration and the world in which it happened.

    Attributes:
        world: the world; the demonstration begins in its initial state.
        controls: the demonstrated controls, [steps].
        success: whether the demonstration claims to have done the task.
    """

    world: ArrayWorld
    controls: NDArray[np.integer]
    success: bool = True

    def __post_init__(self) -> None:
        if not len(self.controls):
            raise BadSceneError("a demonstration needs at least one control")
        if (self.world.successors[self.visited[:-1], self.controls] < 0).any():
            raise BadSceneError("the demonstration takes a control where it is not available")

    @cached_property
    def visited(self) -> NDArray[np.int32]:
        """The states s_0, ..., s_T of the demonstration, shape [steps + 1]."""
        states = [self.world.start]
        for control in self.controls:
            states.append(int(self.world.successors[states[-1], control]))
        return np.array(states, np.int32)

    @property
    def word(self) -> NDArray[np.int32]:
        """Index of the label of every step, shape [steps]."""
        return self.world.label_index[self.visited[:-1], self.controls].astype(np.int32)

    @property
    def costs(self) -> NDArray[np.float64]:
        """The cost of every step, shape [steps]."""
        return self.world.costs[self.visited[:-1], self.controls]

    @property
    def log_uniform(self) -> float:
        """log(1 / prod_t available controls), of the demonstrated controls if they are drawn uniformly."""
        return -float(np.log((self.world.successors[self.visited[:-1]] >= 0).sum(axis=1)).sum())


@dataclass(frozen=True, eq=False)
class JudgedWord:
    """A word, and whether it fulfils the task by a person's answer.

    Attributes:
        word: index of the label of every step, [steps].
        is_right: whether the task is fulfilled by its end.
        weight: how many answers it counts for.
    """

    word: NDArray[np.int32]
    is_right: bool
    weight: float = 1.0


class Evidence:
    """Log evidence of demonstrations, failures and answers under many automata.

    Args:
        labels: what the label indices of the scenes mean.
        scenes: demonstrations with their worlds.
        temperatures: the grid of eta, shape [temperatures].
        outlier_probability: e.
        max_states: the states of each scene nearest to the demonstration that are planned through.
        answers: words that a person has judged.

    Attributes:
        scenes: the successful demonstrations.
        failures: words of failed demonstrations.
        log_uniform: log(1 / prod_t available controls), of controls drawn uniformly; shape [scenes].
        log_outlier: log(e) + log_uniform, shape [scenes].
    """

    def __init__(
        self,
        labels: Sequence[Label],
        scenes: Sequence[DemonstratedScene],
        temperatures: NDArray[np.float64],
        outlier_probability: float,
        max_states: int,
        answers: Sequence[JudgedWord] = (),
    ) -> None:
        self.labels = tuple(labels)
        self.answers = tuple(answers)
        self.scenes = tuple(scene for scene in scenes if scene.success)
        self.failures = tuple(scene.word for scene in scenes if not scene.success)
        self.temperatures = np.ascontiguousarray(temperatures, np.float64)
        self.log_uniform = np.array([scene.log_uniform for scene in self.scenes])
        self.log_outlier = np.log(outlier_probability) + self.log_uniform
        log_follows = float(np.log1p(-outlier_probability))
        self._packed = _pack(self.scenes, len(self.labels), max_states, self.log_outlier, log_follows)

    def evaluate(self, table: NDArray[np.int32], needed: float) -> NDArray[np.float64] | None:
        """Log evidence of every scene at every temperature, or None if the total must stay below `needed`.

        Args:
            table: state after each label, `DEAD` or `ACCEPTED`; shape [states, labels].
            needed: log of the mean evidence over temperatures that is of interest.
        """
        result = np.empty((len(self.scenes), len(self.temperatures)))
        return result if kernels.evaluate(table, self._packed, self.temperatures, needed, result) else None

    def evaluate_all(
        self, table: NDArray[np.int32], temperatures: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Log evidence of every scene at every temperature of the grid or of another, [scenes, temperatures]."""
        temperatures = self.temperatures if temperatures is None else temperatures
        result = np.empty((len(self.scenes), len(temperatures)))
        kernels.evaluate(table, self._packed, temperatures, -np.inf, result)
        return result

    def visits(self, table: NDArray[np.int32]) -> NDArray[np.int64]:
        """How many demonstrations read a label in a state, [states, labels]."""
        return kernels.visits(table, self._packed.step_first, self._packed.steps.word)

    def failures_accepted(self, table: NDArray[np.int32]) -> int:
        """How many failed demonstrations the automaton accepts at some point."""
        return sum(kernels.read_word(table, word) > 0 for word in self.failures)

    def answers_contradicted(self, table: NDArray[np.int32]) -> float:
        """The weight of the answers that the automaton contradicts."""
        return sum(one.weight for one in self.answers if (kernels.read_word(table, one.word) > 0) != one.is_right)


def _pack(
    scenes: Sequence[DemonstratedScene],
    labels: int,
    max_states: int,
    log_outlier: NDArray[np.float64],
    log_follows: float,
) -> PackedScenes:
    worlds, steps, states, transitions = [], [], [0], 0
    for scene in scenes:
        world = scene.world
        near = kernels.nearest_states(world.successors, scene.visited, max_states)
        number = np.full(len(world.successors) + 1, -1, np.int32)  # the entry past the end is that of NO_SUCCESSOR
        number[near] = np.arange(len(near))
        packed = pack_world(number[world.successors[near]], world.label_index[near], world.costs[near], labels)
        worlds.append(packed._replace(first=transitions + packed.first, label_first=transitions + packed.label_first))
        steps.append(_pack_steps(scene, number))
        states.append(states[-1] + len(near))
        transitions += len(packed.source)
    return PackedScenes(
        worlds=PackedWorld(*(np.concatenate(arrays) for arrays in zip(*worlds, strict=True))),
        state_first=np.array(states, np.int64),
        unit=np.array([bool((packed.cost == 1).all()) for packed in worlds]),
        steps=Steps(*(np.concatenate(arrays) for arrays in zip(*steps, strict=True))),
        step_first=np.cumsum([0, *(len(scene.controls) for scene in scenes)]),
        log_outlier=log_outlier,
        log_follows=log_follows,
    )


def _pack_steps(scene: DemonstratedScene, number: NDArray[np.int32]) -> Steps:
    """The steps of a demonstration, with states numbered anew."""
    world, visited = scene.world, scene.visited[:-1]
    return Steps(
        number[world.successors[visited]],
        world.label_index[visited].astype(np.int16),
        world.costs[visited].astype(np.float64),
        number[visited],
        scene.word,
        scene.controls.astype(np.int32),
    )
