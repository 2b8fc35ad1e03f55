"""The exact model of MiniGrid: a scene as arrays, its states as rows of small integers, and what controls do to them.

A state is a row of *fields*:

    [direction, agent cell, place of object 0, ..., state of door 0, ...]

A cell is `y * width + x`. The place of an object is a cell, or one of three places behind the last cell: carried,
inside a closed box, gone (an opened box). Objects that cannot be told apart (same kind, colour, contents and roles)
form a *group*. The places of a group are in ascending order, so that two states differ only if the scene differs.

A *role* is what a mission calls objects or doors, such as "the ball on your left": one bit of their roles.

`Layout` holds what never changes in a scene. `apply_control` is the one place that defines what a control does.
Searches store a state as 64-bit words: `pack_fields` and `unpack`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import inner, njit
from wfairl.core.support.errors import BadInputError

CONTROLS = ("left", "right", "forward", "pickup", "drop", "toggle")
LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE = range(len(CONTROLS))

TERRAINS = ("empty", "wall", "floor", "goal", "lava", "door")
EMPTY, WALL, FLOOR, GOAL, LAVA, DOOR = range(len(TERRAINS))
"""Terrain: what a cell is, whatever lies on it."""

OBJECTS = ("key", "ball", "box")
KEY, BALL, BOX = range(len(OBJECTS))
"""Kinds of objects that can be carried."""

COLORS = ("red", "green", "blue", "purple", "yellow", "grey")
"""MiniGrid's names of colours, in the order of their numbers here."""

CELL_TYPES = (*TERRAINS[:DOOR], "open door", "closed door", "locked door", *OBJECTS)
"""Everything that a cell can show; a cell of a grid is an index into them."""

OPEN_DOOR, CLOSED_DOOR, LOCKED_DOOR, FIRST_OBJECT_TYPE = range(DOOR, DOOR + 4)
"""Positions in `CELL_TYPES`."""

HANDS = ("nothing", *OBJECTS)
"""Everything that the agent can carry; a hand is an index into them."""

FLOORS = ("none", *COLORS)
"""The colour of the floor of a cell."""

HEADINGS = 4
"""Directions that the agent can face: 0 right, 1 down, 2 left, 3 up."""

IS_OPEN, IS_LOCKED = 1, 2
"""Bits of a door's state."""

DIRECTION, AGENT, FIRST_OBJECT = range(3)
"""Positions of the fields."""

CARRIED, INSIDE, GONE = range(3)
"""Places behind the last cell: the number of the place is `cells + CARRIED`, and so on."""

NOTHING = -1
"""No object, no door, no contents, no cell."""

LayoutTable = NDArray[np.int32]
"""The flat array of a `Layout`, which compiled code reads."""

CELLS, OBJECTS_COUNT, DOORS_COUNT, PICKUP_TOGGLES, OBJECT_TABLE, FIELD_TABLE, CELL_TABLE = range(7)
"""Positions in the head of a `LayoutTable`; the table of cells starts behind the head."""

TERRAIN, TERRAIN_COLOR, DOOR_AT, DOOR_ROLES, CELL_X, CELL_Y, FRONT = range(7)
CELL_COLUMNS = FRONT + HEADINGS
"""Columns of the table of cells; those from `FRONT` on hold the neighbour in each direction."""

OBJECT_KIND, OBJECT_COLOR, GROUP_FIRST, GROUP_END, CONTENTS, ROLES, OBJECT_COLUMNS = range(7)
"""Columns of the table of objects."""

WORD, SHIFT, BITS, FIELD_COLUMNS = range(4)
"""Columns of the table of fields: where each field is packed."""


class UnknownPhysicsError(BadInputError):
    """The environment does or holds something that the model does not know."""


