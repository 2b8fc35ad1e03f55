"""The focused planner: the cost-to-go only where it is asked, for MiniGrid scenes too large to enumerate.

    Q(s, u) = c(s, u) + V(T(s, u)),     V(s) by A* from s                                     `focused_search`

Beyond the expansion limit, V(s) is the cost of the best path found, with a lower bound on the optimum.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton
from wfairl.core.planning.cost import Cost, CostScope, unit_cost
from wfairl.core.planning.path import Start, follow
from wfairl.core.planning.plan import Plan, unsatisfiable
from wfairl.core.planning.product import check_initial_state
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.world import World
from wfairl.minigrid.focused.focused_search import DEFAULT_EXPANSION_LIMIT, DEFAULT_MAX_NODES, FocusedSearch
from wfairl.minigrid.focused.scene_product import SceneProduct
from wfairl.minigrid.world import MiniGridWorld


@dataclass(frozen=True)
class FocusedPlanner:
    """Computes the cost-to-go only where it is asked, by A*."""

    max_nodes: int = DEFAULT_MAX_NODES  # give up on a scene whose searches reach more nodes than this
    # nodes to expand for a scene under one cost before plans need not be optimal; see `Plan.lower_bound`
    expansion_limit: int = DEFAULT_EXPANSION_LIMIT

    def solve(
        self, world: World[Any], automaton: Automaton, cost: Cost, start: Start | None = None
    ) -> "FocusedSolution":
        """See `Planner`; searches run when the solution is asked.

        Raises:
            BadInputError: the world is no MiniGrid scene.
            BadCostError: the costs are not all finite and above zero.
            TooManyNodesMetError: by the solution, see `max_nodes`.
            AcceptsEmptyWordError, BadInputError: see `build_product`.
        """
        if not isinstance(world, MiniGridWorld) or world.slips:
            other = "scenes that slip" if isinstance(world, MiniGridWorld) else f"a {type(world).__name__}"
            raise BadInputError(f"the focused planner is for MiniGrid scenes, not for {other}; use the exact planner")
        check_initial_state(automaton)
        automaton.check_propositions(world.propositions)
        begin = (world.initial_state, 0) if start is None else start
        scope = CostScope.CONSTANT if cost is unit_cost else getattr(cost, "scope", CostScope.GLOBAL)
        product = SceneProduct(world, automaton, begin, scope)
        search = FocusedSearch(product, self.max_nodes, self.expansion_limit)
        search.price(cost)
        return FocusedSolution(search)


@dataclass(frozen=True, eq=False)
class FocusedSolution:
    """A solution that is computed as it is asked for, by searches that are kept."""

    search: FocusedSearch

    def control_cost_to_go(self, state: Any, automaton_state: int) -> NDArray[np.float64]:
        """See `Solution`; never None."""
        return self.search.control_cost_to_go(self.search.product.add(state, automaton_state))

    def plan(self) -> Plan:
        """See `Solution`; where the plan is not proven optimal, its lower bound is less than its cost."""
        product = self.search.product
        if self.search.cost_to_go(0) == np.inf:
            raise unsatisfiable(product.automaton, self.search.labels_by_automaton_state())
        controls, cost = self.search.best_path(0)
        path = follow(product.world, controls, product.automaton, (product.state(0), int(product.automaton_states[0])))
        statistics = {"product_states": len(product), "expansions": self.search.expansions}
        return Plan(path, cost, min(cost, float(self.search.lower_bounds[0])), statistics)
