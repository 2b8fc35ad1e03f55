"""Replay of an evaluated episode from its controls, without planning."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.words import compress
from wfairl.core.planning.agent import Status
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.core.planning.rollout import LOST, STOPPED_EARLY, UNSATISFIABLE, Trajectory, roll_out
from wfairl.core.runs.evaluation import Episode, episode_rng
from wfairl.core.support.errors import FailedRunError
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import World

ENDINGS = {LOST: Status.LOST, STOPPED_EARLY: Status.ACCEPTED}
"""The status of the agent after its last control, for outcomes in which that ended the episode."""


class OtherEpisodeError(FailedRunError):
    """The same controls lead to another episode than in the evaluation."""


def replay_episode(task: Task, episode: Episode) -> Trajectory:
    """The trajectory of an episode; the probabilities of its controls are NaN.

    Raises:
        OtherEpisodeError: the simulator does not repeat the episode.
    """
    trajectory = roll_out(task, _Replay(episode), episode.seed, episode_rng(episode.seed))
    again = trajectory.controls, compress(trajectory.labels), trajectory.outcome
    if again != (episode.controls, episode.word, episode.outcome):
        raise OtherEpisodeError(
            f"scene {episode.seed} of {task.name} ends otherwise than in its evaluation ({trajectory.outcome} after"
            f" {len(trajectory)} steps, then {episode.outcome} after {episode.steps}): has the task changed since?"
        )
    return trajectory


@dataclass(frozen=True)
class _Replay:
    """A policy that repeats the controls of an episode."""

    episode: Episode
    name: str = "replay"

    def actor(self, world: World[Any], rng: np.random.Generator) -> "_ReplayActor":  # noqa: ARG002 - it draws nothing
        if self.episode.outcome == UNSATISFIABLE:
            raise UnsatisfiableTaskError("no plan was found when this was evaluated")
        return _ReplayActor(self.episode, len(world.controls))


class _ReplayActor:
    def __init__(self, episode: Episode, controls: int):
        self._episode, self._controls, self._done = episode, controls, 0

    def choose(self) -> int:
        if self._done == len(self._episode.controls):
            raise OtherEpisodeError(f"scene {self._episode.seed} goes on after the last control that was evaluated")
        control = self._episode.controls[self._done]
        if control >= self._controls:
            raise OtherEpisodeError(f"scene {self._episode.seed} has no control {control}")
        return control

    def probabilities(self) -> NDArray[np.float64]:
        return np.full(self._controls, np.nan)

    def observe(self, state: Any, label: Label) -> Status:  # noqa: ARG002 - it knows no task
        self._done += 1
        is_over = self._done == len(self._episode.controls)
        return ENDINGS.get(self._episode.outcome, Status.RUNNING) if is_over else Status.RUNNING
