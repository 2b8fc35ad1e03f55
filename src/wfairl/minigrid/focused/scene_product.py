"""The product of a MiniGrid scene and an automaton, built only where searches expand it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.planning.cost import CostScope
from wfairl.minigrid.focused.guide import SceneGuide
from wfairl.minigrid.focused.prices import SceneSituations
from wfairl.minigrid.labeller import MaskNumbers
from wfairl.minigrid.product_nodes import FIRST_CAPACITY, ProductNodes
from wfairl.minigrid.world import MiniGridWorld


class SceneProduct:
    """The part of the product that is built so far.

    Nodes are numbered as they are added. The costs of a node depend on its *situation* alone. What tells situations
    apart is the scope of the cost: nothing, the `situations` of the scene, or the whole state.

    Attributes:
        world, automaton: the factors.
        scope: what costs depend on.
        guide: bounds on the cost-to-go; None for costs that depend on the whole state.
    """

    def __init__(self, world: MiniGridWorld, automaton: Automaton, start: tuple[int, int], scope: CostScope):
        self.world, self.automaton, self.scope = world, automaton, scope
        self._nodes = ProductNodes(world.layout, world.labeller.atoms, MaskNumbers(automaton, world.propositions))
        self._situated, self._situations = 0, np.zeros(FIRST_CAPACITY, np.int32)
        self.add(*start)
        self.guide = None if scope is CostScope.GLOBAL else SceneGuide(self)

    def __len__(self) -> int:
        """The number of nodes so far."""
        return self._nodes.count

    @property
    def states(self) -> NDArray[np.uint64]:
        """Packed states of the nodes, shape [nodes, words]."""
        return self._nodes.tables.states[: len(self)]

    @property
    def automaton_states(self) -> NDArray[np.int32]:
        """Automaton states of the nodes, shape [nodes]."""
        return self._nodes.tables.automaton_states[: len(self)]

    @property
    def successors(self) -> NDArray[np.int32]:
        """As in `Exploration`; the first is `NOT_EXPANDED` where a node has no successors yet."""
        return self._nodes.tables.successors[: len(self)]

    @property
    def label_index(self) -> NDArray[np.uint16]:
        """As in `Exploration`, for nodes that have successors."""
        return self._nodes.tables.labels[: len(self)]

    @property
    def labels(self) -> Sequence[Label]:
        """The distinct labels so far."""
        return self._nodes.masks.table.labels

    @property
    def situations(self) -> NDArray[np.int32]:
        """The situation of each node, an index into `situation_states`; shape [nodes]."""
        count = len(self)
        if count > len(self._situations):
            more = max(count, 2 * len(self._situations)) - self._situated
            self._situations = np.pad(self._situations[: self._situated], (0, more))
        if count > self._situated:
            new = slice(self._situated, count)
            if self.scope is CostScope.LOCAL:
                self._situations[new] = self.scene_situations.number(self.states[new])
            elif self.scope is CostScope.GLOBAL:
                self._situations[new] = np.arange(self._situated, count)
            self._situated = count
        return self._situations[:count]

    @property
    def situation_states(self) -> Sequence[int]:
        """A world state in each situation."""
        if self.scope is CostScope.CONSTANT:
            return (self.world.initial_state,)
        words = self.scene_situations.states if self.scope is CostScope.LOCAL else self.states
        return [self.world.unpack(row) for row in words]

    @cached_property
    def scene_situations(self) -> SceneSituations:
        """The situations that can come up, for costs of local scope."""
        return SceneSituations.of(self.world.layout, self.fields(0))

    def state(self, node: int) -> int:
        """The world state of a node."""
        return self.world.unpack(self.states[node])

    def fields(self, node: int) -> NDArray[np.int32]:
        """The fields of the state of a node, shape [fields]."""
        return self.world.layout.unpack(self.states[node])

    def add(self, state: int, automaton_state: int) -> int:
        """The node of a pair of states, added if it is new."""
        return self._nodes.add(self.world.pack(state), automaton_state)

    def expand(self, nodes: NDArray[np.int64]) -> None:
        """Find the successors of nodes, shape [nodes], and add new successors as nodes."""
        self._nodes.expand(nodes)

    def other(self, automaton: Automaton, start: tuple[int, int]) -> SceneProduct:
        """The product of the same world and another automaton, for costs of the same scope."""
        return SceneProduct(self.world, automaton, start, self.scope)
