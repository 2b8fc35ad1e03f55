"""What the real environment looks like, in axes whose unit is a cell: the centre of cell (x, y) is the point (x, y)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.planning.picture import busy_region
from wfairl.report.figures.style import without_frame


@dataclass(frozen=True, eq=False)
class Frame:
    """An image of an environment, without empty margins.

    Attributes:
        image: shape [height * tile, width * tile, 3] of uint8.
        tile: pixels of a cell.
        left, top: the cell in the upper left corner.
    """

    image: NDArray[np.uint8]
    tile: int
    left: int
    top: int

    @property
    def width(self) -> int:
        """In cells."""
        return self.image.shape[1] // self.tile

    @property
    def height(self) -> int:
        """In cells."""
        return self.image.shape[0] // self.tile


def photograph(environment: Any) -> Frame:
    """The environment as it stands, made with render_mode="rgb_array"."""
    environment.unwrapped.highlight = False  # MiniGrid's mark of what the agent sees; here everything is seen
    tile = environment.unwrapped.tile_size
    image = environment.render()
    rows, columns = busy_region(image, tile)
    return Frame(image[rows, columns], tile, columns.start // tile, rows.start // tile)


def show_frame(axes: Any, frame: Frame, fading: float = 0.0) -> None:
    """Put a frame into axes.

    Args:
        axes: where.
        frame: what.
        fading: from 0, as it is, to 1, white; so that what is drawn on it stands out.
    """
    without_frame(axes)
    image = np.round(frame.image * (1 - fading) + 255 * fading).astype(np.uint8)
    left, top = frame.left - 0.5, frame.top - 0.5
    axes.imshow(image, extent=(left, left + frame.width, top + frame.height, top), interpolation="antialiased")
    axes.set_xlim(left, left + frame.width)
    axes.set_ylim(top + frame.height, top)
