"""Keys for controls, and controls for directions, points and paths in the image.

Controls such as "neighbour 17" have no natural key. In a world that tells where the agent is, a person points instead:
with the arrow keys, or by clicking in the image. For comparison with the agent's path, a person draws another.
"""

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np

from wfairl.core.planning.path import follow
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.rendering import Places, Tiles
from wfairl.core.worlds.world import World, available_controls, outcomes_of, slips
from wfairl.pages.tiles import TILE
from wfairl.pages.world_drawing import need_places, need_rendering, rendering_of
from wfairl.studio.task_spec import Inventive

KEYS: dict[str, tuple[str, tuple[int, int], tuple[str, ...]]] = {
    "ArrowLeft": ("\u2190", (-1, 0), ("left", "west")),
    "ArrowRight": ("\u2192", (1, 0), ("right", "east")),
    "ArrowUp": ("\u2191", (0, -1), ("forward", "up", "north")),
    "ArrowDown": ("\u2193", (0, 1), ("down", "south", "backward")),
    " ": ("Space", (0, 0), ("toggle",)),
}
"""Of a key: its symbol, its direction in images, whose y points down, and the controls that prefer it, by name."""

PREFERRED = {name: key for key, (_, _, names) in KEYS.items() for name in names}
"""Other controls get their first free letter, or a digit."""

RESERVED = frozenset("urntysx123")
"""Keys of the page itself: undo, start over, next, most telling scene, yes, skip, wrong, and the three modes."""


def keys_of(controls: Sequence[str]) -> list[dict[str, Any]]:
    """The name, the key and the symbol on the button of each control."""
    used: set[str] = set()
    keys = []
    for number, name in enumerate(controls):
        letters = [letter for letter in name.lower() if letter.isalnum() and letter not in RESERVED]
        candidates = [PREFERRED.get(name.lower(), ""), *letters, *map(str, range(4, 10))]
        key = next((one for one in candidates if one and one not in used), "")
        used.add(key)
        keys.append({"control": number, "name": name, "key": key, "symbol": KEYS.get(key, (key,))[0]})
    return keys


def can_point(world: World[Any]) -> bool:
    """Whether a person points where to go, since no control has a preferred key."""
    rendering = rendering_of(world)
    can_locate = rendering is not None and rendering.places is not None
    return can_locate and not any(name.lower() in PREFERRED for name in world.controls)


def control_towards(world: World[Any], state: Any, x: float, y: float) -> int:
    """The control that leads nearest to a point of the image. Raises `BadInputError` if none leads nearer."""
    controls, moves = _moves(world, state)
    offset = np.array(need_places(world).locate(state)) - (x, y)
    distances = np.hypot(*(offset + moves).T)
    if not len(distances) or distances.min() >= np.hypot(*offset):
        raise BadInputError("no control leads nearer to that point")
    return int(controls[distances.argmin()])


def control_in_direction(world: World[Any], state: Any, key: str) -> int:
    """The control that leads farthest where an arrow key points. Raises `BadInputError` if none does."""
    if key not in KEYS:
        raise BadInputError("there is no such direction")
    controls, moves = _moves(world, state)
    along = moves @ np.array(KEYS[key][1])
    scores = np.where(along > 0, along**2 / np.hypot(*moves.T), 0.0)
    if not len(scores) or scores.max() <= 0:
        raise BadInputError("no control leads in that direction")
    return int(controls[scores.argmax()])


def _moves(world: World[Any], state: Any) -> tuple[np.ndarray, np.ndarray]:
    """The controls that move the agent, [n], and its displacement in the image, [n, 2]."""
    here = np.array(need_places(world).locate(state), float)
    controls = np.flatnonzero(available_controls(world, state))
    points = [need_places(world).locate(_usually(world, state, int(control))) for control in controls]
    moves = np.array(points, float).reshape(-1, 2) - here
    has_moved = np.hypot(*moves.T) > 0
    return controls[has_moved], moves[has_moved]


MOST_WAYPOINTS, MOST_STATES = 500, 10_000
"""Of one path, and of the search for one waypoint: more would keep the worker from everybody else."""

Waypoint = tuple[float, float]
"""Pixels (x, y) of the image."""


def controls_through(world: World[Any], controls: Sequence[int], waypoints: Sequence[Waypoint]) -> tuple[int, ...]:
    """Controls, followed by the fewest that lead through waypoints, one after the other.

    Unreachable waypoints, such as the walls that a line crosses, are skipped. Where the world slips, there are no
    waypoints: nobody can choose a path. Raises `BadInputError` if a control is not available where it is chosen, or if
    no waypoint is reachable.
    """
    if len(waypoints) > MOST_WAYPOINTS:
        raise BadInputError(f"a path leads through at most {MOST_WAYPOINTS} points")
    if slips(world):
        if waypoints:
            raise BadInputError("this world slips: nobody can choose a path there; choose a control instead")
        return tuple(controls)
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


def _controls_to(world: World[Any], start: Any, waypoint: Waypoint) -> list[int] | None:
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
    controls = None
    if rendering.tiles is not None:
        controls = _search(world, start, waypoint, partial(_surroundings, places, rendering.tiles))
    return _search(world, start, waypoint, lambda state: state) if controls is None else controls


def _search(world: World[Any], start: Any, waypoint: Waypoint, key_of: Callable[[Any], Hashable]) -> list[int] | None:
    """Breadth-first search that expands one state per key."""
    goal, keys, agent = _tile(waypoint), {key_of(start)}, need_places(world)
    queue: deque[tuple[Any, list[int]]] = deque([(start, [])])
    while queue:
        state, controls = queue.popleft()
        if _tile(agent.locate(state)) == goal:
            return controls
        if len(keys) >= MOST_STATES:
            continue
        for control in np.flatnonzero(available_controls(world, state)).tolist():
            next_state = _usually(world, state, control)
            key = key_of(next_state)
            if key not in keys:
                keys.add(key)
                queue.append((next_state, [*controls, control]))
    return None


def _usually(world: World[Any], state: Any, control: int) -> Any:
    """The most probable next state."""
    return max(outcomes_of(world, state, control), key=lambda one: one[0])[1]


def _surroundings(agent: Places, tiles: Tiles, state: Any) -> Hashable:
    """The agent's tile, and what the tiles around it show."""
    column, row = _tile(agent.locate(state))
    around = tiles.keys(state)[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
    return column, row, around.tobytes()


def _tile(point: Waypoint) -> tuple[int, int]:
    return int(point[0] // TILE), int(point[1] // TILE)
