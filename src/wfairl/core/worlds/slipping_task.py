"""A task in worlds that slip: with some probability a control is replaced by another one that is available.

find_task("doorkey-slip-0.1")
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.simulator import Observation, Simulator, simulator_rng
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import World, available_controls


@dataclass(frozen=True)
class SlippingTask:
    """Another task, in whose worlds controls slip; all else is as there.

    Attributes:
        task: the other task.
        probability: of a slip.
    """

    task: Task
    probability: float

    def __post_init__(self) -> None:
        if not 0 < self.probability < 1:
            raise BadInputError(f"a control slips with a probability between 0 and 1, not {self.probability}")

    @property
    def name(self) -> str:
        return f"{self.task.name}-slip-{self.probability:g}"

    @property
    def title(self) -> str:
        return f"{self.task.title}, slip {self.probability:g}"

    @property
    def summary(self) -> str:
        return f"{self.task.summary}; a control is replaced by another in {self.probability:.3g} of the steps"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "task":  # while it is copied or unpickled
            raise AttributeError(name)
        return getattr(self.task, name)

    @property
    def propositions(self) -> tuple[str, ...]:
        return self.task.propositions

    @property
    def rule(self) -> Any:
        return self.task.rule

    @property
    def horizon(self) -> int:
        return self.task.horizon

    @property
    def default_cost(self) -> str:
        return self.task.default_cost

    @property
    def true_cost(self) -> Any:
        return self.task.true_cost

    def make_world(self, seed: int) -> World[Any]:
        world = self.task.make_world(seed)
        slipping = getattr(world, "slipping", None)
        if slipping is None:
            raise BadInputError(f"the worlds of the task {self.task.name!r} cannot be made to slip")
        slippery: World[Any] = slipping(self.probability)
        return slippery

    def make_simulator(self, seed: int) -> Simulator:
        return _SlippingSimulator(self.task.make_simulator(seed), self.make_world(seed), seed, self.probability)


class _SlippingSimulator:
    """A simulator that is given another control where one slips."""

    def __init__(self, simulator: Simulator, world: World[Any], seed: int, probability: float):
        self.world, self._simulator, self._probability = world, simulator, probability
        self._rng, self._state = simulator_rng(seed), world.initial_state

    @property
    def succeeded(self) -> bool | None:
        """As the other simulator says."""
        return getattr(self._simulator, "succeeded", None)

    def step(self, control: int) -> Observation:
        others = np.flatnonzero(available_controls(self.world, self._state))
        others = others[others != control]
        if len(others) and self._rng.random() < self._probability:
            control = int(self._rng.choice(others))
        observed = self._simulator.step(control)
        self._state = observed.state
        return observed
