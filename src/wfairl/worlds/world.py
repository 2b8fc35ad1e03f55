"""The contract of a world: a labelled deterministic MDP (paper, Definition 1).

A world is the set {X, U, x_0, f, AP, l} of the paper without its cost, which is learned:

    x_{t+1} = f(x_t, u_t)            `step`
    sigma_t = l(x_t, u_t) ⊆ AP       `label`, the propositions that hold after the transition

Anything with the attributes and methods of `World` is a world. `check_world` tests the laws that
the type checker cannot see.
"""

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wfairl.errors import BadInputError

State = TypeVar("State", bound=Hashable)

Label = frozenset[str]
"""A set of propositions; in arrays, a bit mask: bit i stands for `propositions[i]`."""

MAX_PROPOSITIONS = 16
"""Tables indexed by label masks have 2 ** len(propositions) columns."""

DEAD = -1
"""In a successor table: the transition leads to no live mode."""

ACCEPTED = -2
"""In a successor table: the transition ends the task."""


@runtime_checkable
class World(Protocol[State]):
    """A labelled deterministic MDP.

    Attributes:
        controls: the names of the controls; a control is an index into them.
        propositions: the names of the atomic propositions, at most `MAX_PROPOSITIONS`.
        initial_state: the state x_0.
    """

    controls: Sequence[str]
    propositions: Sequence[str]
    initial_state: State

    def step(self, state: State, control: int) -> State:
        """The next state f(x, u). Defined for every control in every state, and pure."""
        ...

    def label(self, state: State, control: int, next_state: State) -> Label:
        """The propositions that hold after the transition."""
        ...

    def features(self, state: State) -> NDArray[np.float64]:
        """What a linear or tabular cost may look at, shape [features]; the same shape everywhere."""
        ...


@dataclass(frozen=True, eq=False)
class Exploration:
    """A world walked in step with a table of modes.

    Node i is the pair (world state `states[i]`, mode `modes[i]`); node 0 is the start.

    Attributes:
        states: packed world states, shape [nodes, words] of uint64.
        modes: mode of each node, shape [nodes] of int32.
        successors: node after each control, `DEAD` or `ACCEPTED`; shape [nodes, controls] of int32.
        labels: label mask of each transition, shape [nodes, controls] of uint16.
    """

    states: NDArray[np.uint64]
    modes: NDArray[np.int32]
    successors: NDArray[np.int32]
    labels: NDArray[np.uint16]


@runtime_checkable
class CompiledWorld(World[Any], Protocol):
    """A world that can also explore itself at machine speed, over states packed to integers."""

    def explore(self, next_mode: NDArray[np.int32], max_nodes: int, state: Any, mode: int) -> Exploration:
        """Every (state, mode) that can be reached from a state and a mode.

        Args:
            next_mode: mode after reading a label mask, `DEAD` or `ACCEPTED`;
                shape [modes, 2 ** propositions].
            max_nodes: stop with `TooManyNodesError` beyond this number.
            state: where to start.
            mode: the mode to start in.
        """
        ...

    def unpack(self, words: NDArray[np.uint64]) -> Any:
        """The state whose packed form is `words`, shape [words]."""
        ...


class TooManyNodesError(BadInputError):
    """A search met more nodes than its limit allows."""


class BrokenLawError(BadInputError):
    """A world breaks a law of the contract."""


def to_mask(label: Label, propositions: Sequence[str]) -> int:
    """The bit mask of a label.

    Raises:
        BadInputError: the label holds something that is not among the propositions.
    """
    unknown = sorted(label - set(propositions))
    if unknown:
        raise BadInputError(
            f"label holds {', '.join(unknown)}, which is not among the propositions {', '.join(propositions)}"
        )
    return sum(1 << i for i, proposition in enumerate(propositions) if proposition in label)


def to_label(mask: int, propositions: Sequence[str]) -> Label:
    """The label of a bit mask."""
    return frozenset(proposition for i, proposition in enumerate(propositions) if mask >> i & 1)


def check_world(world: World[Any], max_states: int = 1_000) -> int:
    """Verify the laws of the contract on the first `max_states` states, breadth first.

    Returns:
        The number of states that were checked.

    Raises:
        BrokenLawError: says which law broke, and at which state and control.
    """
    _check_attributes(world)
    seen = {world.initial_state}
    queue = deque(seen)
    width = _features(world, world.initial_state).shape
    while queue:
        state = queue.popleft()
        if _features(world, state).shape != width:
            raise BrokenLawError(f"features: their shape changes from {width} at state {state!r}")
        for control in range(len(world.controls)):
            next_state = _check_transition(world, state, control)
            if next_state not in seen and len(seen) < max_states:
                seen.add(next_state)
                queue.append(next_state)
    return len(seen)


def _check_attributes(world: World[Any]) -> None:
    if not isinstance(world, World):
        wanted = ("controls", "propositions", "initial_state", "step", "label", "features")
        missing = [name for name in wanted if not hasattr(world, name)]
        raise BrokenLawError(f"contract: {type(world).__name__} has no {', '.join(missing)}")
    for name in ("controls", "propositions"):
        values = list(getattr(world, name))
        if len(set(values)) != len(values) or not all(isinstance(value, str) for value in values):
            raise BrokenLawError(f"{name}: they must be distinct strings, not {values!r}")
    if not world.controls:
        raise BrokenLawError("controls: there must be at least one")
    if len(world.propositions) > MAX_PROPOSITIONS:
        raise BrokenLawError(f"propositions: at most {MAX_PROPOSITIONS}, not {len(world.propositions)}")
    _check_hashable(world.initial_state, "initial_state")


def _check_transition(world: World[Any], state: Any, control: int) -> Any:
    where = f"at state {state!r} under control {world.controls[control]!r}"
    key = hash(state)
    try:
        next_state = world.step(state, control)
        again = world.step(state, control)
    except Exception as error:
        raise BrokenLawError(f"totality: step fails {where} ({type(error).__name__}: {error})") from error
    _check_hashable(next_state, f"step {where}")
    if hash(state) != key or next_state != again or hash(next_state) != hash(again):
        raise BrokenLawError(f"purity: two calls of step differ {where}")
    try:
        label = world.label(state, control, next_state)
    except Exception as error:
        raise BrokenLawError(f"totality: label fails {where} ({type(error).__name__}: {error})") from error
    if not isinstance(label, frozenset):
        raise BrokenLawError(f"labels: label gives a {type(label).__name__} instead of a frozenset {where}")
    if not label <= set(world.propositions):
        unknown = ", ".join(sorted(map(str, label - set(world.propositions))))
        raise BrokenLawError(f"labels: {unknown} is not among the propositions, {where}")
    if world.label(state, control, next_state) != label:
        raise BrokenLawError(f"purity: two calls of label differ {where}")
    return next_state


def _check_hashable(state: Any, where: str) -> None:
    try:
        hash(state)
    except TypeError:
        raise BrokenLawError(f"hashability: {where} gives a {type(state).__name__}, which has no hash") from None


def _features(world: World[Any], state: Any) -> NDArray[np.float64]:
    features = np.asarray(world.features(state), dtype=np.float64)
    if features.ndim != 1 or not np.isfinite(features).all():
        raise BrokenLawError(f"features: they must be a finite vector, not {features!r}, at state {state!r}")
    return features
