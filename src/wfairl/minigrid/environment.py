"""The real MiniGrid: environments made by their ids, and scenes and states read into the terms of the model.

This module, `missions`, `renderer` and `rooms` import the library `minigrid`, and with it pygame. No other module does,
and these four are imported only when an environment is made or a state is drawn.
"""

from __future__ import annotations

from math import comb

import wfairl.minigrid.library  # isort: skip # noqa: F401
import contextlib
import copy
import io
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from minigrid.envs.dynamicobstacles import DynamicObstaclesEnv
from minigrid.envs.memory import MemoryEnv
from minigrid.minigrid_env import MiniGridEnv
from minigrid.wrappers import NoDeath, StochasticActionWrapper
from numpy.typing import NDArray

from wfairl.core.support.errors import BadInputError
from wfairl.minigrid import (
    physics,
    rooms,  # noqa: F401 - registers its environments
)
from wfairl.minigrid.missions import roles_in_mission
from wfairl.minigrid.physics import NOTHING, Layout, UnknownPhysicsError

if TYPE_CHECKING:
    from wfairl.minigrid.world import MiniGridWorld

KNOWN_OBJECTS = "minigrid.core.world_object"
"""The module whose objects the model knows."""

PROBED_STEPS = 300
"""Steps for which an environment of unknown code is compared with the model."""

_RESETTING = threading.Lock()

Kind = tuple[Any, ...]
"""Objects of one kind cannot be told apart: (object number, colour number, kind of the contents or (), roles)."""


def make_environment(environment_id: str, **settings: Any) -> gymnasium.Env[Any, Any]:
    """A Gymnasium environment by its id; importing this module registers MiniGrid's, BabyAI's and our own.

    Raises:
        BadInputError: there is no such id, or it cannot be made.
    """
    try:
        return gymnasium.make(environment_id, disable_env_checker=True, **settings)
    except (gymnasium.error.Error, TypeError) as error:
        raise BadInputError(f"environment {environment_id!r} cannot be made: {str(error).splitlines()[0]}") from None


def reset(environment: gymnasium.Env[Any, Any], seed: int | None) -> None:
    """Reset an environment, and silence what BabyAI prints meanwhile; without a seed, to its next scene."""
    if not type(environment.unwrapped).__module__.startswith("minigrid.envs.babyai"):
        environment.reset(seed=seed)
        return
    # Redirecting is for the whole process, so two threads must not do it at once.
    with _RESETTING, contextlib.redirect_stdout(io.StringIO()):
        environment.reset(seed=seed)


def kinds_in(environment: gymnasium.Env[Any, Any]) -> set[str]:
    """The kinds of objects that lie in a scene."""
    return {obj.type for obj in unwrap(environment).grid.grid if obj is not None}


def read_scene(environment: gymnasium.Env[Any, Any]) -> tuple[Layout, list[int]]:
    """The layout of an environment, and the fields of its present state."""
    scene = unwrap(environment)
    contents = _read_contents(scene)
    layout = _layout_of(contents, pickup_toggles=isinstance(scene, MemoryEnv))
    return layout, _fields_of(layout, contents)


def read_fields(environment: gymnasium.Env[Any, Any], layout: Layout) -> list[int]:
    """The fields of the present state of an environment.

    Raises:
        UnknownPhysicsError: the environment does not have this layout.
    """
    contents = _read_contents(unwrap(environment))
    if not np.array_equal(_cells_of(contents), layout.cells):
        raise UnknownPhysicsError("walls, doors or other terrain of the environment are not those of this world")
    return _fields_of(layout, contents)


def check_physics(world: MiniGridWorld, environment: gymnasium.Env[Any, Any]) -> None:
    """Step a copy of an environment beside its model if its `step` is not MiniGrid's own, and refuse it if they differ.

    MiniGrid's own subclasses override `step` only to add missions.
    """
    real = unwrap(environment)
    if _step_owner(type(real)).startswith("minigrid."):
        return
    real, rng, state = copy.deepcopy(real), np.random.default_rng(0), world.initial_state
    for t in range(PROBED_STEPS):
        control = int(rng.integers(len(physics.CONTROLS)))
        _, _, terminated, truncated, _ = real.step(control)
        state = world.step(state, control)
        if world.state_of(real) != state:
            raise UnknownPhysicsError(
                f"{type(real).__name__} overrides step, and its state after step {t} ({physics.CONTROLS[control]}) "
                "is not what MiniGrid's own rules give: it is not deterministic, or it has rules of its own"
            )
        if terminated or truncated:
            return


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
        cells = (layer.width - 2) * (layer.height - 2)
        states = 4 * cells * comb(cells, layer.n_obstacles)
        raise UnknownPhysicsError(
            f"{type(layer).__name__} is not deterministic: its {layer.n_obstacles} obstacles move by themselves, which"
            f" the model does not know, and their places make up to {states:.0e} states"
        )
    if getattr(layer, "grid", None) is None or layer.agent_pos is None or layer.agent_dir is None:
        raise UnknownPhysicsError(f"{type(layer).__name__} has not been reset")
    return layer


@dataclass(frozen=True)
class _Contents:
    """The contents of an environment at one moment, in the terms of the model."""

    width: int
    terrain: NDArray[np.int8]
    terrain_color: NDArray[np.int8]
    doors: list[tuple[int, int, int]]  # (cell, roles, state bits), in the order of cells
    objects: list[tuple[Kind, int]]  # (kind, place)
    agent: int
    direction: int


