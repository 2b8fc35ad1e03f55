"""Which key stands for which control."""

from collections.abc import Sequence
from typing import Any

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
