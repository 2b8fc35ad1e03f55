"""Propositions about MiniGrid scenes, which labels are made of.

A proposition is a small frozen record; a world takes propositions by name:

    {"key": Carrying("key"), "door": DoorOpen(), "goal": AgentOn("goal")}

A proposition holds or not after a transition. It is translated once per scene into a row of five integers, an *atom*,
which compiled code evaluates; see `holds`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.errors import BadInputError
from wfairl.minigrid import atoms, physics
from wfairl.minigrid.physics import NOTHING, Layout

Atom = tuple[int, int, int, int, int]
"""A question and its arguments, padded with zeros; see `holds`."""


MAX_PROPOSITIONS = 64
"""Propositions of one scene: a label is also a mask of 64 bits."""


class Proposition(Protocol):
    """A question about the state after a transition."""

    def atom(self, layout: Layout) -> Atom:
        """The question in the terms of one scene.

        Raises:
            BadInputError: the scene has nothing that the question could be about.
        """
        ...


@dataclass(frozen=True)
class Carrying:
    """The agent carries an object of this kind and colour."""

    kind: str
    color: str | None = None

    def atom(self, layout: Layout) -> Atom:
        first, end = _objects(layout, self.kind, self.color)
        return atoms.ANY_AT, first, end, len(layout.cells) + physics.CARRIED, 0


@dataclass(frozen=True)
class DoorOpen:
    """The door is open; `color` or `at` (x, y) say which where there are several."""

    color: str | None = None
    at: tuple[int, int] | None = None

    def atom(self, layout: Layout) -> Atom:
        cell = _door_cell(layout, self.color, self.at)
        return atoms.DOOR_IS_OPEN, int(layout.cells[cell, physics.DOOR_AT]), 0, 0, 0


@dataclass(frozen=True)
class AgentOn:
    """The agent stands on this terrain: `goal`, `lava`, `floor` or `door`."""

    terrain: str
    color: str | None = None

    def atom(self, layout: Layout) -> Atom:
        terrain = _number(self.terrain, physics.TERRAINS, "terrain")
        if not len(_rows_of(layout.cells, terrain, self.color)):
            raise BadInputError(f"this scene has no {_named(self.terrain, self.color)} to stand on")
        return atoms.AGENT_ON_TERRAIN, terrain, _color(self.color), 0, 0


@dataclass(frozen=True)
class AgentAt:
    """The agent stands on the cell (x, y)."""

    x: int
    y: int

    def atom(self, layout: Layout) -> Atom:
        return atoms.AGENT_AT, _cell(layout, self.x, self.y), 0, 0, 0


@dataclass(frozen=True)
class Facing:
    """The cell in front of the agent holds an object of this kind and colour, or a door of this colour."""

    kind: str
    color: str | None = None

    def atom(self, layout: Layout) -> Atom:
        if self.kind == "door":
            _door_cells(layout, self.color, None)
            return atoms.DOOR_IN_FRONT, _color(self.color), 0, 0, 0
        first, end = _objects(layout, self.kind, self.color)
        return atoms.ANY_IN_FRONT, first, end, 0, 0


@dataclass(frozen=True)
class AwayFromDoor:
    """Every object of this kind and colour is at this Manhattan distance or more from the door.

    A carried object is where the agent is.
    """

    kind: str
    distance: int
    color: str | None = None
    door_color: str | None = None

    def atom(self, layout: Layout) -> Atom:
        first, end = _objects(layout, self.kind, self.color)
        return atoms.ALL_APART, first, end, _door_cell(layout, self.door_color, None), self.distance


@dataclass(frozen=True)
class Constant:
    """A proposition that always holds, such as a part that a mission lacks, or never."""

    holds: bool

    def atom(self, layout: Layout) -> Atom:  # noqa: ARG002 - part of the contract
        return (atoms.ALWAYS if self.holds else atoms.ANY_AT), 0, 0, 0, 0  # none of no objects is anywhere


@dataclass(frozen=True)
class OfRole:
    """The agent does what a mission asks for; see `holds`."""

    verb: str  # `go to`, `pick up`, `open` or `put next`
    role: int  # of the objects that the mission names
    other: int = 0  # the role of the objects beside which one is put

    def atom(self, layout: Layout) -> Atom:  # noqa: ARG002 - part of the contract
        return (QUESTIONS[self.verb], self.role, self.other, 0, 0)


QUESTIONS = {
    "go to": atoms.ROLE_REACHED,
    "pick up": atoms.ROLE_PICKED_UP,
    "open": atoms.ROLE_OPENED,
    "put next": atoms.ROLE_PUT_NEXT,
}
"""The question that each verb of a mission asks."""


def make_atoms(layout: Layout, propositions: Mapping[str, Proposition]) -> NDArray[np.int32]:
    """The atoms of propositions in their order, shape [propositions, 5]."""
    if len(propositions) > MAX_PROPOSITIONS:
        raise BadInputError(f"at most {MAX_PROPOSITIONS} propositions, not {len(propositions)}")
    return np.array([one.atom(layout) for one in propositions.values()], np.int32).reshape(-1, 5)


def proposition_menu(layout: Layout) -> Iterator[tuple[str, Proposition]]:
    """The propositions about a scene, in words and as records; propositions about the agent's cell are left out."""
    objects = layout.objects
    for kind in np.unique(objects[:, physics.OBJECT_KIND]).tolist():
        name = physics.OBJECTS[kind]
        colors = np.unique(objects[objects[:, physics.OBJECT_KIND] == kind, physics.OBJECT_COLOR]).tolist()
        named: list[str | None] = [None] if len(colors) == 1 else [None, *(physics.COLORS[one] for one in colors)]
        for color in named:
            noun = name if color is None else f"{color} {name}"
            yield f"carrying {_a(noun)}", Carrying(name, color)
            yield f"facing {_a(noun)}", Facing(name, color)
    cells = layout.cells
    doors = cells[cells[:, physics.TERRAIN] == physics.DOOR]
    painted = np.unique(doors[:, physics.TERRAIN_COLOR]).tolist()
    if len(doors) == 1:
        yield "the door is open", DoorOpen()
    elif len(doors) == len(painted):
        for number in painted:
            yield f"the {physics.COLORS[number]} door is open", DoorOpen(physics.COLORS[number])
    if len(doors):
        yield "facing a door", Facing("door")
    for terrain in (physics.GOAL, physics.LAVA):
        if (cells[:, physics.TERRAIN] == terrain).any():
            yield f"on {physics.TERRAINS[terrain]}", AgentOn(physics.TERRAINS[terrain])
    floors = cells[cells[:, physics.TERRAIN] == physics.FLOOR]
    for number in np.unique(floors[:, physics.TERRAIN_COLOR]).tolist():
        yield f"on {physics.COLORS[number]} floor", AgentOn("floor", physics.COLORS[number])


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _objects(layout: Layout, kind: str, color: str | None) -> tuple[int, int]:
    """The first object that matches and one past the last; objects that match stand together."""
    objects = _rows_of(layout.objects, _number(kind, physics.OBJECTS, "kind of object"), color)
    if not len(objects):
        raise BadInputError(f"this scene has no {_named(kind, color)}")
    return int(objects[0]), int(objects[-1]) + 1