@dataclass(frozen=True)
class Layout:
    """The part of one scene that never changes.

    Compiled code reads it from one flat array, `table`: many small arrays would cost a reference count each at every
    call. The array holds a head of scalars, then the tables of cells, objects and fields.
    """

    width: int  # cells in a row
    # terrain, colour, door or `NOTHING`, roles of the door, x, y and four neighbours of each cell; shape [cells, 10]
    cells: NDArray[np.int32]
    # kind, colour, first object and end of the group, first object of the group of the contents or `NOTHING`, and roles
    # of each object. Objects of one kind stand together, and so do objects of one kind and colour. Shape [objects, 6].
    objects: NDArray[np.int32]
    doors: int  # number of doors
    pickup_toggles: bool  # whether `pickup` does what `toggle` does, as in MiniGrid's Memory

    @property
    def height(self) -> int:
        """Cells in a column."""
        return len(self.cells) // self.width

    @cached_property
    def walkable(self) -> NDArray[np.int64]:
        """The cells that are no walls, shape [walkable]."""
        return np.flatnonzero(self.cells[:, TERRAIN] != WALL)

    @property
    def first_door(self) -> int:
        """The position of the first door's field."""
        return FIRST_OBJECT + len(self.objects)

    @cached_property
    def largest_values(self) -> NDArray[np.int32]:
        """The largest value of each field of a state, shape [fields]."""
        places = [len(self.cells) + GONE] * len(self.objects)
        return np.array([3, len(self.cells) - 1, *places, *[IS_OPEN | IS_LOCKED] * self.doors], np.int32)

    @cached_property
    def packing(self) -> NDArray[np.int32]:
        """Word, shift and bits of each field; no field crosses a word. Shape [fields, 3]."""
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
    def table(self) -> LayoutTable:
        """The flat array, for compiled code."""
        object_table = CELL_TABLE + self.cells.size
        field_table = object_table + self.objects.size
        head = [len(self.cells), len(self.objects), self.doors, self.pickup_toggles, object_table, field_table]
        tables = [self.cells.ravel(), self.objects.ravel(), self.packing.ravel()]
        return np.concatenate([head, *tables]).astype(np.int32)

    def pack(self, fields: NDArray[np.int32]) -> NDArray[np.uint64]:
        """The 64-bit words of a state given by its fields: [fields] -> [words]."""
        words = np.empty(self.words, np.uint64)
        pack_fields(self.table, fields, words)
        return words

    def unpack(self, words: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The fields of a packed state: [words] -> [fields]."""
        fields = np.empty(self.largest_values.size, np.int32)
        unpack(self.table, words, fields)
        return fields


@inner
def cell_entry(layout: LayoutTable, cell: int, column: int) -> int:
    """One entry of the table of cells."""
    return layout[CELL_TABLE + CELL_COLUMNS * cell + column]


@inner
def object_entry(layout: LayoutTable, obj: int, column: int) -> int:
    """One entry of the table of objects."""
    return layout[layout[OBJECT_TABLE] + OBJECT_COLUMNS * obj + column]


@njit(cache=True, nogil=True, exact=True)
def apply_control(layout: LayoutTable, fields: NDArray[np.int32], control: int) -> bool:
    """Turn the fields of a state, in place, into the fields of the next state: x_{t+1} = f(x_t, u_t).

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
def is_final(layout: LayoutTable, fields: NDArray[np.int32]) -> bool:
    """Whether the episode is over: the agent stands on a goal or on lava, and nothing moves any more."""
    terrain = cell_entry(layout, fields[AGENT], TERRAIN)
    return terrain in (GOAL, LAVA)


@inner
def cell_in_front(layout: LayoutTable, fields: NDArray[np.int32]) -> int:
    """The cell that the agent faces, or `NOTHING` at the edge of the grid."""
    return cell_entry(layout, fields[AGENT], FRONT + fields[DIRECTION])


@inner
def object_at(layout: LayoutTable, fields: NDArray[np.int32], place: int) -> int:
    """The object at a place, or `NOTHING`; a cell, or the agent's hands, hold at most one."""
    for obj in range(layout[OBJECTS_COUNT]):
        if fields[FIRST_OBJECT + obj] == place:
            return obj
    return NOTHING


@inner
def carried_object(layout: LayoutTable, fields: NDArray[np.int32]) -> int:
    """The object that the agent carries, or `NOTHING`."""
    return object_at(layout, fields, layout[CELLS] + CARRIED)


@njit(cache=True, nogil=True)
def door_state(layout: LayoutTable, fields: NDArray[np.int32], door: int) -> int:
    """The bits `IS_OPEN` and `IS_LOCKED` of a door."""
    return fields[FIRST_OBJECT + layout[OBJECTS_COUNT] + door]


@inner
def _move_forward(layout: LayoutTable, fields: NDArray[np.int32], front: int) -> bool:
    terrain = cell_entry(layout, front, TERRAIN)
    if terrain == WALL or object_at(layout, fields, front) != NOTHING:
        return False
    if terrain == DOOR and not door_state(layout, fields, cell_entry(layout, front, DOOR_AT)) & IS_OPEN:
        return False
    fields[AGENT] = front
    return True


@njit(cache=True, nogil=True)
def _pick_up(layout: LayoutTable, fields: NDArray[np.int32], front: int) -> bool:
    obj = object_at(layout, fields, front)
    if obj == NOTHING or carried_object(layout, fields) != NOTHING:
        return False
    _put(layout, fields, obj, layout[CELLS] + CARRIED)
    return True


@njit(cache=True, nogil=True)
def _drop(layout: LayoutTable, fields: NDArray[np.int32], front: int) -> bool:
    obj = carried_object(layout, fields)
    if obj == NOTHING or cell_entry(layout, front, TERRAIN) != EMPTY or object_at(layout, fields, front) != NOTHING:
        return False
    _put(layout, fields, obj, front)
    return True


@inner
def _toggle(layout: LayoutTable, fields: NDArray[np.int32], front: int) -> bool:
    if cell_entry(layout, front, TERRAIN) == DOOR:
        return _toggle_door(layout, fields, front)
    obj = object_at(layout, fields, front)
    if obj == NOTHING or object_entry(layout, obj, OBJECT_KIND) != BOX:
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
def _toggle_door(layout: LayoutTable, fields: NDArray[np.int32], front: int) -> bool:
    door = cell_entry(layout, front, DOOR_AT)
    state = door_state(layout, fields, door)
    if state & IS_LOCKED:
        obj = carried_object(layout, fields)
        if obj == NOTHING or object_entry(layout, obj, OBJECT_KIND) != KEY:
            return False
        if object_entry(layout, obj, OBJECT_COLOR) != cell_entry(layout, front, TERRAIN_COLOR):
            return False
        state = IS_OPEN
    else:
        state ^= IS_OPEN
    fields[FIRST_OBJECT + layout[OBJECTS_COUNT] + door] = state
    return True


@inner
def _put(layout: LayoutTable, fields: NDArray[np.int32], obj: int, place: int) -> None:
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


@inner
def fields_count(layout: LayoutTable) -> int:
    """Number of fields of a state."""
    return FIRST_OBJECT + layout[OBJECTS_COUNT] + layout[DOORS_COUNT]


@njit(cache=True, nogil=True, exact=True)
def pack_fields(layout: LayoutTable, fields: NDArray[np.int32], words: NDArray[np.uint64]) -> None:
    """Write the fields of a state, shape [fields], into its 64-bit words, shape [words]."""
    for i in range(words.size):
        words[i] = 0
    for i in range(fields.size):
        row = layout[FIELD_TABLE] + FIELD_COLUMNS * i
        words[layout[row + WORD]] |= np.uint64(fields[i]) << np.uint64(layout[row + SHIFT])


@njit(cache=True, nogil=True, exact=True)
def unpack(layout: LayoutTable, words: NDArray[np.uint64], fields: NDArray[np.int32]) -> None:
    """Read the fields of a state, shape [fields], from its 64-bit words, shape [words]."""
    for i in range(fields.size):
        row = layout[FIELD_TABLE] + FIELD_COLUMNS * i
        mask = (np.uint64(1) << np.uint64(layout[row + BITS])) - np.uint64(1)
        fields[i] = np.int32((words[layout[row + WORD]] >> np.uint64(layout[row + SHIFT])) & mask)


@njit(cache=True, nogil=True, exact=True)
def unpack_all(layout: LayoutTable, states: NDArray[np.uint64]) -> NDArray[np.int32]:
    """The fields of many packed states: [states, words] -> [states, fields]."""
    fields = np.empty((states.shape[0], fields_count(layout)), np.int32)
    for i in range(states.shape[0]):
        unpack(layout, states[i], fields[i])
    return fields
