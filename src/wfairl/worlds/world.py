"""The contract of a world: a labelled deterministic MDP (paper, Definition 1).

A world is the set {X, U, x_0, f, AP, l} of the paper without its cost, which is learned:

    x_{t+1} = f(x_t, u_t)            `step`
    sigma_t = l(x_t, u_t) ⊆ AP       `label`, the propositions that hold after the transition
    phi(x_t, u_t, x_{t+1})           `features`, what a linear or tabular cost may look at

Anything with the attributes and methods of `World` is a world. `check_world` tests the laws that the type checker
cannot see. What a world may offer besides:

    is_available(state, control)     False where a control cannot be chosen; without it, every control can be
    render(state)                    the state as an image, shape [height, width, 3] of uint8
    tile_keys(state), render_tile    the same image by its cells, where it is made of tiles
    locate(state)                    where the agent is in that image, for pictures of a trajectory
    heading(state)                   where the agent faces, for maps of a cost
    feature_names                    what the features are called, for people
"""

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Automaton, Label
from wfairl.errors import BadInputError

State = TypeVar("State", bound=Hashable)

MAX_LABELS = 65_536
"""Distinct labels of one search; a transition keeps the index of its label in 16 bits."""


UNEXPANDED = -4
"""In a table of successors: nobody has looked yet."""