def _read_contents(scene: MiniGridEnv) -> _Contents:
    """The present contents of an environment."""
    width, height = scene.grid.width, scene.grid.height
    cells = width * height
    terrain = np.zeros(cells, np.int8)
    terrain_color = np.full(cells, NOTHING, np.int8)
    doors: list[tuple[int, int, int]] = []
    objects: list[tuple[Kind, int]] = []
    roles = roles_in_mission(scene)
    for cell, obj in enumerate(scene.grid.grid):
        if obj is None:
            continue
        _check_known(obj)
        if obj.type in physics.OBJECTS:
            objects += _with_contents(obj, cell, cells, roles)
            continue
        if obj.type not in physics.TERRAINS:
            place = cell % width, cell // width
            raise UnknownPhysicsError(f"the model does not know the object {obj.type!r} at {place}")
        terrain[cell] = physics.TERRAINS.index(obj.type)
        terrain_color[cell] = _color_number(obj)
        if obj.type == "door":
            state = physics.IS_OPEN * bool(obj.is_open) | physics.IS_LOCKED * bool(obj.is_locked)
            doors.append((cell, roles.get(id(obj), 0), state))
    if scene.carrying is not None:
        objects += _with_contents(scene.carrying, cells + physics.CARRIED, cells, roles)
    x, y = map(int, scene.agent_pos)
    return _Contents(width, terrain, terrain_color, doors, objects, y * width + x, int(scene.agent_dir))


def _with_contents(obj: Any, place: int, cells: int, roles: dict[int, int]) -> Iterator[tuple[Kind, int]]:
    """The kind and place of an object and, if it is a box, of what is inside it."""
    yield _kind(obj, roles), place
    if obj.contains is not None:
        yield from _with_contents(obj.contains, cells + physics.INSIDE, cells, roles)


def _check_known(obj: Any) -> None:
    """Refuse an object of a class outside MiniGrid: it may do anything when it is toggled or entered."""
    if type(obj).__module__ != KNOWN_OBJECTS:
        raise UnknownPhysicsError(f"the model does not know the class {type(obj).__name__} of a {obj.type}")


def _kind(obj: Any, roles: dict[int, int]) -> Kind:
    _check_known(obj)
    if obj.type not in physics.OBJECTS:
        raise UnknownPhysicsError(f"the model does not know a {obj.type} inside a box")
    contents = () if obj.contains is None else _kind(obj.contains, roles)
    return physics.OBJECTS.index(obj.type), _color_number(obj), contents, roles.get(id(obj), 0)


def _color_number(obj: Any) -> int:
    if obj.color not in physics.COLORS:
        raise UnknownPhysicsError(f"the model does not know the colour {obj.color!r} of a {obj.type}")
    return physics.COLORS.index(obj.color)


def _layout_of(contents: _Contents, pickup_toggles: bool) -> Layout:
    """The layout of a scene; see `Layout` for the order of objects."""
    kinds = sorted((kind for kind, _ in contents.objects), key=repr)
    groups = [(kinds.index(kind), kinds.index(kind) + kinds.count(kind)) for kind in kinds]
    inside = [kinds.index(kind[2]) if kind[2] else NOTHING for kind in kinds]
    rows = zip(kinds, groups, inside, strict=True)
    objects = [(kind[0], kind[1], *group, contents, kind[3]) for kind, group, contents in rows]
    return Layout(
        width=contents.width,
        cells=_cells_of(contents),
        objects=np.array(objects, np.int32).reshape(-1, physics.OBJECT_COLUMNS),
        doors=len(contents.doors),
        pickup_toggles=pickup_toggles,
    )


def _cells_of(contents: _Contents) -> NDArray[np.int32]:
    """The table of cells of a `Layout`."""
    numbers = np.arange(contents.terrain.size).reshape(-1, contents.width)
    walled = np.pad(numbers, 1, constant_values=NOTHING)
    cells = np.full((contents.terrain.size, physics.CELL_COLUMNS), NOTHING, np.int32)
    cells[:, physics.TERRAIN] = contents.terrain
    cells[:, physics.TERRAIN_COLOR] = contents.terrain_color
    cells[:, physics.CELL_X] = numbers.ravel() % contents.width
    cells[:, physics.CELL_Y] = numbers.ravel() // contents.width
    at = [cell for cell, _, _ in contents.doors]
    cells[at, physics.DOOR_AT] = np.arange(len(at))
    cells[:, physics.DOOR_ROLES] = 0
    cells[at, physics.DOOR_ROLES] = [roles for _, roles, _ in contents.doors]
    neighbours = walled[1:-1, 2:], walled[2:, 1:-1], walled[1:-1, :-2], walled[:-2, 1:-1]  # right, down, left, up
    cells[:, physics.FRONT :] = np.stack([neighbour.ravel() for neighbour in neighbours], axis=1)
    return cells


def _fields_of(layout: Layout, contents: _Contents) -> list[int]:
    """The fields of the state of an environment; boxes that it no longer holds have been opened."""
    places = [len(layout.cells) + physics.GONE] * len(layout.objects)
    for kind in {kind for kind, _ in contents.objects}:
        occupied = sorted(place for other, place in contents.objects if other == kind)
        group = [obj for obj in range(len(places)) if _kind_of(layout, obj) == kind]
        if len(occupied) > len(group):
            raise UnknownPhysicsError(f"there are more objects ({physics.OBJECTS[kind[0]]}) than this world has")
        places[group[0] : group[0] + len(occupied)] = occupied
    return [contents.direction, contents.agent, *places, *(state for _, _, state in contents.doors)]


def _kind_of(layout: Layout, obj: int) -> Kind:
    kind, color, _, _, inside, roles = map(int, layout.objects[obj])
    return kind, color, _kind_of(layout, inside) if inside != NOTHING else (), roles


def _step_owner(layer_type: type) -> str:
    """The module of the class that defines `step`."""
    return next(base for base in layer_type.__mro__ if "step" in base.__dict__).__module__
