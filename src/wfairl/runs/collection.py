"""Data sets collected as in the paper: successes of an expert, failures of a random walk.

One seed determines everything. Scene i of a collection with seed s is the scene

    FIRST_TRAINING_SEED + s * SCENES_PER_COLLECTION + i

of the task, so that collections with different seeds share no scene, and scenes below `FIRST_TRAINING_SEED` are
reserved for testing.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from wfairl.core.demonstrations.demonstration import FAILURE_SCORE, SUCCESS_SCORE, Dataset, Demonstration
from wfairl.core.planning.cost import Cost, true_cost
from wfairl.core.planning.plan import UnsatisfiableTaskError
from wfairl.core.planning.policies import PlannedPolicy, Policy, RandomPolicy
from wfairl.core.planning.rollout import act
from wfairl.core.support.errors import BadInputError, FailedRunError
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.support.progress import progress_bar
from wfairl.core.worlds.simulator import ModelSimulator, simulator_rng
from wfairl.core.worlds.task import ModelTask, Task, rule_of

FIRST_TEST_SEED = 5_000
"""Tests take the scenes from here on; any below `FIRST_TRAINING_SEED` would do."""

FIRST_TRAINING_SEED = 1_000_000
SCENES_PER_COLLECTION = 1_000_000
LARGEST_COLLECTION_SEED = 10**9
MAX_TRIES_PER_DEMONSTRATION = 50


Attempted = Demonstration | str | None
"""A demonstration, or why the rule cannot be satisfied in a scene, or None for one that did not end as required."""


def collect(
    task: Task, successes: int, failures: int, temperature: float, seed: int, cost: Cost | None = None, n_jobs: int = 2
) -> Dataset:
    """Collect demonstrations, each in a scene of its own.

    Args:
        task: what to do.
        successes: how many runs of the expert that fulfil the rule within the horizon; score 1.
        failures: how many random walks over the horizon that do not; score 0.
        temperature: of the expert, 0 for strictly optimal ones.
        seed: of the collection.
        cost: what transitions cost the expert; the task's true cost unless given.
        n_jobs: number of threads, each for a scene; it changes nothing in the result.

    Raises:
        FailedRunError: the expert hardly ever succeeds, or the random walk always does.
    """
    if successes < 0 or failures < 0:
        raise BadInputError("the numbers of successes and failures must not be negative")
    if not 0 <= seed <= LARGEST_COLLECTION_SEED:
        raise BadInputError(f"the seed of a collection must lie between 0 and {LARGEST_COLLECTION_SEED:,}, not {seed}")
    if max(successes, failures) * MAX_TRIES_PER_DEMONSTRATION > SCENES_PER_COLLECTION // 2:
        most = SCENES_PER_COLLECTION // 2 // MAX_TRIES_PER_DEMONSTRATION
        raise BadInputError(
            f"at most {most:,} successes and as many failures per collection; merge several of other seeds"
        )
    if not temperature >= 0:
        raise BadInputError(f"the temperature must lie between 0 (optimal) and inf (random), not {temperature}")

    expert = PlannedPolicy("expert", rule_of(task), true_cost(task) if cost is None else cost, temperature)
    succeed, fail = (
        partial(_attempt, task, expert, SUCCESS_SCORE),
        partial(_attempt, task, RandomPolicy(), FAILURE_SCORE),
    )
    # Even scenes are for successes, odd ones for failures.
    gathered = _gather(succeed, successes, seed, 0, f"{task.name}: experts at temperature {temperature:g}", n_jobs)
    gathered += _gather(fail, failures, seed, 1, f"{task.name}: random walks", n_jobs)
    return Dataset(task.name, tuple(gathered), temperature)


def _attempt(task: Task, policy: Policy, score: float, scene: int) -> Attempted:
    """An episode in a scene, if it succeeds or fails as the score requires.

    A task of the user's own may bring a simulator, in which the episode then happens. Any other task has a model that
    does what its simulator does.
    """
    if isinstance(task, ModelTask):
        simulator = task.make_simulator(scene)
    else:
        simulator = ModelSimulator(task.make_world(scene), simulator_rng(scene))
    try:
        # 1 separates the demonstrator's random numbers from those of the scene, which have the same seed.
        actor = policy.actor(simulator.world, np.random.default_rng([1, scene]))
    except UnsatisfiableTaskError as error:
        return f"In the scene of seed {scene}: {error}"
    episode = act(actor, simulator, rule_of(task), task.horizon, scene)
    if episode.is_success != (score == SUCCESS_SCORE):
        return None
    return Demonstration.of(episode, score, scene)


def _gather(
    attempt: Callable[[int], Attempted], wanted: int, seed: int, half: int, description: str, n_jobs: int
) -> list[Demonstration]:
    """The demonstrations of the first `wanted` scenes, in order, whose attempt gives one."""
    first = FIRST_TRAINING_SEED + seed * SCENES_PER_COLLECTION + half
    gathered: list[Demonstration] = []
    unsolvable: list[str] = []
    tried = 0
    with progress_bar() as bar:
        meter = bar.add_task(description, total=wanted)
        while len(gathered) < wanted:
            if len(unsolvable) == tried >= MAX_TRIES_PER_DEMONSTRATION:
                raise FailedRunError(
                    f"{description}: the rule cannot be satisfied in any of {tried} scenes. {unsolvable[0]}"
                )
            if tried >= MAX_TRIES_PER_DEMONSTRATION * wanted:
                raise FailedRunError(
                    f"{description}: {len(gathered)} of {tried} came out as required, and {wanted} are asked for. "
                    "Ask for fewer, or choose another temperature."
                )
            scenes = [first + 2 * (tried + i) for i in range(wanted - len(gathered))]
            for outcome in map_in_threads(attempt, scenes, n_jobs):
                if isinstance(outcome, Demonstration):
                    gathered.append(outcome)
                    bar.advance(meter)
                elif outcome is not None:
                    unsolvable.append(outcome)
            tried += len(scenes)
    return gathered
