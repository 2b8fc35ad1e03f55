"""Choices of many trips on one graph, each towards a goal of its own.

A road network with hundreds of destinations is one table of transitions. What differs between trips is the goal, so a
step is a goal, a node, and the control that was chosen there. Steps after the goal was reached count like any others.

A world with a task automaton is such a graph with one goal: their product, in which a transition that the automaton
accepts leads to the goal. Later steps are scored too:

    rest     the task stays done: in every world state there is a node from which each control leads to the goal, so
             that only its own cost counts
    again    the task starts anew where it ended: a demonstrator without memory of having done it
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, UNAVAILABLE, Automaton
from wfairl.core.planning.product import build_product
from wfairl.core.planning.shortest_path import ReversedGraph, reverse_graph
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.graph import GraphWorld


class ImpossibleChoiceError(BadInputError):
    """A step that the graph does not allow."""


@dataclass(frozen=True, eq=False)
class Choices:
    """One entry per step: goal, node and chosen control."""

    successors: NDArray[np.int32]  # node after each control, or `UNAVAILABLE`; shape [nodes, controls] of int32
    goals: NDArray[np.int64]  # the goal of the trip, shape [steps] of int64
    nodes: NDArray[np.int64]  # where the step begins, shape [steps] of int64
    controls: NDArray[np.int64]  # the chosen control, shape [steps] of int64
    trips: NDArray[np.int64]  # the trip of the step, shape [steps] of int64

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
    """The distinct pairs of goal and node at which controls were chosen, sorted by goal, then by node."""

    goals: NDArray[np.int64]  # the distinct goals, shape [goals]
    goal: NDArray[np.int64]  # index into `goals`, shape [decisions]
    nodes: NDArray[np.int64]  # shape [decisions]
    counts: NDArray[np.float64]  # how often each control was chosen, shape [decisions, controls]
    of_step: NDArray[np.int64]  # the decision that each step is, shape [steps]


def towards(successors: NDArray[np.int32], goal: int) -> NDArray[np.int32]:
    """The graph for one goal: a transition to it is accepted."""
    return np.where(successors == goal, np.int32(ACCEPTED), successors)


After = Literal["rest", "again"]


@dataclass(frozen=True, eq=False)
class TaskGraph:
    """A product of world and automaton as one graph with one goal."""

    successors: NDArray[np.int32]  # node after each control, or `UNAVAILABLE`; shape [nodes, controls] of int32
    goal: int  # the last node
    world_states: NDArray[np.int64]  # of each node but the goal, shape [nodes - 1] of int64
    automaton_states: NDArray[np.int64]  # likewise; for nodes of rest, the number of the automaton's states
    resumed: NDArray[np.int64]  # the node that follows the goal in each world state, shape [world states]

    def choices(self, trajectories: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> Choices:
        """Every step of trajectories, each its world states and controls, from the initial state on."""
        nodes, controls, trips = [], [], []
        for number, (states, chosen) in enumerate(trajectories):
            node = 0
            for state, control in zip(states, chosen, strict=True):
                node = int(self.resumed[state]) if node == self.goal else node
                if self.world_states[node] != state or self.successors[node, control] == UNAVAILABLE:
                    raise ImpossibleChoiceError(
                        f"trajectory {number}: control {control} in state {state} cannot lead to what the automaton"
                        " accepts, or the trajectory is not one of this world"
                    )
                nodes.append(node)
                controls.append(control)
                trips.append(number)
                node = int(self.successors[node, control])
        steps = (np.array(part, np.int64) for part in (nodes, controls, trips))
        return Choices(self.successors, np.full(len(nodes), self.goal), *steps)


def task_graph(world: GraphWorld, automaton: Automaton, after: After = "rest") -> TaskGraph:
    """The product of a world and a task automaton, with nodes for the steps after acceptance."""
    product = build_product(world, automaton)
    assert not isinstance(product.states, tuple)
    states, world_size = product.states[:, 0].astype(np.int64), len(world.table.successors)
    successors = np.where(product.successors == DEAD, np.int32(UNAVAILABLE), product.successors)
    automaton_states = product.automaton_states.astype(np.int64)
    if after == "again":
        goal = len(product)
        resumed = np.full(world_size, -1)
        resumed[states[automaton_states == 0]] = np.flatnonzero(automaton_states == 0)
        ends = np.unique(world.table.successors[states][successors == ACCEPTED])
        if (resumed[ends] < 0).any():
            raise BadInputError("the task ends where it cannot begin again")
    else:
        goal = len(product) + world_size
        resumed = len(product) + np.arange(world_size)
        rest = np.where(world.table.successors == UNAVAILABLE, np.int32(UNAVAILABLE), np.int32(goal))
        successors = np.concatenate([successors, rest])
        states = np.append(states, np.arange(world_size))
        automaton_states = np.append(automaton_states, np.full(world_size, automaton.states))
    successors = np.where(successors == ACCEPTED, np.int32(goal), successors)
    at_goal = np.full((1, successors.shape[1]), UNAVAILABLE, np.int32)
    return TaskGraph(np.concatenate([successors, at_goal]), goal, states, automaton_states, resumed)
