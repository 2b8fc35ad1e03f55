"""MiniGrid as a world that can be searched; the only module that imports minigrid.

`MiniGridWorld.from_environment` reads a reset environment into a `Layout` (what never changes) and a packed
initial state, and from then on never touches the environment again. The physics are exact: walls, floors,
goals, lava, keys, balls, boxes with contents, doors in every state, and the end of an episode on goal or lava.
What an environment checks beyond physics, such as a mission of BabyAI, is left to labels.
"""

from __future__ import annotations

import contextlib
import copy
import io
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX, STATE_TO_IDX
from minigrid.envs.dynamicobstacles import DynamicObstaclesEnv
from minigrid.envs.memory import MemoryEnv
from minigrid.minigrid_env import MiniGridEnv
from minigrid.wrappers import NoDeath, StochasticActionWrapper
from numpy.typing import NDArray

from wfairl.errors import BadInputError
from wfairl.worlds import minigrid_rules as rules
from wfairl.worlds.minigrid_bounds import LabelBounds
from wfairl.worlds.minigrid_rules import CARRIED, COLORS, CONTROLS, GONE, INSIDE, NOTHING, OBJECTS, TERRAINS, Layout
from wfairl.worlds.minigrid_search import explore
from wfairl.worlds.propositions import Proposition
from wfairl.worlds.world import MAX_PROPOSITIONS, Exploration, Label, TooManyNodesError, to_label

DEFAULT_MAX_NODES = 20_000_000

_RESETTING = threading.Lock()

Kind = tuple[Any, ...]
"""What tells objects apart: (object number, colour number, kind of the contents or ())."""


class UnknownPhysicsError(BadInputError):
    """The environment does or holds something that the model does not know."""


