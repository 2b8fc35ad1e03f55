"""Choices of many trips on one graph, each on its way to a goal of its own.

A road network with hundreds of destinations is one table of transitions. What differs between trips is the goal, so a
step is a goal, the node where somebody stood, and the control that was chosen there. Steps may follow after the goal
was reached: they are choices like any other.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, UNAVAILABLE
from wfairl.errors import BadInputError
from wfairl.planning.shortest_path import ReversedGraph, reverse_graph


class ImpossibleChoiceError(BadInputError):
    """A step that the graph does not allow."""


@dataclass(frozen=True, eq=False)
class Choices:
    """What was chosen, where, and on the way to what; one entry per step.

    Attributes:
        successors: node after each control, or `UNAVAILABLE`; shape [nodes, controls] of int32.
        goals: the node that the trip is to end in, shape [steps] of int64.
        nodes: where the step began, shape [steps] of int64.
        controls: what was chosen, shape [steps] of int64.
        trips: which trip the step belongs to, shape [steps] of int64.
    """

    successors: NDArray[np.int32]
    goals: NDArray[np.int64]
    nodes: NDArray[np.int64]
    controls: NDArray[np.int64]
    trips: NDArray[np.int64]

    def __post_init__(self) -> None:
        if not len(self.goals) == len(self.nodes) == len(self.controls) == len(self.trips):
            raise BadInputError("goals, nodes, controls and trips must be one for each step")
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
        """The steps of trajectories, each its nodes and controls, on the way to one goal each."""
        lengths = [len(nodes) for nodes, _ in trajectories]
        nodes, controls = (np.concatenate(parts) for parts in zip(*trajectories, strict=True))
        return cls(successors, np.repeat(goals, lengths), nodes, controls, np.repeat(np.arange(len(lengths)), lengths))

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.nodes)

    def of_trips(self, trips: Collection[int] | NDArray[np.int64]) -> "Choices":
        """The steps of some trips."""
        kept = np.isin(self.trips, np.asarray(trips))
        parts = (part[kept] for part in (self.goals, self.nodes, self.controls, self.trips))
        return Choices(self.successors, *parts)

    @cached_property
    def asked(self) -> "Asked":
        """The distinct pairs of goal and node, counted."""
        goals, goal_of_step = np.unique(self.goals, return_inverse=True)
        size = len(self.successors)
        pairs, of_step = np.unique(goal_of_step * size + self.nodes, return_inverse=True)
        counts = np.zeros((len(pairs), self.successors.shape[1]))
        np.add.at(counts, (of_step, self.controls), 1.0)
        return Asked(goals, pairs // size, pairs % size, counts, of_step)

    @cached_property
    def searches(self) -> tuple["Search", ...]:
        """For every goal, what has to be known of it."""
        first = np.searchsorted(self.asked.goal, np.arange(1, len(self.asked.goals)))
        parts = np.split(self.asked.nodes, first)
        return tuple(
            Search(self.successors, int(goal), nodes) for goal, nodes in zip(self.asked.goals, parts, strict=True)
        )


@dataclass(frozen=True, eq=False)
class Asked:
    """Where choices were made, each place once for every goal; by goals, then by nodes.

    Attributes:
        goals: the distinct goals, shape [goals].
        goal: which of them, shape [asked].
        nodes: where, shape [asked].
        counts: how often each control was chosen there, shape [asked, controls].
        of_step: which of these a step is one of, shape [steps].
    """

    goals: NDArray[np.int64]
    goal: NDArray[np.int64]
    nodes: NDArray[np.int64]
    counts: NDArray[np.float64]
    of_step: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Search:
    """A goal, and the nodes from which ways there are asked for.

    Attributes:
        successors: of the graph, shape [nodes, controls].
        goal: the node.
        nodes: shape [asked for this goal] of int64.
    """

    successors: NDArray[np.int32]
    goal: int
    nodes: NDArray[np.int64]

    @cached_property
    def graph(self) -> ReversedGraph:
        """The graph, sorted once for any number of searches from the goal."""
        return reverse_graph(towards(self.successors, self.goal))


def towards(successors: NDArray[np.int32], goal: int) -> NDArray[np.int32]:
    """The graph for one goal: to arrive there is to be accepted."""
    return np.where(successors == goal, np.int32(ACCEPTED), successors)
