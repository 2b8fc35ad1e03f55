"""Pictures of an office: its rooms, its objects and the robot."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wfairl.core.worlds.rendering import Places, Rendering
from wfairl.offices.office_map import COLUMNS, MOVES, ROWS, OfficeCell, cells, neighbour

FLOOR, CARPET, PLANT, THING = ".~*+"
COLOURS = {"n": "#f4d9d0", PLANT: "#f4d9d0", CARPET: "#dcc9e8", THING: "#dbeaf5"}
"""Of cells, by their character."""


class OfficeRenderer:
    """Draws an office, given its objects and carpets. The code that draws is imported when it is used."""

    def __init__(self, objects: Mapping[OfficeCell, str], carpet: frozenset[OfficeCell] = frozenset()):
        self.objects, self.carpet = objects, carpet

    @property
    def rendering(self) -> Rendering:
        """How the office looks."""
        return Rendering(self.render, Places(self.locate), describe=self.describe)

    def render(self, cell: OfficeCell) -> NDArray[np.uint8]:
        """The image of the office with the robot on a cell, shape [height, width, 3]."""
        from wfairl.pages.world_drawing import draw_grid

        rows = ["".join(self._kind((x, y)) for x in range(COLUMNS)) for y in reversed(range(ROWS))]
        words = {_in_picture(cell): name for cell, name in self.objects.items() if len(name) > 1}
        words |= {_in_picture(cell): "carpet" for cell in sorted(self.carpet - set(self.objects))[:1]}
        walls = [
            (_in_picture(one), _in_picture((one[0] + MOVES[move][0], one[1] + MOVES[move][1])))
            for one in cells()
            for move in ("up", "right")
            if neighbour(one, move) == one
        ]
        return draw_grid(rows, COLOURS, _in_picture(cell), walls=walls, size=self._size, words=words)

    def locate(self, cell: OfficeCell) -> tuple[float, float]:
        """The pixel (x, y) of the robot on a cell."""
        from wfairl.pages.world_drawing import cell_centre

        return cell_centre(*_in_picture(cell), self._size)

    def describe(self, cell: OfficeCell) -> str:
        """Where the robot is and where it can go from there, and what lies where, in columns and rows of the image."""
        column, row = _in_picture(cell)
        ways = [move for move in MOVES if neighbour(cell, move) != cell]
        carpet = sorted(self.carpet - set(self.objects))
        things: dict[str, list[str]] = {}
        for (x, y), name in [*self.objects.items(), *((one, "carpet") for one in carpet)]:
            things.setdefault(name, []).append(f"column {x + 1}, row {ROWS - y}")
        listed = "; ".join(f"{name} at {' and '.join(places)}" for name, places in things.items())
        return f"You are at column {column + 1}, row {row + 1}; ways: {', '.join(ways)}.\n{listed}."

    @property
    def _size(self) -> int:
        """Pixels of the side of a cell; names need more than letters."""
        return 64 if any(len(name) > 1 for name in self.objects.values()) else 32

    def _kind(self, cell: OfficeCell) -> str:
        """The character of a cell in the picture."""
        name = self.objects.get(cell, "")
        if len(name) == 1:
            return name
        return {"plant": PLANT, "": CARPET if cell in self.carpet else FLOOR}.get(name, THING)


def _in_picture(cell: OfficeCell) -> tuple[int, int]:
    """The column and the row from the top."""
    return cell[0], ROWS - 1 - cell[1]
