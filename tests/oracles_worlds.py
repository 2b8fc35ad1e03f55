"""Slow and obvious versions of what the worlds room does, on the real environment itself."""

import copy
from collections import deque

import numpy as np
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Ball, Box, Door, Floor, Goal, Key, Lava, Wall
from minigrid.minigrid_env import MiniGridEnv


class RandomScene(MiniGridEnv):
    """A small walled room, strewn at random with everything that the model claims to know."""

    def __init__(self, size=6, things=6, colors=("red", "blue"), **settings):
        self.things, self.scene_colors = things, colors
        mission = MissionSpace(mission_func=lambda: "")
        super().__init__(mission_space=mission, grid_size=size, max_steps=10_000, **settings)

    def _gen_grid(self, width, height):
        self.grid = Grid(width, height)
        self.grid.wall_rect(0, 0, width, height)
        for _ in range(self.things):
            self.place_obj(self._random_thing())
        self.place_agent()
        self.mission = ""

    def _random_thing(self):
        color = self._rand_elem(self.scene_colors)
        kinds = [
            lambda: Key(color),
            lambda: Ball(color),
            lambda: Box(color),
            lambda: Box(color, Key(color)),
            lambda: Box(color, Box("blue", Ball(color))),
            lambda: Door(color),
            lambda: Door(color, is_locked=True),
            lambda: Door(color, is_open=True),
            lambda: Door(color, is_open=True, is_locked=True),
            lambda: Floor(color),
            Wall,
            Goal,
            Lava,
        ]
        return self._rand_elem(kinds)()


def fingerprint(env):
    """Everything that matters in a real environment, as a hashable value; boxes are looked into."""

    def deep(thing):
        return None if thing is None else (thing.encode(), getattr(thing, "is_locked", None), deep(thing.contains))

    grid = tuple(deep(thing) for thing in env.grid.grid)
    return grid, tuple(map(int, env.agent_pos)), int(env.agent_dir), deep(env.carrying)


def features_by_hand(env, arrives_at):
    """The names of what is in the agent's hands, and of the floor or door it arrives on."""
    names = {f"{'nothing' if env.carrying is None else env.carrying.type} in hand"}
    ground = env.grid.get(*arrives_at)
    if ground is not None and ground.type in ("floor", "door"):
        names.add(f"to {ground.color} floor" if ground.type == "floor" else "to door")
    return names


def stands_on_an_end(env):
    thing = env.grid.get(*env.agent_pos)
    return thing is not None and thing.type in ("goal", "lava")


def reachable(env, controls=6):
    """All fingerprints that can be reached, with the successor under each control, by copying the environment."""
    start = copy.deepcopy(env)
    table = {}
    known = {fingerprint(start)}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        row = []
        for control in range(controls):
            there = here
            if not stands_on_an_end(here):
                there = copy.deepcopy(here)
                MiniGridEnv.step(there, control)
            key = fingerprint(there)
            row.append(key)
            if key not in known:
                known.add(key)
                queue.append(there)
        table[fingerprint(here)] = row
    return table


def fewest_steps(env, done, controls=6):
    """The length of a shortest control sequence after which `done(env)` holds, by copying the environment."""
    known = {fingerprint(env)}
    layer, steps = [copy.deepcopy(env)], 0
    while layer:
        steps += 1
        following = []
        for here in layer:
            for control in range(controls):
                there = copy.deepcopy(here)
                MiniGridEnv.step(there, control)
                if done(there):
                    return steps
                key = fingerprint(there)
                if key not in known and not stands_on_an_end(there):
                    known.add(key)
                    following.append(there)
        layer = following
    return np.inf
