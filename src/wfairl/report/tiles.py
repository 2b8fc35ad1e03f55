"""Pictures of worlds as tiles: most of a frame is the same in all frames, so that each different tile is kept once."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

TILE = 32
"""Pixels of a tile's side: a cell of MiniGrid, and of a grid that `draw_grid` draws."""


def cut_tiles(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """An image as tiles, shape [rows, columns, TILE, TILE, 3]."""
    rows, columns = (-(-length // TILE) for length in image.shape[:2])
    margins = ((0, rows * TILE - image.shape[0]), (0, columns * TILE - image.shape[1]), (0, 0))
    return np.pad(image, margins, constant_values=255).reshape(rows, TILE, columns, TILE, 3).swapaxes(1, 2)


def with_palette(pixels: NDArray[np.uint8]) -> Image.Image:
    """The same picture with one byte per pixel, if it has few enough colours for that."""
    colours, numbers = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True)
    if len(colours) > 256:
        return Image.fromarray(pixels)
    image = Image.fromarray(numbers.reshape(pixels.shape[:2]).astype(np.uint8), "L")
    image.putpalette(colours.ravel().tolist())
    return image
