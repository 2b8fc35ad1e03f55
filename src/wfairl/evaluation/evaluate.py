"""A policy run in the real Gymnasium environment, one episode a scene, and how well it did.

The return of an episode is the paper's (as recovered in docs/protocol.md):

    1 - 0.9 * steps / horizon   if it succeeds within the horizon, else 0.

Success is what the task's true rule says of the labels that the real environment gave, not what the agent's
automaton believes; for the paper's tasks that is when the environment itself ends the episode with a reward.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wfairl.automata.words import Word, compress
from wfairl.demonstrations.collection import FIRST_TRAINING_SEED
from wfairl.errors import BadInputError
from wfairl.evaluation.policies import Policy
from wfairl.parallel import map_in_threads
from wfairl.planning.agent import Status
from wfairl.planning.plan import UnsatisfiableTaskError
from wfairl.progress import track
from wfairl.worlds.tasks import Task
from wfairl.worlds.world import Label

SUCCESS = "success"
OUT_OF_TIME = "horizon"
LOST = "lost"
STOPPED_EARLY = "stopped early"
UNSATISFIABLE = "unsatisfiable"
"""How an episode ended: it succeeded; the horizon came; the agent had no control left that its automaton would
accept, or the environment ended the episode; its automaton accepted what was no success; it saw no way at all."""


@dataclass(frozen=True)
class Episode:
    """One run in one scene.

    Attributes:
        seed: the scene.
        steps: controls taken.
        success: whether the task's rule was fulfilled.
        episode_return: the paper's return.
        word: the labels, consecutive equal ones once.
        controls: what was done.
        outcome: how it ended.
    """

    seed: int
    steps: int
    success: bool
    episode_return: float
    word: Word
    controls: tuple[int, ...]
    outcome: str


@dataclass(frozen=True)
class Evaluation:
    """Episodes of one policy on one task."""

    task: str
    policy: str
    horizon: int
    episodes: tuple[Episode, ...]

    @property
    def mean_return(self) -> float:
        """The mean of the episodes' returns."""
        return float(np.mean([episode.episode_return for episode in self.episodes]))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean return; 0 for a single episode."""
        if len(self.episodes) < 2:
            return 0.0
        returns = [episode.episode_return for episode in self.episodes]
        return float(np.std(returns, ddof=1) / math.sqrt(len(returns)))

    @property
    def success_rate(self) -> float:
        """The part of the episodes that succeeded."""
        return float(np.mean([episode.success for episode in self.episodes]))

    def to_document(self) -> dict[str, Any]:
        """The evaluation as one JSON object."""
        return {
            "task": self.task,
            "policy": self.policy,
            "horizon": self.horizon,
            "episodes": [
                {
                    "seed": episode.seed,
                    "steps": episode.steps,
                    "success": episode.success,
                    "return": episode.episode_return,
                    "word": [sorted(label) for label in episode.word],
                    "controls": list(episode.controls),
                    "outcome": episode.outcome,
                }
                for episode in self.episodes
            ],
            "mean_return": self.mean_return,
            "standard_error": self.standard_error,
            "success_rate": self.success_rate,
        }


def evaluate(task: Task, policy: Policy, seeds: Sequence[int], rng_seed: int = 0, n_jobs: int = 2) -> Evaluation:
    """Run a policy once in each scene.

    Args:
        task: the task.
        policy: who acts.
        seeds: the scenes; below `FIRST_TRAINING_SEED`, so that nobody has trained on them.
        rng_seed: for the draws of the policy; with the scene it decides the episode.
        n_jobs: episodes to run at once; it changes nothing in the result.

    Raises:
        BadInputError: there are no seeds, or one is of a training scene.
    """
    check_test_seeds(seeds)

    def run(seed: int) -> Episode:
        return run_episode(task, policy, seed, np.random.default_rng([rng_seed, seed]))

    episodes = track(map_in_threads(run, seeds, n_jobs=n_jobs), f"{task.name}: {policy.name}", total=len(seeds))
    return Evaluation(task.name, policy.name, task.horizon, tuple(episodes))


def run_episode(task: Task, policy: Policy, seed: int, rng: np.random.Generator) -> Episode:
    """One episode in the real environment, which the agent sees through the model's eyes only."""
    environment = task.make_environment(seed)
    world = task.world_of(environment)
    try:
        actor = policy.actor(world, rng)
    except UnsatisfiableTaskError:
        return _episode(task, seed, [], [], UNSATISFIABLE)
    state, status = world.initial_state, Status.RUNNING
    controls: list[int] = []
    labels: list[Label] = []
    while status is Status.RUNNING and len(controls) < task.horizon:
        control = actor.choose()
        _, _, terminated, _, _ = environment.step(control)
        next_state = world.state_of(environment)
        label = world.label(state, control, next_state)
        controls.append(control)
        labels.append(label)
        if task.rule.succeeds(labels):
            return _episode(task, seed, controls, labels, SUCCESS)
        if terminated:
            return _episode(task, seed, controls, labels, LOST)
        status = actor.observe(next_state, label)
        state = next_state
    outcome = {Status.RUNNING: OUT_OF_TIME, Status.LOST: LOST, Status.ACCEPTED: STOPPED_EARLY}[status]
    return _episode(task, seed, controls, labels, outcome)


def episode_return(steps: int, success: bool, horizon: int) -> float:
    """The paper's return of an episode."""
    return 1 - 0.9 * steps / horizon if success and steps <= horizon else 0.0


def check_test_seeds(seeds: Sequence[int]) -> None:
    """Refuse scenes that somebody may have trained on.

    Raises:
        BadInputError: says which.
    """
    if not seeds:
        raise BadInputError("there are no seeds to evaluate on")
    for seed in (min(seeds), max(seeds)) if not isinstance(seeds, range) else (seeds[0], seeds[-1]):
        if not 0 <= seed < FIRST_TRAINING_SEED:
            raise BadInputError(
                f"seed {seed} is not a test seed: those lie between 0 and {FIRST_TRAINING_SEED - 1:,}, "
                "and demonstrations come from the scenes above"
            )


def _episode(task: Task, seed: int, controls: list[int], labels: list[Label], outcome: str) -> Episode:
    success = outcome == SUCCESS
    return Episode(
        seed=seed,
        steps=len(controls),
        success=success,
        episode_return=episode_return(len(controls), success, task.horizon),
        word=compress(labels),
        controls=tuple(controls),
        outcome=outcome,
    )
