"""The product of a world and a task automaton (paper, Definition in section IV-B), finite and exact.

A node is a pair (world state x, automaton state q). From node 0 = (x_0, q_0) a control u leads to

    T((x, q), u) = (f(x, u), q after reading l(x, u)).

A transition into an accepting q ends the task: it leads to `ACCEPTED`. One that leaves the live part
of the automaton can never succeed: it leads to `DEAD`. Only what can be reached is ever built, and
nodes are numbered breadth first in the order of controls, whoever builds them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.finite import FiniteAutomaton
from wfairl.errors import BadInputError
from wfairl.planning.path import Path, walk_path
from wfairl.planning.shortest_path import ReversedGraph, reverse_graph
from wfairl.worlds.world import (
    CompiledWorld,
    Label,
    TooManyNodesError,
    World,
    to_mask,
)

DEFAULT_MAX_STATES = 5_000_000
"""About half a gigabyte for a world of six controls."""


class AcceptsEmptyWordError(BadInputError):
    """The automaton accepts before anything has happened, so there is nothing to plan."""


class ProductTooLargeError(TooManyNodesError):
    """The product has more nodes than the limit allows."""


@dataclass(frozen=True, eq=False)
class Product:
    """A world and an automaton, walked together; node 0 is the start.

    Attributes:
        world: the world.
        automaton: the task.
        states: world state of each node, packed for a compiled world (shape [nodes, words] of uint64),
            a tuple of values otherwise; `state` gives either as the world's own value.
        modes: automaton state of each node, shape [nodes] of int32.
        successors: node after each control, `DEAD` or `ACCEPTED`; shape [nodes, controls] of int32.
        labels: label mask of each transition, shape [nodes, controls] of uint16.
    """

    world: World[Any]
    automaton: FiniteAutomaton
    states: NDArray[np.uint64] | tuple[Any, ...]
    modes: NDArray[np.int32]
    successors: NDArray[np.int32]
    labels: NDArray[np.uint16]

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.modes)

    def state(self, node: int) -> Any:
        """The world state of a node."""
        if isinstance(self.states, tuple):
            return self.states[node]
        return cast(CompiledWorld, self.world).unpack(self.states[node])

    @cached_property
    def graph(self) -> ReversedGraph:
        """The transitions, sorted once for any number of searches."""
        return reverse_graph(self.successors)

    def find(self, state: Any, automaton_state: int) -> int | None:
        """The node of a world state and an automaton state, None if it cannot be reached from the start."""
        return self._nodes.get((state, automaton_state))

    @cached_property
    def _nodes(self) -> dict[tuple[Any, int], int]:
        return {(self.state(node), int(mode)): node for node, mode in enumerate(self.modes)}

    def walk(self, controls: Sequence[int], start: int = 0) -> tuple[int, ...]:
        """The nodes that controls lead through, up to where the product ends: `ACCEPTED` or `DEAD`.

        Raises:
            BadInputError: a control is not one of the world's.
        """
        nodes = [start]
        for control in controls:
            if not 0 <= control < len(self.world.controls):
                raise BadInputError(f"control {control} is not one of the {len(self.world.controls)} of this world")
            if nodes[-1] < 0:
                break
            nodes.append(int(self.successors[nodes[-1], control]))
        return tuple(nodes)

    def follow(self, controls: Sequence[int], start: int = 0) -> Path:
        """The path that controls take from a node, up to where the product ends; see `walk`."""
        steps = len(self.walk(controls, start)) - 1
        return walk_path(self.world, self.automaton, controls[:steps], self.state(start), int(self.modes[start]))


def build_product(
    world: World[Any],
    automaton: FiniteAutomaton,
    max_states: int = DEFAULT_MAX_STATES,
    start: tuple[Any, int] | None = None,
) -> Product:
    """Every node that can be reached from a start.

    Args:
        world: compiled (fast) or plain Python.
        automaton: the task; its labels must be over the world's propositions.
        max_states: the largest number of nodes to build.
        start: world state and automaton state of node 0; the initial ones unless given.

    Raises:
        AcceptsEmptyWordError: the automaton's initial state is accepting.
        ProductTooLargeError: there are more than `max_states` nodes.
        ForeignLabelError: the automaton speaks of propositions that the world lacks.
    """
    check_initial_state(automaton)
    next_mode = automaton.mode_table(world.propositions)
    state, mode = (world.initial_state, 0) if start is None else start
    try:
        if isinstance(world, CompiledWorld):
            explored = world.explore(next_mode, max_states, state, mode)
            return Product(world, automaton, explored.states, explored.modes, explored.successors, explored.labels)
        return Product(world, automaton, *_explore_plain(world, next_mode, max_states, state, mode))
    except TooManyNodesError:
        raise ProductTooLargeError(
            f"the product of world and automaton has more than {max_states:,} states. Raise max_states (--max-states;"
            " a state takes about 100 bytes), or plan with A* (--astar), which builds only what it needs."
        ) from None


def check_initial_state(automaton: FiniteAutomaton) -> None:
    """Refuse an automaton that accepts the empty word.

    Raises:
        AcceptsEmptyWordError: it does.
    """
    if automaton.accepting[0]:
        raise AcceptsEmptyWordError(
            "the automaton accepts the empty word: the task is done before it begins. Words of failures among the"
            " data, or a higher threshold, tell it what is still missing at the start."
        )


_Nodes = tuple[NDArray[np.uint64] | tuple[Any, ...], NDArray[np.int32], NDArray[np.int32], NDArray[np.uint16]]
"""States, modes, successors and labels of a `Product`."""


def _explore_plain(world: World[Any], next_mode: NDArray[np.int32], max_states: int, state: Any, mode: int) -> _Nodes:
    """Breadth first, in the order of controls."""
    mask_of: dict[Label, int] = {}
    nodes = {(state, mode): 0}
    queue = [(state, mode)]
    successors: list[list[int]] = []
    labels: list[list[int]] = []
    for state, mode in queue:  # grows while we walk it
        successors.append([])
        labels.append([])
        for control in range(len(world.controls)):
            next_state = world.step(state, control)
            label = world.label(state, control, next_state)
            if label not in mask_of:
                mask_of[label] = to_mask(label, world.propositions)
            after = int(next_mode[mode, mask_of[label]])
            if after >= 0:
                pair = (next_state, after)
                after = nodes.setdefault(pair, len(queue))
                if after == len(queue):
                    queue.append(pair)
            successors[-1].append(after)
            labels[-1].append(mask_of[label])
        if len(queue) > max_states:
            raise TooManyNodesError
    return (
        tuple(state for state, _ in queue),
        np.array([mode for _, mode in queue], np.int32),
        np.array(successors, np.int32),
        np.array(labels, np.uint16),
    )
