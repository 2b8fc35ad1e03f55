"""One episode: a policy acts in a simulator until the task is fulfilled, lost or out of time.

Evaluation, the collection of demonstrations, recordings, films and validation all take their episodes from here.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Automaton
from wfairl.core.planning.agent import Status
from wfairl.core.planning.path import Path, Walk
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.core.planning.policies import Actor, Policy
from wfairl.core.worlds.simulator import Simulator
from wfairl.core.worlds.task import Task, rule_of

SUCCESS = "success"
OUT_OF_TIME = "horizon"
LOST = "lost"
NOT_FULFILLED = "rule not kept"
UNSATISFIABLE = "unsatisfiable"
"""How an episode ended: it succeeded; it reached the horizon; the agent's automaton can no longer accept, or the
simulator ended the episode; the agent's automaton accepted without success; the agent found no plan."""


@dataclass(frozen=True, eq=False)
class Trajectory(Path):
    """The path of an episode; its automaton is the task's rule, which judges it."""

    seed: int  # the scene
    probabilities: NDArray[np.float64]  # of all controls at each step, shape [T, controls]
    outcome: str  # how it ended

    @property
    def is_success(self) -> bool:
        """Whether the task was fulfilled."""
        return self.outcome == SUCCESS


def roll_out(task: Task, policy: Policy, seed: int, rng: np.random.Generator) -> Trajectory:
    """One episode of a policy in the task's simulator of a scene."""
    simulator, rule = task.make_simulator(seed), rule_of(task)
    try:
        actor = policy.actor(simulator.world, rng)
    except UnsatisfiableTaskError:
        return _trajectory(Walk(simulator, rule), seed, [], UNSATISFIABLE)
    return act(actor, simulator, rule, task.horizon, seed)


def act(actor: Actor, simulator: Simulator, rule: Automaton, horizon: int, seed: int) -> Trajectory:
    """One episode of an actor in a simulator.

    The simulator decides on success, if it has `succeeded`; otherwise the rule does, by the labels of the simulator.
    The actor's own automaton never does.
    """
    walk, probabilities, status = Walk(simulator, rule), [], Status.RUNNING
    while status is Status.RUNNING and len(walk) < horizon:
        probabilities.append(actor.probabilities())
        state, label, ended = walk.take(actor.choose())
        success = getattr(simulator, "succeeded", None)
        if success is None:
            success = walk.automaton_states[-1] != DEAD and rule.accepting[walk.automaton_states[-1]]
        if success or ended:
            return _trajectory(walk, seed, probabilities, SUCCESS if success else LOST)
        status = actor.observe(state, label)
    outcomes = {Status.RUNNING: OUT_OF_TIME, Status.LOST: LOST, Status.ACCEPTED: NOT_FULFILLED}
    return _trajectory(walk, seed, probabilities, outcomes[status])


def _trajectory(walk: Walk, seed: int, probabilities: list[NDArray[np.float64]], outcome: str) -> Trajectory:
    shaped = np.reshape(probabilities, (len(walk), len(walk.world.controls)))
    return Trajectory(**vars(walk.path), seed=seed, probabilities=shaped, outcome=outcome)
