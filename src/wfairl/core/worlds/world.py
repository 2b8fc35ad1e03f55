"""The contract of a world: a labelled MDP (paper, Definition 1).

A world is the set {X, U, x_0, f, AP, l} of the paper without its cost, which is learned:

    x_{t+1} = f(x_t, u_t)            `step`
    sigma_t = l(x_t, u_t) ⊆ AP       `label`, the propositions that hold after the transition; it is given x_{t+1} too
    phi(x_t, u_t, x_{t+1})           `features`, which linear and tabular costs depend on

In a world that slips a control has several outcomes. Such a world answers `outcomes` instead of `step`:

    outcomes(state, control)         ((probability, next state), ...), with probabilities that sum to 1

Labels and features belong to what happened: they are asked for each next state. A world that answers `step` is the case
of one outcome.

Anything with the attributes and methods of `World` is a world. `check_world` tests the laws that the type checker
cannot see. A world may also offer

    is_available(state, control)     False where a control cannot be chosen, though one can in every reachable state;
                                     without it, every control can be chosen everywhere
    rendering                        how it looks, a `Rendering`: images of states, the place of the agent in them
    feature_names                    the names of the features
    instruction                      the goal of a scene in words, see `rendering.Instructed`
"""

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.support.errors import BadInputError, one_line

State = TypeVar("State", bound=Hashable)

Outcomes = tuple[tuple[float, Any], ...]
"""Probabilities above zero that sum to 1, and the next state of each; every next state once."""

SUM_TOLERANCE = 1e-6
"""By so much probabilities may miss a sum of 1, as those do that were rounded; then they are divided by their sum."""


@runtime_checkable
class World(Protocol[State]):
    """A labelled MDP; one that slips has `outcomes`, and `step` is then left out, or the most probable outcome.

    Attributes:
        controls: the names of the controls; a control is an index into them.
        propositions: the names of the atomic propositions.
        initial_state: the state x_0.
    """

    @property
    def controls(self) -> Sequence[str]: ...
    @property
    def propositions(self) -> Sequence[str]: ...
    @property
    def initial_state(self) -> State: ...

    def step(self, state: State, control: int) -> State:
        """The next state f(x, u). Defined for every available control in every state, and pure."""
        ...

    def label(self, state: State, control: int, next_state: State) -> Label:
        """The propositions that hold after the transition."""
        ...

    def features(self, state: State, control: int, next_state: State) -> NDArray[np.float64]:
        """The vector that linear and tabular costs depend on, shape [features]; the same shape everywhere."""
        ...


class BrokenLawError(BadInputError):
    """A world or a task breaks a law of its contract."""


def available_controls(world: World[Any], state: Any) -> NDArray[np.bool_]:
    """Which controls can be chosen in a state, shape [controls]."""
    is_available = getattr(world, "is_available", None)  # `isinstance` of a protocol takes ten times as long
    if is_available is None:
        return np.ones(len(world.controls), bool)
    return np.array([is_available(state, control) for control in range(len(world.controls))])


def slips(world: World[Any]) -> bool:
    """Whether a control of a world may have several outcomes: whether the world answers `outcomes`."""
    return bool(getattr(world, "slips", hasattr(world, "outcomes")))


def outcomes_of(world: World[Any], state: Any, control: int) -> Outcomes:
    """What an available control may lead to; a world that does not slip has one outcome.

    Raises:
        BrokenLawError: the world's probabilities break a law.
    """
    if not slips(world):
        return ((1.0, world.step(state, control)),)
    answer = world.outcomes(state, control)  # type: ignore[attr-defined]
    return check_outcomes(answer, lambda: f"at state {state!r} under control {world.controls[control]!r}")


def check_outcomes(answer: Any, where: Callable[[], str]) -> Outcomes:
    """The answer of a world as outcomes, each next state once, or a `BrokenLawError`."""
    merged: dict[Any, float] = {}
    try:
        for probability, next_state in answer:
            if not probability >= 0:  # NaN fails as well
                raise BrokenLawError(f"outcomes: {probability} is not a probability, {where()}")
            if probability > 0:
                merged[next_state] = merged.get(next_state, 0.0) + float(probability)
    except (TypeError, ValueError) as error:
        raise BrokenLawError(
            f"outcomes: they must be pairs (probability, next state) of hashable states, {where()} ({one_line(error)})"
        ) from None
    total = sum(merged.values())
    if not abs(total - 1) <= SUM_TOLERANCE:
        raise BrokenLawError(f"outcomes: their probabilities sum to {total:g} and not to 1, {where()}")
    return tuple((probability / total, next_state) for next_state, probability in merged.items())


