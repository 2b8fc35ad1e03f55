"""The rules of MiniGrid, compiled: the one place that defines what a control does.

A state is a row of small integers, its *fields*:

    [direction, agent cell, place of object 0, ..., state of door 0, ...]

A cell is `y * width + x`. The place of an object is a cell or one of the three places behind the last
cell: carried, inside a closed box, gone (an opened box). Objects that cannot be told apart (same kind,
colour, contents and roles) form a *group*; their places are in ascending order, so that two states differ
only if something that matters differs. For search and storage the fields are packed into 64-bit words.

A *role* is what a mission calls objects or doors, such as "the ball on your left": a bit of their roles.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit

LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE = range(6)
CONTROLS = ("left", "right", "forward", "pickup", "drop", "toggle")

EMPTY, WALL, FLOOR, GOAL, LAVA, DOOR = range(6)
"""Terrain: what a cell is, whatever lies on it."""

KEY, BALL, BOX = range(3)
"""Kinds of objects that can be carried."""

TERRAINS = ("empty", "wall", "floor", "goal", "lava", "door")
OBJECTS = ("key", "ball", "box")
COLORS = ("red", "green", "blue", "purple", "yellow", "grey")
"""MiniGrid's names for terrain, objects and colours, in the order of their numbers here."""

CELL_TYPES = (*TERRAINS[:DOOR], "open door", "closed door", "locked door", *OBJECTS)
"""What a cell can show; a cell of a grid is an index into them."""

OPEN_DOOR, CLOSED_DOOR, LOCKED_DOOR = (CELL_TYPES.index(f"{state} door") for state in ("open", "closed", "locked"))

HANDS = ("nothing", *OBJECTS)
"""What the agent can carry; `GridView.carried` is an index into them."""

FLOORS = ("none", *COLORS)
"""The colour of the floor of a cell."""

DIRECTIONS = 4

IS_OPEN, IS_LOCKED = 1, 2
"""Bits of a door's state."""

DIRECTION, AGENT, FIRST_OBJECT = range(3)
"""Positions of the fields."""

CARRIED, INSIDE, GONE = range(3)
"""Places behind the last cell: the place's number is `cells + CARRIED`, and so on."""

NOTHING = -1
"""No object, no door, no contents, no cell."""

Table = NDArray[np.int32]
"""The flat array of a `Layout`, which compiled code reads."""

CELLS, OBJECTS_COUNT, DOORS_COUNT, PICKUP_TOGGLES, OBJECT_TABLE, FIELD_TABLE, CELL_TABLE = range(7)
"""Positions in the head of a layout's table; the table of cells starts behind it."""

TERRAIN, TERRAIN_COLOR, DOOR_AT, DOOR_ROLES, COLUMN, ROW, FRONT = range(7)
CELL_COLUMNS = FRONT + 4
"""Columns of the table of cells; four of them, from `FRONT` on, hold the neighbour in each direction."""

KIND, COLOR, GROUP_FIRST, GROUP_END, CONTENTS, ROLES, OBJECT_COLUMNS = range(7)
"""Columns of the table of objects."""

WORD, SHIFT, BITS, FIELD_COLUMNS = range(4)
"""Columns of the table of fields: where each is packed."""


