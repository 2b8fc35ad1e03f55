"""Frames for the browser: a frame is the numbers of its tiles, and each different tile is sent once."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from wfairl.pages.tiles import TILE, TileSet, data_uri
from wfairl.pages.world_drawing import rendering_of, state_text
from wfairl.studio.task_spec import Inventive

CACHED_TILES = 4_096


class FrameEncoder:
    """Encodes the states of one scene as plain JSON; its tiles grow with the states."""

    def __init__(self) -> None:
        self._tiles, self._uris = TileSet(), list[str]()

    @property
    def tiles(self) -> list[str]:
        """The different tiles so far, as data URIs."""
        self._uris += [_tile_uri(tile.tobytes()) for tile in self._tiles.tiles[len(self._uris) :]]
        return list(self._uris)

    def encode(self, world: Any, state: Any) -> dict[str, Any]:
        """The tiles of all cells, the agent's cell and its place in cells; text if the world has no renderer."""
        rendering = rendering_of(world)
        if rendering is None:
            return {"text": state_text(world, state)}
        frame = self._tiles.frame(rendering, state)
        rows, columns = frame.shape
        agent = place = None
        if rendering.places is not None:
            x, y = rendering.places.locate(state)
            agent, place = int(y // TILE) * columns + int(x // TILE), (x / TILE - 0.5, y / TILE - 0.5)
        return {"rows": rows, "columns": columns, "cells": frame.ravel().tolist(), "agent": agent, "place": place}


def encode_film(world: Any, states: Sequence[Any], encoder: FrameEncoder | None = None) -> dict[str, Any]:
    """The states of a path as plain JSON: a frame for each, their tiles, and what the scene asks for, if anything."""
    encoder = encoder or FrameEncoder()
    frames, instruction = [encoder.encode(world, state) for state in states], getattr(world, "instruction", None)
    return {"frames": frames, "tiles": encoder.tiles, "corner": corner_of(world), "instruction": instruction}


def corner_of(world: Any) -> tuple[int, int] | None:
    """The cell in the upper left corner of a world's images; None if the world has no cells."""
    rendering, initial_state = rendering_of(world), world.initial_state
    if rendering is None or rendering.places is None or not isinstance(world, Inventive):
        return None
    x, y = rendering.places.locate(initial_state)
    column, row = world.cell_at(x, y)
    return column - int(x // TILE), row - int(y // TILE)


def describe_scene(world: Any, state: Any) -> str:
    """Where the agent is, and what the scene has, for who cannot see it."""
    rendering = rendering_of(world)
    if rendering is not None and rendering.describe is not None:
        return rendering.describe(state)
    return state_text(world, state)


@lru_cache(CACHED_TILES)
def _tile_uri(pixels: bytes) -> str:
    return data_uri(np.frombuffer(pixels, np.uint8).reshape(TILE, TILE, 3))
