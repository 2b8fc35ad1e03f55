"""The contract of a world: a labelled MDP (paper, Definition 1).

A world is the set {X, U, x_0, f, AP, l} of the paper without its cost, which is learned:

    x_{t+1} = f(x_t, u_t)            `step`
    sigma_t = l(x_t, u_t) ⊆ AP       `label`, the propositions that hold after the transition; it is given x_{t+1} too
    phi(x_t, u_t, x_{t+1})           `features`, which costs depend on

In a world that slips a control has several outcomes. Such a world answers `outcomes` instead of `step`:

    outcomes(state, control)         ((probability, next state), ...), with probabilities that sum to 1

Labels and features belong to what happened: they are asked for each next state. A world that answers `step` is the case
of one outcome.

Anything with the attributes and methods of `World` is a world. `check_world` (`world_laws`) tests the laws that the
type checker cannot see. A world may also offer

    is_available(state, control)     False where a control cannot be chosen; in every reachable state one can be.
                                     Without it, every control can be chosen everywhere
    rendering                        how it looks, a `Rendering`: images of states, the place of the agent in them
    slips                            False for a world that answers `outcomes` of one outcome each
    feature_names                    the names of the features
    instruction                      the goal of a scene in words; None if the task has one goal for all scenes
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.support.errors import BadInputError, one_line

State = TypeVar("State", bound=Hashable)

Outcomes = tuple[tuple[float, Any], ...]
"""Probabilities above zero that sum to 1, and the next state of each; every next state once."""

SUM_TOLERANCE = 1e-6
"""Probabilities that were rounded may miss a sum of 1 by so much. They are divided by their sum."""


@runtime_checkable
class World(Protocol[State]):
    """A labelled MDP; one that slips has `outcomes`, and `step` is then left out, or the most probable outcome.

    A control is an index into `controls`, the names of the controls.
    """

    @property
    def controls(self) -> Sequence[str]: ...
    @property
    def propositions(self) -> Sequence[str]: ...
    @property
    def initial_state(self) -> State: ...

    def step(self, state: State, control: int) -> State:
        """The next state f(x, u). Defined for every available control in every state, and pure."""

    def label(self, state: State, control: int, next_state: State) -> Label:
        """The propositions that hold after the transition."""

    def features(self, state: State, control: int, next_state: State) -> NDArray[np.float64]:
        """The vector that costs depend on, shape [features]; the same shape everywhere."""


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
    """What an available control may lead to; probabilities that break a law raise a `BrokenLawError`."""
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
    except BrokenLawError:
        raise
    except (TypeError, ValueError) as error:
        raise BrokenLawError(
            f"outcomes: they must be pairs (probability, next state) of hashable states, {where()} ({one_line(error)})"
        ) from None
    total = sum(merged.values())
    if not abs(total - 1) <= SUM_TOLERANCE:
        raise BrokenLawError(f"outcomes: their probabilities sum to {total:g} and not to 1, {where()}")
    return tuple((probability / total, next_state) for next_state, probability in merged.items())


def draw_index(probabilities: ArrayLike, rng: np.random.Generator) -> int:
    """An index, drawn with its probability: the first whose cumulative probability lies above a uniform number."""
    cumulative = np.cumsum(probabilities)
    return int((cumulative / cumulative[-1] <= rng.random()).sum())


def feature_names(world: World[Any], features: int) -> tuple[str, ...]:
    """The names of a world's features, `feature 0` and so on where it has none for that many."""
    names = tuple(getattr(world, "feature_names", ()))
    return names if len(names) == features else tuple(f"feature {i}" for i in range(features))
