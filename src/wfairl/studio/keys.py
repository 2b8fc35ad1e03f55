"""Which key stands for which control, and which control leads where a person points.

Controls such as "neighbour 17" have no natural key. In a world that says where the agent is, one points instead: with
the arrow keys, or at a place in the picture.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from wfairl.errors import BadInputError
from wfairl.worlds.rendering import as_located, can_locate
from wfairl.worlds.world import World, available_controls

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
"""Keys that controls of these names have; others have their first free letter, or a digit."""

SYMBOLS = {"ArrowLeft": "\u2190", "ArrowRight": "\u2192", "ArrowUp": "\u2191", "ArrowDown": "\u2193", " ": "Space"}

RESERVED = frozenset("urntyx123")
"""What the stage itself has a use for: undo, reset, next, the most telling scene, yes, wrong, and its three places."""


def keys_of(controls: Sequence[str]) -> list[dict[str, Any]]:
    """Name, key and what to write on the button, of each control."""
    taken: set[str] = set()
    keys = []
    for number, name in enumerate(controls):
        letters = [letter for letter in name.lower() if letter.isalnum() and letter not in RESERVED]
        wanted = [PREFERRED.get(name.lower(), ""), *letters, *map(str, range(4, 10))]
        key = next((one for one in wanted if one and one not in taken), "")
        taken.add(key)
        keys.append({"control": number, "name": name, "key": key, "symbol": SYMBOLS.get(key, key)})
    return keys


DIRECTIONS = {"ArrowLeft": (-1, 0), "ArrowRight": (1, 0), "ArrowUp": (0, -1), "ArrowDown": (0, 1)}
"""Of arrow keys, in pictures, whose y points down."""


def can_point(world: World[Any]) -> bool:
    """Whether one points where to go in a world, since no control has an arrow key."""
    return can_locate(world) and not any(name.lower() in PREFERRED for name in world.controls)


def pointed_at(world: World[Any], state: Any, x: float, y: float) -> int:
    """The control that leads nearest to a place in the picture.

    Raises:
        BadInputError: none leads nearer than where the agent is.
    """
    controls, ways = _ways(world, state)
    here = np.hypot(*(np.array(as_located(world).locate(state)) - (x, y)))
    left = np.hypot(*(np.array(as_located(world).locate(state)) + ways - (x, y)).T)
    if not len(left) or left.min() >= here:
        raise BadInputError("nothing leads nearer to that place from here")
    return int(controls[left.argmin()])


def headed(world: World[Any], state: Any, direction: str) -> int:
    """The control that leads farthest in the direction of an arrow key, and least to its sides.

    Raises:
        BadInputError: none leads that way.
    """
    if direction not in DIRECTIONS:
        raise BadInputError("there is no such direction")
    controls, ways = _ways(world, state)
    along = ways @ np.array(DIRECTIONS[direction])
    worth = np.where(along > 0, along**2 / np.hypot(*ways.T), 0.0)
    if not len(worth) or worth.max() <= 0:
        raise BadInputError("nothing leads that way from here")
    return int(controls[worth.argmax()])


def _ways(world: World[Any], state: Any) -> tuple[np.ndarray, np.ndarray]:
    """The controls that lead elsewhere, [n], and how far in the picture, [n, 2]."""
    here = np.array(as_located(world).locate(state), float)
    controls = np.flatnonzero(available_controls(world, state))
    after = [as_located(world).locate(world.step(state, int(control))) for control in controls]
    ways = np.array(after, float).reshape(-1, 2) - here
    moves = np.hypot(*ways.T) > 0
    return controls[moves], ways[moves]
