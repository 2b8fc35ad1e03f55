"""Policies: each makes an actor for an episode."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.planning.agent import Agent, Status
from wfairl.core.planning.cost import Cost, true_cost
from wfairl.core.planning.planner import AutoPlanner, Planner
from wfairl.core.worlds.task import Task, rule_of
from wfairl.core.worlds.world import World, available_controls


class Actor(Protocol):
    """Chooses the controls of one episode."""

    def choose(self) -> int:
        """The next control."""

    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each control to be the next; shape [controls]."""

    def observe(self, state: Any, label: Label) -> Status:
        """Observe the state and the label after the control, and return the status of the task."""


class Policy(Protocol):
    """Makes an actor for each scene."""

    @property
    def name(self) -> str:
        """For people and reports."""

    def actor(self, world: World[Any], rng: np.random.Generator) -> Actor:
        """An actor at the beginning of a scene."""


@dataclass(frozen=True)
class PlannedPolicy:
    """Plans with an automaton and a cost; the Boltzmann policy of equation (3)."""

    name: str  # for people and reports
    automaton: Automaton
    cost: Cost
    temperature: float
    planner: Planner = field(default_factory=AutoPlanner)

    def actor(self, world: World[Any], rng: np.random.Generator) -> Actor:
        agent = Agent(self.automaton, self.cost, self.temperature, rng, self.planner)
        agent.start(world)
        return agent


@dataclass(frozen=True)
class RandomPolicy:
    """Draws every available control with the same probability."""

    name: str = "random"

    def actor(self, world: World[Any], rng: np.random.Generator) -> Actor:
        return _RandomActor(world, rng)


class _RandomActor:
    def __init__(self, world: World[Any], rng: np.random.Generator):
        self._world, self._rng, self._state = world, rng, world.initial_state

    def choose(self) -> int:
        return int(self._rng.choice(np.flatnonzero(available_controls(self._world, self._state))))

    def probabilities(self) -> NDArray[np.float64]:
        available = available_controls(self._world, self._state)
        return available / available.sum()

    def observe(self, state: Any, label: Label) -> Status:  # noqa: ARG002 - it knows no task
        self._state = state
        return Status.RUNNING


def expert_policy(task: Task, temperature: float) -> PlannedPolicy:
    """The paper's expert, which knows the true rule and the true cost."""
    name = "optimal" if temperature == 0 else "expert"
    return PlannedPolicy(name, rule_of(task), true_cost(task), temperature)


REFERENCES: dict[str, Callable[[Task, float], Policy]] = {
    "optimal": lambda task, _: expert_policy(task, 0.0),
    "expert": expert_policy,
    "random": lambda _, __: RandomPolicy(),
}
"""Policies that need no training, by the name used on the command line."""