def _door_cell(layout: Layout, color: str | None, at: tuple[int, int] | None) -> int:
    cells = _door_cells(layout, color, at)
    if len(cells) > 1:
        raise BadInputError(
            f"this scene has {len(cells)} doors that match {_named('door', color)}; say which with at=(x, y)"
        )
    return cells[0]


def _door_cells(layout: Layout, color: str | None, at: tuple[int, int] | None) -> list[int]:
    """The cells of the doors that match; at least one."""
    cells: list[int] = _rows_of(layout.cells, physics.DOOR, color).tolist()
    if at is not None:
        cells = [cell for cell in cells if cell == _cell(layout, *at)]
    if not cells:
        place = f" at {at}" if at is not None else ""
        raise BadInputError(f"this scene has no {_named('door', color)}{place}")
    return cells


def _rows_of(table: NDArray[np.int32], kind: int, color: str | None) -> NDArray[np.int64]:
    """The objects of a kind, or the cells of a terrain, and of a colour; both tables begin with these two columns."""
    return np.flatnonzero((table[:, 0] == kind) & ((color is None) | (table[:, 1] == _color(color))))


def _cell(layout: Layout, x: int, y: int) -> int:
    if not (0 <= x < layout.width and 0 <= y < layout.height):
        raise BadInputError(f"the cell ({x}, {y}) lies outside this scene of {layout.width} x {layout.height} cells")
    return y * layout.width + x


def _color(color: str | None) -> int:
    return NOTHING if color is None else _number(color, physics.COLORS, "colour")


def _number(name: str, names: Sequence[str], noun: str) -> int:
    if name not in names:
        raise BadInputError(f"unknown {noun} {name!r}; known are {', '.join(names)}")
    return list(names).index(name)


def _named(kind: str, color: str | None) -> str:
    return kind if color is None else f"{color} {kind}"