@dataclass(frozen=True)
class Layout:
    """What never changes in one scene.

    Compiled code reads all of it from one flat array (many small arrays would cost a reference count
    each at every call): a head of scalars, then one table each of cells, objects and fields.

    Attributes:
        width: cells in a row.
        cells: terrain, colour, door or `NOTHING`, roles of the door, x, y and the four neighbours of each cell;
            shape [cells, 10].
        objects: kind, colour, first object and end of the group, the first object of the group of what it contains
            or `NOTHING`, and its roles; objects of a kind, and of a kind and colour, stand together;
            shape [objects, 6].
        doors: number of doors.
        pickup_toggles: the environment turns `pickup` into `toggle` (MiniGrid's Memory does).
    """

    width: int
    cells: NDArray[np.int32]
    objects: NDArray[np.int32]
    doors: int
    pickup_toggles: bool

    @cached_property
    def largest_values(self) -> NDArray[np.int32]:
        """The largest value of each field of a state, shape [fields]."""
        places = [len(self.cells) + GONE] * len(self.objects)
        return np.array([3, len(self.cells) - 1, *places, *[IS_OPEN | IS_LOCKED] * self.doors], np.int32)

    @cached_property
    def packing(self) -> NDArray[np.int32]:
        """Word, shift and bits of each field, none of which crosses a word; shape [fields, 3]."""
        rows, word, shift = [], 0, 0
        for largest in self.largest_values:
            bits = int(largest).bit_length()
            if shift + bits > 64:
                word, shift = word + 1, 0
            rows.append((word, shift, bits))
            shift += bits
        return np.array(rows, np.int32)

    @cached_property
    def words(self) -> int:
        """Number of 64-bit words of a packed state."""
        return int(self.packing[-1, WORD]) + 1

    @cached_property
    def table(self) -> NDArray[np.int32]:
        """All of the above in one flat array, for compiled code."""
        object_table = CELL_TABLE + self.cells.size
        field_table = object_table + self.objects.size
        head = [len(self.cells), len(self.objects), self.doors, self.pickup_toggles, object_table, field_table]
        tables = [self.cells.ravel(), self.objects.ravel(), self.packing.ravel()]
        return np.concatenate([head, *tables]).astype(np.int32)


@njit(cache=True, nogil=True)
def cell_entry(layout: Table, cell: int, column: int) -> int:
    """One entry of the table of cells."""
    return layout[CELL_TABLE + CELL_COLUMNS * cell + column]


@njit(cache=True, nogil=True)
def object_entry(layout: Table, obj: int, column: int) -> int:
    """One entry of the table of objects."""
    return layout[layout[OBJECT_TABLE] + OBJECT_COLUMNS * obj + column]


@njit(cache=True, nogil=True)
def apply_control(layout: Table, fields: NDArray[np.int32], control: int) -> bool:
    """Turn the fields of a state, in place, into those of the next one: x_{t+1} = f(x_t, u_t).

    Returns:
        Whether anything changed.
    """
    if is_final(layout, fields):
        return False
    if control == LEFT:
        fields[DIRECTION] = (fields[DIRECTION] + 3) & 3
        return True
    if control == RIGHT:
        fields[DIRECTION] = (fields[DIRECTION] + 1) & 3
        return True
    front = cell_in_front(layout, fields)
    if front == NOTHING:
        return False
    if control == FORWARD:
        return _move_forward(layout, fields, front)
    if control == TOGGLE or (control == PICKUP and layout[PICKUP_TOGGLES]):
        return _toggle(layout, fields, front)
    if control == PICKUP:
        return _pick_up(layout, fields, front)
    return _drop(layout, fields, front)


@njit(cache=True, nogil=True)
def is_final(layout: Table, fields: NDArray[np.int32]) -> bool:
    """Whether the episode is over: the agent stands on a goal or on lava, and nothing moves any more."""
    terrain = cell_entry(layout, fields[AGENT], TERRAIN)
    return terrain in (GOAL, LAVA)


@njit(cache=True, nogil=True)
def cell_in_front(layout: Table, fields: NDArray[np.int32]) -> int:
    """The cell that the agent faces, or `NOTHING` at the edge of the grid."""
    return cell_entry(layout, fields[AGENT], FRONT + fields[DIRECTION])


@njit(cache=True, nogil=True)
def object_at(layout: Table, fields: NDArray[np.int32], place: int) -> int:
    """The object at a place, or `NOTHING`; a cell, or the agent's hands, hold at most one."""
    for obj in range(layout[OBJECTS_COUNT]):
        if fields[FIRST_OBJECT + obj] == place:
            return obj
    return NOTHING


