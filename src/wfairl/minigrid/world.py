"""MiniGrid as a world that can be searched: the model of a scene, and the labels of its transitions.

`MiniGridWorld.from_environment` reads a reset environment into a `Layout` (what never changes) and a packed initial
state; then the environment is not needed any more. The physics are exact: walls, floors, goals, lava, keys, balls,
boxes with contents, doors in every state, and the end of an episode on goal or lava. What an environment checks beyond
physics, such as a mission of BabyAI, is left to labels.

The library `minigrid` is imported only where an environment is read or a state is drawn.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.chances import Chances, slip_chances
from wfairl.core.worlds.compiled import IGNORE_LABELS, Exploration, check_node_limit
from wfairl.core.worlds.rendering import Rendering
from wfairl.core.worlds.world import Outcomes
from wfairl.minigrid import physics
from wfairl.minigrid.atoms import MaskNumbers, label_mask, to_label
from wfairl.minigrid.focused.own_planning import FocusedPlanning
from wfairl.minigrid.physics import CONTROLS, NOTHING, Layout
from wfairl.minigrid.product_nodes import ProductNodes
from wfairl.minigrid.propositions import Proposition, make_atoms, proposition_menu
from wfairl.minigrid.situations import FEATURE_NAMES, transition_features

if TYPE_CHECKING:
    import gymnasium

    from wfairl.minigrid.renderer import EncodedState, MiniGridRenderer

EXPLORED_NODES = 20_000_000
"""Nodes that an exploration may meet, unless told otherwise."""


class MiniGridWorld:
    """An exact, searchable model of one MiniGrid scene; a `CompiledWorld` whose states are integers.

    Attributes:
        layout: the scene.
        propositions: the names of the propositions of its labels.
        atoms: what each proposition asks, see `atoms.holds`; shape [propositions, 5].
        initial_state: the state x_0.
        instruction: the mission of the scene in words, where scenes of a task differ in it.
        slip: probability that a control is replaced by another one.
    """

    controls: Sequence[str] = CONTROLS
    feature_names: Sequence[str] = FEATURE_NAMES
    instruction: str | None = None
    slip: float = 0.0

    def __init__(self, layout: Layout, propositions: Mapping[str, Proposition], initial_fields: Sequence[int]):
        self.layout, self.propositions = layout, tuple(propositions)
        self.atoms = make_atoms(layout, propositions)
        self.initial_state = self._packed(np.array(initial_fields, np.int32))

    @classmethod
    def from_environment(
        cls, environment: gymnasium.Env[Any, Any], propositions: Mapping[str, Proposition] | None = None
    ) -> MiniGridWorld:
        """The world of an environment in its present state, usually just after `reset`.

        Raises:
            UnknownPhysicsError: the model does not know the physics of the environment; the message says which.
        """
        from wfairl.minigrid.environment import check_physics, read_scene

        layout, fields = read_scene(environment)
        world = cls(layout, propositions or {}, fields)
        check_physics(world, environment)
        return world

    def state_of(self, environment: gymnasium.Env[Any, Any]) -> int:
        """The present state of the real environment of this scene.

        Raises:
            UnknownPhysicsError: the environment is not of this scene.
        """
        from wfairl.minigrid.environment import read_fields

        return self._packed(np.array(read_fields(environment, self.layout), np.int32))

    def slipping(self, probability: float) -> MiniGridWorld:
        """This scene, where a control is replaced by another one with some probability; effects are the controls."""
        slip_chances(np.ones((1, len(CONTROLS)), bool), probability)  # checks it
        world = copy.copy(self)
        world.slip = probability
        return world

    @property
    def slips(self) -> bool:
        """Whether a control may have several outcomes."""
        return self.slip > 0

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the map."""
        return self.layout.height, self.layout.width

    def step(self, state: int, control: int) -> int:
        """The next state; on goal or lava nothing changes any more."""
        if not 0 <= control < len(CONTROLS):
            raise BadInputError(f"control {control} is out of range: there are {len(CONTROLS)}, {', '.join(CONTROLS)}")
        fields = self._fields(state)
        physics.apply_control(self.layout.table, fields, control)
        return self._packed(fields)

    def outcomes(self, state: int, control: int) -> Outcomes:
        """See `World`."""
        found: dict[int, float] = {}
        for effect, probability in self._chances(1).lottery(0, control):
            after = self.step(state, effect)
            found[after] = found.get(after, 0.0) + probability
        return tuple((probability, after) for after, probability in found.items())

    def after(self, state: int, effect: int) -> int:
        """The state after an effect, which is a control that does what it should."""
        return self.step(state, effect)

    def find_effect(self, state: int, control: int, next_state: int) -> int | None:
        """The control that led to a state: the given one, or another, None if there is none."""
        others = (one for one in range(len(CONTROLS)) if one != control)
        return next((one for one in (control, *others) if self.step(state, one) == next_state), None)

    def is_final(self, state: int) -> bool:
        """Whether the agent stands on a goal or on lava."""
        return bool(physics.is_final(self.layout.table, self._fields(state)))

    def label(self, state: int, control: int, next_state: int) -> Label:
        """The propositions that hold after the transition."""
        if self.slips:
            control = self._effect(state, control, next_state)
        cause = control if state != next_state else NOTHING
        return to_label(
            int(label_mask(self.layout.table, self.atoms, self._fields(next_state), cause)), self.propositions
        )

    def features(self, state: int, control: int, next_state: int) -> NDArray[np.float64]:
        if self.slips:
            control = self._effect(state, control, next_state)
        _, features = self.transition_features(self.pack(state)[None], np.array([control]))
        return features[0]

    def transition_features(
        self, states: NDArray[np.uint64], transitions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        return transition_features(self.layout, states, transitions)

    def explore(
        self,
        automaton: Automaton = IGNORE_LABELS,
        max_nodes: int = EXPLORED_NODES,
        state: int | None = None,
        automaton_state: int = 0,
    ) -> Exploration:
        nodes = ProductNodes(self.layout, self.atoms, MaskNumbers(automaton, self.propositions))
        nodes.insert(self.pack(self.initial_state if state is None else state), automaton_state)
        nodes.explore(max_nodes)
        check_node_limit(len(nodes), max_nodes)
        chances = self._chances(len(nodes)) if self.slips else None
        return Exploration(
            nodes.states, nodes.automaton_states, nodes.successors, nodes.label_index, tuple(nodes.labels), chances
        )

    def own_planning(self) -> FocusedPlanning | None:
        """How to plan in this scene where it is too large to enumerate, and does not slip; see `OwnPlanning`."""
        return None if self.slips else FocusedPlanning(self)

    def _chances(self, nodes: int) -> Chances:
        chances = slip_chances(np.ones((1, len(CONTROLS)), bool), self.slip)
        return chances.at(np.zeros(nodes, np.int32))

    def _effect(self, state: int, control: int, next_state: int) -> int:
        """The control that led to a state; the given one if none does."""
        effect = self.find_effect(state, control, next_state)
        return control if effect is None else effect

    def estimated_states(self) -> float:
        """An estimate of the number of reachable states, rather too high.

        Every object is anywhere, every door open or shut, the agent anywhere.
        """
        walkable = len(self.layout.walkable)
        _, groups = np.unique(self.layout.objects[:, physics.GROUP_FIRST], return_counts=True)
        return 4.0 * walkable * 2.0**self.layout.doors * prod(float(comb(walkable, int(n))) for n in groups)

    def proposition_menu(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Propositions about the scene; see `Inventive`."""
        from wfairl.minigrid.documents import proposition_document  # it knows tasks, which know worlds

        return ((text, proposition_document(one)) for text, one in proposition_menu(self.layout))

    @property
    def meanings(self) -> dict[str, str]:
        """The words of the menu for each proposition, by name, where it has any; see `Inventive`."""
        words = {one.atom(self.layout): text for text, one in proposition_menu(self.layout)}
        atoms = zip(self.propositions, map(tuple, self.atoms.tolist()), strict=True)
        return {name: words[atom] for name, atom in atoms if atom in words}

    @cached_property
    def renderer(self) -> MiniGridRenderer:
        """The renderer of this scene, which draws states given by their fields."""
        from wfairl.minigrid.renderer import MiniGridRenderer

        return MiniGridRenderer(self.layout, int(self._fields(self.initial_state)[physics.AGENT]))

    @property
    def rendering(self) -> Rendering:
        return self.renderer.rendering.after(self._fields)

    def encode(self, state: int) -> EncodedState:
        """The state in MiniGrid's own encoding."""
        return self.renderer.encode(self._fields(state))

    def cell_at(self, x: float, y: float) -> tuple[int, int]:
        return self.renderer.cell_at(x, y)

    def pack(self, state: int) -> NDArray[np.uint64]:
        """The 64-bit words of a state, shape [words]."""
        return np.frombuffer(state.to_bytes(8 * self.layout.words, "little"), np.uint64).copy()

    def unpack(self, words: NDArray[np.uint64]) -> int:
        """The state of its 64-bit words, shape [words]."""
        return int.from_bytes(words.tobytes(), "little")

    def _packed(self, fields: NDArray[np.int32]) -> int:
        return self.unpack(self.layout.pack(fields))

    def _fields(self, state: int) -> NDArray[np.int32]:
        """The fields of a state, shape [fields]; raises `BadInputError` if it is no state of this world."""
        try:
            fields = self.layout.unpack(self.pack(state))
        except (OverflowError, AttributeError):
            raise BadInputError(f"{state!r} is not a state of this world") from None
        if (fields > self.layout.largest_values).any() or self._packed(fields) != state:
            raise BadInputError(f"{state!r} is not a state of this world")
        return fields
