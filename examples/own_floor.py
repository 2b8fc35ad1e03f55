"""Your own floor plan, without cells: obstacles, labelled regions, and a zone in which a metre costs more.

    wfairl --tasks examples/own_floor.py plan serve --seed 0 --refine -o plan.png

A waiter fetches an order from the kitchen and brings it to the table of the scene. A metre of carpet costs three times
as much as a metre of plain floor. All scenes share one roadmap; each has its own table and start.
"""

from functools import cache

import numpy as np

from wfairl import ModelTask, visit_in_order
from wfairl.floors import FloorPlan, circle, draw_roadmap, polygon, rectangle, refine_path

PLAN = FloorPlan(
    bounds=(0, 0, 10, 6),
    obstacles=(rectangle(3, 0, 3.4, 3.6), polygon((6, 6), (6.4, 3.4), (6.8, 6)), circle(8.2, 2.0, 0.5)),
    regions={"counter": rectangle(0.2, 0.2, 1.4, 1.2), **{f"table {i}": circle(5 + 2 * i, 5, 0.5) for i in range(3)}},
    zones={"carpet": polygon((3.6, 1), (5.8, 1), (5.8, 5), (3.6, 5))},
)
PRICES = np.array([1.0, 3.0])  # of a metre on the plain floor, and on the carpet


@cache
def roadmap():
    """The floor as a graph."""
    return draw_roadmap(PLAN, samples=100)


def scene(seed):
    """Another table, and another start."""
    rng = np.random.default_rng(seed)
    meanings = {"counter": "kitchen", f"table {rng.integers(3)}": "table"}
    return roadmap().world(roadmap().nearest(rng.uniform((0, 2), (2.5, 6))), meanings, ("kitchen", "table"))


TASK = ModelTask(
    name="serve",
    summary="fetch it at the kitchen and bring it to the table",
    propositions=("kitchen", "table"),
    rule=visit_in_order("kitchen", "table"),
    horizon=80,
    scene=scene,
    default_cost="prices",
    true_cost=lambda features: features @ PRICES,
    nominal_cost=lambda features: features.sum(axis=1),
)

if __name__ == "__main__":
    from wfairl import build_product, find_plan
    from wfairl.core.planning import true_cost

    world = TASK.make_world(0)
    product = build_product(world, TASK.rule)
    plan = find_plan(product, true_cost(TASK)(product))
    refined = refine_path(world.source, roadmap().places[list(plan.path.states)], PRICES)
    print(f"{plan.cost:.2f} on the roadmap of {roadmap().edges} edges, {refined.cost:.2f} in the plane")
