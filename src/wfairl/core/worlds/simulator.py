"""The contract of a simulator: the environment in which an agent acts, one episode at a time.

    simulator = task.make_simulator(seed)
    while not ended:
        state, label, ended = simulator.step(control)

By default the model is its own simulator; for MiniGrid it is the real Gymnasium environment, whose state is translated
into a state of the model after every step. To evaluate on a robot, write another one. A simulator may also offer

    succeeded     whether the task is fulfilled; without it, or where it is None, the task's rule decides
"""

from typing import Any, NamedTuple, Protocol, runtime_checkable

from wfairl.core.automata.automaton import Label
from wfairl.core.worlds.world import World


class Observation(NamedTuple):
    """The outcome of a step.

    Attributes:
        state: the next state, of the simulator's world.
        label: the propositions that hold after the transition.
        ended: whether the simulator ended the episode by itself.
    """

    state: Any
    label: Label
    ended: bool


@runtime_checkable
class Simulator(Protocol):
    """An episode in one scene, from its initial state.

    Attributes:
        world: the model of the scene, in which an agent plans.
    """

    world: World[Any]

    def step(self, control: int) -> Observation:
        """Apply a control."""
        ...


class ModelSimulator:
    """The model as its own simulator.

    Attributes:
        world: the model.
        state: its present state; at first, the initial one.
    """

    def __init__(self, world: World[Any]):
        self.world, self.state = world, world.initial_state

    def step(self, control: int) -> Observation:
        before, self.state = self.state, self.world.step(self.state, control)
        return Observation(self.state, self.world.label(before, control, self.state), False)
