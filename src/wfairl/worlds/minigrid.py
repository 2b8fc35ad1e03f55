"""MiniGrid as a world that can be searched.

`MiniGridWorld.from_environment` reads a reset environment into a `Layout` (what never changes) and a packed
initial state, and from then on never touches the environment again. The physics are exact: walls, floors,
goals, lava, keys, balls, boxes with contents, doors in every state, and the end of an episode on goal or lava.
What an environment checks beyond physics, such as a mission of BabyAI, is left to labels.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from wfairl.errors import BadInputError
from wfairl.worlds import minigrid_rules as rules
from wfairl.worlds.minigrid_bounds import LabelBounds
from wfairl.worlds.minigrid_environment import (
    Scene,
    UnknownPhysicsError,
    cells_of,
    fields_of,
    has_own_step,
    layout_of,
    read_contents,
    scene_of,
    unwrap,
)
from wfairl.worlds.minigrid_packing import pack, unpack
from wfairl.worlds.minigrid_rules import CONTROLS, NOTHING, OBJECTS, TERRAINS, Layout
from wfairl.worlds.minigrid_search import explore, walk
from wfairl.worlds.propositions import Proposition
from wfairl.worlds.world import MAX_PROPOSITIONS, Exploration, Label, TooManyNodesError, to_label

DEFAULT_MAX_NODES = 20_000_000


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
        scene = unwrap(environment)
        contents = read_contents(scene)
        layout = layout_of(scene, contents)
        world = cls(layout, propositions or {}, fields_of(layout, contents))
        if has_own_step(type(scene)):
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
        states, masks = walk(self.layout.table, self.atoms, self.pack(self.initial_state), sequence)
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

    def explore(
        self,
        next_mode: NDArray[np.int32] | None = None,
        max_nodes: int = DEFAULT_MAX_NODES,
        state: int | None = None,
        mode: int = 0,
    ) -> Exploration:
        """Every (state, mode) that can be reached; without a table, every state of the world.

        Args:
            next_mode: see `CompiledWorld.explore`.
            max_nodes: limit of the search.
            state: where to start; the initial state if None.
            mode: the mode to start in.

        Raises:
            TooManyNodesError: the limit was met.
        """
        if next_mode is None:
            next_mode = np.zeros((1, 1 << len(self.propositions)), np.int32)
        start = self.pack(self.initial_state if state is None else state)
        table = np.ascontiguousarray(next_mode, np.int32)
        exploration = Exploration(*explore(self.layout.table, self.atoms, table, start, mode, max_nodes))
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
        return scene_of(self.layout, self._fields(state))

    def state_of(self, environment: gymnasium.Env[Any, Any]) -> int:
        """The state of the real environment of this scene, as it stands now.

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
