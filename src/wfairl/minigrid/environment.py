"""The real MiniGrid: its scenes read into the terms of the model, and states of the model rendered by it."""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import gymnasium
import numpy as np
from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX
from minigrid.core.grid import Grid
from minigrid.core.world_object import WorldObj
from minigrid.envs.babyai.core.roomgrid_level import RoomGridLevel
from minigrid.envs.babyai.core.verifier import (
    AfterInstr,
    BeforeInstr,
    GoToInstr,
    ObjDesc,
    OpenInstr,
    PickupInstr,
    PutNextInstr,
    SeqInstr,
)
from minigrid.envs.dynamicobstacles import DynamicObstaclesEnv
from minigrid.envs.memory import MemoryEnv
from minigrid.minigrid_env import MiniGridEnv
from minigrid.wrappers import NoDeath, StochasticActionWrapper
from numpy.typing import NDArray

from wfairl.core.support.errors import BadInputError
from wfairl.minigrid import rules
from wfairl.minigrid.rules import CARRIED, COLORS, GONE, INSIDE, NOTHING, OBJECTS, TERRAINS, Layout

KNOWN_OBJECTS = "minigrid.core.world_object"
"""The module whose objects the rules are about."""

TILE_PIXELS = 32
"""Side of a cell in a rendered image; MiniGrid's own."""

_RESETTING = threading.Lock()

Kind = tuple[Any, ...]
"""What distinguishes objects: (object number, colour number, kind of the contents or (), roles)."""


class UnknownPhysicsError(BadInputError):
    """The environment does or holds something that the model does not know."""


def make_environment(environment_id: str, **settings: Any) -> gymnasium.Env[Any, Any]:
    """A Gymnasium environment by its id; importing this module registers MiniGrid's and BabyAI's.

    Raises:
        BadInputError: there is no such id, or it cannot be made.
    """
    try:
        return gymnasium.make(environment_id, disable_env_checker=True, **settings)
    except (gymnasium.error.Error, TypeError) as error:
        raise BadInputError(f"environment {environment_id!r} cannot be made: {str(error).splitlines()[0]}") from None


def reset(environment: gymnasium.Env[Any, Any], seed: int | None) -> None:
    """Reset an environment, without a seed to its next scene, and silence what BabyAI prints meanwhile."""
    if not type(environment.unwrapped).__module__.startswith("minigrid.envs.babyai"):
        environment.reset(seed=seed)
        return
    # Redirecting is for the whole process, so two threads must not do it at once.
    with _RESETTING, contextlib.redirect_stdout(io.StringIO()):
        environment.reset(seed=seed)


def kinds_in(environment: gymnasium.Env[Any, Any]) -> set[str]:
    """The kinds of objects that lie in a scene."""
    return {obj.type for obj in unwrap(environment).grid.grid if obj is not None}


@dataclass(frozen=True)
class Contents:
    """What an environment holds at one moment, in the terms of the model."""

    width: int
    terrain: NDArray[np.int8]
    terrain_color: NDArray[np.int8]
    doors: list[tuple[int, int, int]]  # (cell, roles, state bits), in the order of cells
    objects: list[tuple[Kind, int]]  # (kind, place)
    agent: int
    direction: int


def unwrap(environment: gymnasium.Env[Any, Any]) -> MiniGridEnv:
    """The MiniGrid inside the wrappers, if they leave its physics alone."""
    layer: Any = environment
    while isinstance(layer, gymnasium.Wrapper):
        if isinstance(layer, StochasticActionWrapper | NoDeath | gymnasium.ActionWrapper):
            raise UnknownPhysicsError(f"the wrapper {type(layer).__name__} changes what controls do")
        if not _step_owner(type(layer)).startswith(("gymnasium.", "minigrid.")):
            raise UnknownPhysicsError(
                f"the wrapper {type(layer).__name__} has a step of its own, which the model does not know"
            )
        layer = layer.env
    if not isinstance(layer, MiniGridEnv):
        raise UnknownPhysicsError(f"{type(layer).__name__} is not a MiniGrid environment")
    if isinstance(layer, DynamicObstaclesEnv):
        raise UnknownPhysicsError(f"{type(layer).__name__} is not deterministic: its obstacles move by themselves")
    if getattr(layer, "grid", None) is None or layer.agent_pos is None or layer.agent_dir is None:
        raise UnknownPhysicsError(f"{type(layer).__name__} has not been reset")
    return layer


