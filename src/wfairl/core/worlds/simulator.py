"""The contract of a simulator: the environment in which an agent acts, one episode at a time.

    simulator = task.make_simulator(seed)
    while not ended:
        state, label, ended = simulator.step(control)

By default the model is its own simulator; for MiniGrid it is the real Gymnasium environment, whose state is translated
into a state of the model after every step. To evaluate on a robot, write another one. It is made for each episode, from
the world as its author wrote it and a generator of random numbers, and it reports states of that world. A simulator may
also offer

    succeeded     whether the task is fulfilled; without it, or where it is None, the task's rule decides
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from wfairl.core.automata.automaton import Label
from wfairl.core.support.errors import BadInputError, FailedRunError
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.world import World, draw_index, outcomes_of, slips

SIMULATOR = 2
"""Separates the random numbers of a simulator from those of the scene and of the demonstrator, of the same seed."""


def simulator_rng(seed: int) -> np.random.Generator:
    """The random numbers of the simulator of a scene."""
    return np.random.default_rng([SIMULATOR, seed])


class Observation(NamedTuple):
    """The outcome of a step."""

    state: Any  # of the simulator's world
    label: Label  # the propositions that hold after the transition
    ended: bool  # whether the simulator ended the episode by itself


@runtime_checkable
class Simulator(Protocol):
    """An episode in one scene, from its initial state; an agent plans in its `world`, the model of the scene."""

    world: World[Any]

    def step(self, control: int) -> Observation:
        """Apply a control."""


class ModelSimulator:
    """The model as its own simulator, with its present state; in a world that slips it draws the outcomes."""

    def __init__(self, world: World[Any], rng: np.random.Generator | None = None):
        self.world, self.state, self._rng = world, world.initial_state, rng

    def step(self, control: int) -> Observation:
        before, outcome = self.state, 0
        outcomes = outcomes_of(self.world, before, control)
        if slips(self.world):
            if self._rng is None:
                raise BadInputError("this world slips: its simulator needs a generator of random numbers")
            outcome = draw_index([probability for probability, _ in outcomes], self._rng)
        self.state = outcomes[outcome][1]
        return Observation(self.state, self.world.label(before, control, self.state), False)


MakeSimulator = Callable[[World[Any], np.random.Generator], Simulator]
"""From the world as its author wrote it and random numbers to the simulator of an episode."""


def simulate(world: World[Any], make: MakeSimulator, seed: int) -> Simulator:
    """The simulator of a scene, in the terms of its model."""
    rng = simulator_rng(seed)
    if make is ModelSimulator or not isinstance(world, GraphWorld) or world.plain is None:
        return make(world, rng)
    return NamedStateSimulator(world, make(world.plain, rng))


class NamedStateSimulator:
    """A simulator that speaks the states of a world in plain Python, in the terms of the explored world."""

    def __init__(self, world: GraphWorld, simulator: Simulator):
        self.world: World[Any] = world
        self.simulator, self._graph = simulator, world

    @property
    def succeeded(self) -> bool | None:
        """See the module; as the simulator says."""
        return getattr(self.simulator, "succeeded", None)

    def step(self, control: int) -> Observation:
        state, label, ended = self.simulator.step(control)
        try:
            return Observation(self._graph.find(state), label, ended)
        except (BadInputError, TypeError):
            raise FailedRunError(
                f"the simulator reports the state {state!r}, which the model cannot reach from its start. It must"
                f" report states as the world has them, such as {self._graph.name(self._graph.initial_state)!r}"
            ) from None
