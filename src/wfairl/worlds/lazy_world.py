"""The contract of worlds too large to enumerate: their products with automata are built where searches look."""

from collections.abc import Sequence
from enum import Enum
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Automaton, Label
from wfairl.worlds.world import World

UNEXPANDED = -4
"""In a table of successors: not expanded yet."""


class Sight(Enum):
    """What a cost looks at."""

    NOTHING = "nothing"  # every transition costs the same
    LOCAL = "local"  # features of the transition, or what the agent sees
    WHOLE = "whole"  # the whole state


LOST = -2
"""In place of an abstract state: acceptance cannot be reached."""


class LazyProduct(Protocol):
    """The part of the product of a world and an automaton that searches have met; it grows where they look.

    Nodes are numbered as they are met. A *situation* is what a cost may look at: nodes of the same situation cost the
    same.

    Attributes:
        world, automaton: what it is the product of.
        automaton_states, situations: of each node, shape [nodes] of int32.
        successors: node after each control as in `Exploration`; the first is `UNEXPANDED` where it was not expanded.
        label_index, labels: as in `Exploration`, of nodes that are expanded.
        situation_states: a world state in each situation.
        abstraction: the smaller world behind `abstract`, or None.
    """

    @property
    def world(self) -> World[Any]: ...  # noqa: D102
    @property
    def automaton(self) -> Automaton: ...  # noqa: D102
    @property
    def automaton_states(self) -> NDArray[np.int32]: ...  # noqa: D102
    @property
    def situations(self) -> NDArray[np.int32]: ...  # noqa: D102
    @property
    def successors(self) -> NDArray[np.int32]: ...  # noqa: D102
    @property
    def label_index(self) -> NDArray[np.uint16]: ...  # noqa: D102
    @property
    def labels(self) -> Sequence[Label]: ...  # noqa: D102
    @property
    def situation_states(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def abstraction(self) -> Any: ...  # noqa: D102

    def __len__(self) -> int:
        """The number of nodes met so far."""
        ...

    def state(self, node: int) -> Any:
        """The world state of a node."""
        ...

    def add(self, state: Any, automaton_state: int) -> int:
        """The node of a pair of states, a new one if it was not met before."""
        ...

    def expand(self, nodes: NDArray[np.int64]) -> None:
        """Find the successors of nodes, and meet them."""
        ...

    def abstract(self, first: int) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.float64]]:
        """The abstract states of the nodes from a number on, bits of obstacles on the way, and bounds of `deepen`.

        An abstract state is `LOST` where acceptance cannot be reached, another negative number where it is not known;
        a bound is 0 where nothing is known.
        """
        ...

    def estimate(self, first: int, cost_to_go: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the cost-to-go of the nodes from a number on may be: no bounds, 0 where nothing is known.

        Args:
            first: the first node.
            cost_to_go: of abstract states under the least costs.
        """
        ...

    def preparations(self, state: Any) -> Sequence[tuple[World[Any], Automaton]]:
        """What may be done first where a task is hard, such as to open a door: tasks in worlds of the same states.

        Args:
            state: where it would begin.
        """
        ...

    def refine(self, stage: int) -> bool:
        """Make the abstraction as fine as a hard search, or a harder one, asks for; False if there is none.

        Args:
            stage: from 1 on, the more the harder.
        """
        ...

    def least_costs(self, costs: NDArray[np.float64]) -> tuple[NDArray[np.float64], float] | None:
        """The least cost of each abstract transition, and to remove an obstacle; None without an abstraction.

        Args:
            costs: of the situations, shape [situations, controls].
        """
        ...

    def deepen(self, cost_to_go: NDArray[np.float64], start: int) -> None:
        """Find sharper bounds around the cheapest ways from a node, if searches have been hard.

        Args:
            cost_to_go: of abstract states under the least costs.
            start: the node.
        """
        ...


@runtime_checkable
class LazyWorld(World[Any], Protocol):
    """A world whose products with automata can be built where searches look, at machine speed."""

    def lazy_product(self, automaton: Automaton, start: tuple[Any, int], sight: Sight) -> LazyProduct:
        """The product with an automaton, at its start.

        Args:
            automaton: what reads the labels.
            start: the world state and the automaton state of node 0.
            sight: what costs will look at, which tells situations apart.
        """
        ...

    def estimated_states(self) -> float:
        """About how many states can be reached, at most."""
        ...
