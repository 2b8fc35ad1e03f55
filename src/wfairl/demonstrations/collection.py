"""Data sets collected the paper's way: successes of an expert, failures of a random walk.

Everything follows from one seed. Scene i of a collection with seed s is the scene

    FIRST_TRAINING_SEED + s * SCENES_PER_COLLECTION + i

of the task, so that collections with different seeds share no scene, and scenes below
`FIRST_TRAINING_SEED` are never trained on: those are for testing.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from wfairl.demonstrations.demonstration import FAILURE_SCORE, SUCCESS_SCORE, Dataset, Demonstration, replay
from wfairl.demonstrations.expert import solve
from wfairl.errors import BadInputError, FailedRunError
from wfairl.executors import Workers
from wfairl.parallel import map_in_threads
from wfairl.planning.cost import Cost, true_cost
from wfairl.progress import progress_bar
from wfairl.worlds.registry import find_task
from wfairl.worlds.task import Task
from wfairl.worlds.workers import map_on
from wfairl.worlds.world import LimitedWorld, World, available_controls

FIRST_TEST_SEED = 5_000
FIRST_TRAINING_SEED = 1_000_000
SCENES_PER_COLLECTION = 1_000_000
LARGEST_COLLECTION_SEED = 10**9
MAX_TRIES_PER_DEMONSTRATION = 50

DEMONSTRATOR = 1
"""Sets the demonstrator's random numbers apart from those that drew the scene, which have the same seed."""

_SUCCESSES, _FAILURES = 0, 1
"""Halves of a collection's scenes: even ones show successes, odd ones failures."""

Attempt = Callable[[int], Demonstration | None]
"""From a scene's seed to a demonstration, or None if it did not come out as wanted."""

AttemptAll = Callable[[Attempt, Sequence[int]], Iterator[Demonstration | None]]
"""Attempts in several scenes, in parallel; results are in the order of the scenes."""


class TooFewDemonstrationsError(FailedRunError):
    """The demonstrator hardly ever does what it should."""


def collect(
    task: Task,
    successes: int,
    failures: int,
    temperature: float,
    seed: int,
    cost: Cost | None = None,
    n_jobs: int = 2,
    workers: Workers | None = None,
) -> Dataset:
    """Collect demonstrations, each in a scene of its own.

    Args:
        task: what to do.
        successes: how many runs of the expert that fulfil the rule within the horizon; score 1.
        failures: how many random walks over the horizon that do not; score 0.
        temperature: of the expert, 0 for strictly optimal ones.
        seed: of the collection.
        cost: what transitions cost the expert; the task's true cost unless given.
        n_jobs: scenes to work on at once, in threads; it changes nothing in the result.
        workers: what works on them instead, see `open_workers`; likewise. They have the task by its name.

    Raises:
        TooFewDemonstrationsError: the expert hardly ever succeeds, or the random walk always does.
    """
    if successes < 0 or failures < 0:
        raise BadInputError("the numbers of successes and failures must not be negative")
    if not 0 <= seed <= LARGEST_COLLECTION_SEED:
        raise BadInputError(f"the seed of a collection must lie between 0 and {LARGEST_COLLECTION_SEED:,}, not {seed}")
    if max(successes, failures) * MAX_TRIES_PER_DEMONSTRATION > SCENES_PER_COLLECTION // 2:
        most = SCENES_PER_COLLECTION // 2 // MAX_TRIES_PER_DEMONSTRATION
        raise BadInputError(
            f"at most {most:,} successes and as many failures a collection; merge several of other seeds"
        )
    if not temperature >= 0:
        raise BadInputError(f"the temperature must lie between 0 (optimal) and inf (random), not {temperature}")

    if workers is None:
        expert_cost = true_cost(task) if cost is None else cost
        succeed, fail = partial(_succeed, task, expert_cost, temperature), partial(_fail, task)
        attempt_all: AttemptAll = partial(map_in_threads, n_jobs=n_jobs)
    elif cost is None:
        succeed, fail = partial(_succeed_there, task.name, temperature), partial(_fail_there, task.name)
        attempt_all = partial(map_on, workers)
    else:
        raise BadInputError("a cost cannot travel to workers; let the task have it as its true cost")
    found = [
        *_gather(
            attempt_all, succeed, successes, seed, _SUCCESSES, f"{task.name}: experts at temperature {temperature:g}"
        ),
        *_gather(attempt_all, fail, failures, seed, _FAILURES, f"{task.name}: random walks"),
    ]
    return Dataset(task.name, tuple(found), temperature)


def _succeed(task: Task, cost: Cost, temperature: float, scene: int) -> Demonstration | None:
    world = task.make_world(scene)
    controls, succeeded = solve(world, task.rule, cost).act(temperature, task.horizon, _generator(scene))
    return replay(world, controls, SUCCESS_SCORE, scene) if succeeded else None


def _fail(task: Task, scene: int) -> Demonstration | None:
    world = task.make_world(scene)
    walked = replay(world, _random_controls(world, task.horizon, _generator(scene)), FAILURE_SCORE, scene)
    return None if task.rule.fulfilled_at(walked.labels) else walked


def _succeed_there(task_name: str, temperature: float, scene: int) -> Demonstration | None:
    """On a worker, which has the task by its name."""
    task = find_task(task_name)
    return _succeed(task, true_cost(task), temperature, scene)


def _fail_there(task_name: str, scene: int) -> Demonstration | None:
    return _fail(find_task(task_name), scene)


def _random_controls(world: World[Any], steps: int, rng: np.random.Generator) -> list[int]:
    """A random walk: every control that can be chosen is equally likely."""
    if not isinstance(world, LimitedWorld):
        return rng.integers(len(world.controls), size=steps).tolist()
    state, controls = world.initial_state, []
    for _ in range(steps):
        controls.append(int(rng.choice(np.flatnonzero(available_controls(world, state)))))
        state = world.step(state, controls[-1])
    return controls


def _generator(scene: int) -> np.random.Generator:
    return np.random.default_rng([DEMONSTRATOR, scene])


def _gather(
    attempt_all: AttemptAll, attempt: Attempt, wanted: int, seed: int, half: int, description: str
) -> list[Demonstration]:
    """The first `wanted` scenes, in order, whose attempt comes out."""
    first = FIRST_TRAINING_SEED + seed * SCENES_PER_COLLECTION + half
    found: list[Demonstration] = []
    tried = 0
    with progress_bar() as bar:
        meter = bar.add_task(description, total=wanted)
        while len(found) < wanted:
            if tried >= MAX_TRIES_PER_DEMONSTRATION * wanted:
                raise TooFewDemonstrationsError(
                    f"{description}: {len(found)} of {tried} came out as wanted, and {wanted} are asked for. "
                    "Ask for fewer, or choose another temperature."
                )
            scenes = [first + 2 * (tried + i) for i in range(wanted - len(found))]
            for demonstration in attempt_all(attempt, scenes):
                if demonstration is not None:
                    found.append(demonstration)
                    bar.advance(meter)
            tried += len(scenes)
    return found
