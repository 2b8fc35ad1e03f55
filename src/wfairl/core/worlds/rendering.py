"""What a world may offer for display: images of its states, and the place of the agent in them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.errors import BadInputError


class NoRendererError(BadInputError):
    """A world has no images of its states, or cannot locate the agent in them."""


@runtime_checkable
class Renderer(Protocol):
    """A world that renders its states."""

    def render(self, state: Any) -> NDArray[np.uint8]:
        """The state as an image, shape [height, width, 3]; the same shape for all states of a world."""
        ...


@runtime_checkable
class Tiled(Renderer, Protocol):
    """A world whose images are made of tiles, few of which change in a step."""

    def tile_keys(self, state: Any) -> NDArray[np.integer]:
        """A number for the image of every cell, shape [rows, columns]."""
        ...

    def render_tile(self, key: int) -> NDArray[np.uint8]:
        """The image of a cell of that number."""
        ...


@runtime_checkable
class Located(Renderer, Protocol):
    """A world that can also locate the agent in the image of a state."""

    def locate(self, state: Any) -> tuple[float, float]:
        """The pixel (x, y) of the agent, from the upper left corner of what `render` gives."""
        ...


@runtime_checkable
class Oriented(Located, Protocol):
    """A world whose agent also has a heading."""

    def heading(self, state: Any) -> float:
        """Degrees from the right, clockwise in the image: 0, 90, 180 or 270."""
        ...


def can_render(world: Any) -> bool:
    """Whether a world can render its states; `has_renderer` is False where `render` would fail."""
    return isinstance(world, Renderer) and bool(getattr(world, "has_renderer", True))


def can_locate(world: Any) -> bool:
    """Whether a world can also locate the agent; `has_location` is False where `locate` would fail."""
    return can_render(world) and isinstance(world, Located) and bool(getattr(world, "has_location", True))


def as_renderer(world: Any) -> Renderer:
    """The world if it can render its states, else a `NoRendererError` that says what to add."""
    if not can_render(world):
        raise NoRendererError(f"{_source_name(world)} has no renderer: give it a method `render(state)` -> image")
    return world


def as_located(world: Any) -> Located:
    """The world if it can locate the agent in images, else a `NoRendererError` that says what to add."""
    as_renderer(world)
    if not can_locate(world):
        raise NoRendererError(
            f"{_source_name(world)} does not say where the agent is: give it a method `locate(state)` -> pixel (x, y)"
        )
    return world


def trace_path(world: Any, states: Sequence[Any]) -> tuple[NDArray[np.float64], ...]:
    """The pixels (x, y) that the agent passes from each state to the next, shape [points, 2] each.

    A straight line, unless the world has a method `locate_path(states)` -> pixels: a car drives in curves.
    """
    located = as_located(world)
    locate_path = getattr(world, "locate_path", lambda pair: [located.locate(state) for state in pair])
    return tuple(np.asarray(locate_path(pair), np.float64) for pair in pairwise(states))


def _source_name(world: Any) -> str:
    """The class that a user would add a method to."""
    source = getattr(world, "source", None)
    return f"the world {type(world if source is None else source).__name__}"