def read_contents(scene: MiniGridEnv) -> Contents:
    """What an environment holds now."""
    width, height = scene.grid.width, scene.grid.height
    cells = width * height
    terrain = np.zeros(cells, np.int8)
    terrain_color = np.full(cells, NOTHING, np.int8)
    doors: list[tuple[int, int, int]] = []
    objects: list[tuple[Kind, int]] = []
    roles = _roles(scene)
    for cell, obj in enumerate(scene.grid.grid):
        if obj is None:
            continue
        _check_known(obj)
        if obj.type in OBJECTS:
            objects += _with_contents(obj, cell, cells, roles)
            continue
        if obj.type not in TERRAINS:
            raise UnknownPhysicsError(f"the model does not know the object {obj.type!r} at {_xy(cell, width)}")
        terrain[cell] = TERRAINS.index(obj.type)
        terrain_color[cell] = _color_number(obj)
        if obj.type == "door":
            state = rules.IS_OPEN * bool(obj.is_open) | rules.IS_LOCKED * bool(obj.is_locked)
            doors.append((cell, roles.get(id(obj), 0), state))
    if scene.carrying is not None:
        objects += _with_contents(scene.carrying, cells + CARRIED, cells, roles)
    x, y = map(int, scene.agent_pos)
    return Contents(width, terrain, terrain_color, doors, objects, y * width + x, int(scene.agent_dir))


def _roles(scene: MiniGridEnv) -> dict[int, int]:
    """The roles that a mission of BabyAI gives to objects and doors, a bit each, by their identity."""
    roles: dict[int, int] = {}
    for role, description in enumerate(_descriptions(scene)):
        for obj in description.obj_set:
            roles[id(obj)] = roles.get(id(obj), 0) | 1 << role
    return roles


def _descriptions(scene: MiniGridEnv) -> list[ObjDesc]:
    """The objects and doors that a mission names, in its order; a role each."""
    if not isinstance(scene, RoomGridLevel):
        return []
    names = "desc", "desc_move", "desc_fixed"
    descriptions = (getattr(part, name, None) for part in _parts(scene.instrs) for name in names)
    return [description for description in descriptions if description is not None]


def _parts(instruction: Any) -> list[Any]:
    """The parts of an instruction, in the order in which it names them."""
    if isinstance(instruction, SeqInstr):
        return [*_parts(instruction.instr_a), *_parts(instruction.instr_b)]
    return [instruction]


@dataclass(frozen=True)
class MissionPart:
    """One part of a mission.

    Attributes:
        verb: `go to`, `pick up`, `open` or `put next`.
        role: of what it is about.
        other: role of what that is put next to; `NOTHING` otherwise.
    """

    verb: str
    role: int
    other: int = NOTHING


VERBS = {GoToInstr: "go to", PickupInstr: "pick up", OpenInstr: "open", PutNextInstr: "put next"}


def read_mission(environment: gymnasium.Env[Any, Any]) -> list[list[MissionPart]]:
    """What the mission of a BabyAI level asks for: its parts in any order, or first some and then others.

    Raises:
        UnknownPhysicsError: the environment has no such mission, or one that punishes what is not asked for.
    """
    scene = unwrap(environment)
    if not isinstance(scene, RoomGridLevel):
        raise UnknownPhysicsError(f"{type(scene).__name__} is not a BabyAI level: it has no instructions to read")
    instruction, roles, read = scene.instrs, count(), {}
    for part in _parts(instruction):
        if type(part) not in VERBS or getattr(part, "strict", False):
            raise UnknownPhysicsError(f"the mission {scene.mission!r} has an unknown or strict part")
        is_put = isinstance(part, PutNextInstr)
        read[part] = MissionPart(VERBS[type(part)], next(roles), next(roles) if is_put else NOTHING)
    if isinstance(instruction, BeforeInstr | AfterInstr):
        in_order = [instruction.instr_a, instruction.instr_b]
        if isinstance(instruction, AfterInstr):
            in_order.reverse()
        return [[read[part] for part in _parts(one)] for one in in_order]
    return [[read[part] for part in _parts(instruction)]]


