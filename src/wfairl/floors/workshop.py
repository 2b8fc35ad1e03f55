"""The workshop: a floor without cells, on which a robot fetches a part, has it inspected and brings it to the dock.

Twelve bays stand along the walls and between the machines; which of them is the store, the inspection and the dock
changes from scene to scene, and so does which of forty places the robot starts from. Where somebody is welding, the
robot must not go. A metre on the wet floor costs as much as four on dry floor, one on the forklift lane as much as two:
only demonstrations reveal that.

The task is known without Shapely; its scenes need it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.task import ModelTask

if TYPE_CHECKING:
    from wfairl.floors.floor_plan import FloorPlan
    from wfairl.floors.roadmap import Roadmap

BAYS = (
    (1.2, 1.2), (6.4, 1.0), (13.0, 1.0), (22.6, 1.2), (22.8, 8.2), (22.6, 14.8),
    (16.0, 15.0), (9.6, 15.0), (1.2, 14.8), (1.0, 8.4), (8.7, 6.2), (17.6, 10.4),
)  # fmt: skip
"""The middle of each bay."""

WELDING = {
    "welding west": (4.6, 8.4, 1.5),
    "welding north": (12.6, 12.0, 1.4),
    "welding east": (20.0, 7.0, 1.4),
    "welding south": (9.6, 2.8, 1.3),
}
"""Circles (x, y, radius) where somebody may be welding; in each scene two of them are in use."""

PRICES = np.array([1.0, 4.0, 2.0])
"""The true price of a metre on the plain floor, on the wet floor and on the lane."""

SAMPLES = 300
"""Samples of the roadmap on which tasks are learned; a learned model holds on any other."""

PROPOSITIONS = ("store", "inspection", "dock", "welding")

STARTS = 40
"""Places where the robot may start."""


@cache
def workshop_plan() -> FloorPlan:
    """The floor."""
    from wfairl.floors.floor_plan import FloorPlan
    from wfairl.floors.shapes import circle, polygon, rectangle

    return FloorPlan(
        bounds=(0, 0, 24, 16),
        obstacles=(
            rectangle(3.0, 2.8, 6.8, 4.6),
            rectangle(2.6, 11.4, 6.4, 13.0),
            polygon((8.6, 8.4), (11.0, 8.4), (11.0, 10.2), (9.8, 10.2), (9.8, 12.4), (8.6, 12.4)),
            circle(7.4, 9.6, 0.5),
            rectangle(14.6, 11.4, 15.4, 14.0),
            rectangle(16.8, 12.2, 20.8, 13.4),
            polygon((16.6, 2.4), (20.6, 2.4), (20.6, 4.4), (18.4, 4.4), (18.4, 5.6), (16.6, 5.6)),
            rectangle(18.6, 9.4, 21.2, 10.8),
            circle(21.6, 5.4, 0.4),
            rectangle(11.4, 1.8, 12.0, 4.4),
        ),
        regions={
            **{f"bay {i}": circle(x, y, 0.7) for i, (x, y) in enumerate(BAYS, start=1)},
            **{name: circle(*where) for name, where in WELDING.items()},
        },
        zones={
            "wet": polygon((11.8, 5.2), (15.6, 4.6), (16.4, 8.0), (15.2, 10.6), (12.2, 10.2), (11.4, 7.4)),
            "lane": rectangle(2.0, 5.2, 10.6, 6.9),
        },
    )


@cache
def workshop_roadmap(samples: int = SAMPLES, seed: int = 0) -> Roadmap:
    """The workshop as a graph."""
    from wfairl.floors.roadmap import draw_roadmap

    return draw_roadmap(workshop_plan(), samples, seed, places=start_places())


@cache
def start_places() -> NDArray[np.float64]:
    """The starts of the robot: free places outside all regions, the same on every roadmap; shape [STARTS, 2]."""
    plan = workshop_plan()
    left, bottom, right, top = plan.bounds
    drawn = np.random.default_rng(0).uniform((left, bottom), (right, top), size=(10 * STARTS, 2))
    is_clear = ~(plan.region_set.contain(drawn).any(axis=1) | plan.obstacle_set.contain(drawn).any(axis=1))
    return drawn[is_clear][:STARTS]


def workshop(seed: int, roadmap: Roadmap | None = None) -> GraphWorld:
    """The scene of a seed: three bays with a proposition, two places of welding, and a start.

    Args:
        seed: of the scene.
        roadmap: whose first vertices are the starts; the one on which tasks are learned unless given.
    """
    roadmap = workshop_roadmap() if roadmap is None else roadmap
    rng = np.random.default_rng(seed)
    bays = rng.choice(len(BAYS), size=3, replace=False)
    welding = rng.choice(list(WELDING), size=2, replace=False)
    meanings = {f"bay {bay + 1}": name for bay, name in zip(bays.tolist(), PROPOSITIONS[:3], strict=True)}
    meanings |= {str(place): "welding" for place in welding}
    return roadmap.world(int(rng.integers(STARTS)), meanings, PROPOSITIONS)


WORKSHOP = ModelTask(
    name="workshop",
    summary="fetch a part at the store, have it inspected, bring it to the dock, and keep away from welding",
    propositions=PROPOSITIONS,
    rule=all_of(visit_in_order(*PROPOSITIONS[:3]), avoid("welding")),
    horizon=200,
    scene=workshop,
    default_cost="prices",
    true_cost=lambda features: features @ PRICES,
    nominal_cost=lambda features: features.sum(axis=1),
)
