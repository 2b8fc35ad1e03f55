"""Tasks in MiniGrid: an environment, the propositions of its labels, and the rule that a demonstrator follows.

A task of your own is one value:

    UNLOCK = MiniGridTask(
        name="unlock",
        summary="pick up the key and open the door",
        environment_id="MiniGrid-Unlock-v0",
        scene_propositions=lambda environment: {"key": Carrying("key"), "door": DoorOpen()},
        rule=visit_in_order("key", "door"),
        horizon=60,
    )

`scene_propositions` is called with the environment just after a reset, since propositions may depend on the scene;
their names must be the same in every scene.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from wfairl.core.automata.automaton import Automaton
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.simulator import Observation
from wfairl.core.worlds.task import FeatureCost, check_horizon
from wfairl.minigrid.propositions import AgentOn, AwayFromDoor, Carrying, DoorOpen, Facing, Proposition
from wfairl.minigrid.world import MiniGridWorld

if TYPE_CHECKING:
    import gymnasium

MOST_DRAWS = 100
"""Scenes that are drawn from one seed until one has all that a task needs."""


@dataclass(frozen=True)
class MiniGridTask:
    """A task in a MiniGrid environment; see `Task` for the other attributes."""

    name: str
    summary: str
    environment_id: str  # Gymnasium's id
    # from an environment just reset to the propositions of its scene, by name
    scene_propositions: Callable[[Any], Mapping[str, Proposition]]
    rule: Automaton
    horizon: int
    title: str = ""
    default_cost: str = "auto"
    true_cost: FeatureCost | None = None
    # whether the environment's own mission ends an episode; False where the task is another one
    mission_ends: bool = True
    # whether the task is the environment's own mission. Then the environment judges success, and the mission in words
    # is the instruction of a scene.
    is_mission: bool = False
    # kinds of objects that every scene must have; a scene that lacks one is drawn again
    needs: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.name)
        check_horizon(self.name, self.horizon)

    @cached_property
    def propositions(self) -> tuple[str, ...]:
        return tuple(self.make_world(seed=0).propositions)

    def make_world(self, seed: int) -> MiniGridWorld:
        return self._world_of(self.make_environment(seed))

    def make_simulator(self, seed: int) -> "MiniGridSimulator":
        environment = self.make_environment(seed)
        return MiniGridSimulator(self, environment, self._world_of(environment))

    def make_environment(self, seed: int, render_mode: str | None = None) -> "gymnasium.Env[Any, Any]":
        """The real environment of one seed, reset, with the task's horizon instead of its own limit."""
        from wfairl.minigrid.environment import kinds_in, make_environment, reset

        environment = make_environment(self.environment_id, render_mode=render_mode, max_steps=self.horizon)
        reset(environment, seed)
        for _ in range(MOST_DRAWS):
            if self.needs <= kinds_in(environment):
                return environment
            reset(environment, None)  # the next scene of the same random numbers
        raise BadInputError(f"{self.name}: no scene of seed {seed} has {', '.join(sorted(self.needs))}")

    def _world_of(self, environment: "gymnasium.Env[Any, Any]") -> MiniGridWorld:
        scene: Any = environment.unwrapped
        world = MiniGridWorld.from_environment(environment, self.scene_propositions(scene))
        if self.is_mission:
            world.instruction = str(scene.mission)
        return world


class MiniGridSimulator:
    """A real environment that was just reset, stepped by Gymnasium and read back into the terms of its model.

    Attributes:
        environment: the environment.
        world: the model.
        rewarded: whether the environment has given a reward so far; it judges demonstrations in the studio.
        succeeded: whether the reward shows that the task is fulfilled; None if the reward does not tell.
    """

    def __init__(self, task: MiniGridTask, environment: "gymnasium.Env[Any, Any]", world: MiniGridWorld):
        self.environment, self.world, self._mission_ends = environment, world, task.mission_ends
        self.rewarded, self.succeeded = False, False if task.is_mission else None
        self._state = world.initial_state

    def step(self, control: int) -> Observation:
        _, reward, terminated, _, _ = self.environment.step(control)
        self.rewarded = self.rewarded or float(reward) > 0
        if self.succeeded is not None:
            self.succeeded = bool(terminated and float(reward) > 0)
        before, self._state = self._state, self.world.state_of(self.environment)
        ended = bool(terminated) and (self._mission_ends or self.world.is_final(self._state))
        return Observation(self._state, self.world.label(before, control, self._state), ended)


def _doors_along_the_rooms(environment: Any) -> Mapping[str, Proposition]:
    doors = [room.exitDoorPos for room in environment.rooms[:-1]]
    opened = {f"door{i}": DoorOpen(at=(int(x), int(y))) for i, (x, y) in enumerate(doors, start=1)}
    return {**opened, "goal": AgentOn("goal")}


DOORKEY = MiniGridTask(
    name="doorkey",
    title="T1 doorkey",
    summary="pick up the key, unlock the door, reach the goal",
    environment_id="MiniGrid-DoorKey-8x8-v0",
    scene_propositions=lambda _: {"key": Carrying("key"), "door": DoorOpen(), "goal": AgentOn("goal")},
    rule=visit_in_order("goal"),
    horizon=75,
)

MULTIROOM = MiniGridTask(
    name="multiroom",
    title="T2 multiroom",
    summary="open the doors of four rooms, one after the other, reach the goal",
    environment_id="MiniGrid-MultiRoom-N4-S5-v1",
    scene_propositions=_doors_along_the_rooms,
    rule=visit_in_order("goal"),
    horizon=80,
)

BLOCKED_UNLOCK_PICKUP = MiniGridTask(
    name="blocked-unlock-pickup",
    title="T3 blocked-unlock-pickup",
    summary="move the ball that blocks the door, unlock it with the key, pick up the box",
    environment_id="MiniGrid-BlockedUnlockPickup-v0",
    scene_propositions=lambda _: {
        "ball": AwayFromDoor("ball", distance=2),
        "key": Carrying("key"),
        "door": DoorOpen(),
        "box": Carrying("box"),
    },
    rule=visit_in_order("box"),
    horizon=75,
)

MAZE_ERRANDS = MiniGridTask(
    name="maze-errands",
    summary="face a key, then pick up a ball, then face a box, in nine rooms with eighteen loose objects",
    environment_id="BabyAI-GoTo-v0",
    scene_propositions=lambda _: {"key": Facing("key"), "ball": Carrying("ball"), "box": Facing("box")},
    rule=visit_in_order("key", "ball", "box"),
    horizon=150,
    mission_ends=False,
    needs=frozenset({"key", "ball", "box"}),
)

OBSTRUCTED_MAZE = MiniGridTask(
    name="obstructed-maze",
    summary="take a key out of its box, then a green ball, then the blue ball, behind locked and blocked doors",
    environment_id="MiniGrid-ObstructedMaze-Full-v1",
    scene_propositions=lambda _: {
        "key": Carrying("key"),
        "green": Carrying("ball", "green"),
        "blue": Carrying("ball", "blue"),
    },
    rule=visit_in_order("key", "green", "blue"),
    horizon=200,
)

PAPER_TASKS = (DOORKEY, MULTIROOM, BLOCKED_UNLOCK_PICKUP)
