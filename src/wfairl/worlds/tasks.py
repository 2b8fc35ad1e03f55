"""The named tasks: which environment, what its labels say, when it is done, and how long one may take.

A task of your own is one call:

    register_task(
        Task(
            name="unlock",
            summary="pick up the key and open the door",
            environment_id="MiniGrid-Unlock-v0",
            propositions=lambda environment: {"key": Carrying("key"), "door": DoorOpen()},
            rule=Rule(visit=("key", "door")),
            horizon=60,
        )
    )

`propositions` is called with the environment just after a reset, for the case that what they are about
depends on the scene; their names must be the same in every scene.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gymnasium

from wfairl.errors import BadInputError
from wfairl.worlds.minigrid import MiniGridWorld
from wfairl.worlds.minigrid_environment import make_environment, reset
from wfairl.worlds.propositions import AgentOn, AwayFromDoor, Carrying, DoorOpen, Proposition
from wfairl.worlds.world import Label


@dataclass(frozen=True)
class Rule:
    """When a word counts as success: `visit` comes true in this order, and nothing of `avoid` does before the end.

    One label may serve several of `visit` at once. Any collections of names will do.
    """

    visit: tuple[str, ...]
    avoid: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for names in (self.visit, self.avoid):
            if isinstance(names, str):
                raise BadInputError(f"a rule takes collections of propositions: ({names!r},) rather than {names!r}")
        object.__setattr__(self, "visit", tuple(self.visit))
        object.__setattr__(self, "avoid", frozenset(self.avoid))
        if not self.visit:
            raise BadInputError("a rule needs at least one proposition to visit")

    def succeeds(self, word: Sequence[Label]) -> bool:
        """Whether the rule is fulfilled at some point of the word."""
        visited = 0
        for label in word:
            if label & self.avoid:
                return False
            while visited < len(self.visit) and self.visit[visited] in label:
                visited += 1
            if visited == len(self.visit):
                return True
        return False


@dataclass(frozen=True)
class Task:
    """A family of scenes, one for each seed, with labels, a true rule and a horizon.

    Attributes:
        name: what the command line calls it.
        summary: one line for people.
        environment_id: Gymnasium's id.
        propositions: of an environment just reset, its propositions by name.
        rule: when a word counts as success; the learner never sees it, the expert and the scores come from it.
        horizon: number of steps in which an episode must succeed.
    """

    name: str
    summary: str
    environment_id: str
    propositions: Callable[[Any], Mapping[str, Proposition]]
    rule: Rule
    horizon: int

    def __post_init__(self) -> None:
        if self.horizon < 1:
            raise BadInputError(f"the horizon of the task {self.name!r} must be 1 or more, not {self.horizon}")

    def make_environment(self, seed: int, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
        """The real environment of one seed, reset, with the task's horizon instead of its own limit."""
        environment = make_environment(self.environment_id, render_mode=render_mode, max_steps=self.horizon)
        reset(environment, seed)
        return environment

    def make_world(self, seed: int) -> MiniGridWorld:
        """The model of the scene of one seed."""
        return self.world_of(self.make_environment(seed))

    def world_of(self, environment: gymnasium.Env[Any, Any]) -> MiniGridWorld:
        """The model of an environment of this task as it stands now."""
        return MiniGridWorld.from_environment(environment, self.propositions(environment.unwrapped))

    @cached_property
    def proposition_names(self) -> tuple[str, ...]:
        """The names of the propositions, the same in every scene."""
        return tuple(self.make_world(seed=0).propositions)


def find_task(name: str) -> Task:
    """The task of a name.

    Raises:
        BadInputError: there is none.
    """
    if name not in _TASKS:
        raise BadInputError(
            f"unknown task {name!r}; known are {', '.join(_TASKS)}. "
            "One of your own has to be registered: see docs/own-tasks.md"
        )
    return _TASKS[name]


def all_tasks() -> tuple[Task, ...]:
    """The tasks in the order in which they were registered."""
    return tuple(_TASKS.values())


def register_task(task: Task) -> Task:
    """Make a task known by its name.

    Raises:
        BadInputError: the name is taken, or the rule speaks of propositions that the task does not have.
    """
    if task.name in _TASKS:
        raise BadInputError(f"there is a task {task.name!r} already")
    unknown = {*task.rule.visit, *task.rule.avoid} - set(task.proposition_names)
    if unknown:
        raise BadInputError(
            f"the rule of task {task.name!r} speaks of {', '.join(sorted(unknown))}, which it does not have"
        )
    _TASKS[task.name] = task
    return task


def _doors_along_the_rooms(environment: Any) -> Mapping[str, Proposition]:
    doors = [room.exitDoorPos for room in environment.rooms[:-1]]
    opened = {f"door{i}": DoorOpen(at=(int(x), int(y))) for i, (x, y) in enumerate(doors, start=1)}
    return {**opened, "goal": AgentOn("goal")}


DOORKEY = Task(
    name="doorkey",
    summary="pick up the key, unlock the door, reach the goal (T1)",
    environment_id="MiniGrid-DoorKey-8x8-v0",
    propositions=lambda _: {"key": Carrying("key"), "door": DoorOpen(), "goal": AgentOn("goal")},
    rule=Rule(visit=("goal",)),
    horizon=75,
)

MULTIROOM = Task(
    name="multiroom",
    summary="open the doors of four rooms, one after the other, reach the goal (T2)",
    environment_id="MiniGrid-MultiRoom-N4-S5-v1",
    propositions=_doors_along_the_rooms,
    rule=Rule(visit=("goal",)),
    horizon=80,
)

BLOCKED_UNLOCK_PICKUP = Task(
    name="blocked-unlock-pickup",
    summary="move the ball that blocks the door, unlock it with the key, pick up the box (T3)",
    environment_id="MiniGrid-BlockedUnlockPickup-v0",
    propositions=lambda _: {
        "ball": AwayFromDoor("ball", distance=2),
        "key": Carrying("key"),
        "door": DoorOpen(),
        "box": Carrying("box"),
    },
    rule=Rule(visit=("box",)),
    horizon=75,
)

_TASKS = {task.name: task for task in (DOORKEY, MULTIROOM, BLOCKED_UNLOCK_PICKUP)}
