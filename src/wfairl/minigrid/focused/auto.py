"""The planner that chooses between the others by the size of the world."""

from dataclasses import dataclass
from typing import Any

from wfairl.core.automata.automaton import Automaton
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.planner import ExactPlanner, Planner, Solution, Start
from wfairl.core.planning.product import DEFAULT_MAX_STATES, ProductTooLargeError
from wfairl.core.worlds.world import World
from wfairl.minigrid.focused.lazy_world import LazyWorld
from wfairl.minigrid.focused.planner import FocusedPlanner

MOST_ESTIMATED = 5e7
"""Worlds with more states than this, by their own estimate, are not enumerated."""


@dataclass(frozen=True)
class AutoPlanner:
    """The exact planner up to a number of product states, else the focused one.

    Attributes:
        max_states: of the product.
    """

    max_states: int = DEFAULT_MAX_STATES

    def solve(self, world: World[Any], automaton: Automaton, cost: Cost, start: Start | None = None) -> Solution:
        if is_large(world):
            return FocusedPlanner().solve(world, automaton, cost, start)
        try:
            return ExactPlanner(self.max_states).solve(world, automaton, cost, start)
        except ProductTooLargeError:
            if not isinstance(world, LazyWorld):
                raise
            return FocusedPlanner().solve(world, automaton, cost, start)


PLANNERS: dict[str, type[AutoPlanner] | type[ExactPlanner] | type[FocusedPlanner]] = {
    "auto": AutoPlanner,
    "exact": ExactPlanner,
    "focused": FocusedPlanner,
}
"""The planners by the name used on the command line; each takes a limit on states."""


def make_planner(name: str, max_states: int) -> Planner:
    """A planner by its name, with a limit on states."""
    return PLANNERS[name](max_states)


def is_large(world: World[Any]) -> bool:
    """Whether a world has too many states to enumerate, by its own estimate."""
    return isinstance(world, LazyWorld) and world.estimated_states() > MOST_ESTIMATED
