"""Tasks in MiniGrid where the cost or the order matters, and nothing in the world enforces either.

terrain, terrain-16      reach the goal over floor whose colour determines the cost of a step: 1, 3 or 10
doorkey-terrain          the same, with a key to fetch and a door to unlock on the way
ordered-pickup           pick up three coloured balls in an order that only demonstrations show
errand                   go to a corner, then to the goal
"""

from typing import Any, cast

import gymnasium
import numpy as np
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Ball, Door, Floor, Goal, Key
from minigrid.minigrid_env import MiniGridEnv
from numpy.typing import NDArray

from wfairl.core.automata.rules import visit_in_order
from wfairl.minigrid.propositions import AgentAt, AgentOn, Carrying, DoorOpen, Proposition
from wfairl.minigrid.tasks import MiniGridTask
from wfairl.minigrid.world import FEATURE_NAMES

COSTS = {"yellow": 3.0, "red": 10.0}
"""The cost of a step that ends on floor of a colour; 1 on any other."""

COVERED = {"red": 0.25, "yellow": 0.25}
"""The fraction of the cells that patches of a colour cover, about."""

PATCH = 4
"""Cells of a patch."""

BALLS = ("red", "green", "blue")
"""In the order of `ordered-pickup`."""


class TerrainEnv(MiniGridEnv):
    """A room with patches of coloured floor and a goal; with a door, two rooms and a key."""

    def __init__(self, size: int = 8, with_door: bool = False, max_steps: int = 200, **settings: Any):
        self.with_door = with_door
        mission = MissionSpace(mission_func=lambda: "get to the green goal square")
        super().__init__(mission, grid_size=size, max_steps=max_steps, see_through_walls=True, **settings)

    def _gen_grid(self, width: int, height: int) -> None:
        self.grid = Grid(width, height)
        self.grid.wall_rect(0, 0, width, height)
        self.mission = "get to the green goal square"
        split = self._rand_int(3, width - 3) if self.with_door else width - 1
        if self.with_door:
            self.grid.vert_wall(split, 0)
            self.put_obj(Door("blue", is_locked=True), split, self._rand_int(1, height - 1))
            self.place_obj(Key("blue"), top=(0, 0), size=(split, height))
            self.place_obj(Goal(), top=(split + 1, 0), size=(width - split - 1, height))
        else:
            self.place_obj(Goal())
        self.place_agent(top=(0, 0), size=(split, height))
        for color, part in COVERED.items():
            for _ in range(round(part * (width - 2) * (height - 2) / PATCH)):
                self._place_patch(color, width, height)

    def _place_patch(self, color: str, width: int, height: int) -> None:
        """A short random walk of coloured floor, over cells with nothing on them."""
        x, y = self._rand_int(1, width - 1), self._rand_int(1, height - 1)
        for _ in range(PATCH):
            if self.grid.get(x, y) is None and (x, y) != tuple(self.agent_pos):
                self.put_obj(Floor(color), x, y)
            dx, dy = ((1, 0), (0, 1), (-1, 0), (0, -1))[self._rand_int(0, 4)]
            x, y = min(max(x + dx, 1), width - 2), min(max(y + dy, 1), height - 2)


class OrderedPickupEnv(MiniGridEnv):
    """A small room with three balls."""

    def __init__(self, size: int = 5, max_steps: int = 100, **settings: Any):
        mission = MissionSpace(mission_func=lambda: "pick up the balls")
        super().__init__(mission, grid_size=size, max_steps=max_steps, see_through_walls=True, **settings)

    def _gen_grid(self, width: int, height: int) -> None:
        self.grid = Grid(width, height)
        self.grid.wall_rect(0, 0, width, height)
        self.mission = "pick up the balls"
        for color in BALLS:
            self.place_obj(Ball(color))
        self.place_agent()


IDS = {
    "wfairl/Terrain-8x8-v0": (TerrainEnv, {"size": 8}),
    "wfairl/Terrain-16x16-v0": (TerrainEnv, {"size": 16}),
    "wfairl/DoorKeyTerrain-8x8-v0": (TerrainEnv, {"size": 8, "with_door": True}),
    "wfairl/DoorKeyTerrain-16x16-v0": (TerrainEnv, {"size": 16, "with_door": True}),
    "wfairl/OrderedPickup-5x5-v0": (OrderedPickupEnv, {}),
}

for _id, (_environment, _settings) in IDS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(_id, cast(Any, _environment), kwargs=_settings)


def floor_cost(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cost of transitions by the floor that they end on; features of shape [transitions, features]."""
    costs = np.ones(len(features))
    for color, cost in COSTS.items():
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


TASKS = (
    _terrain("terrain", 8, 100, with_door=False),
    _terrain("terrain-16", 16, 200, with_door=False),
    _terrain("doorkey-terrain", 8, 150, with_door=True),
    _terrain("doorkey-terrain-16", 16, 300, with_door=True),
    MiniGridTask(
        name="ordered-pickup",
        summary=f"pick up the {', the '.join(BALLS[:-1])} and the {BALLS[-1]} ball, in this order",
        environment_id="wfairl/OrderedPickup-5x5-v0",
        scene_propositions=lambda _: {color: Carrying("ball", color) for color in BALLS},
        rule=visit_in_order(*BALLS),
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