def _with_contents(obj: Any, place: int, cells: int, roles: dict[int, int]) -> Iterator[tuple[Kind, int]]:
    """The kind and place of an object and, if it is a box, of what is inside it."""
    yield _kind(obj, roles), place
    if obj.contains is not None:
        yield from _with_contents(obj.contains, cells + INSIDE, cells, roles)


def _check_known(obj: Any) -> None:
    """Refuse an object of a class outside MiniGrid: it may do anything when it is toggled or entered."""
    if type(obj).__module__ != KNOWN_OBJECTS:
        raise UnknownPhysicsError(f"the model does not know the class {type(obj).__name__} of a {obj.type}")


def _kind(obj: Any, roles: dict[int, int]) -> Kind:
    _check_known(obj)
    if obj.type not in OBJECTS:
        raise UnknownPhysicsError(f"the model does not know a {obj.type} inside a box")
    contents = () if obj.contains is None else _kind(obj.contains, roles)
    return OBJECTS.index(obj.type), _color_number(obj), contents, roles.get(id(obj), 0)


def _color_number(obj: Any) -> int:
    if obj.color not in COLORS:
        raise UnknownPhysicsError(f"the model does not know the colour {obj.color!r} of a {obj.type}")
    return COLORS.index(obj.color)


def layout_of(scene: MiniGridEnv, contents: Contents) -> Layout:
    """What will never change in a scene; objects of a kind, and of a kind and colour, stand together."""
    kinds = sorted((kind for kind, _ in contents.objects), key=repr)
    groups = [(kinds.index(kind), kinds.index(kind) + kinds.count(kind)) for kind in kinds]
    inside = [kinds.index(kind[2]) if kind[2] else NOTHING for kind in kinds]
    rows = zip(kinds, groups, inside, strict=True)
    objects = [(kind[0], kind[1], *group, contents, kind[3]) for kind, group, contents in rows]
    return Layout(
        width=contents.width,
        cells=cells_of(contents),
        objects=np.array(objects, np.int32).reshape(-1, rules.OBJECT_COLUMNS),
        doors=len(contents.doors),
        pickup_toggles=isinstance(scene, MemoryEnv),
    )


def cells_of(contents: Contents) -> NDArray[np.int32]:
    """The table of cells of a `Layout`."""
    numbers = np.arange(contents.terrain.size).reshape(-1, contents.width)
    walled = np.pad(numbers, 1, constant_values=NOTHING)
    cells = np.full((contents.terrain.size, rules.CELL_COLUMNS), NOTHING, np.int32)
    cells[:, rules.TERRAIN] = contents.terrain
    cells[:, rules.TERRAIN_COLOR] = contents.terrain_color
    cells[:, rules.COLUMN] = numbers.ravel() % contents.width
    cells[:, rules.ROW] = numbers.ravel() // contents.width
    at = [cell for cell, _, _ in contents.doors]
    cells[at, rules.DOOR_AT] = np.arange(len(at))
    cells[:, rules.DOOR_ROLES] = 0
    cells[at, rules.DOOR_ROLES] = [roles for _, roles, _ in contents.doors]
    neighbours = walled[1:-1, 2:], walled[2:, 1:-1], walled[1:-1, :-2], walled[:-2, 1:-1]  # right, down, left, up
    cells[:, rules.FRONT :] = np.stack([neighbour.ravel() for neighbour in neighbours], axis=1)
    return cells


def fields_of(layout: Layout, contents: Contents) -> list[int]:
    """The fields of what an environment holds; boxes that it no longer holds have been opened."""
    places = [len(layout.cells) + GONE] * len(layout.objects)
    for kind in {kind for kind, _ in contents.objects}:
        occupied = sorted(place for other, place in contents.objects if other == kind)
        group = [obj for obj in range(len(places)) if _kind_of(layout, obj) == kind]
        if len(occupied) > len(group):
            raise UnknownPhysicsError(f"there are more objects ({OBJECTS[kind[0]]}) than this world has")
        places[group[0] : group[0] + len(occupied)] = occupied
    return [contents.direction, contents.agent, *places, *(state for _, _, state in contents.doors)]


