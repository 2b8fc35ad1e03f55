"""What directs the searches of one scene: lower bounds and estimates of the cost-to-go.

The guide begins with a small abstraction. Where searches turn out to be hard it goes to the next stage: a larger
abstraction if the first one had to leave out part of the task, and a corridor.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from wfairl.core.automata.automaton import Automaton
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning.cost import CostScope
from wfairl.minigrid import physics
from wfairl.minigrid.focused.abstraction import Abstraction, bound_by_abstraction, costs_to_acceptance
from wfairl.minigrid.focused.corridor import Corridor
from wfairl.minigrid.focused.estimate import estimate_states
from wfairl.minigrid.focused.prices import price_count
from wfairl.minigrid.focused.refinement import AbstractionRefiner
from wfairl.minigrid.focused.task_demands import TaskDemands
from wfairl.minigrid.physics import NOTHING
from wfairl.minigrid.propositions import DoorOpen
from wfairl.minigrid.world import MiniGridWorld

if TYPE_CHECKING:
    from wfairl.minigrid.focused.scene_product import SceneProduct


ABSTRACTION_STATES, CORRIDOR_STATES = (100_000, 250_000, 700_000), (0, 30_000, 300_000)
"""How many states the abstraction and the corridor may have: where a search begins, and where it has been hard."""


class SceneGuide:
    """Bounds and estimates for the nodes of one product, under one table of costs after the other."""

    def __init__(self, product: SceneProduct):
        self._product, self._layout, self._stage = product, product.world.layout, 0
        self._abstraction: Abstraction | None = None
        self._corridor: Corridor | None = None

    @property
    def abstraction(self) -> Abstraction:
        """The abstraction of the scene, as seen from the first node."""
        if self._abstraction is None:
            self._abstraction = self._refiner.abstract(ABSTRACTION_STATES[self._stage], self._stage > 1)
        return self._abstraction

    def price(self, costs: NDArray[np.float64], start: int = 0) -> None:
        """Set the costs of the situations, shape [situations, controls].

        From the second stage on, bounds are sharpest on the cheapest paths from the node `start`.
        """
        if self._product.scope is CostScope.LOCAL:
            prices = self._product.scene_situations.least_costs(costs)
        else:
            prices = np.resize(np.append(costs[0], costs.min()), price_count(self._layout))
        self._costs, self._step_cost = costs, float(costs.mean())
        transition_costs = prices[self.abstraction.price]
        self._cost_to_go = costs_to_acceptance(self.abstraction.first, self.abstraction.source, transition_costs)
        if self._stage:
            fields, automaton_state = self._product.fields(start), int(self._product.automaton_states[start])
            self._corridor = self._refiner.corridor(
                self.abstraction, self._cost_to_go, prices, CORRIDOR_STATES[self._stage], fields, automaton_state
            )

    def refine(self, stage: int, start: int) -> None:
        """Go to a stage, 1 or 2, or stay at a higher one; sharpen the bounds on the cheapest paths from a node."""
        is_whole = self.abstraction.spec.atoms == self._refiner.task.atoms_used
        if stage > self._stage and (stage > 1 or not is_whole):
            self._abstraction = None
        self._stage = max(self._stage, stage)
        self.price(self._costs, start)

    def lower_bounds(self, first: int) -> NDArray[np.float64]:
        """Lower bounds on the cost-to-go of the nodes from `first` on; inf without a path, 0 if unknown.

        Returns:
            Shape [nodes from first on].
        """
        nodes = self._product.states[first:], self._product.automaton_states[first:]
        bounds = bound_by_abstraction(self.abstraction.states, self._cost_to_go, *nodes)
        if self._corridor is None:
            return bounds
        return np.where(bounds > 0, np.maximum(bounds, self._corridor.bound(*nodes)), 0.0)

    def estimates(self, first: int) -> NDArray[np.float64]:
        """Estimates of the cost-to-go of the nodes from `first` on, 0 if unknown; shape [nodes from first on]."""
        nodes = self._product.states[first:], self._product.automaton_states[first:]
        return estimate_states(self.abstraction.states, self._cost_to_go, self._distances, self._step_cost, *nodes)

    def preparations(self, state: int) -> list[tuple[MiniGridWorld, Automaton]]:
        """Subtasks worth doing first where a task is hard: to open each of the doors that are still locked.

        Their worlds have the states of this one.
        """
        world = self._product.world
        doors = self._layout.unpack(world.pack(state))[self._layout.first_door :]
        cells = np.flatnonzero(self._layout.cells[:, physics.DOOR_AT] != NOTHING)
        locked = cells[np.flatnonzero(doors & physics.IS_LOCKED)].tolist()
        width = self._layout.width
        opened = [world.asking({"open": DoorOpen(at=(cell % width, cell // width))}) for cell in locked]
        return [(one, visit_in_order("open")) for one in opened]

    @cached_property
    def _refiner(self) -> AbstractionRefiner:
        product = self._product
        task = TaskDemands(product.world, product.fields(0), product.automaton, int(product.automaton_states[0]))
        return AbstractionRefiner(task)

    @cached_property
    def _distances(self) -> NDArray[np.float64]:
        """The steps between walkable cells in free space, without turns; shape [walkable, walkable]."""
        walkable, number_of = self._layout.walkable, self.abstraction.pattern.number_of
        fronts = self._layout.cells[walkable, physics.FRONT :]
        neighbours = np.where(fronts == NOTHING, NOTHING, number_of[fronts])
        sources, directions = np.nonzero(neighbours != NOTHING)
        edges = np.ones(len(sources)), (sources, neighbours[sources, directions])
        return shortest_path(csr_array(edges, shape=(len(walkable), len(walkable))), unweighted=True)