def feature_names(world: World[Any], features: int) -> tuple[str, ...]:
    """The names of a world's features, `feature 0` and so on where it has none for that many."""
    names = tuple(getattr(world, "feature_names", ()))
    return names if len(names) == features else tuple(f"feature {i}" for i in range(features))


def check_world(world: World[Any], max_states: int = 1_000) -> int:
    """Verify the laws of the contract on the first `max_states` states, breadth first.

    Returns:
        The number of states that were checked.

    Raises:
        BrokenLawError: names the law, the state and the control.
    """
    _check_attributes(world)
    reached = {world.initial_state}
    queue = deque(reached)
    widths: set[int] = set()
    while queue:
        state = queue.popleft()
        available = attempt(f"totality: is_available fails at state {state!r}", available_controls, world, state)
        if not available.any():
            raise BrokenLawError(f"availability: no control can be chosen at state {state!r}")
        for control in np.flatnonzero(available).tolist():
            where = f"at state {state!r} under control {world.controls[control]!r}"
            for next_state in _check_next_states(world, state, control, where):
                _check_label(world, (state, control, next_state), where)
                widths.add(_check_features(world, (state, control, next_state), where))
                if len(widths) > 1:
                    first, second = sorted(widths)
                    raise BrokenLawError(
                        f"features: {first} of them elsewhere and {second} at state {state!r}, or the reverse"
                    )
                if next_state not in reached and len(reached) < max_states:
                    reached.add(next_state)
                    queue.append(next_state)
    return len(reached)


def attempt(law: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of the user's; if it fails, raise a `BrokenLawError` that names a law."""
    try:
        return function(*arguments)
    except Exception as error:
        raise BrokenLawError(f"{law} ({one_line(error)})") from error


def _check_attributes(world: World[Any]) -> None:
    dynamics = "outcomes" if hasattr(world, "outcomes") else "step"
    wanted = ("controls", "propositions", "initial_state", dynamics, "label", "features")
    missing = [name for name in wanted if not hasattr(world, name)]
    if missing:
        raise BrokenLawError(f"contract: {type(world).__name__} has no {', '.join(missing)}")
    for name in ("controls", "propositions"):
        values = list(getattr(world, name))
        if len(set(values)) != len(values) or not all(isinstance(value, str) for value in values):
            raise BrokenLawError(f"{name}: they must be distinct strings, not {values!r}")
    if not world.controls:
        raise BrokenLawError("controls: there must be at least one")
    _check_hashable(world.initial_state, "initial_state")


def _check_hashable(state: Any, where: str) -> None:
    try:
        hash(state)
    except TypeError:
        raise BrokenLawError(f"hashability: {where} gives a {type(state).__name__}, which has no hash") from None


def _check_next_states(world: World[Any], state: Any, control: int, where: str) -> list[Any]:
    """Check `step` or `outcomes`; the next states."""
    name = "outcomes" if slips(world) else "step"
    key = hash(state)
    answer, again = (attempt(f"totality: {name} fails {where}", getattr(world, name), state, control) for _ in range(2))
    if name == "outcomes":
        answer, again = (check_outcomes(one, lambda: where) for one in (answer, again))
    next_states = [one for _, one in answer] if name == "outcomes" else [answer]
    for next_state in next_states:
        _check_hashable(next_state, f"{name} {where}")
    if hash(state) != key or answer != again or hash(answer) != hash(again):
        raise BrokenLawError(f"purity: two calls of {name} differ {where}")
    return next_states


def _check_label(world: World[Any], transition: tuple[Any, int, Any], where: str) -> None:
    label = attempt(f"totality: label fails {where}", world.label, *transition)
    if not isinstance(label, frozenset):
        raise BrokenLawError(f"labels: label gives a {type(label).__name__} instead of a frozenset {where}")
    if not label <= set(world.propositions):
        unknown = ", ".join(sorted(map(str, label - set(world.propositions))))
        raise BrokenLawError(f"labels: {unknown} is not among the propositions, {where}")
    if world.label(*transition) != label:
        raise BrokenLawError(f"purity: two calls of label differ {where}")


def _check_features(world: World[Any], transition: tuple[Any, int, Any], where: str) -> int:
    """Check the features of a transition; how many there are."""
    features = attempt(f"totality: features fails {where}", lambda: np.asarray(world.features(*transition), np.float64))
    if features.ndim != 1 or not np.isfinite(features).all():
        raise BrokenLawError(f"features: they must be a finite vector, not {features!r}, {where}")
    return len(features)
