"""Tasks in MiniGrid where the cost or the order matters, and nothing in the world enforces either.

terrain, terrain-16      reach the goal over floor whose colour determines the cost of a step: 1, 3 or 10
doorkey-terrain          the same, with a key to fetch and a door to unlock on the way
ordered-pickup           pick up three coloured balls in an order that only demonstrations show
errand                   go to a corner, then to the goal
"""

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.rules import visit_in_order
from wfairl.minigrid.propositions import AgentAt, AgentOn, Carrying, DoorOpen, Proposition
from wfairl.minigrid.situations import FEATURE_NAMES
from wfairl.minigrid.tasks import MiniGridTask

FLOOR_COSTS = {"yellow": 3.0, "red": 10.0}
"""The cost of a step that ends on floor of a colour; 1 on any other."""

PICKUP_ORDER = ("red", "green", "blue")
"""The colours of the balls of `ordered-pickup`."""


def floor_cost(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cost of transitions by the floor on which they end: [transitions, features] -> [transitions]."""
    costs = np.ones(len(features))
    for color, cost in FLOOR_COSTS.items():
        costs += (cost - 1) * features[:, FEATURE_NAMES.index(f"to {color} floor")]
    return costs


def _terrain(name: str, size: int, horizon: int, with_door: bool) -> MiniGridTask:
    kind = "DoorKeyTerrain" if with_door else "Terrain"
    propositions: dict[str, Proposition] = {"key": Carrying("key"), "door": DoorOpen()} if with_door else {}
    propositions["goal"] = AgentOn("goal")
    return MiniGridTask(
        name=name,
        summary=f"{'fetch the key, unlock the door, ' if with_door else ''}reach the goal over floor of hidden cost",
        environment_id=f"wfairl/{kind}-{size}x{size}-v0",
        scene_propositions=lambda _: propositions,
        rule=visit_in_order("goal"),
        horizon=horizon,
        true_cost=floor_cost,
    )


TERRAIN_TASKS = (
    _terrain("terrain", 8, 100, with_door=False),
    _terrain("terrain-16", 16, 200, with_door=False),
    _terrain("doorkey-terrain", 8, 150, with_door=True),
    _terrain("doorkey-terrain-16", 16, 300, with_door=True),
    MiniGridTask(
        name="ordered-pickup",
        summary=f"pick up the {', the '.join(PICKUP_ORDER[:-1])} and the {PICKUP_ORDER[-1]} ball, in this order",
        environment_id="wfairl/OrderedPickup-5x5-v0",
        scene_propositions=lambda _: {color: Carrying("ball", color) for color in PICKUP_ORDER},
        rule=visit_in_order(*PICKUP_ORDER),
        horizon=100,
    ),
    MiniGridTask(
        name="errand",
        summary="to the corner, then to the goal",
        environment_id="MiniGrid-FourRooms-v0",
        scene_propositions=lambda _: {"corner": AgentAt(1, 1), "goal": AgentOn("goal")},
        rule=visit_in_order("corner", "goal"),
        horizon=100,
    ),
)
