"""The contract of a task: a family of scenes, one per seed, with labels, a true rule and a horizon.

A task around a world of your own is one value:

    TASK = ModelTask(
        name="corridor",
        summary="fetch the parcel and bring it home",
        propositions=("parcel", "home"),
        rule=visit_in_order("parcel", "home"),
        horizon=40,
        scene=lambda seed: Corridor(length=4 + seed % 5),
    )

`register_task(TASK)` registers the task by its name. `wfairl --tasks FILE` finds tasks at the top level of a file
(`task_registry`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import getattr_static
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton
from wfairl.core.support.errors import BadInputError, one_line
from wfairl.core.worlds.compiled import DEFAULT_MAX_STATES, CompiledWorld, TooManyNodesError
from wfairl.core.worlds.graph import explore_world, state_name
from wfairl.core.worlds.rendering import offered_rendering
from wfairl.core.worlds.simulator import MakeSimulator, ModelSimulator, Observation, Simulator, simulate
from wfairl.core.worlds.world import BrokenLawError, World, available_controls
from wfairl.core.worlds.world_laws import attempt, checked_transitions

FeatureCost = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From features of transitions, shape [transitions, features], to their costs, shape [transitions]."""

CHECKED_STATES = 200
"""States of a scene on which `check_task` tests the laws of a world."""

CHECKED_SIZE = 1_000
"""States of a scene that `check_task` still explores; it takes the first states of a larger one as they are."""

CHECKED_STEPS = 20
"""Steps of an episode in which `check_task` tests the laws of a simulator."""


class Task(Protocol):
    """A family of scenes, one per seed.

    Attributes:
        name: on the command line.
        title: in tables.
        summary: one line for people.
        propositions: of the labels, the same in every scene.
        rule: accepts the words of success. The learner never sees it; the expert and the scores come from it. None if
            nobody knows it: demonstrations are then trusted, and there is no expert and no verdict on episodes.
        horizon: number of steps in which an episode must succeed.
        default_cost: the kind of cost model that suits its worlds.
        true_cost: cost of a transition for the expert, by its features; None for 1 everywhere.

    It may also have a `nominal_cost`, see `ModelTask`.
    """

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def propositions(self) -> tuple[str, ...]: ...
    @property
    def rule(self) -> Automaton | None: ...
    @property
    def horizon(self) -> int: ...
    @property
    def default_cost(self) -> str: ...
    @property
    def true_cost(self) -> FeatureCost | None: ...

    def make_world(self, seed: int) -> World[Any]:
        """The model of the scene of one seed."""

    def make_simulator(self, seed: int) -> Simulator:
        """The simulator of the scene of one seed."""


@dataclass(frozen=True)
class ModelTask:
    """A task whose scenes are worlds of one's own; each is explored once, so that planning runs at compiled speed.

    Attributes:
        name, summary, propositions, rule, horizon, default_cost, true_cost: see `Task`.
        scene: the world of a seed.
        title: see `Task`; the name unless given.
        nominal_cost: cost of a transition before anything is learned, such as its length, by its features; None for 1
            everywhere. Logic is learned under it, and plans without a learned cost are made under it.
        simulator: makes the simulator of an episode, from the world that `scene` gave and a generator of random
            numbers; the model itself unless given.
        max_states: of a scene; a `TooManyNodesError` says what grows in the states of one that has more.
        slip: the probability that a control is replaced by another one that is available, in the model.
    """

    name: str
    summary: str
    propositions: tuple[str, ...]
    rule: Automaton | None
    horizon: int
    scene: Callable[[int], World[Any]]
    title: str = ""
    default_cost: str = "auto"
    true_cost: FeatureCost | None = None
    nominal_cost: FeatureCost | None = None
    simulator: MakeSimulator = ModelSimulator
    max_states: int = DEFAULT_MAX_STATES
    slip: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "propositions", tuple(self.propositions))
        object.__setattr__(self, "title", self.title or self.name)
        check_horizon(self.name, self.horizon)

    def make_world(self, seed: int) -> World[Any]:
        world: Any = self.scene(seed)
        try:
            world = world if isinstance(world, CompiledWorld) else explore_world(world, self.max_states)
        except BrokenLawError as error:
            raise BrokenLawError(f"task {self.name!r}, scene of seed {seed}: {error}") from error
        if not self.slip:
            return world
        if not hasattr(world, "slipping"):
            raise BadInputError(f"the worlds of the task {self.name!r} cannot be made to slip")
        return world.slipping(self.slip)

    def make_simulator(self, seed: int) -> Simulator:
        return simulate(self.make_world(seed), self.simulator, seed)


