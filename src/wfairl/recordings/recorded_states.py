"""The states of a log as a path through a world, also where the world did what its model says cannot happen.

A *surprise* is a step to a state to which the control does not lead in the model. It is kept as it happened: what a
world does says nothing about the task. A state that the model does not have is left out, with the controls taken in
it: the step then ends in the next state that the model has.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from wfairl.core.planning.path import Path, control_number
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.compiled import IGNORE_LABELS
from wfairl.core.worlds.graph import GraphWorld, state_name
from wfairl.core.worlds.world import World, available_controls, outcomes_of, slips


@dataclass(frozen=True)
class Surprise:
    """A step to a state to which the control does not lead in the model; states as the world's author wrote them."""

    step: int  # in its episode, from 0
    control: str | None  # what was done; None if the log does not say
    like: str  # the name of another control that leads there, `STAYED`, or `ELSEWHERE`
    state: Any
    next_state: Any


STAYED, ELSEWHERE = "stayed", "elsewhere"


@dataclass(frozen=True, eq=False)
class Recording:
    """Recorded states as a path."""

    path: Path  # through the states that the model has
    surprises: tuple[Surprise, ...]  # where it left the model
    unknown: tuple[Any, ...]  # the recorded states that the model does not have, as they were recorded
    # of each step, in a world that does not slip, whether the control leads there, and which share of the other
    # controls does; empty if the log does not tell the controls
    slips: tuple[tuple[bool, float], ...]


class Detours(NamedTuple):
    """How often something else happened than the most likely outcome, of the steps that a model foresees."""

    steps: int
    times: int
    expected: float  # by the model
    is_clear: bool  # whether that is more than chance: three standard deviations


def count_detours(recordings: Iterable[Recording]) -> Detours:
    """How often the less likely outcomes of a model that slips happened, and how often they should have."""
    happened, chances = [], []
    for one in (one for one in recordings if slips(one.path.world)):
        for state, control, after in zip(one.path.states, one.path.controls, one.path.states[1:], strict=False):
            outcomes = {there: p for p, there in outcomes_of(one.path.world, state, control)}
            if after in outcomes:
                happened.append(outcomes[after] < max(outcomes.values()))
                chances.append(sum(p for p in outcomes.values() if p < max(outcomes.values())))
    times, expected = sum(happened), sum(chances)
    spread = sum(p * (1 - p) for p in chances) ** 0.5
    return Detours(len(happened), times, expected, abs(times - expected) > 3 * spread > 0)


def read_states(
    world: World[Any], recorded: Sequence[Any], controls: Sequence[int | str] | None, rng: np.random.Generator
) -> Recording:
    """The path of recorded states, of JSON, and of the controls between them if they are known.

    Without controls, each is one that leads to the next state. Where several do, with the label of the first, one of
    them is drawn: always to take the first would look as if the demonstrator preferred it. For the same reason the
    control of a surprise is drawn among all. What is no path at all is a `BadInputError`.
    """
    _check_record(world, recorded, controls)
    states, taken, read = [world.initial_state], [], _Reader(world)
    surprises, unknown, shares = [], [], []
    waiting: int | None = None  # the control that led to a state that the model does not have
    for step, wanted in enumerate(recorded[1:]):
        given = None if controls is None else control_number(world, controls[step], step)
        found = None if waiting is None else (waiting, read.find(wanted), False)
        control, after, is_expected = found or read.next(states[-1], given, wanted, rng, step)
        if after is None:
            unknown.append(wanted)
            waiting = control
            continue
        if not is_expected:
            name, between = None if given is None else world.controls[control], (states[-1], after)
            surprises.append(Surprise(step, name, read.like(*between), *(state_name(world, one) for one in between)))
        if controls is not None and not slips(world):
            shares.append(read.share(states[-1], control, after))
        taken.append(control)
        states.append(after)
        waiting = None
    labels = tuple(world.label(*one) for one in zip(states, taken, states[1:], strict=False))
    path = Path(world, IGNORE_LABELS, tuple(taken), tuple(states), labels, (0,) * len(states))
    return Recording(path, tuple(surprises), tuple(unknown), tuple(shares))


