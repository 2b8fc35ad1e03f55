"""What GAIL learns from: the expert's transitions, and the scenes that the generator acts in."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from wfairl.baselines.absorbing import absorbing_share
from wfairl.baselines.discriminator import Transitions
from wfairl.baselines.gail_settings import DEMONSTRATED, FRESH, GailConfig
from wfairl.baselines.lessons import Lesson, make_lesson
from wfairl.baselines.scenes import FIRST_VALIDATION_SEED
from wfairl.baselines.sight import AgentSight, MapSight, find_sight
from wfairl.baselines.validation import join
from wfairl.demonstrations.demonstration import Dataset, Demonstration
from wfairl.errors import BadInputError
from wfairl.worlds.minigrid.vector_environment import ScenePool, compile_scenes, join_pools
from wfairl.worlds.task import Task

FIRST_GENERATOR_SEED = 800_000_000
SCENES_PER_SEED = 10_000
"""Fresh scenes of a training with seed s are those from FIRST_GENERATOR_SEED + s * SCENES_PER_SEED on, modulo the
room below the scenes for validation: neither those nor the scenes for testing are ever among them."""


class NoExpertError(BadInputError):
    """There is nobody to imitate."""


@dataclass(frozen=True, eq=False)
class Lessons:
    """What GAIL learns from.

    Attributes:
        expert: the expert's transitions, and how much of its time it has spent in the absorbing state.
        pool: the scenes that the generator acts in.
        judged: whether what it does there is shown to the discriminator, shape [scenes].
        sight: what networks are shown of a state.
        cloned: the demonstrations as the generator's start is cloned from them.
    """

    expert: Transitions
    pool: ScenePool
    judged: NDArray[np.bool_]
    sight: MapSight | AgentSight
    cloned: tuple[Lesson, ...]


def prepare_lessons(task: Task, dataset: Dataset, config: GailConfig, n_jobs: int) -> Lessons:
    """The successful demonstrations as transitions, and the generator's scenes.

    Raises:
        NoExpertError: no demonstration is a success.
    """
    successes = [demonstration for demonstration in dataset if demonstration.is_success and demonstration.controls]
    if not successes:
        raise NoExpertError("none of the demonstrations is a success, so that there is nobody to imitate")
    pool, judged = _generator_scenes(task, successes, config, n_jobs)
    sight = find_sight(config.view, task.make_world(successes[0].seed), config.radius)
    done = [make_lesson(task, demonstration, sight, idle=True) for demonstration in successes]
    cloned = done if config.idle else [make_lesson(task, one, sight, idle=False) for one in successes]
    return Lessons(_transitions(done, task.horizon), pool, judged, sight, tuple(cloned))


def _transitions(demonstrations: Sequence[Lesson], horizon: int) -> Transitions:
    """All that the expert did, and how much of its time it has spent in the absorbing state."""
    states = join(one.states for one in demonstrations)
    controls = torch.cat([one.controls for one in demonstrations])
    lengths = np.array([min(len(one.controls), horizon) for one in demonstrations])
    return Transitions(states.grids, states.columns, controls, absorbing_share(len(controls), lengths, horizon))


def _generator_scenes(
    task: Task, demonstrations: list[Demonstration], config: GailConfig, n_jobs: int
) -> tuple[ScenePool, NDArray[np.bool_]]:
    """The scenes that the generator's episodes begin in, one that is to be drawn more often repeated."""
    shown = [demonstration.seed for demonstration in demonstrations] if config.scenes != FRESH else []
    room = FIRST_VALIDATION_SEED - FIRST_GENERATOR_SEED
    first = config.seed * SCENES_PER_SEED
    fresh = [FIRST_GENERATOR_SEED + (first + i) % room for i in range(config.fresh_scenes)]
    pool = compile_scenes(task, [*shown, *(fresh if config.scenes != DEMONSTRATED else [])], n_jobs)
    if config.scenes == FRESH:
        return pool, np.ones(len(pool), bool)
    starts = _starts(pool, demonstrations, config.midway)
    if config.scenes == DEMONSTRATED:
        return starts, np.ones(len(starts), bool)
    others = pool.take(np.arange(len(shown), len(pool)))
    count = max(len(starts), len(others))
    return join_pools(_repeated(starts, count), _repeated(others, count)), np.arange(2 * count) < count


def _starts(pool: ScenePool, demonstrations: list[Demonstration], midway: bool) -> ScenePool:
    """Where demonstrations began and, as often, where they came through."""
    beginnings = pool.take(np.arange(len(demonstrations)))
    if not midway:
        return beginnings
    on_the_way = []
    for scene, demonstration in enumerate(demonstrations):
        fields, modes = pool.walk(scene, demonstration.controls[:-1])
        on_the_way.append(replace(pool.take([scene] * len(modes)), fields=fields, modes=modes))
    ways = join_pools(*on_the_way)
    return join_pools(_repeated(beginnings, len(ways)), ways)


def _repeated(pool: ScenePool, count: int) -> ScenePool:
    """So many scenes, each about as often as any other."""
    return pool.take(np.arange(count) % len(pool))
