"""Rooms of our own as MiniGrid environments, registered with Gymnasium: coloured floor, and three balls."""

import wfairl.minigrid.library  # isort: skip # noqa: F401
from typing import Any

import gymnasium
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Ball, Door, Floor, Goal, Key
from minigrid.minigrid_env import MiniGridEnv

COVERED = {"red": 0.25, "yellow": 0.25}
"""The fraction of the cells that patches of a colour cover, about."""

PATCH_CELLS = 4

BALL_COLORS = ("red", "green", "blue")


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
            for _ in range(round(part * (width - 2) * (height - 2) / PATCH_CELLS)):
                self._place_patch(color, width, height)

    def _place_patch(self, color: str, width: int, height: int) -> None:
        """A short random walk of coloured floor, over cells with nothing on them."""
        x, y = self._rand_int(1, width - 1), self._rand_int(1, height - 1)
        for _ in range(PATCH_CELLS):
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
        for color in BALL_COLORS:
            self.place_obj(Ball(color))
        self.place_agent()


OWN_ENVIRONMENTS = {
    "wfairl/Terrain-8x8-v0": (TerrainEnv, {"size": 8}),
    "wfairl/Terrain-16x16-v0": (TerrainEnv, {"size": 16}),
    "wfairl/DoorKeyTerrain-8x8-v0": (TerrainEnv, {"size": 8, "with_door": True}),
    "wfairl/DoorKeyTerrain-16x16-v0": (TerrainEnv, {"size": 16, "with_door": True}),
    "wfairl/OrderedPickup-5x5-v0": (OrderedPickupEnv, {}),
}

for _id, (_environment, _settings) in OWN_ENVIRONMENTS.items():
    if _id not in gymnasium.registry:
        # by name: Gymnasium stores no class, and so Minari would refuse what is recorded there
        gymnasium.register(_id, f"{__name__}:{_environment.__name__}", kwargs=_settings)
