"""The product of a MiniGrid scene and an automaton, built only where searches expand it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton
from wfairl.core.planning.cost import CostScope
from wfairl.minigrid.atoms import MaskNumbers
from wfairl.minigrid.focused.guide import SceneGuide
from wfairl.minigrid.focused.prices import SceneSituations
from wfairl.minigrid.product_nodes import ProductNodes
from wfairl.minigrid.world import MiniGridWorld


class SceneProduct(ProductNodes):
    """The part of the product that is built so far.

    The costs of a node depend on its *situation* alone. What tells situations apart is the scope of the cost: nothing,
    the `situations` of the scene, or the whole state.

    Attributes:
        world, automaton: the factors.
        scope: what costs depend on.
        guide: bounds on the cost-to-go; None for costs that depend on the whole state.
    """

    def __init__(self, world: MiniGridWorld, automaton: Automaton, start: tuple[int, int], scope: CostScope):
        super().__init__(world.layout, world.atoms, MaskNumbers(automaton, world.propositions))
        self.world, self.automaton, self.scope = world, automaton, scope
        self._situations = np.empty(0, np.int32)
        self.add(*start)
        self.guide = None if scope is CostScope.GLOBAL else SceneGuide(self)

    @property
    def situations(self) -> NDArray[np.int32]:
        """The situation of each node, an index into `situation_states`; shape [nodes]."""
        known = len(self._situations)
        if len(self) > known:
            new = np.zeros(len(self) - known, np.int32)
            if self.scope is CostScope.LOCAL:
                new = self.scene_situations.number(self.states[known:])
            elif self.scope is CostScope.GLOBAL:
                new = np.arange(known, len(self), dtype=np.int32)
            self._situations = np.concatenate([self._situations, new])
        return self._situations

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
        return self.insert(self.world.pack(state), automaton_state)
