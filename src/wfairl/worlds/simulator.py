"""The contract of a simulator: what an agent really acts in, one episode at a time.

    simulator = task.make_simulator(seed)
    while not ended:
        state, label, ended = simulator.step(control)

By default the model is its own simulator; for MiniGrid it is the real Gymnasium environment, read back into the
model's terms after every step. To evaluate on a robot, write another one. What a simulator may offer besides:

    succeeded     whether it says that the task is fulfilled; without it, or where it is None, the task's rule decides
"""

from typing import Any, NamedTuple, Protocol, runtime_checkable

from wfairl.automata.automaton import Label
from wfairl.worlds.world import World


class Observation(NamedTuple):
    """What a step led to.

    Attributes:
        state: the state, in the terms of the simulator's world.
        label: what held after the transition.
        ended: whether the simulator ended the episode by itself.
    """

    state: Any
    label: Label
    ended: bool


@runtime_checkable
class Simulator(Protocol):
    """One scene, at its beginning when it is made.

    Attributes:
        world: the model of the scene, in which an agent plans.
    """

    world: World[Any]

    def step(self, control: int) -> Observation:
        """Apply a control."""
        ...


class ModelSimulator:
    """The model acted in: what it predicts is what happens."""

    def __init__(self, world: World[Any]):
        self.world = world
        self._state = world.initial_state

    def step(self, control: int) -> Observation:
        """See `Simulator`."""
        before, self._state = self._state, self.world.step(self._state, control)
        return Observation(self._state, self.world.label(before, control, self._state), False)
