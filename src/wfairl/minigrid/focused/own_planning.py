"""A world too large to enumerate brings to the core a planner, a solver for training, and a part to learn logic in.

These parts are imported when they are asked for: a world small enough to enumerate needs none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.planning.cost import Cost, CostScope
from wfairl.core.planning.product import Product

if TYPE_CHECKING:
    from wfairl.minigrid.focused.planner import FocusedPlanner
    from wfairl.minigrid.focused.solver import FocusedSolver
    from wfairl.minigrid.world import MiniGridWorld

LARGEST_ENUMERATED = 5e7
"""A world with more states than this, by its own estimate, is not enumerated."""


@dataclass(frozen=True, eq=False)
class FocusedPlanning:
    """The `OwnPlanning` of a world whose products are built while they are searched."""

    world: "MiniGridWorld"

    @property
    def is_needed(self) -> bool:
        return self.world.estimated_states() > LARGEST_ENUMERATED

    def planner(self) -> "FocusedPlanner":
        from wfairl.minigrid.focused.planner import FocusedPlanner

        return FocusedPlanner()

    def solver(self, automaton: Automaton) -> "FocusedSolver":
        from wfairl.minigrid.focused.focused_search import FocusedSearch
        from wfairl.minigrid.focused.scene_product import SceneProduct
        from wfairl.minigrid.focused.solver import FocusedSolver

        product = SceneProduct(self.world, automaton, (self.world.initial_state, 0), CostScope.LOCAL)
        return FocusedSolver(FocusedSearch(product))

    def explore_paths(
        self, states: Sequence[Any], labels: Sequence[Label], words: Sequence[Sequence[Label]], cost: Cost
    ) -> Product:
        from wfairl.minigrid.focused.exploring import explore_paths

        return explore_paths(self.world, states, labels, words, cost)
