"""Who acts: a policy makes an agent for each episode."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.finite import FiniteAutomaton, from_rule
from wfairl.planning.agent import Agent, Status
from wfairl.planning.cost import Cost, unit_cost
from wfairl.worlds.tasks import Task
from wfairl.worlds.world import Label, World


class Actor(Protocol):
    """What acts in one episode."""

    def choose(self) -> int:
        """The next control."""
        ...

    def probabilities(self) -> NDArray[np.float64]:
        """The chance of each control to be the next; shape [controls]."""
        ...

    def observe(self, state: Any, label: Label) -> Status:
        """Take in where the control led, and say where that leaves the task."""
        ...


class Policy(Protocol):
    """What makes an actor for a scene.

    Attributes:
        name: for people and reports.
    """

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    def actor(self, world: World[Any], rng: np.random.Generator) -> Actor:
        """An actor at the beginning of a scene."""
        ...


@dataclass(frozen=True)
class PlannedPolicy:
    """Plans with an automaton and a cost; the Boltzmann policy of equation (3).

    Attributes:
        name: what people call it.
        automaton: the task's logic.
        cost: the cost of every transition of a product.
        temperature: eta.
    """

    name: str
    automaton: FiniteAutomaton
    cost: Cost
    temperature: float

    def actor(self, world: World[Any], rng: np.random.Generator) -> Actor:
        """See `Policy`."""
        agent = Agent(self.automaton, self.cost, self.temperature, rng)
        agent.start(world)
        return agent


@dataclass(frozen=True)
class RandomPolicy:
    """Every control equally likely, always."""

    name: str = "random"

    def actor(self, world: World[Any], rng: np.random.Generator) -> Actor:
        """See `Policy`."""
        return _RandomActor(len(world.controls), rng)


@dataclass(frozen=True)
class _RandomActor:
    controls: int
    rng: np.random.Generator

    def choose(self) -> int:
        return int(self.rng.integers(self.controls))

    def probabilities(self) -> NDArray[np.float64]:
        return np.full(self.controls, 1 / self.controls)

    def observe(self, state: Any, label: Label) -> Status:  # noqa: ARG002 - it does not look
        return Status.RUNNING


def expert_policy(task: Task, temperature: float, cost: Cost = unit_cost) -> PlannedPolicy:
    """The paper's expert, which knows the true rule and the true cost."""
    rule = from_rule(task.rule.visit, task.rule.avoid, task.proposition_names)
    return PlannedPolicy("optimal" if temperature == 0 else "expert", rule, cost, temperature)


REFERENCES: dict[str, Callable[[Task, float], Policy]] = {
    "optimal": lambda task, _: expert_policy(task, 0.0),
    "expert": expert_policy,
    "random": lambda _, __: RandomPolicy(),
}
"""Policies that need no training, by the name the command line has for them."""
