"""The real MiniGrid environment as a simulator: stepped by Gymnasium, read back into the terms of the model."""

from typing import Any

import gymnasium

from wfairl.core.worlds.simulator import Observation
from wfairl.minigrid.world import MiniGridWorld


class MiniGridSimulator:
    """A real environment that was just reset, and the model of its scene.

    Attributes:
        environment: the environment.
        world: the model.
        rewarded: whether the environment has given a reward so far.
        succeeded: whether its reward shows that the task is fulfilled; None if its reward does not tell.
        mission_ends: whether an episode ends with the environment's own mission, and not on goals and lava alone.
    """

    def __init__(
        self,
        environment: gymnasium.Env[Any, Any],
        world: MiniGridWorld,
        is_judge: bool = False,
        mission_ends: bool = True,
    ):
        self.environment, self.world, self.mission_ends = environment, world, mission_ends
        self.rewarded, self.succeeded = False, False if is_judge else None
        self._state = world.initial_state

    def step(self, control: int) -> Observation:
        _, reward, terminated, _, _ = self.environment.step(control)
        self.rewarded = self.rewarded or float(reward) > 0
        if self.succeeded is not None:
            self.succeeded = bool(terminated and float(reward) > 0)
        before, self._state = self._state, self.world.state_of(self.environment)
        ended = bool(terminated) and (self.mission_ends or self.world.is_final(self._state))
        return Observation(self._state, self.world.label(before, control, self._state), ended)