@njit(cache=True, nogil=True)
def carried_object(layout: Table, fields: NDArray[np.int32]) -> int:
    """The object that the agent carries, or `NOTHING`."""
    return object_at(layout, fields, layout[CELLS] + CARRIED)


@njit(cache=True, nogil=True)
def door_state(layout: Table, fields: NDArray[np.int32], door: int) -> int:
    """The bits `IS_OPEN` and `IS_LOCKED` of a door."""
    return fields[FIRST_OBJECT + layout[OBJECTS_COUNT] + door]


@njit(cache=True, nogil=True)
def _move_forward(layout: Table, fields: NDArray[np.int32], front: int) -> bool:
    terrain = cell_entry(layout, front, TERRAIN)
    if terrain == WALL or object_at(layout, fields, front) != NOTHING:
        return False
    if terrain == DOOR and not door_state(layout, fields, cell_entry(layout, front, DOOR_AT)) & IS_OPEN:
        return False
    fields[AGENT] = front
    return True


@njit(cache=True, nogil=True)
def _pick_up(layout: Table, fields: NDArray[np.int32], front: int) -> bool:
    obj = object_at(layout, fields, front)
    if obj == NOTHING or carried_object(layout, fields) != NOTHING:
        return False
    _put(layout, fields, obj, layout[CELLS] + CARRIED)
    return True


@njit(cache=True, nogil=True)
def _drop(layout: Table, fields: NDArray[np.int32], front: int) -> bool:
    obj = carried_object(layout, fields)
    if obj == NOTHING or cell_entry(layout, front, TERRAIN) != EMPTY or object_at(layout, fields, front) != NOTHING:
        return False
    _put(layout, fields, obj, front)
    return True


@njit(cache=True, nogil=True)
def _toggle(layout: Table, fields: NDArray[np.int32], front: int) -> bool:
    if cell_entry(layout, front, TERRAIN) == DOOR:
        return _toggle_door(layout, fields, front)
    obj = object_at(layout, fields, front)
    if obj == NOTHING or object_entry(layout, obj, KIND) != BOX:
        return False
    contents = object_entry(layout, obj, CONTENTS)
    _put(layout, fields, obj, layout[CELLS] + GONE)
    if contents != NOTHING:
        # Any member of the group that is still inside a box will do: they are alike.
        for inside in range(contents, object_entry(layout, contents, GROUP_END)):
            if fields[FIRST_OBJECT + inside] == layout[CELLS] + INSIDE:
                _put(layout, fields, inside, front)
                break
    return True


@njit(cache=True, nogil=True)
def _toggle_door(layout: Table, fields: NDArray[np.int32], front: int) -> bool:
    door = cell_entry(layout, front, DOOR_AT)
    state = door_state(layout, fields, door)
    if state & IS_LOCKED:
        obj = carried_object(layout, fields)
        if obj == NOTHING or object_entry(layout, obj, KIND) != KEY:
            return False
        if object_entry(layout, obj, COLOR) != cell_entry(layout, front, TERRAIN_COLOR):
            return False
        state = IS_OPEN
    else:
        state ^= IS_OPEN
    fields[FIRST_OBJECT + layout[OBJECTS_COUNT] + door] = state
    return True


@njit(cache=True, nogil=True)
def _put(layout: Table, fields: NDArray[np.int32], obj: int, place: int) -> None:
    """Put an object somewhere, and its group back in ascending order of places."""
    at, first = FIRST_OBJECT + obj, FIRST_OBJECT + object_entry(layout, obj, GROUP_FIRST)
    end = FIRST_OBJECT + object_entry(layout, obj, GROUP_END)
    while at > first and fields[at - 1] > place:
        fields[at] = fields[at - 1]
        at -= 1
    while at + 1 < end and fields[at + 1] < place:
        fields[at] = fields[at + 1]
        at += 1
    fields[at] = place
