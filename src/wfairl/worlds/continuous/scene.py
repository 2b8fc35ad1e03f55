"""A scene on a roadmap: what the regions mean in it, how it looks, and recorded paths snapped to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from wfairl.worlds.continuous.drawing import FloorDrawing
    from wfairl.worlds.continuous.roadmap import Roadmap


@dataclass(frozen=True, eq=False)
class FloorScene:
    """What a `GraphWorld` on a roadmap has as its source; its states are the vertices.

    Attributes:
        roadmap: the floor as a graph.
        meanings: proposition by region.
    """

    roadmap: Roadmap
    meanings: Mapping[str, str]

    def render(self, vertex: int) -> NDArray[np.uint8]:
        """See `Renderer`."""
        return self.drawing.render(vertex)

    def render_trail(self, vertices: Sequence[int]) -> NDArray[np.uint8]:
        """The picture of the last of some vertices, with the way through all of them."""
        return self.drawing.render(vertices[-1], [self.roadmap.path(vertices)])

    def locate(self, vertex: int) -> tuple[float, float]:
        """See `Located`."""
        return self.drawing.locate(vertex)

    @cached_property
    def drawing(self) -> FloorDrawing:
        """The floor as a picture."""
        from wfairl.worlds.continuous.drawing import FloorDrawing  # Pillow is slow to import

        return FloorDrawing(self.roadmap, self.meanings)
