"""Trajectories as choices on the product of a world and a task automaton, also after the task is done.

The goal is one node. A transition that the automaton accepts leads there; later steps are scored too:

    rest     the task stays done: in every world state there is a node from which each control leads to the goal, so
             that only its own cost counts
    again    the task starts anew where it ended: a demonstrator without memory of having done it
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.route_choice.choices import Choices, ImpossibleChoiceError
from wfairl.core.automata.automaton import ACCEPTED, DEAD, UNAVAILABLE, Automaton
from wfairl.core.planning.product import build_product
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.graph import GraphWorld

After = Literal["rest", "again"]


@dataclass(frozen=True, eq=False)
class TaskGraph:
    """A product of world and automaton as one graph with one goal.

    Attributes:
        successors: node after each control, or `UNAVAILABLE`; shape [nodes, controls] of int32.
        goal: the last node.
        world_states: of each node but the goal, shape [nodes - 1] of int64.
        automaton_states: likewise; for nodes of rest, the number of the automaton's states.
        resumed: the node that follows the goal in each world state, shape [world states].
    """

    successors: NDArray[np.int32]
    goal: int
    world_states: NDArray[np.int64]
    automaton_states: NDArray[np.int64]
    resumed: NDArray[np.int64]

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
