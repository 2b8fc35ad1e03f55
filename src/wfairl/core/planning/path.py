"""A path: controls taken in a world, and everything that was there along the way.

    follow(world, ["left", "forward"], automaton)      the path of given controls, in a world that does not slip
    walk = Walk(simulator, automaton)                  a path in the making, of controls that are chosen one by one
    walk.take(control)

Whatever takes controls in a world walks like this: plans, agents, experts, demonstrations, answers and films.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, UNAVAILABLE, Automaton, Label
from wfairl.core.automata.words import Word, compress
from wfairl.core.planning.product import Product
from wfairl.core.support.errors import BadInputError, did_you_mean
from wfairl.core.worlds.chances import surprise
from wfairl.core.worlds.compiled import IGNORE_LABELS
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.plain import find_effect, state_after
from wfairl.core.worlds.simulator import Observation, Simulator
from wfairl.core.worlds.world import World, available_controls, slips

Start = tuple[Any, int]
"""A world state and an automaton state."""


class AnyProduct(Protocol):
    """A product of a world and an automaton, also one that is built as it is needed; see `Product`."""

    @property
    def world(self) -> World[Any]: ...
    @property
    def successors(self) -> NDArray[np.int32]: ...
    @property
    def label_index(self) -> NDArray[np.uint16]: ...
    @property
    def labels(self) -> Sequence[Label]: ...


class BadControlError(BadInputError):
    """A control that a world does not have, or that is not available in its state."""


class SurpriseError(BadInputError):
    """Something happened that cannot happen in the model of the world."""


@dataclass(frozen=True)
class Path:
    """T controls, and the T + 1 states between them."""

    world: World[Any] = field(repr=False, compare=False)
    automaton: Automaton = field(repr=False, compare=False)  # it reads the labels
    controls: tuple[int, ...]  # T
    states: tuple[Any, ...]  # of the world, T + 1
    labels: tuple[Label, ...]  # T
    automaton_states: tuple[int, ...]  # T + 1; `DEAD` once the task is lost

    def __len__(self) -> int:
        """The number of controls."""
        return len(self.controls)

    @property
    def word(self) -> Word:
        """The labels as the automaton reads them: consecutive equal ones once, unless it keeps repeats."""
        return self.labels if self.automaton.keep_repeats else compress(self.labels)

    @property
    def is_accepted(self) -> bool:
        """Whether the last automaton state accepts."""
        last = self.automaton_states[-1]
        return last != DEAD and bool(self.automaton.accepting[last])


class Walk:
    """A path in the making: a simulator steps beside an automaton.

    States and labels are those that the simulator reports. Nothing is computed again from the controls, since a
    simulator may answer the same control in two ways.

    Attributes:
        world: the model of the scene.
        controls, states, labels, automaton_states: as of a `Path`, so far.
    """

    def __init__(self, simulator: Simulator, automaton: Automaton = IGNORE_LABELS):
        self.simulator, self.automaton, self.world = simulator, automaton, simulator.world
        self.controls: list[int] = []
        self.states: list[Any] = [self.world.initial_state]
        self.labels: list[Label] = []
        self.automaton_states: list[int] = [0]

    def __len__(self) -> int:
        """The number of controls."""
        return len(self.controls)

    def take(self, control: int) -> Observation:
        """Take a control, and observe what it leads to."""
        observed = self.simulator.step(control)
        self.controls.append(control)
        self.states.append(observed.state)
        self.labels.append(observed.label)
        self.automaton_states.append(self.automaton.read(self.automaton_states[-1], observed.label))
        return observed

    @property
    def path(self) -> Path:
        """The path so far."""
        parts = tuple(self.controls), tuple(self.states), tuple(self.labels), tuple(self.automaton_states)
        return Path(self.world, self.automaton, *parts)


def follow(
    world: World[Any],
    controls: Sequence[int | str],
    automaton: Automaton = IGNORE_LABELS,
    start: Start | None = None,
    effects: Sequence[int] = (),
) -> Path:
    """The path of T controls, by index or by name, in a world that is its own simulator.

    Where the world slips, or a surprise happened, the T effects say what happened. A control that the world does not
    have, or that is not available in its state, is a `BadControlError`.
    """
    if slips(world) and len(effects) != len(controls):
        raise BadControlError("this world slips: controls alone do not say what happened; give the states, too")
    state, automaton_state = (world.initial_state, 0) if start is None else start
    numbers, states, labels = [], [state], []
    for step, control in enumerate(controls):
        number = control_number(world, control, step)
        if not available_controls(world, state)[number]:
            raise _unavailable(world, number, step)
        before, state = state, state_after(world, state, effects[step]) if effects else world.step(state, number)
        numbers.append(number)
        states.append(state)
        labels.append(world.label(before, number, state))
    automaton_states = tuple(accumulate(labels, automaton.read, initial=automaton_state))
    return Path(world, automaton, tuple(numbers), tuple(states), tuple(labels), automaton_states)


def effects_along(path: Path) -> tuple[int, ...]:
    """The effect of each step of a path; empty if each is what its control always does.

    In a world whose states have no numbers, a step that nothing explains is a `SurpriseError`.
    """
    world = path.world
    if not slips(world) and (
        not isinstance(world, GraphWorld)
        or np.array_equal(world.table.successors[path.states[:-1], path.controls], path.states[1:])
    ):
        return ()
    found = []
    for step, (state, control, after) in enumerate(zip(path.states, path.controls, path.states[1:], strict=False)):
        effect = find_effect(world, state, control, after)
        if effect is None:
            raise SurpriseError(f"step {step}: nothing leads from {state!r} to {after!r} in the model")
        found.append(effect)
    return tuple(found)


def nodes_along(product: AnyProduct, controls: Sequence[int], effects: Sequence[int] = ()) -> tuple[int, ...]:
    """The nodes of a product along controls, or along effects, up to the first that is `ACCEPTED` or `DEAD`.

    Raises:
        BadControlError: a control is none of the world's, or is not available in its state.
        SurpriseError: a surprise leads to a pair of states that is no node.
    """
    nodes = [0]
    for step, control in enumerate(controls):
        if nodes[-1] < 0:
            break
        effect = effects[step] if effects else control_number(product.world, control, step)
        if effect < 0:
            nodes.append(_after_surprise(product, nodes[-1], control, surprise(effect), step))
        else:
            nodes.append(int(product.successors[nodes[-1], effect]))
        if nodes[-1] == UNAVAILABLE:
            raise _unavailable(product.world, control, step)
    return tuple(nodes)


def _after_surprise(product: AnyProduct, node: int, control: int, state: int, step: int) -> int:
    """The node after something led to a state that the model does not foresee."""
    assert isinstance(product, Product)  # only its states have numbers
    label = product.world.label(product.state(node), control, state)
    automaton_state = int(product.automaton.column_with_acceptance(label)[product.automaton_states[node]])
    found = automaton_state if automaton_state < 0 else product.find(state, automaton_state)
    if found is None:
        raise SurpriseError(f"step {step}: a surprise led where the task cannot lead in the model")
    return found


def control_number(world: World[Any], control: int | str, step: int) -> int:
    """The index of a control."""
    names = list(world.controls)
    if isinstance(control, str) and control in names:
        return names.index(control)
    if isinstance(control, int | np.integer) and not isinstance(control, bool) and 0 <= control < len(names):
        return int(control)
    near = did_you_mean(str(control), names)
    raise BadControlError(
        f"step {step}: {control!r} is not a control{near}; there are {len(names)}, {', '.join(names)}"
    )


def _unavailable(world: World[Any], control: int, step: int) -> BadControlError:
    return BadControlError(f"step {step}: the control {world.controls[control]!r} is not available there")
