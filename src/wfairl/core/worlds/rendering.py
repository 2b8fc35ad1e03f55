"""How a world looks to a person: images of its states, and the place of the agent in them.

A world that can be shown has an attribute `rendering`, which is None or a `Rendering`:

    @property
    def rendering(self):
        return Rendering(self.draw, Places(self.locate))

A world without one is left out of pages with a sentence that says so.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Places:
    """Where the agent is in the images of a world.

    Attributes:
        locate: the pixel (x, y) of the agent in a state, counted from the upper left corner of the image.
        heading: the direction that the agent faces in a state: 0, 90, 180 or 270 degrees from the right, clockwise in
            the image. None if the agent has no direction.
    """

    locate: Callable[[Any], tuple[float, float]]
    heading: Callable[[Any], float] | None = None


@dataclass(frozen=True)
class Tiles:
    """The images of a world as tiles, few of which change in a step."""

    # from a state to a number for the image of every cell, shape [rows, columns]
    keys: Callable[[Any], NDArray[np.integer]]
    render: Callable[[int], NDArray[np.uint8]]  # from such a number to the image of the cell


@dataclass(frozen=True)
class Rendering:
    """How a world looks.

    Attributes:
        render: from a state to its image, shape [height, width, 3] of uint8; all images of a world have one shape.
        places: where the agent is in the images; None if the world cannot tell.
        tiles: the same images as tiles; None if the images are not made of tiles.
        describe: from a state to words for a person who cannot see it: one line on the agent, perhaps one on the rest.
    """

    render: Callable[[Any], NDArray[np.uint8]]
    places: Places | None = None
    tiles: Tiles | None = None
    describe: Callable[[Any], str] | None = None

    def after(self, translate: Callable[[Any], Any]) -> "Rendering":
        """The rendering of another world, whose states `translate` turns into the states of this one."""

        def after(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
            return lambda state: function(translate(state))

        places = self.places and Places(after(self.places.locate), self.places.heading and after(self.places.heading))
        tiles = self.tiles and Tiles(after(self.tiles.keys), self.tiles.render)
        return Rendering(after(self.render), places, tiles, self.describe and after(self.describe))


@runtime_checkable
class Rendered(Protocol):
    """A world, or the source of one, that may be able to show its states."""

    @property
    def rendering(self) -> Rendering | None:
        """How it looks; None if it cannot be shown."""


def offered_rendering(world: Any) -> Rendering | None:
    """How a world says it looks; None if it says nothing."""
    return world.rendering if isinstance(world, Rendered) else None