def _kind_of(layout: Layout, obj: int) -> Kind:
    kind, color, _, _, inside, roles = map(int, layout.objects[obj])
    return kind, color, _kind_of(layout, inside) if inside != NOTHING else (), roles


@dataclass(frozen=True)
class RenderedState:
    """One state in MiniGrid's own encoding.

    Attributes:
        grid: MiniGrid's own encoding (object, colour, state) of the grid, shape [width, height, 3] of uint8.
        position: the agent's cell (x, y).
        direction: 0 right, 1 down, 2 left, 3 up.
        carried: MiniGrid's encoding (object, colour, state) of what the agent carries, or None.
        terminated: whether the agent stands on a goal or on lava.
    """

    grid: NDArray[np.uint8]
    position: tuple[int, int]
    direction: int
    carried: tuple[int, int, int] | None
    terminated: bool


def scene_of(layout: Layout, fields: NDArray[np.int32]) -> RenderedState:
    """A state in MiniGrid's own encoding."""
    terrain_codes = np.array([OBJECT_TO_IDX[name] for name in TERRAINS], np.uint8)
    color_codes = np.array([COLOR_TO_IDX[name] for name in COLORS], np.uint8)
    terrain, color = layout.cells[:, rules.TERRAIN], layout.cells[:, rules.TERRAIN_COLOR]
    codes = np.zeros((len(layout.cells), 3), np.uint8)
    codes[:, 0] = terrain_codes[terrain]
    codes[:, 1] = np.where(color == NOTHING, 0, color_codes[color])
    for cell in np.flatnonzero(terrain == rules.DOOR):
        state = rules.door_state(layout.table, fields, layout.cells[cell, rules.DOOR_AT])
        name = "open" if state & rules.IS_OPEN else "locked" if state & rules.IS_LOCKED else "closed"
        codes[cell, 2] = STATE_TO_IDX[name]
    carried = None
    for obj, (kind, object_color, *_) in enumerate(layout.objects):
        place = fields[rules.FIRST_OBJECT + obj]
        code = OBJECT_TO_IDX[OBJECTS[kind]], int(color_codes[object_color]), 0
        if place < len(layout.cells):
            codes[place] = code
        elif place == len(layout.cells) + CARRIED:
            carried = code
    return RenderedState(
        grid=codes.reshape(-1, layout.width, 3).transpose(1, 0, 2),
        position=_xy(int(fields[rules.AGENT]), layout.width),
        direction=int(fields[rules.DIRECTION]),
        carried=carried,
        terminated=bool(rules.is_final(layout.table, fields)),
    )


def render_scene(scene: RenderedState) -> NDArray[np.uint8]:
    """MiniGrid's image of a state, without highlighting the agent's view; shape [height, width, 3]."""
    grid, _ = Grid.decode(scene.grid)
    return grid.render(TILE_PIXELS, scene.position, scene.direction)


def tile_keys(scene: RenderedState) -> NDArray[np.int32]:
    """What each cell of the image of a state shows, as one number: equal numbers look the same; [height, width]."""
    codes = scene.grid.astype(np.int32).transpose(1, 0, 2)
    keys: NDArray[np.int32] = codes[:, :, 0] | codes[:, :, 1] << 4 | codes[:, :, 2] << 8
    x, y = scene.position
    keys[y, x] |= 1 + scene.direction << 12
    return keys


def render_tile(key: int) -> NDArray[np.uint8]:
    """MiniGrid's image of a cell with a number of `tile_keys`, shape [TILE_PIXELS, TILE_PIXELS, 3]."""
    obj = WorldObj.decode(key & 15, key >> 4 & 15, key >> 8 & 15)
    heading = (key >> 12) - 1
    return np.asarray(Grid.render_tile(obj, None if heading < 0 else heading, False, TILE_PIXELS), np.uint8)


def _xy(cell: int, width: int) -> tuple[int, int]:
    return cell % width, cell // width


def has_own_step(environment_type: type) -> bool:
    """Whether `step` is overridden outside of MiniGrid, whose own overrides only add missions."""
    return not _step_owner(environment_type).startswith("minigrid.")


def _step_owner(layer_type: type) -> str:
    """The module of the class that defines `step`."""
    return next(base for base in layer_type.__mro__ if "step" in base.__dict__).__module__
