"""Pictures of states for a browser: each different tile once, and a frame as the numbers of its tiles."""

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from wfairl.report.tiles import TILE, cut_tiles, with_palette
from wfairl.worlds.documents import Inventive
from wfairl.worlds.rendering import Tiled, as_renderer, can_locate, can_render

KNOWN_TILES = 4_096
"""Pictures that are kept as addresses."""

LONGEST_TEXT = 200


class TileSheet:
    """The tiles of one scene, which grow as states are shown.

    Attributes:
        tiles: the different tiles so far, as addresses of images.
    """

    def __init__(self) -> None:
        self.tiles: list[str] = []
        self._numbers: dict[int | bytes, int] = {}

    def frame(self, world: Any, state: Any) -> dict[str, Any]:
        """A state: the tile of every cell, and where the agent is; or its text, for a world without renderer."""
        if not can_render(world):
            return {"text": str(world.name(state) if hasattr(world, "name") else state)[:LONGEST_TEXT]}
        if isinstance(world, Tiled):
            keys = world.tile_keys(state)
            rows, columns = keys.shape
            cells = self._numbered(keys.ravel().tolist(), lambda key: world.render_tile(key).tobytes())
        else:
            cut = cut_tiles(as_renderer(world).render(state))
            rows, columns = cut.shape[:2]
            tiles = cut.reshape(rows * columns, -1)
            cells = self._numbered([tile.tobytes() for tile in tiles], bytes)
        agent = None
        if can_locate(world):
            x, y = world.locate(state)
            agent = int(y // TILE) * columns + int(x // TILE)
        return {"rows": rows, "columns": columns, "cells": cells, "agent": agent}

    def _numbered(self, keys: Sequence[Any], draw: Callable[[Any], bytes]) -> list[int]:
        """The number of every key's tile; one that is new is drawn."""
        for key in dict.fromkeys(keys):
            if key not in self._numbers:
                self._numbers[key] = len(self.tiles)
                self.tiles.append(_address(draw(key)))
        return [self._numbers[key] for key in keys]


@dataclass(frozen=True)
class TiledFilm:
    """A frame for each state of a walk, and what is seen besides.

    Attributes:
        frames: one for each state.
        tiles: what they are made of.
        corner: the cell in their upper left corner; None where nobody speaks of cells.
        instruction: what the scene asks for, if it says so.
    """

    frames: tuple[dict[str, Any], ...]
    tiles: tuple[str, ...]
    corner: tuple[int, int] | None
    instruction: str | None


def film_walk(world: Any, states: Sequence[Any]) -> TiledFilm:
    """The film of a walk through a world."""
    sheet = TileSheet()
    frames = tuple(sheet.frame(world, state) for state in states)
    return TiledFilm(frames, tuple(sheet.tiles), corner_of(world), instruction_of(world))


def corner_of(world: Any) -> tuple[int, int] | None:
    """The cell in the upper left corner of a world's pictures; None where nobody speaks of cells."""
    has_cells = isinstance(world, Inventive) and can_locate(world)
    if not has_cells:
        return None
    x, y = world.locate(world.initial_state)
    column, row = world.cell_at(x, y)
    return column - int(x // TILE), row - int(y // TILE)


def instruction_of(world: Any) -> str | None:
    """What a scene asks for, where scenes of a task ask for different things."""
    instruction: str | None = getattr(world, "instruction", None)
    return instruction


@lru_cache(KNOWN_TILES)
def _address(pixels: bytes) -> str:
    stream = io.BytesIO()
    with_palette(np.frombuffer(pixels, np.uint8).reshape(TILE, TILE, 3)).save(stream, "PNG")
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"
