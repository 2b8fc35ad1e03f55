"""One episode: a policy acts in a simulator until the task is fulfilled, lost or out of time.

Evaluation, recordings, films and validation all take their episodes from here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Label
from wfairl.core.automata.words import Word, compress
from wfairl.core.planning.agent import Status
from wfairl.core.planning.cost import Cost, path_cost
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.core.planning.policies import Policy
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import World

SUCCESS = "success"
OUT_OF_TIME = "horizon"
LOST = "lost"
STOPPED_EARLY = "stopped early"
UNSATISFIABLE = "unsatisfiable"
"""How an episode ended: it succeeded; it reached the horizon; the agent's automaton can no longer accept, or the
simulator ended the episode; the agent's automaton accepted without success; the agent found no plan."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One episode of T controls.

    Attributes:
        world: the model of the scene.
        seed: the scene.
        states: of the simulator, T + 1.
        controls: T.
        labels: what held after each control, T.
        probabilities: of all controls at each step, shape [T, controls].
        outcome: how it ended.
    """

    world: World[Any]
    seed: int
    states: tuple[Any, ...]
    controls: tuple[int, ...]
    labels: tuple[Label, ...]
    probabilities: NDArray[np.float64]
    outcome: str

    def __len__(self) -> int:
        """The number of controls."""
        return len(self.controls)

    @property
    def is_success(self) -> bool:
        """Whether the task's rule was fulfilled."""
        return self.outcome == SUCCESS

    @property
    def word(self) -> Word:
        """The labels, consecutive equal ones once."""
        return compress(self.labels)

    def cost(self, cost: Cost) -> float:
        """The sum of the costs of its controls."""
        return path_cost(cost, self.world, self.states, self.controls)


def roll_out(task: Task, policy: Policy, seed: int, rng: np.random.Generator) -> Trajectory:
    """One episode in the task's simulator.

    The simulator decides on success, if it has `succeeded`; otherwise the task's true rule does, by the labels of the
    simulator. The policy's own automaton never does.
    """
    simulator = task.make_simulator(seed)
    world = simulator.world
    states: list[Any] = [world.initial_state]
    controls: list[int] = []
    labels: list[Label] = []
    probabilities: list[NDArray[np.float64]] = []

    def trajectory(outcome: str) -> Trajectory:
        shaped = np.reshape(probabilities, (len(controls), len(world.controls)))
        return Trajectory(world, seed, tuple(states), tuple(controls), tuple(labels), shaped, outcome)

    try:
        actor = policy.actor(world, rng)
    except UnsatisfiableTaskError:
        return trajectory(UNSATISFIABLE)
    status, rule_state = Status.RUNNING, 0
    while status is Status.RUNNING and len(controls) < task.horizon:
        probabilities.append(actor.probabilities())
        controls.append(actor.choose())
        state, label, ended = simulator.step(controls[-1])
        labels.append(label)
        states.append(state)
        rule_state = task.rule.read(rule_state, label)
        success = getattr(simulator, "succeeded", None)
        if success is None:
            success = rule_state != DEAD and bool(task.rule.accepting[rule_state])
        if success:
            return trajectory(SUCCESS)
        if ended:
            return trajectory(LOST)
        status = actor.observe(state, label)
    return trajectory({Status.RUNNING: OUT_OF_TIME, Status.LOST: LOST, Status.ACCEPTED: STOPPED_EARLY}[status])
