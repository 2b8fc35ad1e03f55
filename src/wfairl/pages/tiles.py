"""Rendered frames as tiles: most of a frame is the same in all frames, so each different tile is stored once."""

import base64
import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wfairl.core.worlds.rendering import Rendering

TILE = 32
"""Pixels of a tile's side: a cell of MiniGrid, and of a grid that `draw_grid` draws."""


class TileSet:
    """The different tiles of some frames; a frame is the numbers of its tiles.

    Attributes:
        tiles: images of shape [TILE, TILE, 3], in the order in which frames first use them.
    """

    def __init__(self) -> None:
        self.tiles: list[NDArray[np.uint8]] = []
        self._numbers: dict[bytes, int] = {}
        self._numbers_of_keys: dict[tuple[Any, int], int] = {}

    def film(self, rendering: Rendering, states: Sequence[Any]) -> NDArray[np.int64]:
        """The frames of states, shape [states, rows, columns]; each different state is rendered once."""
        frames = {state: self.frame(rendering, state) for state in dict.fromkeys(states)}
        return np.array([frames[state] for state in states])

    def frame(self, rendering: Rendering, state: Any) -> NDArray[np.int64]:
        """The tiles of a rendered state, shape [rows, columns]; one that is no multiple of tiles gets a margin."""
        if rendering.tiles is not None:
            keys = rendering.tiles.keys(state)
            numbers = [self._number_of_key(key, rendering.tiles.render) for key in keys.ravel().tolist()]
            return np.array(numbers, np.int64).reshape(keys.shape)
        image = np.asarray(rendering.render(state), np.uint8)
        rows, columns = (-(-length // TILE) for length in image.shape[:2])
        margins = ((0, rows * TILE - image.shape[0]), (0, columns * TILE - image.shape[1]), (0, 0))
        cut = np.pad(image, margins, constant_values=255).reshape(rows, TILE, columns, TILE, 3).swapaxes(1, 2)
        return np.array([[self.add(tile) for tile in row] for row in cut], np.int64)

    def add(self, tile: NDArray[np.uint8]) -> int:
        """The number of a tile, which is added if it is new."""
        number = self._numbers.setdefault(tile.tobytes(), len(self.tiles))
        if number == len(self.tiles):
            self.tiles.append(tile.copy())
        return number

    def _number_of_key(self, key: int, render_tile: Callable[[int], NDArray[np.uint8]]) -> int:
        """The number of the tile of a key; what a key means depends on the function that renders it."""
        if (render_tile, key) not in self._numbers_of_keys:
            self._numbers_of_keys[render_tile, key] = self.add(render_tile(key))
        return self._numbers_of_keys[render_tile, key]


def data_uri(pixels: NDArray[np.uint8], optimize: bool = False) -> str:
    """An image as a data URI of a PNG, with a palette if it has few enough colours."""
    colours, numbers = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True)
    image = Image.fromarray(pixels)
    if len(colours) <= 256:
        image = Image.fromarray(numbers.reshape(pixels.shape[:2]).astype(np.uint8), "L")
        image.putpalette(colours.ravel().tolist())
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=optimize)
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"
