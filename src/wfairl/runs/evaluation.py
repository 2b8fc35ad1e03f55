"""A policy run in the simulator of a task, one episode per scene, and how well it did.

The return of an episode is the paper's (as recovered in docs/paper.md):

    1 - 0.9 * steps / horizon   if it succeeds within the horizon, else 0.

An episode also has its cost under the task's true cost and under a learned cost, if there is one: a policy that takes
more steps may well be the better one.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Self, cast

import numpy as np
from annotated_types import MinLen

from wfairl.core.automata.words import Word, compress
from wfairl.core.planning.cost import Cost, path_cost, true_cost
from wfairl.core.planning.policies import Policy
from wfairl.core.planning.rollout import Trajectory, roll_out
from wfairl.core.support.bounds import Count
from wfairl.core.support.documents import Form, parse
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.support.progress import track
from wfairl.core.worlds.task import Task
from wfairl.runs.collection import FIRST_TRAINING_SEED

EVALUATION = "evaluation.json"


class BrokenEvaluationError(BadInputError):
    """A document is not an evaluation."""


@dataclass(frozen=True)
class Episode:
    """The outcome of one episode."""

    seed: Count  # the scene
    steps: Count  # number of controls
    success: bool  # whether the task's rule was fulfilled
    episode_return: float  # the paper's return
    word: Word  # the labels, consecutive equal ones once
    controls: tuple[Count, ...]  # in order
    outcome: str  # how it ended; see `rollout`
    cost: float  # under the task's true cost
    learned_cost: float | None = None  # under a learned cost, None if there is none

    @classmethod
    def of(cls, trajectory: Trajectory, task: Task, learned: Cost | None = None) -> Self:
        """The episode of a trajectory."""
        return cls(
            seed=trajectory.seed,
            steps=len(trajectory),
            success=trajectory.is_success,
            episode_return=episode_return(len(trajectory), trajectory.is_success, task.horizon),
            word=compress(trajectory.labels),
            controls=trajectory.controls,
            outcome=trajectory.outcome,
            cost=path_cost(true_cost(task), trajectory),
            learned_cost=None if learned is None else path_cost(learned, trajectory),
        )

    def to_document(self) -> dict[str, Any]:
        """The episode as a JSON object, with `return`, a word that Python keeps for itself."""
        content = {**vars(self), "word": [sorted(label) for label in self.word], "controls": list(self.controls)}
        return {"return" if name == "episode_return" else name: value for name, value in content.items()}


@dataclass(frozen=True)
class Evaluation:
    """Episodes of one policy on one task, at least one."""

    task: str
    policy: str
    horizon: Count
    episodes: Annotated[tuple[Episode, ...], MinLen(1)]

    @property
    def mean_return(self) -> float:
        """The mean of the episodes' returns."""
        return float(np.mean([episode.episode_return for episode in self.episodes]))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean return; 0 for a single episode."""
        returns = [episode.episode_return for episode in self.episodes]
        return float(np.std(returns, ddof=1) / math.sqrt(len(returns))) if len(returns) > 1 else 0.0

    @property
    def success_rate(self) -> float:
        """The fraction of the episodes that succeeded."""
        return float(np.mean([episode.success for episode in self.episodes]))

    @property
    def mean_cost(self) -> float | None:
        """The mean true cost of the episodes that succeeded; None if none did."""
        return _mean([one.cost for one in self.episodes if one.success])

    @property
    def mean_learned_cost(self) -> float | None:
        """The mean learned cost of the episodes that succeeded; None if none did, or nothing was learned."""
        return _mean([one.learned_cost for one in self.episodes if one.success and one.learned_cost is not None])

    @property
    def outcomes(self) -> Counter[str]:
        """How often each outcome of an episode came about."""
        return Counter(episode.outcome for episode in self.episodes)

    def to_document(self) -> dict[str, Any]:
        """The evaluation as one JSON object."""
        means = ("mean_return", "standard_error", "success_rate", "mean_cost", "mean_learned_cost")
        episodes = [episode.to_document() for episode in self.episodes]
        return {**vars(self), "episodes": episodes, **{name: getattr(self, name) for name in means}}

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Read an evaluation; its means are computed from the episodes."""
        try:
            content = {one.name: document[one.name] for one in fields(cls)}
            content["episodes"] = [
                {"episode_return" if name == "return" else name: value for name, value in one.items()}
                for one in content["episodes"]
            ]
            return cast(Self, parse(cls, content))
        except (BadInputError, KeyError, TypeError, AttributeError) as error:
            raise BrokenEvaluationError(f"not an evaluation ({error})") from None


