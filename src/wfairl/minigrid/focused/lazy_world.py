"""The contract of worlds too large to enumerate, whose products with automata are built while they are searched."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.planning.cost import CostScope
from wfairl.core.worlds.world import World

UNEXPANDED = -4
"""In a table of successors: not expanded yet."""


LOST = -2
"""In place of an abstract state: acceptance cannot be reached."""


class LazyProduct(Protocol):
    """The part of the product of a world and an automaton that is built so far.

    Nodes are numbered as they are added. A *situation* is all that a cost may depend on: nodes of the same situation
    cost the same.

    Attributes:
        world, automaton: the factors.
        automaton_states, situations: of each node, shape [nodes] of int32.
        successors: as in `Exploration`; the first is `UNEXPANDED` where a node is not expanded yet.
        label_index, labels: as in `Exploration`, for expanded nodes.
        situation_states: a world state in each situation.
        abstraction: the smaller world behind `abstract`, or None.
    """

    @property
    def world(self) -> World[Any]: ...
    @property
    def automaton(self) -> Automaton: ...
    @property
    def automaton_states(self) -> NDArray[np.int32]: ...
    @property
    def situations(self) -> NDArray[np.int32]: ...
    @property
    def successors(self) -> NDArray[np.int32]: ...
    @property
    def label_index(self) -> NDArray[np.uint16]: ...
    @property
    def labels(self) -> Sequence[Label]: ...
    @property
    def situation_states(self) -> Sequence[Any]: ...
    @property
    def abstraction(self) -> Any: ...

    def __len__(self) -> int:
        """The number of nodes so far."""
        ...

    def state(self, node: int) -> Any:
        """The world state of a node."""
        ...

    def add(self, state: Any, automaton_state: int) -> int:
        """The node of a pair of states, added if it is new."""
        ...

    def expand(self, nodes: NDArray[np.int64]) -> None:
        """Find the successors of nodes, and add those that are new."""
        ...

    def abstract(self, first: int) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.float64]]:
        """The abstract states of the nodes from a number on, obstacles on their paths as bits, and bounds of `deepen`.

        An abstract state is `LOST` where acceptance cannot be reached, and another negative number where it is unknown;
        an unknown bound is 0.
        """
        ...

    def estimate(self, first: int, cost_to_go: NDArray[np.float64]) -> NDArray[np.float64]:
        """Estimates of the cost-to-go of the nodes from a number on, which are no bounds; 0 where it is unknown.

        Args:
            first: the first node.
            cost_to_go: of abstract states under the least costs.
        """
        ...

    def preparations(self, state: Any) -> Sequence[tuple[World[Any], Automaton]]:
        """Subtasks worth doing first from a state where a task is hard, such as opening a door.

        Their worlds have the same states.
        """
        ...

    def refine(self, stage: int) -> bool:
        """Refine the abstraction for a hard search; False if there is none.

        Args:
            stage: from 1 on, higher for harder searches.
        """
        ...

    def least_costs(self, costs: NDArray[np.float64]) -> tuple[NDArray[np.float64], float] | None:
        """The least costs of each abstract transition and of removing an obstacle; None without an abstraction.

        Args:
            costs: of the situations, shape [situations, controls].
        """
        ...

    def deepen(self, cost_to_go: NDArray[np.float64], start: int) -> None:
        """Sharpen the bounds around the cheapest paths from a node, if searches have been hard.

        Args:
            cost_to_go: of abstract states under the least costs.
            start: the node.
        """
        ...


@runtime_checkable
class LazyWorld(World[Any], Protocol):
    """A world whose products with automata can be built while they are searched, at compiled speed."""

    def lazy_product(self, automaton: Automaton, start: tuple[Any, int], scope: CostScope) -> LazyProduct:
        """The product with an automaton, with its start as the only node.

        Args:
            automaton: what reads the labels.
            start: the world state and the automaton state of node 0.
            scope: what costs will depend on, which tells situations apart.
        """
        ...

    def estimated_states(self) -> float:
        """An estimate of the number of reachable states, rather too high."""
        ...

    def pack(self, state: Any) -> NDArray[np.uint64]:
        """The 64-bit words of a state, shape [words]."""
        ...
