"""MiniGrid as a world that can be searched.

`MiniGridWorld.from_environment` reads a reset environment into a `Layout` (what never changes) and a packed
initial state, and does not need the environment any more. The physics are exact: walls, floors,
goals, lava, keys, balls, boxes with contents, doors in every state, and the end of an episode on goal or lava.
What an environment checks beyond physics, such as a mission of BabyAI, is left to labels.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import comb, prod
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.planning.cost import CostScope
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.compiled import IGNORE_LABELS, Exploration, check_node_limit
from wfairl.core.worlds.rendering import Places, Rendering, Tiles
from wfairl.minigrid import rules
from wfairl.minigrid.atoms import label_mask
from wfairl.minigrid.environment import (
    TILE_PIXELS,
    RenderedState,
    UnknownPhysicsError,
    cells_of,
    fields_of,
    has_own_step,
    layout_of,
    read_contents,
    render_scene,
    render_tile,
    scene_of,
    tile_keys,
    unwrap,
)
from wfairl.minigrid.focused.lazy_world import LazyProduct
from wfairl.minigrid.focused.own_planning import FocusedPlanning
from wfairl.minigrid.mask_numbers import MaskNumbers
from wfairl.minigrid.packing import pack, unpack, unpack_all
from wfairl.minigrid.propositions import MAX_PROPOSITIONS, Atom, Proposition, proposition_menu, to_label
from wfairl.minigrid.rules import COLORS, CONTROLS, NOTHING, OBJECTS, TERRAINS, Layout
from wfairl.minigrid.search import ProductNodes, cells_after, follow_controls

DEFAULT_MAX_NODES = 20_000_000


FEATURE_NAMES = (
    *(f"{name} ahead" for name in (*TERRAINS, *OBJECTS, "open door", "locked door")),
    *(f"on {name}" for name in TERRAINS),
    *(f"{name} in hand" for name in ("nothing", *OBJECTS)),
    *(f"to {color} floor" for color in COLORS),
)
"""Names of the features of a transition."""


class MiniGridWorld:
    """An exact, searchable model of one MiniGrid scene; a `CompiledWorld` whose states are integers."""

    controls: Sequence[str] = CONTROLS
    feature_names: Sequence[str] = FEATURE_NAMES
    instruction: str | None = None

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
        """The world of an environment in its present state, usually just after `reset`.

        Raises:
            UnknownPhysicsError: the model does not know the physics of the environment; the message says which.
        """
        scene = unwrap(environment)
        contents = read_contents(scene)
        layout = layout_of(scene, contents)
        world = cls(layout, propositions or {}, fields_of(layout, contents))
        if has_own_step(type(scene)):
            _probe(world, scene)
        return world

    def asking(self, atoms: Mapping[str, Atom]) -> MiniGridWorld:
        """The same scene with other propositions, given by their atoms."""
        world = copy.copy(self)
        world.propositions, world.atoms = tuple(atoms), np.array(list(atoms.values()), np.int32)
        return world

    def step(self, state: int, control: int) -> int:
        """The next state; on goal or lava nothing changes any more."""
        if not 0 <= control < len(CONTROLS):
            raise BadInputError(_out_of_range(control))
        fields = self._fields(state)
        rules.apply_control(self.layout.table, fields, control)
        return self._packed(fields)

    def label(self, state: int, control: int, next_state: int) -> Label:
        """The propositions that hold after the transition."""
        done = control if state != next_state else NOTHING
        mask = label_mask(self.layout.table, self.atoms, self._fields(next_state), done)
        return to_label(int(mask), self.propositions)

    def follow_controls(self, controls: Sequence[int]) -> tuple[list[int], list[Label]]:
        """The states (one more) and labels along a sequence of controls from the initial state."""
        sequence = np.asarray(controls, np.int64).reshape(-1)
        for step in np.flatnonzero((sequence < 0) | (sequence >= len(CONTROLS))):
            raise BadInputError(f"step {step}: {_out_of_range(sequence[step])}")
        states, masks = follow_controls(self.layout.table, self.atoms, self.pack(self.initial_state), sequence)
        return [self.unpack(words) for words in states], [to_label(int(mask), self.propositions) for mask in masks]

    def features(self, state: int, control: int, next_state: int) -> NDArray[np.float64]:  # noqa: ARG002
        """See `transition_features`, for one transition."""
        _, features = self.transition_features(self.pack(state)[None], np.array([control]))
        return features[0]

    def transition_features(
        self, states: NDArray[np.uint64], transitions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Indicators of what is in front of the agent, under it and in its hands, and of the floor it arrives on.

        Arguments and result are those of `CompiledWorld.transition_features`.
        """
        rows, controls = transitions // len(CONTROLS), (transitions % len(CONTROLS)).astype(np.int64)
        fields = unpack_all(self.layout.table, np.ascontiguousarray(states))
        # Indicators are the bits of a number: unique numbers are found many times faster than unique rows.
        before = self._state_features(fields)
        distinct, before_of_state = np.unique(before @ (1 << np.arange(before.shape[1])), return_inverse=True)
        cells = self.layout.cells
        floor = np.where(cells[:, rules.TERRAIN] == rules.FLOOR, cells[:, rules.TERRAIN_COLOR], -1)
        arrived = floor[cells_after(self.layout.table, np.ascontiguousarray(states), rows, controls)]
        pairs = (1 + arrived) * len(distinct) + before_of_state[rows]
        occurs = np.bincount(pairs, minlength=(1 + len(COLORS)) * len(distinct)) > 0
        entered, number = np.divmod(np.flatnonzero(occurs), len(distinct))
        features = np.hstack(
            [distinct[number, None] >> np.arange(before.shape[1]) & 1, 1 + np.arange(len(COLORS)) == entered[:, None]]
        )
        return (np.cumsum(occurs) - 1)[pairs].astype(np.int32), features.astype(np.float64)

    def _state_features(self, fields: NDArray[np.int32]) -> NDArray[np.uint8]:
        """What is in front of the agent, under it, and in its hands; shape [states, 21]."""
        cells, many = self.layout.cells, np.arange(len(fields))
        under = cells[fields[:, rules.AGENT], rules.TERRAIN]
        front = cells[fields[:, rules.AGENT], rules.FRONT + fields[:, rules.DIRECTION]]
        terrain = np.where(front == NOTHING, rules.WALL, cells[front, rules.TERRAIN])
        ahead = terrain.copy()
        carried = np.zeros(len(fields), np.int64)
        for obj, kind in enumerate(self.layout.objects[:, rules.KIND]):
            place = fields[:, rules.FIRST_OBJECT + obj]
            ahead = np.where((place == front) & (front != NOTHING), len(TERRAINS) + kind, ahead)
            carried[place == len(cells) + rules.CARRIED] = 1 + kind
        is_door = ahead == rules.DOOR
        doors = rules.FIRST_OBJECT + len(self.layout.objects) + np.where(is_door, cells[front, rules.DOOR_AT], 0)
        door = np.where(is_door, fields[many, np.minimum(doors, fields.shape[1] - 1)], 0)
        features = np.zeros((len(fields), 2 * len(TERRAINS) + 2 * len(OBJECTS) + 3), np.uint8)
        aheads = len(TERRAINS) + len(OBJECTS)
        features[many, ahead] = 1
        features[:, aheads] = (door & rules.IS_OPEN) != 0
        features[:, aheads + 1] = (door & rules.IS_LOCKED) != 0
        features[many, aheads + 2 + under] = 1
        features[many, aheads + 2 + len(TERRAINS) + carried] = 1
        return features

    def explore(
        self,
        automaton: Automaton = IGNORE_LABELS,
        max_nodes: int = DEFAULT_MAX_NODES,
        state: int | None = None,
        automaton_state: int = 0,
    ) -> Exploration:
        masks = MaskNumbers(automaton, self.propositions)
        nodes = ProductNodes(self.layout, self.atoms, masks)
        nodes.add(self.pack(self.initial_state if state is None else state), automaton_state)
        nodes.explore(max_nodes)
        check_node_limit(nodes.count, max_nodes)
        tables, met = nodes.tables, slice(nodes.count)
        return Exploration(
            states=tables.states[met],
            automaton_states=tables.automaton_states[met],
            successors=tables.successors[met],
            label_index=tables.labels[met],
            labels=tuple(masks.table.labels),
        )

    @property
    def rendering(self) -> Rendering:
        """Images of states as MiniGrid itself renders them, without the cells beyond the walls."""
        return Rendering(self.render, Places(self.locate, self.heading), Tiles(self.tile_keys, render_tile))

    def render(self, state: int) -> NDArray[np.uint8]:
        """The image of a state; see `Rendering`."""
        left, top, right, bottom = (TILE_PIXELS * edge for edge in self._window)
        return render_scene(self.scene(state))[top:bottom, left:right]

    def tile_keys(self, state: int) -> NDArray[np.int32]:
        """What each cell of the image of a state shows, as numbers; see `Tiles`."""
        left, top, right, bottom = self._window
        return tile_keys(self.scene(state))[top:bottom, left:right]

    def locate(self, state: int) -> tuple[float, float]:
        """Where the agent is in the image of a state; see `Places`."""
        y, x = divmod(int(self._fields(state)[rules.AGENT]), self.layout.width)
        left, top, _, _ = self._window
        return (x - left + 0.5) * TILE_PIXELS, (y - top + 0.5) * TILE_PIXELS

    def cell_at(self, x: float, y: float) -> tuple[int, int]:
        """The cell (x, y) of the map at a pixel of the image, the inverse of `locate`; see `Inventive`."""
        left, top, right, bottom = self._window
        column, row = int(x // TILE_PIXELS) + left, int(y // TILE_PIXELS) + top
        is_inside = left <= column < right and top <= row < bottom
        if not is_inside or self.layout.cells[row * self.layout.width + column, rules.TERRAIN] == rules.WALL:
            raise BadInputError("there is a wall: choose a cell that one can stand on")
        return column, row

    def proposition_menu(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Propositions about the scene; see `Inventive`."""
        from wfairl.minigrid.documents import proposition_document  # it knows tasks, which know worlds

        return ((text, proposition_document(one)) for text, one in proposition_menu(self.layout))

    def heading(self, state: int) -> float:
        """The direction of the agent; see `Places`."""
        return 90.0 * int(self._fields(state)[rules.DIRECTION])

    @cached_property
    def _window(self) -> tuple[int, int, int, int]:
        """The cells within one of where an agent that opens every door could be: left, top, right, bottom."""
        width, cells = self.layout.width, self.layout.cells
        agent = int(self._fields(self.initial_state)[rules.AGENT])
        reached, queue = {agent}, [agent]
        for cell in queue:  # it grows meanwhile
            for front in cells[cell, rules.FRONT :].tolist():
                if front != NOTHING and front not in reached and cells[front, rules.TERRAIN] != rules.WALL:
                    reached.add(front)
                    queue.append(front)
        ys, xs = np.divmod(np.array(queue), width)
        left, top = max(0, int(xs.min()) - 1), max(0, int(ys.min()) - 1)
        return left, top, min(width, int(xs.max()) + 2), min(len(cells) // width, int(ys.max()) + 2)

    def lazy_product(self, automaton: Automaton, start: tuple[int, int], scope: CostScope) -> LazyProduct:
        from wfairl.minigrid.focused.lazy_minigrid import MiniGridLazyProduct  # it is made of worlds like this one

        return MiniGridLazyProduct(self, automaton, start, scope)

    def own_planning(self) -> FocusedPlanning:
        return FocusedPlanning(self)

    def estimated_states(self) -> float:
        """See `LazyWorld`: every object anywhere, every door open or shut, the agent anywhere."""
        walkable = int((self.layout.cells[:, rules.TERRAIN] != rules.WALL).sum())
        _, groups = np.unique(self.layout.objects[:, rules.GROUP_FIRST], return_counts=True)
        return 4.0 * walkable * 2.0**self.layout.doors * prod(float(comb(walkable, int(n))) for n in groups)

    def pack(self, state: int) -> NDArray[np.uint64]:
        """The 64-bit words of a state, shape [words]."""
        return np.frombuffer(state.to_bytes(8 * self.layout.words, "little"), np.uint64).copy()

    def unpack(self, words: NDArray[np.uint64]) -> int:
        """The state of its 64-bit words."""
        return int.from_bytes(words.tobytes(), "little")

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the map."""
        return len(self.layout.cells) // self.layout.width, self.layout.width

    def is_final(self, state: int) -> bool:
        """Whether the agent stands on a goal or on lava."""
        return bool(rules.is_final(self.layout.table, self._fields(state)))

    def scene(self, state: int) -> RenderedState:
        """The state in MiniGrid's own encoding."""
        return scene_of(self.layout, self._fields(state))

    def state_of(self, environment: gymnasium.Env[Any, Any]) -> int:
        """The present state of the real environment of this scene.

        Raises:
            UnknownPhysicsError: the environment is not of this scene.
        """
        scene = unwrap(environment)
        contents = read_contents(scene)
        if not np.array_equal(cells_of(contents), self.layout.cells):
            raise UnknownPhysicsError("walls, doors or other terrain of the environment are not those of this world")
        return self._packed(np.array(fields_of(self.layout, contents), np.int32))

    def _packed(self, fields: NDArray[np.int32]) -> int:
        words = np.empty(self.layout.words, np.uint64)
        pack(self.layout.table, fields, words)
        return self.unpack(words)

    def _fields(self, state: int) -> NDArray[np.int32]:
        fields = np.empty(self.layout.largest_values.size, np.int32)
        try:
            unpack(self.layout.table, self.pack(state), fields)
        except (OverflowError, AttributeError):
            raise BadInputError(f"{state!r} is not a state of this world") from None
        if (fields > self.layout.largest_values).any() or self._packed(fields) != state:
            raise BadInputError(f"{state!r} is not a state of this world")
        return fields


def _out_of_range(control: int) -> str:
    return f"control {control} is out of range: there are {len(CONTROLS)}, {', '.join(CONTROLS)}"


def _probe(world: MiniGridWorld, scene: gymnasium.Env[Any, Any], steps: int = 300) -> None:
    """Step a copy of an environment of unknown code beside the model, and refuse it if they differ."""
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
