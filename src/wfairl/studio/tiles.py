"""Pictures of states for a browser: each different tile once, and a frame as the numbers of its tiles."""

import base64
import io
from functools import lru_cache
from typing import Any

import numpy as np

from wfairl.report.tiles import TILE, cut_tiles, with_palette
from wfairl.worlds.world import as_renderer, can_locate, can_render

KNOWN_TILES = 4_096


class TileSheet:
    """The tiles of one scene, which grow as states are shown.

    Attributes:
        tiles: the different tiles so far, as addresses of images.
    """

    def __init__(self) -> None:
        self.tiles: list[str] = []
        self._numbers: dict[bytes, int] = {}

    def frame(self, world: Any, state: Any) -> dict[str, Any]:
        """A state: the tile of every cell, and where the agent is; or its text, for a world without renderer."""
        if not can_render(world):
            return {"text": str(world.name(state) if hasattr(world, "name") else state)[:200]}
        cut = cut_tiles(as_renderer(world).render(state))
        rows, columns = cut.shape[:2]
        flat = cut.reshape(rows * columns, -1)
        agent = None
        if can_locate(world):
            x, y = world.locate(state)
            agent = int(y // TILE) * columns + int(x // TILE)
        cells = [self._number(tile.tobytes()) for tile in flat]
        return {"rows": rows, "columns": columns, "cells": cells, "agent": agent}

    def _number(self, pixels: bytes) -> int:
        number = self._numbers.setdefault(pixels, len(self.tiles))
        if number == len(self.tiles):
            self.tiles.append(_address(pixels))
        return number


@lru_cache(KNOWN_TILES)
def _address(pixels: bytes) -> str:
    stream = io.BytesIO()
    with_palette(np.frombuffer(pixels, np.uint8).reshape(TILE, TILE, 3)).save(stream, "PNG")
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"
