"""One episode: a policy acts in a simulator until the task is fulfilled, lost or out of time.

Everything that shows or counts episodes (evaluation, recordings, films, validation) takes them from here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD, Label
from wfairl.automata.words import Word, compress
from wfairl.evaluation.policies import Policy
from wfairl.planning.agent import Status
from wfairl.planning.cost import Cost, path_cost
from wfairl.planning.plan import UnsatisfiableTaskError
from wfairl.worlds.task import Task
from wfairl.worlds.world import World

SUCCESS = "success"
OUT_OF_TIME = "horizon"
LOST = "lost"
STOPPED_EARLY = "stopped early"
UNSATISFIABLE = "unsatisfiable"
"""How an episode ended: it succeeded; the horizon came; the agent had no control left that its automaton would
accept, or the simulator ended the episode; its automaton accepted what was no success; it saw no way at all."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """What happened in one scene: T controls, and T + 1 of what lies between them.

    Attributes:
        world: the model of the scene.
        seed: the scene.
        states: as the simulator showed them, T + 1.
        controls: what was done, T.
        labels: what held after each control, T.
        probabilities: of all controls when each was chosen, shape [T, controls].
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
        """What its controls cost together."""
        return path_cost(cost, self.world, self.states, self.controls)


def roll_out(task: Task, policy: Policy, seed: int, rng: np.random.Generator) -> Trajectory:
    """One episode in the task's simulator.

    Success is what the simulator says, if it is a judge of that, or else what the task's true rule says of the labels
    that the simulator gave; not what the policy's automaton believes.
    """
    simulator = task.make_simulator(seed)
    world = simulator.world
    states: list[Any] = [world.initial_state]
    controls: list[int] = []
    labels: list[Label] = []
    probabilities: list[NDArray[np.float64]] = []

    def trajectory(outcome: str) -> Trajectory:
        chances = np.reshape(probabilities, (len(controls), len(world.controls)))
        return Trajectory(world, seed, tuple(states), tuple(controls), tuple(labels), chances, outcome)

    try:
        actor = policy.actor(world, rng)
    except UnsatisfiableTaskError:
        return trajectory(UNSATISFIABLE)
    status, rule_state = Status.RUNNING, 0
    while status is Status.RUNNING and len(controls) < task.horizon:
        chances = actor.probabilities()
        control = actor.choose()
        state, label, ended = simulator.step(control)
        probabilities.append(chances)
        controls.append(control)
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
