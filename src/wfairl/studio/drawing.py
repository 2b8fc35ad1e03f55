"""Another way than the agent's, as a person draws it: the controls that lead through places in the picture."""

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from wfairl.demonstrations.demonstration import walk
from wfairl.errors import BadInputError
from wfairl.report.tiles import TILE
from wfairl.worlds.documents import Inventive
from wfairl.worlds.rendering import Tiled, as_located
from wfairl.worlds.world import World, available_controls

MOST_SEARCHED = 10_000
"""States that are looked at for a way to one place."""

Place = tuple[float, float]


def lead_through(world: World[Any], controls: Sequence[int], places: Sequence[Place], seed: int) -> tuple[int, ...]:
    """Controls, and after them the fewest that lead through places of the picture, one after the other.

    Places that nothing leads to, such as the walls that a line crosses, are passed over.

    Raises:
        BadInputError: a control cannot be chosen where it is, or nothing leads to any of the places.
    """
    state, way = walk(world, controls, seed)[0][-1], list(controls)
    found = False
    for place in places:
        onward = _controls_to(world, state, place)
        if onward is not None:
            found = True
            way += onward
            for control in onward:
                state = world.step(state, control)
    if places and not found:
        raise BadInputError("nothing leads there from here")
    return tuple(way)


def _controls_to(world: World[Any], start: Any, place: Place) -> list[int] | None:
    """The fewest controls to the tile of a place; None if none were found.

    In worlds of many things, states that look alike around the agent are taken for one at first: what it could do with
    things elsewhere matters only where that finds no way, as to a door whose key lies behind.
    """
    if isinstance(world, Inventive):
        try:
            world.cell_at(*place)
        except BadInputError:
            return None  # a wall
    if isinstance(world, Tiled):
        controls = _search(world, start, place, lambda state: _surroundings(world, state))
        if controls is not None:
            return controls
    return _search(world, start, place, lambda state: state)


def _search(world: World[Any], start: Any, place: Place, looks: Callable[[Any], Hashable]) -> list[int] | None:
    wanted, seen = _tile(place), {looks(start)}
    ways: dict[Any, tuple[Any, int] | None] = {start: None}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        if _tile(as_located(world).locate(state)) == wanted:
            return _way_to(ways, state)
        if len(ways) >= MOST_SEARCHED:
            continue
        for control in np.flatnonzero(available_controls(world, state)).tolist():
            after = world.step(state, control)
            if after not in ways and looks(after) not in seen:
                seen.add(looks(after))
                ways[after] = state, control
                queue.append(after)
    return None


def _surroundings(world: Any, state: Any) -> Hashable:
    """Where the agent is, and what the cells around it show."""
    column, row = _tile(world.locate(state))
    around = world.tile_keys(state)[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
    return column, row, around.tobytes()


def _tile(place: Place) -> tuple[int, int]:
    return int(place[0] // TILE), int(place[1] // TILE)


def _way_to(ways: dict[Any, tuple[Any, int] | None], state: Any) -> list[int]:
    controls: list[int] = []
    while (last := ways[state]) is not None:
        state, control = last
        controls.append(control)
    return controls[::-1]
