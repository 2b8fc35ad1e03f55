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

`wfairl.register_task(TASK)` registers the task by its name. `wfairl --tasks FILE` finds tasks at the top level of a
file. Both are a neighbour: `wfairl.runs.task_registry`, with the laws of tasks, `wfairl.runs.task_laws`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.compiled import DEFAULT_MAX_STATES, CompiledWorld
from wfairl.core.worlds.graph import explore_world
from wfairl.core.worlds.simulator import MakeSimulator, ModelSimulator, Simulator, simulate
from wfairl.core.worlds.world import BrokenLawError, World

FeatureCost = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From features of transitions, shape [transitions, features], to their costs, shape [transitions]."""


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


def rule_of(task: Task) -> Automaton:
    """The rule of a task, or a `BadInputError` if nobody knows it."""
    if task.rule is None:
        raise BadInputError(
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
