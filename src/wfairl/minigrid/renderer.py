"""The states of a scene in MiniGrid's own encoding and as MiniGrid draws them, without the cells beyond the walls."""

import wfairl.minigrid.library  # isort: skip # noqa: F401
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from minigrid.core.constants import (
    COLOR_TO_IDX,
    DIR_TO_VEC,
    IDX_TO_COLOR,
    IDX_TO_OBJECT,
    OBJECT_TO_IDX,
    STATE_TO_IDX,
)
from minigrid.core.grid import Grid
from minigrid.core.world_object import WorldObj
from numpy.typing import NDArray

from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.rendering import Places, Rendering, Tiles
from wfairl.minigrid import physics
from wfairl.minigrid.physics import COLORS, NOTHING, OBJECTS, TERRAINS, Layout

IDX_TO_STATE = {number: name for name, number in STATE_TO_IDX.items()}

TILE_PIXELS = 32
"""Side of a cell in a rendered image; MiniGrid's own."""


@dataclass(frozen=True)
class EncodedState:
    """One state in MiniGrid's own encoding."""

    grid: NDArray[np.uint8]  # object, colour and state of each cell, shape [width, height, 3]
    position: tuple[int, int]  # the agent's cell (x, y)
    direction: int  # 0 right, 1 down, 2 left, 3 up
    carried: tuple[int, int, int] | None  # object, colour and state of what the agent carries, or None
    terminated: bool  # whether the agent stands on a goal or on lava

    def in_words(self) -> str:
        """The state for a person who cannot see it: the agent and what is before it, then, in a line, what is where."""
        x, y = self.position
        dx, dy = DIR_TO_VEC[self.direction]
        plain = [OBJECT_TO_IDX[name] for name in ("unseen", "empty", "wall")]
        places: dict[str, list[str]] = {}
        for i, j in np.argwhere(~np.isin(self.grid[:, :, 0], plain)).tolist():
            places.setdefault(_name(self.grid[i, j]), []).append(f"column {i}, row {j}")
        objects = "; ".join(f"{name} at {' and '.join(where)}" for name, where in places.items())
        carried = "" if self.carried is None else f" You carry: {_name(self.carried)}."
        heading = ("right", "down", "left", "up")[self.direction]
        ahead = _name(self.grid[x + dx, y + dy])
        return f"You are at column {x}, row {y}, facing {heading}; ahead: {ahead}.{carried}\n{objects}."


def _name(code: Sequence[int] | NDArray[np.uint8]) -> str:
    kind, color, state = (int(one) for one in code)
    name = IDX_TO_OBJECT[kind]
    if name in ("empty", "wall", "goal", "lava"):
        return name
    return f"{IDX_TO_STATE[state]} {IDX_TO_COLOR[color]} door" if name == "door" else f"{IDX_TO_COLOR[color]} {name}"


