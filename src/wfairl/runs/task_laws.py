"""The laws of a task that a type checker cannot see; they are tested when a task is registered."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import getattr_static
from typing import Any

import numpy as np

from wfairl.core.automata.automaton import Automaton
from wfairl.core.support.errors import BadInputError, did_you_mean, one_line
from wfairl.core.worlds.compiled import TooManyNodesError
from wfairl.core.worlds.graph import state_name
from wfairl.core.worlds.rendering import offered_rendering
from wfairl.core.worlds.simulator import Observation, Simulator, simulate
from wfairl.core.worlds.task import ModelTask, Task
from wfairl.core.worlds.world import BrokenLawError, World, available_controls
from wfairl.core.worlds.world_laws import attempt, checked_transitions

CHECKED_SIZE = 1_000
"""States of a scene that `check_task` still explores; it takes the first states of a larger one as they are."""


def missing_attributes(value: Any) -> list[str]:
    """The attributes of the task contract that a value lacks; properties of the value are not evaluated."""
    absent = object()
    contract = (name for name in vars(Task) if not name.startswith("_"))
    return [name for name in contract if getattr_static(value, name, absent) is absent]


def check_task(task: Task, seed: int = 0) -> None:
    """Verify the laws of the contract on the first states of one scene; a `BrokenLawError` names the law."""
    missing = missing_attributes(task)
    if missing:
        raise BrokenLawError(f"contract: {type(task).__name__} is no task: it has no {', '.join(missing)}")
    named = f"task {task.name!r}"
    if task.rule is not None:
        _check_rule(task, task.rule)
    try:
        world, make_simulator = _small_scene(task, seed)
    except BadInputError:
        raise
    except Exception as error:
        raise BrokenLawError(
            f"{named}: make_world: the scene of seed {seed} cannot be made ({one_line(error)})"
        ) from error
    _check_costs(task, world, list(checked_transitions(world, 200)))
    _check_rendering(task, world)
    _check_simulator(task, world, make_simulator, seed)
    if tuple(world.propositions) != tuple(task.propositions):
        raise BrokenLawError(
            f"{named}: propositions: the task has {', '.join(task.propositions)},"
            f" the world of seed {seed} {', '.join(world.propositions)}"
        )


def with_limit(task: Task, max_states: int) -> Task:
    """The task, whose scenes are explored to at most `max_states` states; one that explores none stays as it is."""
    return replace(task, max_states=max_states) if isinstance(task, ModelTask) else task


def _small_scene(task: Task, seed: int) -> tuple[World[Any], Callable[[int], Simulator]]:
    """A scene to check, and what makes its simulator; a scene of more than `CHECKED_SIZE` states stays unexplored."""
    small = with_limit(task, CHECKED_SIZE)
    try:
        return small.make_world(seed), small.make_simulator
    except TooManyNodesError:
        if not isinstance(task, ModelTask):
            raise
        world = task.scene(seed)
        return world, lambda seed: simulate(world, task.simulator, seed)


def _check_rule(task: Task, rule: Automaton) -> None:
    wrong = f"task {task.name!r}: rule:"
    if not isinstance(rule, Automaton):
        raise BrokenLawError(f"{wrong} it must be an automaton or None, not a {type(rule).__name__}")
    foreign = sorted(rule.propositions - set(task.propositions))
    if foreign:
        near = did_you_mean(foreign[0], task.propositions)
        raise BrokenLawError(f"{wrong} it reads {', '.join(foreign)}, which the task does not have{near}")
    if rule.accepting[0]:
        raise BrokenLawError(f"{wrong} it is fulfilled before anything happens")


def _check_costs(task: Task, world: World[Any], transitions: Sequence[tuple[Any, int, Any]]) -> None:
    """Check that the task's costs give one number above zero for each of some transitions."""
    for name in ("true_cost", "nominal_cost"):
        cost = getattr(task, name, None)
        if cost is None:
            continue
        wrong = f"task {task.name!r}: {name}:"
        features = np.array([world.features(*one) for one in transitions])
        values = attempt(f"{wrong} it fails", lambda *given: np.asarray(given[0](given[1]), np.float64), cost, features)
        if values.shape != (len(transitions),):
            raise BrokenLawError(
                f"{wrong} from features of shape {features.shape} it must give an array of shape"
                f" ({len(transitions)},), not {values.shape}"
            )
        bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
        if len(bad):
            state, control, _ = transitions[bad[0]]
            raise BrokenLawError(
                f"{wrong} every transition must cost a finite number above zero, also one that does nothing; it is"
                f" {values[bad[0]]} at state {state_name(world, state)!r} under control {world.controls[control]!r}"
            )


def _check_simulator(task: Task, world: World[Any], make: Callable[[int], Simulator], seed: int) -> None:
    """Check that the simulator of a task takes some controls and reports states and labels of the world."""
    wrong = f"task {task.name!r}: simulator:"
    simulator = attempt(f"{wrong} it cannot be made", make, seed)
    state, rng = world.initial_state, np.random.default_rng(seed)
    for _ in range(20):
        control = int(rng.choice(np.flatnonzero(available_controls(world, state))))
        state, label, ended = attempt(
            f"{wrong} step fails", lambda control=control: Observation(*simulator.step(control))
        )
        attempt(f"{wrong} it reports {state!r}, which is no state of the world", available_controls, world, state)
        if not isinstance(label, frozenset) or not label <= set(task.propositions):
            raise BrokenLawError(f"{wrong} a label must be a frozenset of propositions of the task, not {label!r}")
        if ended:
            return


def _check_rendering(task: Task, world: World[Any]) -> None:
    """Check that the rendering of a world gives an image of its first state and a place in that image."""
    rendering = offered_rendering(world)
    if rendering is None:
        return
    wrong = f"task {task.name!r}: rendering:"
    image = np.asarray(attempt(f"{wrong} render fails", rendering.render, world.initial_state))
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype.kind not in "iuf":
        raise BrokenLawError(f"{wrong} render must give an image of shape [height, width, 3]")
    if rendering.places is None:
        return
    place = np.asarray(attempt(f"{wrong} locate fails", rendering.places.locate, world.initial_state))
    if place.shape != (2,) or place.dtype.kind not in "iuf":
        raise BrokenLawError(f"{wrong} locate must give a place (x, y)")
