"""Another way than the agent's, as a person draws it: the controls that lead through places in the picture."""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from wfairl.demonstrations.demonstration import walk
from wfairl.errors import BadInputError
from wfairl.report.tiles import TILE
from wfairl.worlds.rendering import as_located
from wfairl.worlds.world import World, available_controls

MOST_SEARCHED = 20_000
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
        onward = _fewest_controls(world, state, place)
        if onward is not None:
            state, found = onward[1], True
            way += onward[0]
    if places and not found:
        raise BadInputError("nothing leads there from here")
    return tuple(way)


def _fewest_controls(world: World[Any], start: Any, place: Place) -> tuple[list[int], Any] | None:
    """The fewest controls to the tile of a place, and the state there; None if none were found."""
    wanted = _tile(place)
    ways: dict[Any, tuple[Any, int] | None] = {start: None}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        if _tile(as_located(world).locate(state)) == wanted:
            return _controls_to(ways, state), state
        if len(ways) >= MOST_SEARCHED:
            continue
        for control in np.flatnonzero(available_controls(world, state)).tolist():
            after = world.step(state, control)
            if after not in ways:
                ways[after] = state, control
                queue.append(after)
    return None


def _tile(place: Place) -> tuple[int, int]:
    return int(place[0] // TILE), int(place[1] // TILE)


def _controls_to(ways: dict[Any, tuple[Any, int] | None], state: Any) -> list[int]:
    controls: list[int] = []
    while (last := ways[state]) is not None:
        state, control = last
        controls.append(control)
    return controls[::-1]
