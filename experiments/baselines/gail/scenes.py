"""The data of GAIL: the expert's transitions, and the generator's scenes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.encoder import Encoder
from experiments.baselines.encoders import find_encoder
from experiments.baselines.gail.discriminator import Transitions, absorbing_fraction
from experiments.baselines.gail.settings import DEMONSTRATED, FRESH, GailConfig
from experiments.baselines.imitation import ImitationBatch, concatenate, imitation_batch
from experiments.baselines.validation import FIRST_VALIDATION_SEED
from experiments.vector.scene_pool import ScenePool
from experiments.vector.vector_environment import compile_scenes
from wfairl.core.costs.scene import NoSuccessfulDemonstrationError
from wfairl.core.demonstrations.demonstration import Dataset, Demonstration
from wfairl.core.worlds.task import Task

FIRST_GENERATOR_SEED = 800_000_000
SCENES_PER_SEED = 10_000
"""The fresh scenes of a training with seed s begin at FIRST_GENERATOR_SEED + s * SCENES_PER_SEED, and wrap around below
the validation scenes, so that neither those nor the test scenes are ever among them."""


@dataclass(frozen=True, eq=False)
class GailData:
    """The data of GAIL.

    Attributes:
        expert: the expert's transitions.
        pool: the scenes in which the generator acts.
        judged: in which of them its transitions train the discriminator, shape [scenes].
        encoder: of the networks' observations.
        cloned: the demonstrations from which the generator is cloned at the start.
    """

    expert: Transitions
    pool: ScenePool
    judged: NDArray[np.bool_]
    encoder: Encoder
    cloned: tuple[ImitationBatch, ...]


def prepare_data(task: Task, dataset: Dataset, config: GailConfig, n_jobs: int) -> GailData:
    """Encode the successful demonstrations, and compile the generator's scenes.

    Raises:
        NoSuccessfulDemonstrationError: no demonstration is a success.
    """
    successes = [demonstration for demonstration in dataset if demonstration.is_success and demonstration.controls]
    if not successes:
        raise NoSuccessfulDemonstrationError(
            "none of the demonstrations is a success, so there is nothing to imitate; collect some"
        )
    pool, judged = _generator_scenes(task, successes, config, n_jobs)
    encoder = find_encoder(task.make_world(successes[0].seed), config.view, config.radius)
    batches = [imitation_batch(task, demonstration, encoder) for demonstration in successes]
    cloned = batches if config.idle else [batch.without_idle() for batch in batches]
    return GailData(_transitions(batches, task.horizon), pool, judged, encoder, tuple(cloned))


def _transitions(batches: Sequence[ImitationBatch], horizon: int) -> Transitions:
    joined = concatenate(batches)
    lengths = np.array([min(len(batch), horizon) for batch in batches])
    return Transitions(joined.observations, joined.controls, absorbing_fraction(len(joined), lengths, horizon))


def _generator_scenes(
    task: Task, demonstrations: list[Demonstration], config: GailConfig, n_jobs: int
) -> tuple[ScenePool, NDArray[np.bool_]]:
    """The scenes in which the generator's episodes start, and which are judged; repeated ones are drawn more often."""
    demonstrated = [demonstration.seed for demonstration in demonstrations] if config.scenes != FRESH else []
    available = FIRST_VALIDATION_SEED - FIRST_GENERATOR_SEED
    first = config.seed * SCENES_PER_SEED
    fresh = [FIRST_GENERATOR_SEED + (first + i) % available for i in range(config.fresh_scenes)]
    pool = compile_scenes(task, [*demonstrated, *(fresh if config.scenes != DEMONSTRATED else [])], n_jobs)
    if config.scenes == FRESH:
        return pool, np.ones(len(pool), bool)
    starts = _starts(pool, demonstrations, config.midway)
    if config.scenes == DEMONSTRATED:
        return starts, np.ones(len(starts), bool)
    others = pool.take(np.arange(len(demonstrated), len(pool)))
    count = max(len(starts), len(others))
    return _repeated(starts, count).join(_repeated(others, count)), np.arange(2 * count) < count


def _starts(pool: ScenePool, demonstrations: list[Demonstration], midway: bool) -> ScenePool:
    """The initial states of demonstrations and, if `midway`, equally often their later states."""
    beginnings = pool.take(np.arange(len(demonstrations)))
    if not midway:
        return beginnings
    first, *others = (pool.along(scene, one.controls[:-1]) for scene, one in enumerate(demonstrations))
    visited = first.join(*others)
    return _repeated(beginnings, len(visited)).join(visited)


def _repeated(pool: ScenePool, count: int) -> ScenePool:
    """`count` scenes, each about equally often."""
    return pool.take(np.arange(count) % len(pool))
