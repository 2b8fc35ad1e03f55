"""A road network: hundreds of destinations on one graph, which they all share.

A node of the graph is a crossing, an edge a road with a length and a price for its traffic. Every destination is its
own scene, which adds one mark to the shared arrays.
"""

import networkx as nx
import numpy as np

from wfairl import GraphWorld, ModelTask, build_product, find_plan, then, visit_in_order
from wfairl.core.planning import true_cost

SIDE = 30


def make_roads(seed=0):
    """A grid of streets, some of them jammed."""
    roads = nx.grid_2d_graph(SIDE, SIDE)
    rng = np.random.default_rng(seed)
    for _, _, road in roads.edges(data=True):
        road.update(km=float(rng.uniform(0.5, 1.5)), jam=float(rng.random() < 0.3))
    return roads


ROADS = GraphWorld.from_networkx(
    make_roads(),
    start=(0, 0),
    features=("km", "jam"),
    propositions=("fuel", "destination"),
    positions={(x, y): (x, y) for x in range(SIDE) for y in range(SIDE)},
)
STATIONS = {(5, 20): "fuel", (20, 4): "fuel"}


def scene(seed):
    """The same roads with another start and another destination."""
    rng = np.random.default_rng(seed)
    start, destination = (tuple(int(part) for part in rng.integers(SIDE, size=2)) for _ in range(2))
    return ROADS.scene(start=start, marks={**STATIONS, destination: "destination"})


TASK = ModelTask(
    name="drive",
    summary="refuel, then drive to the destination",
    propositions=ROADS.propositions,
    rule=then(visit_in_order("fuel"), visit_in_order("destination")),
    horizon=300,
    scene=scene,
    true_cost=lambda features: features[:, 0] * (1 + 4 * features[:, 1]),
)

if __name__ == "__main__":
    worlds = [TASK.make_world(seed) for seed in range(300)]
    assert all(world.table is ROADS.table for world in worlds)
    products = [build_product(world, TASK.rule) for world in worlds]
    costs = [find_plan(product, true_cost(TASK)(product)).cost for product in products]
    print(f"{len(worlds)} destinations on one table of {len(ROADS.table.successors)} crossings")
    print(f"a drive costs {np.mean(costs):.1f} on average")
