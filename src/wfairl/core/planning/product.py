"""The product of a world and a task automaton (paper, Definition in section IV-B), finite and exact.

A node is a pair (world state x, automaton state q). From node 0 = (x_0, q_0) a control u leads to

    T((x, q), u) = (f(x, u), q after reading l(x, u)).

A transition into an accepting q ends the task: it leads to `ACCEPTED`. One that leaves the live part
of the automaton can never succeed: it leads to `DEAD`. A control that cannot be chosen leads to `UNAVAILABLE`.
Only reachable nodes are built, and they are numbered breadth first in the order of controls in every kind of world.

In a world that slips a control is a lottery over the effects of its state (`worlds.chances`). The product has a
transition for each effect, and the chances of the world. Elsewhere effects are the controls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, UNAVAILABLE, Automaton, Guard, Label
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.planning.expected_cost import DEFAULT_PRICE, expected_cost_to_go
from wfairl.core.planning.shortest_path import CostToGo, ReversedGraph, cost_to_go, reverse_graph
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.compiled import (
    DEFAULT_MAX_STATES,
    IGNORE_LABELS,
    CompiledWorld,
    Exploration,
    TooManyNodesError,
)
from wfairl.core.worlds.plain import effects_of, explore_plain
from wfairl.core.worlds.world import World, available_controls, slips


class AcceptsEmptyWordError(BadInputError):
    """The automaton accepts before anything has happened, so there is nothing to plan."""


class ProductTooLargeError(TooManyNodesError):
    """The product has more nodes than the limit allows."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Product(Exploration):
    """What was explored of a world and an automaton together; see `Exploration` for its arrays."""

    world: World[Any]
    automaton: Automaton  # the task

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.automaton_states)

    @property
    def start(self) -> tuple[Any, int]:
        """The world state and the automaton state of node 0."""
        return self.state(0), int(self.automaton_states[0])

    @property
    def available(self) -> NDArray[np.bool_]:
        """Which effects there are, shape [nodes, effects]."""
        return self.successors != UNAVAILABLE

    @property
    def control_of_transition(self) -> NDArray[np.int64]:
        """The control whose effect each transition is, shape [nodes * effects]; see `worlds.chances`."""
        nodes, effects = self.successors.shape
        return np.tile(np.arange(effects) % len(self.world.controls), nodes)

    def label(self, node: int, effect: int) -> Label:
        """The label of a transition."""
        return self.labels[self.label_index[node, effect]]

    def labels_by_automaton_state(self) -> dict[int, set[Label]]:
        """The labels of transitions, by the automaton state that they leave."""
        labels = {}
        for state in np.unique(self.automaton_states):
            rows = self.automaton_states == state
            indices = np.unique(self.label_index[rows][self.available[rows]])
            labels[int(state)] = {self.labels[i] for i in indices}
        return labels

    def transition_features(self, transitions: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """See `CompiledWorld`; the transitions are node * effects + effect, all of them available."""
        if not isinstance(self.states, tuple):
            return cast(CompiledWorld, self.world).transition_features(self.states, transitions)
        rows = []
        for node, effect in zip(*np.divmod(transitions, self.successors.shape[1]), strict=True):
            one = effects_of(self.world, self.states[node])[0][effect]
            assert one is not None  # it is available
            rows.append(one.features)
        distinct, index = np.unique(np.array(rows), axis=0, return_inverse=True)
        return index.reshape(-1).astype(np.int32), distinct

    @cached_property
    def features(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The row of each transition's features, shape [nodes * effects], and the rows, shape [rows, features]."""
        transitions = np.flatnonzero(self.available)
        numbers = np.zeros(self.successors.size, np.int32)
        numbers[transitions], features = self.transition_features(transitions)
        return numbers, features

    def state(self, node: int) -> Any:
        """The world state of a node."""
        if isinstance(self.states, tuple):
            return self.states[node]
        return cast(CompiledWorld, self.world).unpack(self.states[node])

    @cached_property
    def graph(self) -> ReversedGraph:
        """The transitions sorted by target, for any number of searches."""
        return reverse_graph(self.successors)

    def cost_to_go(self, costs: NDArray[np.float64], price: float = DEFAULT_PRICE) -> CostToGo:
        """The least cost to acceptance from every node, expected where the world slips.

        The costs c(s, e) have the shape [nodes, effects]; the price is that of a failure, see `expected_cost`.
        """
        if self.chances is None:
            return cost_to_go(self.graph, costs)
        return expected_cost_to_go(self.graph, self.chances, costs, price)

    def expected(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean under each control of what its effects [nodes, effects] are worth, inf where it is unavailable.

        Shape [nodes, controls].
        """
        if self.chances is None:
            return np.where(self.available, values, np.inf)
        P = self.chances.dense(values.shape[1])[self.chances.kind]
        means = np.where(P > 0, P * values[:, None], 0.0).sum(axis=2)
        return np.where(self.chances.available, means, np.inf)

    def find(self, state: Any, automaton_state: int) -> int | None:
        """The node of a world state and an automaton state, None if it cannot be reached from the start."""
        return self._nodes.get((state, automaton_state))

    @cached_property
    def _nodes(self) -> dict[tuple[Any, int], int]:
        return {
            (self.state(node), int(automaton_state)): node for node, automaton_state in enumerate(self.automaton_states)
        }


def build_product(
    world: World[Any],
    automaton: Automaton,
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
        BadInputError: the automaton reads propositions that the world lacks.
    """
    check_initial_state(automaton)
    automaton.check_propositions(world.propositions)
    start = (world.initial_state, 0) if start is None else start
    try:
        if isinstance(world, CompiledWorld):
            found = world.explore(automaton, max_states, *start)
        else:
            found, *_ = explore_plain(world, automaton, max_states, start)
        return Product(**vars(found), world=world, automaton=automaton)
    except TooManyNodesError:
        raise ProductTooLargeError(
            f"the product of world and automaton has more than {max_states:,} states. Raise max_states (--max-states;"
            " a state takes about 100 bytes). MiniGrid scenes that do not slip have a focused planner (--planner"
            " focused), which builds less of the product."
        ) from None


def states_alone(world: World[Any], states: Sequence[Any]) -> Product:
    """World states as nodes without successors, for the costs of what can happen in them."""
    packed: NDArray[np.uint64] | tuple[Any, ...] = tuple(states)
    if isinstance(world, CompiledWorld):
        packed = np.array([world.pack(state) for state in states], np.uint64).reshape(len(states), -1)
    if slips(world):
        effects = [build_product(world, _ENDS_AT_ONCE, start=(state, 0)).available[0] for state in states]
    else:
        effects = [available_controls(world, state) for state in states]
    successors = np.full((len(states), max(map(len, effects), default=len(world.controls))), UNAVAILABLE, np.int32)
    for row, available in zip(successors, effects, strict=True):
        row[: len(available)][available] = DEAD
    start, nothing = np.zeros(len(states), np.int32), np.zeros(successors.shape, np.uint16)
    return Product(packed, start, successors, nothing, (), world=world, automaton=IGNORE_LABELS)


_ENDS_AT_ONCE = GuardedAutomaton(((Edge(Guard(), 1),), ()), np.array([False, True]))
"""Accepts after the first label: its product with a world is the start alone."""


def check_initial_state(automaton: Automaton) -> None:
    """Raise `AcceptsEmptyWordError` if an automaton accepts the empty word."""
    if automaton.accepting[0]:
        raise AcceptsEmptyWordError(
            "the automaton accepts the empty word: the task is done before it begins. Words of failures among the"
            " data, or a higher threshold, tell it what is still missing at the start."
        )
