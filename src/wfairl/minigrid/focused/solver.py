"""Training in a world too large to enumerate: the optimal paths of demonstrations by focused searches."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfairl.core.costs.gradient import OptimalPaths, trace_best
from wfairl.core.costs.scene import TrainingScene
from wfairl.core.demonstrations.demonstration import Demonstration
from wfairl.core.planning.product import Product
from wfairl.minigrid.focused.focused_search import FocusedSearch


@dataclass(frozen=True, eq=False)
class FocusedSolver:
    """Solves for the demonstrated nodes alone, by A* searches that are kept from one table of costs to the next.

    The nodes of `product` are the situations of a `SceneProduct`, and costs are given for them.
    """

    search: FocusedSearch

    @property
    def product(self) -> Product:
        return self.search.situations

    def nodes(self, demonstration: Demonstration) -> tuple[int, ...]:
        built, node = self.search.product, 0
        for control in demonstration.controls:
            built.expand(np.array([node]))
            if control >= len(built.world.controls) or (node := int(built.successors[node, control])) < 0:
                break
        return demonstration.nodes(built)

    def solve(self, costs: NDArray[np.float64], scenes: Sequence[TrainingScene]) -> list[OptimalPaths]:
        self.search.set_costs(costs)
        for scene in scenes:
            self.search.add_path(int(scene.nodes[0]), scene.controls.tolist())
        return [self._trace_paths(scene.nodes) for scene in scenes]

    def _trace_paths(self, nodes: NDArray[np.int64]) -> OptimalPaths:
        """The optimal paths from some nodes; the last node is solved first, because it is nearest to the end.

        The transitions are situation * controls + control. Where a search was too hard to be proven optimal, the path
        is the best one found, and Q its cost.
        """
        search = self.search
        Q = np.array([search.control_cost_to_go(int(node)) for node in nodes[::-1]])[::-1].copy()
        paths = trace_best(search.product.successors, search.best_control, nodes, Q)
        controls = Q.shape[1]
        node, control = np.divmod(paths.transitions, controls)
        paths = replace(paths, transitions=search.product.situations[node].astype(np.int64) * controls + control)
        if search.unproven == 0:
            return paths
        path_costs = paths.sums(search.costs.reshape(-1, 1)[paths.transitions])[:, :, 0]
        return replace(paths, control_cost_to_go=np.where(np.isinf(Q), np.inf, path_costs))