@runtime_checkable
class World(Protocol[State]):
    """A labelled deterministic MDP.

    Attributes:
        controls: the names of the controls; a control is an index into them.
        propositions: the names of the atomic propositions.
        initial_state: the state x_0.
    """

    @property
    def controls(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def propositions(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def initial_state(self) -> State: ...  # noqa: D102

    def step(self, state: State, control: int) -> State:
        """The next state f(x, u). Defined for every available control in every state, and pure."""
        ...

    def label(self, state: State, control: int, next_state: State) -> Label:
        """The propositions that hold after the transition."""
        ...

    def features(self, state: State, control: int, next_state: State) -> NDArray[np.float64]:
        """What a linear or tabular cost may look at, shape [features]; the same shape everywhere."""
        ...


@runtime_checkable
class LimitedWorld(World[Any], Protocol):
    """A world in which some controls cannot be chosen everywhere."""

    def is_available(self, state: Any, control: int) -> bool:
        """Whether the control can be chosen; in every state that can be reached, at least one can."""
        ...


@runtime_checkable
class Renderer(Protocol):
    """A world that can show its states."""

    def render(self, state: Any) -> NDArray[np.uint8]:
        """The state as an image, shape [height, width, 3]; the same shape for all states of a world."""
        ...


@runtime_checkable
class Tiled(Renderer, Protocol):
    """A world whose pictures are made of tiles, few of which change in a step: it can be shown without drawing all."""

    def tile_keys(self, state: Any) -> NDArray[np.integer]:
        """A number for what every cell shows, shape [rows, columns]; cells of the same number look the same."""
        ...

    def render_tile(self, key: int) -> NDArray[np.uint8]:
        """The picture of a cell of a number."""
        ...


@runtime_checkable
class Located(Renderer, Protocol):
    """A world that can also tell where the agent is in the picture of a state."""

    def locate(self, state: Any) -> tuple[float, float]:
        """The pixel (x, y) of the agent, from the upper left corner of what `render` gives."""
        ...


@runtime_checkable
class Oriented(Located, Protocol):
    """A world whose agent also faces somewhere."""

    def heading(self, state: Any) -> float:
        """Degrees from the right, clockwise in the picture: 0, 90, 180 or 270."""
        ...


@dataclass(frozen=True, eq=False)
class Exploration:
    """A world walked in step with an automaton.

    Node i is the pair (world state `states[i]`, automaton state `automaton_states[i]`); node 0 is the start.

    Attributes:
        states: packed world states, shape [nodes, words] of uint64.
        automaton_states: automaton state of each node, shape [nodes] of int32.
        successors: node after each control, `DEAD`, `ACCEPTED` or `UNAVAILABLE`; shape [nodes, controls] of int32.
        label_index: which of `labels` each transition shows, shape [nodes, controls] of uint16.
        labels: the distinct labels.
    """

    states: NDArray[np.uint64]
    automaton_states: NDArray[np.int32]
    successors: NDArray[np.int32]
    label_index: NDArray[np.uint16]
    labels: tuple[Label, ...]


@runtime_checkable
class CompiledWorld(World[Any], Protocol):
    """A world that can also explore itself at machine speed, over states packed to integers."""

    def explore(self, automaton: Automaton, max_nodes: int, state: Any, automaton_state: int) -> Exploration:
        """Every pair of states that can be reached from a state and an automaton state.

        Args:
            automaton: what reads the labels.
            max_nodes: stop with `TooManyNodesError` beyond this number.
            state: where to start.
            automaton_state: the automaton state to start in.
        """
        ...

    def pack(self, state: Any) -> NDArray[np.uint64]:
        """The 64-bit words of a state, shape [words]."""
        ...

    def unpack(self, words: NDArray[np.uint64]) -> Any:
        """The state whose packed form is `words`, shape [words]."""
        ...

    def transition_features(
        self, states: NDArray[np.uint64], transitions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The features of many transitions, the distinct ones once.

        Args:
            states: packed states, shape [states, words].
            transitions: row of `states` * controls + control, all of which are available; shape [transitions].

        Returns:
            Number of each transition's features, shape [transitions], and those, shape [distinct, features].
        """
        ...


class Sight(Enum):
    """What a cost looks at."""

    NOTHING = "nothing"  # every transition costs the same
    LOCAL = "local"  # features of the transition, or what the agent sees
    WHOLE = "whole"  # the whole state


LOST = -2
"""In place of an abstract state: acceptance cannot be reached."""


class LazyProduct(Protocol):
    """The part of the product of a world and an automaton that searches have met; it grows where they look.

    Nodes are numbered as they are met. A *situation* is what a cost may look at: nodes of the same situation cost the
    same.

    Attributes:
        world, automaton: what it is the product of.
        automaton_states, situations: of each node, shape [nodes] of int32.
        successors: node after each control as in `Exploration`; the first is `UNEXPANDED` where nobody has looked.
        label_index, labels: as in `Exploration`, of nodes that are expanded.
        situation_states: a world state in each situation.
        abstraction: the smaller world behind `abstract`, or None.
    """

    @property
    def world(self) -> World[Any]: ...  # noqa: D102
    @property
    def automaton(self) -> Automaton: ...  # noqa: D102
    @property
    def automaton_states(self) -> NDArray[np.int32]: ...  # noqa: D102
    @property
    def situations(self) -> NDArray[np.int32]: ...  # noqa: D102
    @property
    def successors(self) -> NDArray[np.int32]: ...  # noqa: D102
    @property
    def label_index(self) -> NDArray[np.uint16]: ...  # noqa: D102
    @property
    def labels(self) -> Sequence[Label]: ...  # noqa: D102
    @property
    def situation_states(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def abstraction(self) -> Any: ...  # noqa: D102

    def __len__(self) -> int:
        """The number of nodes met so far."""
        ...

    def state(self, node: int) -> Any:
        """The world state of a node."""
        ...

    def add(self, state: Any, automaton_state: int) -> int:
        """The node of a pair of states, a new one if it was not met before."""
        ...

    def expand(self, nodes: NDArray[np.int64]) -> None:
        """Find the successors of nodes, and meet them."""
        ...

    def abstract(self, first: int) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.float64]]:
        """The abstract states of the nodes from a number on, bits of obstacles on the way, and bounds of `deepen`.

        An abstract state is `LOST` where acceptance cannot be reached, another negative number where it is not known;
        a bound is 0 where nothing is known.
        """
        ...

    def refine(self, stage: int) -> bool:
        """Make the abstraction as fine as a hard search, or a harder one, asks for; False if there is none.

        Args:
            stage: from 1 on, the more the harder.
        """
        ...

    def least_costs(self, costs: NDArray[np.float64]) -> tuple[NDArray[np.float64], float] | None:
        """The least cost of each abstract transition, and to remove an obstacle; None without an abstraction.

        Args:
            costs: of the situations, shape [situations, controls].
        """
        ...

    def deepen(self, cost_to_go: NDArray[np.float64], start: int) -> None:
        """Find sharper bounds around the cheapest ways from a node, if searches have been hard.

        Args:
            cost_to_go: of abstract states under the least costs.
            start: the node.
        """
        ...


@runtime_checkable
class LazyWorld(World[Any], Protocol):
    """A world whose products with automata can be built where searches look, at machine speed."""

    def lazy_product(self, automaton: Automaton, start: tuple[Any, int], sight: Sight) -> LazyProduct:
        """The product with an automaton, at its start.

        Args:
            automaton: what reads the labels.
            start: the world state and the automaton state of node 0.
            sight: what costs will look at, which tells situations apart.
        """
        ...

    def estimated_states(self) -> float:
        """About how many states can be reached, at most."""
        ...


class TooManyNodesError(BadInputError):
    """A search met more nodes, or more distinct labels, than its limit allows."""


class BrokenLawError(BadInputError):
    """A world or a task breaks a law of its contract."""


class NoRendererError(BadInputError):
    """A world cannot show its states, or where the agent is in them."""


class LabelTable:
    """An automaton as a compiled search reads it: a row of successors for each label, added as labels are met.

    Attributes:
        labels: the labels so far, in the order in which they were met.
    """

    def __init__(self, automaton: Automaton):
        self.automaton = automaton
        self.labels: list[Label] = []
        self._numbers: dict[Label, int] = {}
        self._rows = np.empty((16, automaton.states), np.int32)

    @property
    def rows(self) -> NDArray[np.int32]:
        """State after each label, `DEAD` or `ACCEPTED`; shape [labels, automaton states]."""
        return self._rows[: len(self.labels)]

    def number(self, label: Label) -> int:
        """The index of a label, which gets a row if it is new.

        Raises:
            TooManyNodesError: there are too many distinct labels.
        """
        if label not in self._numbers:
            number = len(self.labels)
            if number == MAX_LABELS:
                raise TooManyNodesError(
                    f"more than {MAX_LABELS:,} distinct labels; leave out what the task is not about"
                )
            if number == len(self._rows):
                self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            self._rows[number] = self.automaton.successor_row(label)
            self._numbers[label] = number
            self.labels.append(label)
        return self._numbers[label]


def available_controls(world: World[Any], state: Any) -> NDArray[np.bool_]:
    """Which controls can be chosen in a state, shape [controls]."""
    is_available = getattr(world, "is_available", None)  # `isinstance` of a protocol takes ten times as long
    if is_available is None:
        return np.ones(len(world.controls), bool)
    return np.array([is_available(state, control) for control in range(len(world.controls))])


def can_render(world: Any) -> bool:
    """Whether a world can show its states; `has_renderer` is False where its `render` has nothing to draw with."""
    return isinstance(world, Renderer) and bool(getattr(world, "has_renderer", True))


def can_locate(world: Any) -> bool:
    """Whether a world can also tell where the agent is in the picture of a state; see `can_render`."""
    return can_render(world) and isinstance(world, Located) and bool(getattr(world, "has_location", True))


def as_renderer(world: Any) -> Renderer:
    """The world, if it can show its states.

    Raises:
        NoRendererError: it cannot; says what to add.
    """
    if not can_render(world):
        raise NoRendererError(f"{_source_name(world)} has no renderer: give it a method `render(state)` -> image")
    return world


def as_located(world: Any) -> Located:
    """The world, if it can tell where the agent is in the picture of a state.

    Raises:
        NoRendererError: it cannot; says what to add.
    """
    as_renderer(world)
    if not can_locate(world):
        raise NoRendererError(
            f"{_source_name(world)} does not say where the agent is: give it a method `locate(state)` -> pixel (x, y)"
        )
    return world


def _source_name(world: Any) -> str:
    """The class that a user would add a method to."""
    source = getattr(world, "source", None)
    return f"the world {type(world if source is None else source).__name__}"


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
    widths: set[int] = set()
    while queue:
        state = queue.popleft()
        controls = np.flatnonzero(_available(world, state)).tolist()
        if not controls:
            raise BrokenLawError(f"availability: no control can be chosen at state {state!r}")
        for control in controls:
            next_state = _check_transition(world, state, control)
            widths.add(len(_features(world, state, control, next_state)))
            if len(widths) > 1:
                first, second = sorted(widths)
                raise BrokenLawError(
                    f"features: {first} of them elsewhere and {second} at state {state!r}, or the reverse"
                )
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
    _check_hashable(world.initial_state, "initial_state")


def _available(world: World[Any], state: Any) -> NDArray[np.bool_]:
    try:
        return available_controls(world, state)
    except Exception as error:
        raise BrokenLawError(
            f"totality: is_available fails at state {state!r} ({type(error).__name__}: {error})"
        ) from error


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


def _features(world: World[Any], state: Any, control: int, next_state: Any) -> NDArray[np.float64]:
    where = f"at state {state!r} under control {world.controls[control]!r}"
    try:
        features = np.asarray(world.features(state, control, next_state), dtype=np.float64)
    except Exception as error:
        raise BrokenLawError(f"totality: features fails {where} ({type(error).__name__}: {error})") from error
    if features.ndim != 1 or not np.isfinite(features).all():
        raise BrokenLawError(f"features: they must be a finite vector, not {features!r}, {where}")
    return features
