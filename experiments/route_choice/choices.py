"""Choices of many trips on one graph, each towards a goal of its own.

A road network with hundreds of destinations is one table of transitions. What differs between trips is the goal, so a
step is a goal, a node, and the control that was chosen there. Steps after the goal was reached count like any others.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, UNAVAILABLE
from wfairl.core.planning.shortest_path import ReversedGraph, reverse_graph
from wfairl.core.support.errors import BadInputError


class ImpossibleChoiceError(BadInputError):
    """A step that the graph does not allow."""


@dataclass(frozen=True, eq=False)
class Choices:
    """One entry per step: goal, node and chosen control.

    Attributes:
        successors: node after each control, or `UNAVAILABLE`; shape [nodes, controls] of int32.
        goals: the goal of the trip, shape [steps] of int64.
        nodes: where the step begins, shape [steps] of int64.
        controls: the chosen control, shape [steps] of int64.
        trips: the trip of the step, shape [steps] of int64.
    """

    successors: NDArray[np.int32]
    goals: NDArray[np.int64]
    nodes: NDArray[np.int64]
    controls: NDArray[np.int64]
    trips: NDArray[np.int64]

    def __post_init__(self) -> None:
        taken = self.successors[self.nodes, self.controls]
        if (taken == UNAVAILABLE).any():
            step = int(np.argmax(taken == UNAVAILABLE))
            raise ImpossibleChoiceError(
                f"trip {self.trips[step]}: control {self.controls[step]} is not available at node {self.nodes[step]}"
            )

    @classmethod
    def of_trajectories(
        cls,
        successors: NDArray[np.int32],
        trajectories: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
        goals: NDArray[np.int64],
    ) -> "Choices":
        """The steps of trajectories, each its nodes and controls, towards one goal each."""
        lengths = [len(nodes) for nodes, _ in trajectories]
        nodes, controls = (np.concatenate(parts) for parts in zip(*trajectories, strict=True))
        return cls(successors, np.repeat(goals, lengths), nodes, controls, np.repeat(np.arange(len(lengths)), lengths))

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.nodes)

    def of_trips(self, trips: Collection[int] | NDArray[np.int64]) -> "Choices":
        """The steps of some trips."""
        selected = np.isin(self.trips, np.asarray(trips))
        return Choices(
            self.successors, self.goals[selected], self.nodes[selected], self.controls[selected], self.trips[selected]
        )

    @cached_property
    def decisions(self) -> "Decisions":
        """The distinct pairs of goal and node, with the number of times that each control was chosen there."""
        goals, goal_of_step = np.unique(self.goals, return_inverse=True)
        size = len(self.successors)
        pairs, of_step = np.unique(goal_of_step * size + self.nodes, return_inverse=True)
        counts = np.zeros((len(pairs), self.successors.shape[1]))
        np.add.at(counts, (of_step, self.controls), 1.0)
        return Decisions(goals, pairs // size, pairs % size, counts, of_step)

    @cached_property
    def searches(self) -> tuple[tuple[ReversedGraph, NDArray[np.int64]], ...]:
        """Of each goal the reversed graph, sorted once for any number of searches, and the nodes of its decisions."""
        decisions = self.decisions
        first = np.searchsorted(decisions.goal, np.arange(1, len(decisions.goals)))
        parts = zip(decisions.goals.tolist(), np.split(decisions.nodes, first), strict=True)
        return tuple((reverse_graph(towards(self.successors, goal)), nodes) for goal, nodes in parts)


@dataclass(frozen=True, eq=False)
class Decisions:
    """The distinct pairs of goal and node at which controls were chosen, sorted by goal, then by node.

    Attributes:
        goals: the distinct goals, shape [goals].
        goal: index into `goals`, shape [decisions].
        nodes: shape [decisions].
        counts: how often each control was chosen, shape [decisions, controls].
        of_step: the decision that each step is, shape [steps].
    """

    goals: NDArray[np.int64]
    goal: NDArray[np.int64]
    nodes: NDArray[np.int64]
    counts: NDArray[np.float64]
    of_step: NDArray[np.int64]


def towards(successors: NDArray[np.int32], goal: int) -> NDArray[np.int32]:
    """The graph for one goal: a transition to it is accepted."""
    return np.where(successors == goal, np.int32(ACCEPTED), successors)
