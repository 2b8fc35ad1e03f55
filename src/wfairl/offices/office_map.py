"""The map of the office of the reward-machine papers.

Nine by twelve cells in rooms of three by three, x to the right from 0 to 11, y up from 0 to 8. A robot moves up, right,
down or left; a step into a wall leaves it in place. The object on a cell holds when the robot arrives there:

    a, b, c, d   places to patrol          f   coffee (two machines)
    e            mail                      g   the office
    n            decorations (six), which end every task in failure

The map is that of Toro Icarte, Klassen, Valenzano and McIlraith, "Using reward machines for high-level task
specification and decomposition in reinforcement learning" (ICML 2018).
"""

from collections.abc import Iterator, Mapping

OfficeCell = tuple[int, int]
"""(x, y), y upwards."""

COLUMNS, ROWS, ROOM_SIDE = 12, 9, 3

MOVES: dict[str, OfficeCell] = {"up": (0, 1), "right": (1, 0), "down": (0, -1), "left": (-1, 0)}

DOORS_TO_THE_RIGHT = frozenset((x, y) for x in (2, 5, 8) for y in (1, 7))
"""Cells from which a door leads to the room on the right."""

DOORS_UPWARDS = frozenset({*((x, 5) for x in (1, 4, 7, 10)), *((x, 2) for x in (1, 10))})
"""Cells from which a door leads to the room above."""

PUBLISHED: Mapping[OfficeCell, str] = {
    (1, 1): "a", (1, 7): "b", (10, 7): "c", (10, 1): "d", (7, 4): "e", (8, 2): "f", (3, 6): "f", (4, 4): "g",
    (4, 1): "n", (7, 1): "n", (4, 7): "n", (7, 7): "n", (1, 4): "n", (10, 4): "n",
}  # fmt: skip
"""The objects of the published map."""


def cells() -> Iterator[OfficeCell]:
    """All cells, row by row from below."""
    return ((x, y) for y in range(ROWS) for x in range(COLUMNS))


def neighbour(cell: OfficeCell, move: str) -> OfficeCell:
    """The cell after a move: the cell itself if there is a wall."""
    (x, y), (dx, dy) = cell, MOVES[move]
    target = x + dx, y + dy
    if not (0 <= target[0] < COLUMNS and 0 <= target[1] < ROWS):
        return cell
    if x // ROOM_SIDE != target[0] // ROOM_SIDE:
        return target if min(cell, target) in DOORS_TO_THE_RIGHT else cell
    if y // ROOM_SIDE != target[1] // ROOM_SIDE:
        return target if min(cell, target, key=lambda one: one[1]) in DOORS_UPWARDS else cell
    return target
