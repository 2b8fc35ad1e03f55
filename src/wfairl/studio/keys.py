"""Keys for controls, and controls for directions and points of the image.

Controls such as "neighbour 17" have no natural key. In a world that tells where the agent is, a person points instead:
with the arrow keys, or by clicking in the image.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.world import World, available_controls
from wfairl.pages.world_drawing import need_places, rendering_of

PREFERRED = {
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "forward": "ArrowUp",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "north": "ArrowUp",
    "south": "ArrowDown",
    "west": "ArrowLeft",
    "east": "ArrowRight",
    "backward": "ArrowDown",
    "toggle": " ",
}
"""Keys of controls with these names; others get their first free letter, or a digit."""

SYMBOLS = {"ArrowLeft": "\u2190", "ArrowRight": "\u2192", "ArrowUp": "\u2191", "ArrowDown": "\u2193", " ": "Space"}

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
        keys.append({"control": number, "name": name, "key": key, "symbol": SYMBOLS.get(key, key)})
    return keys


DIRECTIONS = {"ArrowLeft": (-1, 0), "ArrowRight": (1, 0), "ArrowUp": (0, -1), "ArrowDown": (0, 1)}
"""Of arrow keys in images, whose y points down."""


def can_point(world: World[Any]) -> bool:
    """Whether a person points where to go, since no control has a preferred key."""
    rendering = rendering_of(world)
    can_locate = rendering is not None and rendering.places is not None
    return can_locate and not any(name.lower() in PREFERRED for name in world.controls)


def control_towards(world: World[Any], state: Any, x: float, y: float) -> int:
    """The control that leads nearest to a point of the image.

    Raises:
        BadInputError: none leads nearer than where the agent is.
    """
    controls, moves = _moves(world, state)
    offset = np.array(need_places(world).locate(state)) - (x, y)
    distances = np.hypot(*(offset + moves).T)
    if not len(distances) or distances.min() >= np.hypot(*offset):
        raise BadInputError("no control leads nearer to that point")
    return int(controls[distances.argmin()])


def control_in_direction(world: World[Any], state: Any, key: str) -> int:
    """The control that leads farthest in the direction of an arrow key, and least to its sides.

    Raises:
        BadInputError: no control does.
    """
    if key not in DIRECTIONS:
        raise BadInputError("there is no such direction")
    controls, moves = _moves(world, state)
    along = moves @ np.array(DIRECTIONS[key])
    scores = np.where(along > 0, along**2 / np.hypot(*moves.T), 0.0)
    if not len(scores) or scores.max() <= 0:
        raise BadInputError("no control leads in that direction")
    return int(controls[scores.argmax()])


def _moves(world: World[Any], state: Any) -> tuple[np.ndarray, np.ndarray]:
    """The controls that move the agent, [n], and its displacement in the image, [n, 2]."""
    here = np.array(need_places(world).locate(state), float)
    controls = np.flatnonzero(available_controls(world, state))
    points = [need_places(world).locate(world.step(state, int(control))) for control in controls]
    moves = np.array(points, float).reshape(-1, 2) - here
    has_moved = np.hypot(*moves.T) > 0
    return controls[has_moved], moves[has_moved]
