"""Recorded episodes, for the player of a page."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wfairl.core.automata.automaton import Automaton
from wfairl.core.automata.words import Word, compress
from wfairl.core.planning.policies import Policy
from wfairl.core.planning.rollout import Trajectory, roll_out
from wfairl.core.runs.evaluation import Episode
from wfairl.core.worlds.graph import state_name
from wfairl.core.worlds.task import Task

LONGEST_STATE = 200
"""Characters of a state shown as text."""


@dataclass(frozen=True, eq=False)
class Recording:
    """An episode of T controls, from its beginning to its end: T + 1 moments.

    Attributes:
        task: the task.
        policy: the name of the policy.
        trajectory: the states, controls and labels of the episode.
        automaton: of the policy; None for a policy without one.
    """

    task: Task
    policy: str
    trajectory: Trajectory
    automaton: Automaton | None

    @cached_property
    def episode(self) -> Episode:
        """The outcome of the episode."""
        return Episode.of(self.trajectory, self.task)

    @cached_property
    def automaton_states(self) -> tuple[int, ...] | None:
        """The automaton state at each moment, T + 1 of them; None for a policy without an automaton."""
        return None if self.automaton is None else tuple(self.automaton.run(self.trajectory.labels))

    def word_at(self, moment: int) -> Word:
        """The word so far, without repeats of the same label."""
        return compress(self.trajectory.labels[:moment])

    def state_text(self, moment: int) -> str:
        """The world state as text, for worlds without renderer."""
        text = str(state_name(self.trajectory.world, self.trajectory.states[moment]))
        return text if len(text) <= LONGEST_STATE else f"{text[:LONGEST_STATE]}…"


def record_episode(task: Task, policy: Policy, seed: int, rng: np.random.Generator) -> Recording:
    """Roll out a policy in a scene and record it.

    With the generator that `evaluate` uses for a scene, this is the episode that was evaluated.
    """
    return record_trajectory(task, policy, roll_out(task, policy, seed, rng))


def record_trajectory(task: Task, policy: Policy, trajectory: Trajectory) -> Recording:
    """Record a trajectory of a policy."""
    automaton = getattr(policy, "automaton", None)
    return Recording(task, policy.name, trajectory, automaton if isinstance(automaton, Automaton) else None)