class MiniGridRenderer:
    """Draws the states of one scene, given by their fields of shape [fields].

    Args:
        layout: the scene.
        start: the agent's cell in the initial state; the image shows the cells that the agent can reach from there.
    """

    def __init__(self, layout: Layout, start: int):
        self._layout, self._start = layout, start

    @property
    def rendering(self) -> Rendering:
        """How the scene looks."""
        tiles = Tiles(self.tile_keys, self.render_tile)
        return Rendering(self.render, Places(self.locate, self.heading), tiles, self.describe)

    def describe(self, fields: NDArray[np.int32]) -> str:
        """A state for a person who cannot see it."""
        return self.encode(fields).in_words()

    def render(self, fields: NDArray[np.int32]) -> NDArray[np.uint8]:
        """The image of a state, shape [height, width, 3]."""
        state = self.encode(fields)
        left, top, right, bottom = (TILE_PIXELS * edge for edge in self._window)
        image = Grid.decode(state.grid)[0].render(TILE_PIXELS, state.position, state.direction)
        return np.asarray(image[top:bottom, left:right], np.uint8)

    def tile_keys(self, fields: NDArray[np.int32]) -> NDArray[np.int32]:
        """The look of each cell of the image as one number, shape [rows, columns]; equal numbers look the same."""
        state = self.encode(fields)
        codes = state.grid.astype(np.int32).transpose(1, 0, 2)
        keys: NDArray[np.int32] = codes[:, :, 0] | codes[:, :, 1] << 4 | codes[:, :, 2] << 8
        x, y = state.position
        keys[y, x] |= 1 + state.direction << 12
        left, top, right, bottom = self._window
        return keys[top:bottom, left:right]

    def render_tile(self, key: int) -> NDArray[np.uint8]:
        """The image of a cell with a number of `tile_keys`, shape [TILE_PIXELS, TILE_PIXELS, 3]."""
        obj = WorldObj.decode(key & 15, key >> 4 & 15, key >> 8 & 15)
        heading = (key >> 12) - 1
        return np.asarray(Grid.render_tile(obj, None if heading < 0 else heading, False, TILE_PIXELS), np.uint8)

    def locate(self, fields: NDArray[np.int32]) -> tuple[float, float]:
        """The pixel (x, y) of the agent in the image of a state."""
        y, x = divmod(int(fields[physics.AGENT]), self._layout.width)
        left, top, _, _ = self._window
        return (x - left + 0.5) * TILE_PIXELS, (y - top + 0.5) * TILE_PIXELS

    def heading(self, fields: NDArray[np.int32]) -> float:
        """The direction of the agent, in degrees."""
        return 90.0 * int(fields[physics.DIRECTION])

    def cell_at(self, x: float, y: float) -> tuple[int, int]:
        """The cell (x, y) of the map at a pixel of the image, the inverse of `locate`; see `Inventive`."""
        left, top, right, bottom = self._window
        column, row = int(x // TILE_PIXELS) + left, int(y // TILE_PIXELS) + top
        is_inside = left <= column < right and top <= row < bottom
        terrain = self._layout.cells[:, physics.TERRAIN]
        if not is_inside or terrain[row * self._layout.width + column] == physics.WALL:
            raise BadInputError("there is a wall: choose a cell that one can stand on")
        return column, row

    @cached_property
    def _window(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom of the cells that an agent reaches with all doors open, and one cell more."""
        width, cells = self._layout.width, self._layout.cells
        reached, queue = {self._start}, [self._start]
        for cell in queue:  # it grows meanwhile
            for front in cells[cell, physics.FRONT :].tolist():
                if front != NOTHING and front not in reached and cells[front, physics.TERRAIN] != physics.WALL:
                    reached.add(front)
                    queue.append(front)
        ys, xs = np.divmod(np.array(queue), width)
        left, top = max(0, int(xs.min()) - 1), max(0, int(ys.min()) - 1)
        return left, top, min(width, int(xs.max()) + 2), min(self._layout.height, int(ys.max()) + 2)

    def encode(self, fields: NDArray[np.int32]) -> EncodedState:
        """A state in MiniGrid's own encoding."""
        layout = self._layout
        terrain_codes = np.array([OBJECT_TO_IDX[name] for name in TERRAINS], np.uint8)
        color_codes = np.array([COLOR_TO_IDX[name] for name in COLORS], np.uint8)
        terrain, color = layout.cells[:, physics.TERRAIN], layout.cells[:, physics.TERRAIN_COLOR]
        codes = np.zeros((len(layout.cells), 3), np.uint8)
        codes[:, 0] = terrain_codes[terrain]
        codes[:, 1] = np.where(color == NOTHING, 0, color_codes[color])
        for cell in np.flatnonzero(terrain == physics.DOOR):
            state = physics.door_state(layout.table, fields, layout.cells[cell, physics.DOOR_AT])
            name = "open" if state & physics.IS_OPEN else "locked" if state & physics.IS_LOCKED else "closed"
            codes[cell, 2] = STATE_TO_IDX[name]
        carried = None
        for obj, (kind, object_color, *_) in enumerate(layout.objects):
            place = fields[physics.FIRST_OBJECT + obj]
            code = OBJECT_TO_IDX[OBJECTS[kind]], int(color_codes[object_color]), 0
            if place < len(layout.cells):
                codes[place] = code
            elif place == len(layout.cells) + physics.CARRIED:
                carried = code
        y, x = divmod(int(fields[physics.AGENT]), layout.width)
        return EncodedState(
            grid=codes.reshape(-1, layout.width, 3).transpose(1, 0, 2),
            position=(x, y),
            direction=int(fields[physics.DIRECTION]),
            carried=carried,
            terminated=bool(physics.is_final(layout.table, fields)),
        )
