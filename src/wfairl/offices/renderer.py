"""Pictures of an office: its rooms, its objects and the robot."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wfairl.core.worlds.rendering import Places, Rendering
from wfairl.offices.office_map import COLUMNS, MOVES, ROWS, OfficeCell, cells, neighbour


class OfficeRenderer:
    """Draws an office, given the objects on its cells. The code that draws is imported when it is used."""

    def __init__(self, objects: Mapping[OfficeCell, str]):
        self.objects = objects

    @property
    def rendering(self) -> Rendering:
        """How the office looks."""
        return Rendering(self.render, Places(self.locate))

    def render(self, cell: OfficeCell) -> NDArray[np.uint8]:
        """The image of the office with the robot on a cell, shape [height, width, 3]."""
        from wfairl.pages.world_drawing import draw_grid

        rows = ["".join(self.objects.get((x, y), ".") for x in range(COLUMNS)) for y in reversed(range(ROWS))]
        walls = [
            (_in_picture(one), _in_picture((one[0] + MOVES[move][0], one[1] + MOVES[move][1])))
            for one in cells()
            for move in ("up", "right")
            if neighbour(one, move) == one
        ]
        return draw_grid(rows, {"n": "#f4d9d0"}, _in_picture(cell), walls=walls)

    def locate(self, cell: OfficeCell) -> tuple[float, float]:
        """The pixel (x, y) of the robot on a cell."""
        from wfairl.pages.world_drawing import cell_centre

        return cell_centre(*_in_picture(cell))


def _in_picture(cell: OfficeCell) -> tuple[int, int]:
    """The column and the row from the top."""
    return cell[0], ROWS - 1 - cell[1]