def slipping_task(task: Task, probability: float) -> ModelTask:
    """A task in worlds that slip: with some probability a control is replaced by another one that is available.

    If the task has a simulator of its own, what that does is what really happens, and only the model slips.
    """
    if not 0 < probability < 1:
        raise BadInputError(f"a control slips with a probability between 0 and 1, not {probability}")
    if getattr(task, "slip", 0.0):
        raise BadInputError(f"the worlds of the task {task.name!r} slip already")
    return ModelTask(
        name=f"{task.name}-slip-{probability:g}",
        title=f"{task.title}, slip {probability:g}",
        summary=f"{task.summary}; a control is replaced by another in {probability:.3g} of the steps",
        propositions=task.propositions,
        rule=task.rule,
        horizon=task.horizon,
        scene=getattr(task, "scene", task.make_world),
        default_cost=task.default_cost,
        true_cost=task.true_cost,
        nominal_cost=getattr(task, "nominal_cost", None),
        simulator=getattr(task, "simulator", ModelSimulator),
        max_states=getattr(task, "max_states", DEFAULT_MAX_STATES),
        slip=probability,
    )


def with_limit(task: Task, max_states: int) -> Task:
    """The task, whose scenes are explored to at most `max_states` states; one that explores none stays as it is."""
    return replace(task, max_states=max_states) if isinstance(task, ModelTask) else task


class NoRuleError(BadInputError):
    """A task without a rule, where one is needed."""


def rule_of(task: Task) -> Automaton:
    """The rule of a task, or a `NoRuleError` if nobody knows it."""
    if task.rule is None:
        raise NoRuleError(
            f"the task {task.name!r} has no rule (rule=None), so that there is no expert and nobody can say whether an"
            " episode succeeds. Import demonstrations (`wfairl demos-import`), learn the rule (`wfairl learn-task`),"
            " plan with it (`wfairl plan --task-model`), and see how well it fits other demonstrations"
            " (`wfairl evidence`). In Python, `replace(task, rule=model.finite)` is the task with the learned rule"
        )
    return task.rule


LONGEST_HORIZON = 2**31 - 1
"""Steps are counted in 32 bits."""


def check_horizon(name: str, horizon: int) -> None:
    """Raise `BadInputError` unless a horizon is from 1 to `LONGEST_HORIZON`."""
    if not isinstance(horizon, Integral) or not 1 <= horizon <= LONGEST_HORIZON:
        raise BadInputError(f"the horizon of the task {name!r} is from 1 to {LONGEST_HORIZON}, not {horizon!r}")


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
    _check_costs(task, world, list(checked_transitions(world, CHECKED_STATES)))
    _check_rendering(task, world)
    _check_simulator(task, world, make_simulator, seed)
    if tuple(world.propositions) != tuple(task.propositions):
        raise BrokenLawError(
            f"{named}: propositions: the task has {', '.join(task.propositions)},"
            f" the world of seed {seed} {', '.join(world.propositions)}"
        )


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
        raise BrokenLawError(f"{wrong} it reads {', '.join(foreign)}, which the task does not have")
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
    for _ in range(CHECKED_STEPS):
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
