"""Worlds as arrays: the speed of exploring and planning in them, beside MiniGrid's own compiled search.

    python benchmarks/graph_world.py [--json] [--quick] [--side 1000] [--repeats 5]

A plain-Python grid of side x side cells with four moves becomes a `GraphWorld` once; then products are explored
and costs-to-go computed at compiled speed. The exploration of `blocked-unlock-pickup`, per transition, is measured in
the same run. Last, many destinations share one table: the memory of one scene.
"""

import sys
import time
from typing import Any

import numpy as np
from reporting import fastest, make_parser, report

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning import build_product, cost_to_go
from wfairl.core.planning.cost import feature_cost
from wfairl.core.worlds import explore_world
from wfairl.runs.task_registry import find_task

SCENES = 200


class Plain:
    """A grid of cells in plain Python; the goal is the far corner."""

    controls = ("up", "right", "down", "left")
    propositions = ("goal",)
    initial_state = 0

    def __init__(self, side: int):
        self.side = side

    def step(self, state: int, control: int) -> int:
        """One cell on, unless there is the edge."""
        x, y = divmod(state, self.side)
        dx, dy = ((0, 1), (1, 0), (0, -1), (-1, 0))[control]
        return min(max(x + dx, 0), self.side - 1) * self.side + min(max(y + dy, 0), self.side - 1)

    def label(self, state: int, control: int, next_state: int) -> frozenset[str]:  # noqa: ARG002
        """Whether the robot is in the corner."""
        return frozenset({"goal"}) if next_state == self.side**2 - 1 else frozenset()

    def features(self, state: int, control: int, next_state: int) -> np.ndarray:  # noqa: ARG002
        """Whether the cell is crowded."""
        return np.array([1.0, float(next_state * 7919 % 10 < 3)])


def main() -> None:
    parser = make_parser(__doc__, repeats=5)
    parser.add_argument("--side", type=int, default=1000, help="cells of a side of the grid")
    arguments = parser.parse_args()
    side = min(arguments.side, 100) if arguments.quick else arguments.side
    report({"worlds as arrays": measure(side, arguments.repeats)}, arguments.json)


def measure(side: int, repeats: int) -> dict[str, Any]:
    rule = visit_in_order("goal")
    explore_world(Plain(10))  # imports and compiles
    begun = time.perf_counter()
    world = explore_world(Plain(side))
    exploring = time.perf_counter() - begun
    product = build_product(world, rule)
    costs = feature_cost(lambda features: 1 + 3 * features[:, 1])(product)
    _ = product.graph, cost_to_go(product.graph, costs)
    ours = fastest(lambda: world.explore(rule), repeats)
    minigrid = find_task("blocked-unlock-pickup")
    scene = minigrid.make_world(1)
    theirs_found = scene.explore(minigrid.rule)
    theirs = fastest(lambda: scene.explore(minigrid.rule), repeats)
    scenes = [world.scene(start=int(state)) for state in range(SCENES)]
    own = [sys.getsizeof(one) + sum(sys.getsizeof(value) for value in (one.marks, one.initial_state)) for one in scenes]
    return {
        "states": len(product),
        "transitions": int(product.successors.size),
        "exploring the plain world once, s": exploring,
        "exploring the graph, ns per transition": 1e9 * ours / product.successors.size,
        "exploring MiniGrid, ns per transition": 1e9 * theirs / theirs_found.successors.size,
        "graph / MiniGrid": (ours / product.successors.size) / (theirs / theirs_found.successors.size),
        "cost-to-go, ms": 1e3 * fastest(lambda: cost_to_go(product.graph, costs), repeats),
        "bytes of a scene beside the shared table": float(np.mean(own)),
        "bytes of the table": int(world.table.successors.nbytes + world.table.label_index.nbytes),
    }


if __name__ == "__main__":
    main()
