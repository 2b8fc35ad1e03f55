"""The contract of a planner, and the planners of the core.

    solution = planner.solve(world, automaton, cost)
    solution.control_cost_to_go(state, automaton_state)      Q of every control, or None outside the solved part
    solution.plan()                                          a cheapest path to acceptance

A policy is the Boltzmann policy over Q (`policy`), so that a new planner changes nothing else. A cost is a function of
a product: of a whole one (`build_product`) or of single states (`states_alone`). `ExactPlanner` solves the whole
product. `AutoPlanner`, the default, asks a world too large to enumerate for a planner of its own.

To add a planner by name, call `PLANNERS.register(name, factory)`: `wfairl plan --planner NAME` finds it. A policy takes
a planner as an argument, `PlannedPolicy(..., planner)`. The policy of a run plans with `AutoPlanner`. Training has a
contract of its own, `costs.scene.Solver`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.expected_cost import DEFAULT_PRICE
from wfairl.core.planning.path import Start
from wfairl.core.planning.plan import Plan, ProductSolution
from wfairl.core.planning.product import DEFAULT_MAX_STATES, Product, ProductTooLargeError, build_product
from wfairl.core.support.registry import Registry
from wfairl.core.worlds.world import World


class Solution(Protocol):
    """The result of a planner."""

    def control_cost_to_go(self, state: Any, automaton_state: int) -> NDArray[np.float64] | None:
        """Q of every control, inf for one that leads nowhere, shape [controls]; None outside the solution.

        Where the world slips, Q is expected over the effects of the control: see `Product.expected`.
        """

    def plan(self) -> Plan:
        """A cheapest path from the start to acceptance, or an `UnsatisfiableTaskError` that says why there is none."""


class Planner(Protocol):
    """A planning algorithm."""

    def solve(self, world: World[Any], automaton: Automaton, cost: Cost, start: Start | None = None) -> Solution:
        """Plan from a world state and an automaton state, the initial ones unless given; see `build_product`."""


@dataclass(frozen=True)
class ExactPlanner:
    """Builds the whole product and solves it exactly."""

    max_states: int = DEFAULT_MAX_STATES  # the largest number of nodes to build
    price: float = DEFAULT_PRICE  # of a failure in a world that slips, in mean costs of a transition

    def solve(self, world: World[Any], automaton: Automaton, cost: Cost, start: Start | None = None) -> ProductSolution:
        product = build_product(world, automaton, self.max_states, start)
        return ProductSolution(product, product.cost_to_go(cost(product), self.price))


class OwnPlanning(Protocol):
    """How to plan, train and learn in a world that may be too large to enumerate; the world brings it."""

    @property
    def is_needed(self) -> bool:
        """Whether the world has too many states to enumerate, by its own estimate."""

    def planner(self) -> Planner:
        """A planner that does not enumerate the world."""

    def solver(self, automaton: Automaton) -> Any:
        """The world and an automaton, ready to be solved under many costs: a `costs.scene.Solver`."""

    def explore_paths(
        self, states: Sequence[Any], labels: Sequence[Label], words: Sequence[Sequence[Label]], cost: Cost
    ) -> Product:
        """The part of the world around the T + 1 states and T labels of a demonstration.

        It has all transitions between states that cheap plans pass. The words are those of all successful
        demonstrations: what the task may be about.
        """


def own_planning(world: World[Any]) -> OwnPlanning | None:
    """What a world brings for planning in it, if anything: its method `own_planning`."""
    bring: Callable[[], OwnPlanning] | None = getattr(world, "own_planning", None)
    return None if bring is None else bring()


def planning_of_large_world(world: World[Any]) -> OwnPlanning | None:
    """What a world brings that is too large to enumerate; None for any other world."""
    own = own_planning(world)
    return own if own is not None and own.is_needed else None


@dataclass(frozen=True)
class AutoPlanner:
    """The exact planner, or the world's own where the product is too large to enumerate."""

    max_states: int = DEFAULT_MAX_STATES  # of the product

    def solve(self, world: World[Any], automaton: Automaton, cost: Cost, start: Start | None = None) -> Solution:
        own = own_planning(world)
        if own is None or not own.is_needed:
            try:
                return ExactPlanner(self.max_states).solve(world, automaton, cost, start)
            except ProductTooLargeError:
                if own is None:
                    raise
        return own.planner().solve(world, automaton, cost, start)


PLANNERS: Registry[Callable[[int], Planner]] = Registry("planner", {"auto": AutoPlanner, "exact": ExactPlanner})
"""The planners by the name used on the command line; each takes a limit on states."""
