"""Controls through waypoints: the path that a person draws in the image, for comparison with the agent's."""

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np

from wfairl.core.planning.path import follow
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.rendering import Places, Tiles
from wfairl.core.worlds.world import World, available_controls
from wfairl.pages.tiles import TILE
from wfairl.pages.world_drawing import need_places, need_rendering
from wfairl.studio.task_spec import Inventive

EXPANSION_LIMIT = 10_000
"""States of the search for one waypoint."""

Point = tuple[float, float]
"""Pixels (x, y) of the image."""


def controls_through(world: World[Any], controls: Sequence[int], waypoints: Sequence[Point]) -> tuple[int, ...]:
    """Controls, followed by the fewest that lead through waypoints, one after the other.

    Unreachable waypoints, such as the walls that a line crosses, are skipped.

    Raises:
        BadInputError: a control is not available where it is chosen, or no waypoint is reachable.
    """
    state, path = follow(world, controls).states[-1], list(controls)
    is_reachable = not waypoints
    for waypoint in waypoints:
        onward = _controls_to(world, state, waypoint)
        if onward is not None:
            is_reachable = True
            path += onward
            state = follow(world, path).states[-1]
    if not is_reachable:
        raise BadInputError("the agent cannot get there from here")
    return tuple(path)


def _controls_to(world: World[Any], start: Any, waypoint: Point) -> list[int] | None:
    """The fewest controls to the tile of a waypoint; None if it was not reached.

    In worlds of many objects, states with the same surroundings of the agent are first taken as one: the state of other
    objects matters only if that search fails, as for a door whose key lies behind.
    """
    if isinstance(world, Inventive):
        try:
            world.cell_at(*waypoint)
        except BadInputError:
            return None  # a wall
    rendering, places = need_rendering(world), need_places(world)
    if rendering.tiles is not None:
        surroundings = partial(_surroundings, places, rendering.tiles)
        controls = _search(world, start, waypoint, surroundings)
        if controls is not None:
            return controls
    return _search(world, start, waypoint, lambda state: state)


def _search(world: World[Any], start: Any, waypoint: Point, key_of: Callable[[Any], Hashable]) -> list[int] | None:
    """Breadth-first search that expands one state per key."""
    goal, keys, agent = _tile(waypoint), {key_of(start)}, need_places(world)
    parents: dict[Any, tuple[Any, int] | None] = {start: None}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        if _tile(agent.locate(state)) == goal:
            return _controls_from(parents, state)
        if len(parents) >= EXPANSION_LIMIT:
            continue
        for control in np.flatnonzero(available_controls(world, state)).tolist():
            next_state = world.step(state, control)
            if next_state not in parents and key_of(next_state) not in keys:
                keys.add(key_of(next_state))
                parents[next_state] = state, control
                queue.append(next_state)
    return None


def _surroundings(agent: Places, tiles: Tiles, state: Any) -> Hashable:
    """The agent's tile, and what the tiles around it show."""
    column, row = _tile(agent.locate(state))
    around = tiles.keys(state)[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
    return column, row, around.tobytes()


def _tile(point: Point) -> tuple[int, int]:
    return int(point[0] // TILE), int(point[1] // TILE)


def _controls_from(parents: dict[Any, tuple[Any, int] | None], state: Any) -> list[int]:
    controls: list[int] = []
    while (parent := parents[state]) is not None:
        state, control = parent
        controls.append(control)
    return controls[::-1]