def _check_record(world: World[Any], recorded: Sequence[Any], controls: Sequence[int | str] | None) -> None:
    if not recorded:
        raise BadInputError("states must begin with the one in which the scene starts")
    first = state_name(world, world.initial_state)
    if not _equals(recorded[0], first):
        raise BadInputError(f"the scene starts in {first!r}, not in {json.dumps(recorded[0])}")
    if controls is None and slips(world):
        raise BadInputError("this world slips: states alone do not tell the controls; give the controls, too")
    if controls is not None and len(recorded) != len(controls) + 1:
        raise BadInputError(
            f"{len(controls)} controls and {len(recorded)} states: there must be one state more than controls, the"
            " first before the first control and the last after the last one"
        )


class _Reader:
    """Finds the states of a world that recorded values mean."""

    def __init__(self, world: World[Any]):
        self.world = world
        equal = lru_cache(None)(lambda value, state: _equals(json.loads(value), state_name(world, state)))
        self.means = lambda value, state: equal(json.dumps(value), state)

    def available(self, state: Any) -> list[int]:
        return np.flatnonzero(available_controls(self.world, state)).tolist()

    def next(
        self, state: Any, control: int | None, wanted: Any, rng: np.random.Generator, step: int
    ) -> tuple[int, Any, bool]:
        """The control, the next state or None if it is unknown, and whether the control leads there."""
        available = self.available(state)
        if control is not None and control not in available:
            raise BadInputError(f"step {step}: the control {self.world.controls[control]!r} is not available there")
        fitting = [
            (self.world.label(state, one, after), one, after)
            for one in (available if control is None else [control])
            for _, after in outcomes_of(self.world, state, one)
            if self.means(wanted, after)
        ]
        if fitting:
            alike = [one for one in fitting if one[0] == fitting[0][0]]
            _, control, after = alike[rng.integers(len(alike))]
            return control, after, True
        if not isinstance(self.world, GraphWorld):
            raise BadInputError(
                f"step {step}: {'no control leads' if control is None else 'the control does not lead'} from"
                f" {state_name(self.world, state)!r} to {json.dumps(wanted)}"
            )
        return int(rng.choice(available)) if control is None else control, self.find(wanted), False

    def find(self, wanted: Any) -> int | None:
        """The state that a value means, None if the model has none."""
        assert isinstance(self.world, GraphWorld)
        return next((one for one in range(len(self.world.table.successors)) if self.means(wanted, one)), None)

    def like(self, state: int, after: int) -> str:
        """The control that leads there, `STAYED`, or `ELSEWHERE`."""
        if state == after:
            return STAYED
        leading = (u for u in self.available(state) if self.world.step(state, u) == after)
        return next((self.world.controls[u] for u in leading), ELSEWHERE)

    def share(self, state: Any, control: int, after: Any) -> tuple[bool, float]:
        """Whether a control leads to a state, and which share of the other available ones does."""
        others = [u for u in self.available(state) if u != control]
        leading = sum(self.world.step(state, u) == after for u in others)
        return self.world.step(state, control) == after, leading / max(len(others), 1)


def _equals(value: Any, state: Any) -> bool:
    """Whether a value of JSON represents a state."""
    names = [one.name for one in fields(state)] if is_dataclass(state) else getattr(state, "_fields", ())
    parts = [getattr(state, name) for name in names] or state
    if isinstance(value, dict):
        return value.keys() == set(names) and all(map(_equals, (value[name] for name in names), parts))
    if isinstance(value, list) and isinstance(state, frozenset):
        return len(value) == len(state) and all(any(_equals(one, member) for member in state) for one in value)
    if isinstance(value, list):
        return isinstance(parts, list | tuple) and len(value) == len(parts) and all(map(_equals, value, parts))
    return value in (state.name, state.value) if isinstance(state, Enum) else bool(value == state)
