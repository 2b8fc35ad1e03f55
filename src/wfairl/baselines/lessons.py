"""Demonstrations as a network that shall imitate them sees them: states, and what was done there."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from wfairl.baselines.network import StateBatch
from wfairl.baselines.sight import AgentSight, MapSight, mirror
from wfairl.demonstrations.demonstration import Demonstration, check_against
from wfairl.worlds.task import Task


@dataclass(frozen=True, eq=False)
class Lesson:
    """What is to be learned from a demonstration.

    Attributes:
        states: where the demonstrator stood.
        controls: what it did there, shape [steps] of int64.
    """

    states: StateBatch
    controls: Tensor

    @property
    def mirrored(self) -> "Lesson":
        """What a mirror shows."""
        return Lesson(*mirror(self.states, self.controls))


def make_lesson(task: Task, demonstration: Demonstration, sight: MapSight | AgentSight, idle: bool) -> Lesson:
    """A demonstration as the network sees it.

    Args:
        task: the task.
        demonstration: of one step or more.
        sight: what the network is shown.
        idle: whether steps that changed nothing are learned too, as they are where nothing else was done.

    Raises:
        ContradictionError: the world gives other states or labels than the demonstration tells.
    """
    world = task.make_world(demonstration.seed)
    check_against(world, demonstration)
    states = demonstration.states
    changing = [i for i in range(len(demonstration)) if states[i + 1] != states[i]]
    steps = range(len(demonstration)) if idle or not changing else changing
    packed = np.stack([world.pack(states[i]) for i in steps])  # type: ignore[arg-type]
    return Lesson(sight.look(world, packed), torch.tensor([demonstration.controls[i] for i in steps]))