@dataclass(frozen=True)
class Scene:
    """One state as MiniGrid itself would show it.

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


class MiniGridWorld:
    """An exact, searchable model of one MiniGrid scene; a `CompiledWorld` whose states are integers."""

    controls: Sequence[str] = CONTROLS

    def __init__(self, layout: Layout, propositions: Mapping[str, Proposition], initial_fields: Sequence[int]):
        if len(propositions) > MAX_PROPOSITIONS:
            raise BadInputError(f"at most {MAX_PROPOSITIONS} propositions, not {len(propositions)}")
        self.layout = layout
        self.propositions: Sequence[str] = tuple(propositions)
        atoms = [proposition.atom(layout) for proposition in propositions.values()]
        self.atoms = np.array(atoms, np.int32).reshape(-1, 5)
        self.initial_state = self._packed(np.array(initial_fields, np.int32))

    @classmethod
    def from_environment(
        cls, environment: gymnasium.Env[Any, Any], propositions: Mapping[str, Proposition] | None = None
    ) -> MiniGridWorld:
        """The world of an environment as it stands now, usually just after `reset`.

        Raises:
            UnknownPhysicsError: names what the model does not know about the environment.
        """
        scene = _unwrapped(environment)
        contents = _read(scene)
        layout = _layout(scene, contents)
        world = cls(layout, propositions or {}, _fields(layout, contents))
        if _has_own_step(type(scene)):
            _probe(world, scene)
        return world

    def step(self, state: int, control: int) -> int:
        """The next state; on goal or lava nothing changes any more."""
        if not 0 <= control < len(CONTROLS):
            raise BadInputError(_out_of_range(control))
        fields = self._fields(state)
        rules.apply_control(self.layout.table, fields, control)
        return self._packed(fields)

    def label(self, state: int, control: int, next_state: int) -> Label:  # noqa: ARG002 - part of the contract
        """The propositions that hold in the next state."""
        return to_label(rules.label_mask(self.layout.table, self.atoms, self._fields(next_state)), self.propositions)

    def walk(self, controls: Sequence[int]) -> tuple[list[int], list[Label]]:
        """The states (one more) and labels along a sequence of controls from the initial state."""
        sequence = np.asarray(controls, np.int64).reshape(-1)
        for step in np.flatnonzero((sequence < 0) | (sequence >= len(CONTROLS))):
            raise BadInputError(f"step {step}: {_out_of_range(sequence[step])}")
        states, masks = rules.walk(self.layout.table, self.atoms, self.pack(self.initial_state), sequence)
        return [self.unpack(words) for words in states], [to_label(int(mask), self.propositions) for mask in masks]

    def features(self, state: int) -> NDArray[np.float64]:
        """Indicators of what is in front of the agent, under it, and in its hands; shape [21]."""
        layout, fields = self.layout.table, self._fields(state)
        front = rules.cell_in_front(layout, fields)
        thing = rules.object_at(layout, fields, front) if front != NOTHING else NOTHING
        ahead = np.zeros(len(TERRAINS) + len(OBJECTS) + 2)
        if thing != NOTHING:
            ahead[len(TERRAINS) + self.layout.objects[thing, rules.KIND]] = 1
        else:
            terrain = rules.WALL if front == NOTHING else self.layout.cells[front, rules.TERRAIN]
            ahead[terrain] = 1
            if terrain == rules.DOOR:
                door = rules.door_state(layout, fields, self.layout.cells[front, rules.DOOR_AT])
                ahead[-2:] = bool(door & rules.IS_OPEN), bool(door & rules.IS_LOCKED)
        under = np.zeros(len(TERRAINS))
        under[self.layout.cells[fields[rules.AGENT], rules.TERRAIN]] = 1
        hands = np.zeros(1 + len(OBJECTS))
        carried = rules.carried_object(layout, fields)
        hands[0 if carried == NOTHING else 1 + self.layout.objects[carried, rules.KIND]] = 1
        return np.concatenate([ahead, under, hands])

    def explore(self, next_mode: NDArray[np.int32] | None = None, max_nodes: int = DEFAULT_MAX_NODES) -> Exploration:
        """Every (state, mode) that can be reached; without a table, every state of the world.

        Args:
            next_mode: see `CompiledWorld.explore`.
            max_nodes: limit of the search.

        Raises:
            TooManyNodesError: the limit was met.
        """
        if next_mode is None:
            next_mode = np.zeros((1, 1 << len(self.propositions)), np.int32)
        start = self.pack(self.initial_state)
        exploration = Exploration(
            *explore(self.layout.table, self.atoms, np.ascontiguousarray(next_mode, np.int32), start, max_nodes)
        )
        if len(exploration.states) > max_nodes:
            raise TooManyNodesError(
                f"more than {max_nodes:,} states can be reached; "
                "raise the limit, or plan with A*, which does not enumerate"
            )
        return exploration

    def steps_to_labels(self, state: int) -> NDArray[np.float64]:
        """Lower bound on the steps until a transition shows a label, which directs A*; shape [2 ** propositions]."""
        return self._label_bounds.steps_to_labels(self._fields(state))

    @cached_property
    def _label_bounds(self) -> LabelBounds:
        return LabelBounds(self.layout, self.atoms)

    def pack(self, state: int) -> NDArray[np.uint64]:
        """The 64-bit words of a state, shape [words]."""
        return np.frombuffer(state.to_bytes(8 * self.layout.words, "little"), np.uint64).copy()

    def unpack(self, words: NDArray[np.uint64]) -> int:
        """The state of its 64-bit words."""
        return int.from_bytes(words.tobytes(), "little")

    def is_final(self, state: int) -> bool:
        """Whether the agent stands on a goal or on lava."""
        return bool(rules.is_final(self.layout.table, self._fields(state)))

    def scene(self, state: int) -> Scene:
        """The state as MiniGrid itself would show it."""
        return _scene(self.layout, self._fields(state))

    def state_of(self, environment: gymnasium.Env[Any, Any]) -> int:
        """The state of the real environment of this scene, as it stands now.

        Raises:
            UnknownPhysicsError: the environment is not of this scene.
        """
        scene = _unwrapped(environment)
        contents = _read(scene)
        if not np.array_equal(_cells(contents), self.layout.cells):
            raise UnknownPhysicsError("walls, doors or other terrain of the environment are not those of this world")
        return self._packed(np.array(_fields(self.layout, contents), np.int32))

    def _packed(self, fields: NDArray[np.int32]) -> int:
        words = np.empty(self.layout.words, np.uint64)
        rules.pack(self.layout.table, fields, words)
        return self.unpack(words)

    def _fields(self, state: int) -> NDArray[np.int32]:
        fields = np.empty(self.layout.largest_values.size, np.int32)
        try:
            rules.unpack(self.layout.table, self.pack(state), fields)
        except (OverflowError, AttributeError):
            raise BadInputError(f"{state!r} is not a state of this world") from None
        if (fields > self.layout.largest_values).any() or self._packed(fields) != state:
            raise BadInputError(f"{state!r} is not a state of this world")
        return fields


def _out_of_range(control: int) -> str:
    return f"control {control} is out of range: there are {len(CONTROLS)}, {', '.join(CONTROLS)}"


def make_environment(environment_id: str, **settings: Any) -> gymnasium.Env[Any, Any]:
    """A Gymnasium environment by its id; importing this module registers MiniGrid's and BabyAI's.

    Raises:
        BadInputError: there is no such id, or it cannot be made.
    """
    try:
        return gymnasium.make(environment_id, disable_env_checker=True, **settings)
    except gymnasium.error.Error as error:
        raise BadInputError(f"environment {environment_id!r} cannot be made: {str(error).splitlines()[0]}") from None


def reset(environment: gymnasium.Env[Any, Any], seed: int) -> None:
    """Reset an environment; what BabyAI prints while it looks for a mission is not for our user."""
    # Redirecting is for the whole process, so two threads must not do it at once.
    with _RESETTING, contextlib.redirect_stdout(io.StringIO()):
        environment.reset(seed=seed)


@dataclass(frozen=True)
class _Contents:
    """What an environment holds at one moment, in our terms."""

    width: int
    terrain: NDArray[np.int8]
    terrain_color: NDArray[np.int8]
    doors: list[tuple[int, int, int]]  # (cell, colour, state bits), in the order of cells
    things: list[tuple[Kind, int]]  # (what it is, place)
    agent: int
    direction: int


def _unwrapped(environment: gymnasium.Env[Any, Any]) -> MiniGridEnv:
    """The MiniGrid inside the wrappers, if they leave its physics alone."""
    layer: Any = environment
    while isinstance(layer, gymnasium.Wrapper):
        if isinstance(layer, StochasticActionWrapper | NoDeath | gymnasium.ActionWrapper):
            raise UnknownPhysicsError(f"the wrapper {type(layer).__name__} changes what controls do")
        layer = layer.env
    if not isinstance(layer, MiniGridEnv):
        raise UnknownPhysicsError(f"{type(layer).__name__} is not a MiniGrid environment")
    if isinstance(layer, DynamicObstaclesEnv):
        raise UnknownPhysicsError(f"{type(layer).__name__} is not deterministic: its obstacles move by themselves")
    if getattr(layer, "grid", None) is None or layer.agent_pos is None or layer.agent_dir is None:
        raise UnknownPhysicsError(f"{type(layer).__name__} has not been reset")
    return layer


def _read(scene: MiniGridEnv) -> _Contents:
    width, height = scene.grid.width, scene.grid.height
    cells = width * height
    terrain = np.zeros(cells, np.int8)
    terrain_color = np.full(cells, NOTHING, np.int8)
    doors: list[tuple[int, int, int]] = []
    things: list[tuple[Kind, int]] = []
    for cell, thing in enumerate(scene.grid.grid):
        if thing is None:
            continue
        if thing.type in OBJECTS:
            things += _things(thing, cell, cells)
            continue
        if thing.type not in TERRAINS:
            raise UnknownPhysicsError(f"the model does not know the object {thing.type!r} at {_xy(cell, width)}")
        terrain[cell] = TERRAINS.index(thing.type)
        terrain_color[cell] = _color_number(thing)
        if thing.type == "door":
            state = rules.IS_OPEN * bool(thing.is_open) | rules.IS_LOCKED * bool(thing.is_locked)
            doors.append((cell, int(terrain_color[cell]), state))
    if scene.carrying is not None:
        things += _things(scene.carrying, cells + CARRIED, cells)
    x, y = map(int, scene.agent_pos)
    return _Contents(width, terrain, terrain_color, doors, things, y * width + x, int(scene.agent_dir))


def _things(thing: Any, place: int, cells: int) -> Iterator[tuple[Kind, int]]:
    """An object and, if it is a box, what is inside it."""
    yield _kind(thing), place
    if thing.contains is not None:
        yield from _things(thing.contains, cells + INSIDE, cells)


def _kind(thing: Any) -> Kind:
    if thing.type not in OBJECTS:
        raise UnknownPhysicsError(f"the model does not know a {thing.type} inside a box")
    return OBJECTS.index(thing.type), _color_number(thing), () if thing.contains is None else _kind(thing.contains)


def _color_number(thing: Any) -> int:
    if thing.color not in COLORS:
        raise UnknownPhysicsError(f"the model does not know the colour {thing.color!r} of a {thing.type}")
    return COLORS.index(thing.color)


def _layout(scene: MiniGridEnv, contents: _Contents) -> Layout:
    kinds = sorted((kind for kind, _ in contents.things), key=repr)
    groups = [(kinds.index(kind), kinds.index(kind) + kinds.count(kind)) for kind in kinds]
    inside = [kinds.index(kind[2]) if kind[2] else NOTHING for kind in kinds]
    objects = [(kind[0], kind[1], *group, thing) for kind, group, thing in zip(kinds, groups, inside, strict=True)]
    return Layout(
        width=contents.width,
        cells=_cells(contents),
        objects=np.array(objects, np.int32).reshape(-1, rules.OBJECT_COLUMNS),
        doors=len(contents.doors),
        pickup_toggles=isinstance(scene, MemoryEnv),
    )


def _cells(contents: _Contents) -> NDArray[np.int32]:
    """The table of cells of a `Layout`."""
    numbers = np.arange(contents.terrain.size).reshape(-1, contents.width)
    walled = np.pad(numbers, 1, constant_values=NOTHING)
    cells = np.full((contents.terrain.size, rules.CELL_COLUMNS), NOTHING, np.int32)
    cells[:, rules.TERRAIN] = contents.terrain
    cells[:, rules.TERRAIN_COLOR] = contents.terrain_color
    cells[:, rules.COLUMN] = numbers.ravel() % contents.width
    cells[:, rules.ROW] = numbers.ravel() // contents.width
    cells[[cell for cell, _, _ in contents.doors], rules.DOOR_AT] = np.arange(len(contents.doors))
    neighbours = walled[1:-1, 2:], walled[2:, 1:-1], walled[1:-1, :-2], walled[:-2, 1:-1]  # right, down, left, up
    cells[:, rules.FRONT :] = np.stack([neighbour.ravel() for neighbour in neighbours], axis=1)
    return cells


def _fields(layout: Layout, contents: _Contents) -> list[int]:
    """The fields of what an environment holds; boxes that are nowhere any more have been opened."""
    places = [len(layout.cells) + GONE] * len(layout.objects)
    for kind in {kind for kind, _ in contents.things}:
        found = sorted(place for other, place in contents.things if other == kind)
        group = [thing for thing in range(len(places)) if _kind_of(layout, thing) == kind]
        if len(found) > len(group):
            raise UnknownPhysicsError(f"there are more objects ({OBJECTS[kind[0]]}) than this world has")
        places[group[0] : group[0] + len(found)] = found
    return [contents.agent, contents.direction, *places, *(state for _, _, state in contents.doors)]


def _kind_of(layout: Layout, thing: int) -> Kind:
    kind, color, _, _, inside = map(int, layout.objects[thing])
    return kind, color, _kind_of(layout, inside) if inside != NOTHING else ()


def _scene(layout: Layout, fields: NDArray[np.int32]) -> Scene:
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
    for thing, (kind, object_color, *_) in enumerate(layout.objects):
        place = fields[rules.FIRST_OBJECT + thing]
        code = OBJECT_TO_IDX[OBJECTS[kind]], int(color_codes[object_color]), 0
        if place < len(layout.cells):
            codes[place] = code
        elif place == len(layout.cells) + CARRIED:
            carried = code
    return Scene(
        grid=codes.reshape(-1, layout.width, 3).transpose(1, 0, 2),
        position=_xy(int(fields[rules.AGENT]), layout.width),
        direction=int(fields[rules.DIRECTION]),
        carried=carried,
        terminated=bool(rules.is_final(layout.table, fields)),
    )


def _xy(cell: int, width: int) -> tuple[int, int]:
    return cell % width, cell // width


def _has_own_step(environment_type: type) -> bool:
    """Whether `step` is overridden outside of MiniGrid, whose own overrides have been read: they only add missions."""
    owner = next(base for base in environment_type.__mro__ if "step" in base.__dict__)
    return not owner.__module__.startswith("minigrid.")


def _probe(world: MiniGridWorld, scene: MiniGridEnv, steps: int = 300) -> None:
    """Walk a copy of an environment that we have not read, in step with the model, and refuse it if they part."""
    real = copy.deepcopy(scene)
    rng = np.random.default_rng(0)
    state = world.initial_state
    for t in range(steps):
        control = int(rng.integers(len(CONTROLS)))
        _, _, terminated, truncated, _ = real.step(control)
        state = world.step(state, control)
        if world.state_of(real) != state:
            raise UnknownPhysicsError(
                f"{type(scene).__name__} overrides step, and its state after step {t} ({CONTROLS[control]}) "
                "is not what MiniGrid's own rules give: it is not deterministic, or it has rules of its own"
            )
        if terminated or truncated:
            return
