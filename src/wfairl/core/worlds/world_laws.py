"""The laws of a world that a type checker cannot see."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from wfairl.core.support.errors import one_line
from wfairl.core.worlds.world import BrokenLawError, World, available_controls, check_outcomes, slips


def check_world(world: World[Any], max_states: int = 1_000) -> int:
    """Verify the laws on the first `max_states` states, breadth first; returns how many states were checked.

    A `BrokenLawError` names the law, the state and the control.
    """
    return len({state for state, _, _ in checked_transitions(world, max_states)})


def checked_transitions(world: World[Any], max_states: int) -> Iterator[tuple[Any, int, Any]]:
    """The transitions of the first states, breadth first, each after its laws were verified; see `check_world`."""
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
                transition = state, control, next_state
                _check_label(world, transition, where)
                widths.add(_check_features(world, transition, where))
                if len(widths) > 1:
                    first, second = sorted(widths)
                    raise BrokenLawError(
                        f"features: {first} of them elsewhere and {second} at state {state!r}, or the reverse"
                    )
                yield transition
                if next_state not in reached and len(reached) < max_states:
                    reached.add(next_state)
                    queue.append(next_state)


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
    if name == "outcomes":
        usual = _step_beside_outcomes(world, state, control)
        if usual is not None and usual not in next_states:
            raise BrokenLawError(f"outcomes: step leads to {usual!r}, which is none of them, {where}; leave step out")
    return next_states


def _step_beside_outcomes(world: World[Any], state: Any, control: int) -> Any:
    """Where the `step` of a world that slips leads; None if it has none, or one that does not answer."""
    with suppress(Exception):
        return world.step(state, control)
    return None


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