def _mean(costs: Sequence[float]) -> float | None:
    return float(np.mean(costs)) if costs else None


def evaluate(
    task: Task, policy: Policy, seeds: Sequence[int], rng_seed: int = 0, n_jobs: int = 2, learned: Cost | None = None
) -> Evaluation:
    """Run a policy once in each scene.

    Args:
        task, policy: what to act in, and how.
        seeds: the scenes; below `FIRST_TRAINING_SEED`, which are never used for training.
        rng_seed: for the draws of the policy; with the scene it determines the episode.
        n_jobs: episodes to run at once; it changes nothing in the result.
        learned: a learned cost, under which each episode is priced too.

    Raises:
        BadInputError: there are no seeds, or one is of a training scene.
    """
    check_test_seeds(seeds)

    def run(seed: int) -> Episode:
        return Episode.of(roll_out(task, policy, seed, episode_rng(seed, rng_seed)), task, learned)

    episodes = track(map_in_threads(run, seeds, n_jobs=n_jobs), f"{task.name}: {policy.name}", total=len(seeds))
    return Evaluation(task.name, policy.name, task.horizon, tuple(episodes))


def episode_rng(seed: int, rng_seed: int = 0) -> np.random.Generator:
    """The generator of a policy in a scene: with it, `roll_out` repeats the episode of `evaluate`."""
    return np.random.default_rng([rng_seed, seed])


def episode_return(steps: int, success: bool, horizon: int) -> float:
    """The paper's return of an episode."""
    return 1 - 0.9 * steps / horizon if success and steps <= horizon else 0.0


def check_test_seeds(seeds: Sequence[int]) -> None:
    """Refuse an empty list of scenes, and scenes that may be used for training."""
    if not seeds:
        raise BadInputError("there are no seeds to evaluate on")
    for seed in (min(seeds), max(seeds)) if not isinstance(seeds, range) else (seeds[0], seeds[-1]):
        if not 0 <= seed < FIRST_TRAINING_SEED:
            raise BadInputError(
                f"seed {seed} is not a test seed: those lie between 0 and {FIRST_TRAINING_SEED - 1:,}, "
                "and demonstrations come from the scenes above"
            )


def read_evaluations(directory: Path) -> dict[str, Evaluation]:
    """The evaluations in a run's directory by policy name; empty if there are none."""
    path = directory / EVALUATION
    if not path.exists():
        return {}
    stored = EVALUATIONS.read(path).policies
    try:
        return {name: Evaluation.from_document(one) for name, one in stored.items()}
    except BrokenEvaluationError as error:
        raise BrokenEvaluationError(f"{path}: {error}; {EVALUATIONS.advice}") from None


def save_evaluations(evaluations: Sequence[Evaluation], directory: Path) -> Path:
    """Write evaluations into a run's directory, replacing those of the same names."""
    path = directory / EVALUATION
    write_evaluations({**read_evaluations(directory), **{one.policy: one for one in evaluations}}, path)
    return path


def write_evaluations(evaluations: Mapping[str, Evaluation], path: Path) -> None:
    """Write evaluations by policy name, replacing all existing ones."""
    EVALUATIONS.write(path, {"policies": {name: one.to_document() for name, one in evaluations.items()}})


@dataclass(frozen=True)
class _Evaluations:
    """The evaluations of a run on disk, by policy name."""

    policies: Annotated[Mapping[str, Mapping[str, Any]], MinLen(1)]


EVALUATIONS = Form(
    "wfairl-evaluations",
    "evaluations of a run",
    2,
    _Evaluations,
    BrokenEvaluationError,
    "`wfairl evaluate` writes them again",
)


def policy_title(policy: str, *tasks: Task) -> str:
    """The name of a policy in tables of some tasks; the optimal one is named with what it minimises."""
    if policy != "optimal":
        return policy
    has_cost = [task.true_cost is not None for task in tasks]
    criteria = ["least true cost"] * any(has_cost) + ["fewest steps"] * (not all(has_cost))
    return f"optimal ({', else '.join(criteria)})"
