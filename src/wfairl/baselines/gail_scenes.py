"""What GAIL learns from: the expert's transitions, and the scenes that the generator acts in."""

from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from wfairl.baselines.absorbing import absorbing_share
from wfairl.baselines.discriminator import Transitions
from wfairl.baselines.gail_settings import BOTH, DEMONSTRATED, FRESH, GailConfig
from wfairl.baselines.scenes import FIRST_VALIDATION_SEED
from wfairl.baselines.sight import AgentSight, MapSight, find_sight
from wfairl.baselines.validation import join
from wfairl.demonstrations.collection import SUCCESS_SCORE
from wfairl.demonstrations.demonstration import Dataset, Demonstration, check_against
from wfairl.errors import BadInputError
from wfairl.worlds.tasks import Task
from wfairl.worlds.vector_environment import ScenePool, compile_scenes

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
    """

    expert: Transitions
    pool: ScenePool
    judged: NDArray[np.bool_]
    sight: MapSight | AgentSight


def prepare_lessons(task: Task, dataset: Dataset, config: GailConfig, n_jobs: int) -> Lessons:
    """The successful demonstrations as transitions, and the generator's scenes.

    Raises:
        NoExpertError: no demonstration is a success.
    """
    successes = [
        demonstration for demonstration in dataset if demonstration.score >= SUCCESS_SCORE and demonstration.controls
    ]
    if not successes:
        raise NoExpertError("none of the demonstrations is a success (score 1), so that there is nobody to imitate")
    pool, judged = _generator_scenes(task, successes, config, n_jobs)
    sight = find_sight(config.view, task.make_world(successes[0].seed), config.radius)
    return Lessons(_expert_transitions(task, successes, sight), pool, judged, sight)


def _expert_transitions(task: Task, demonstrations: list[Demonstration], sight: MapSight | AgentSight) -> Transitions:
    seen = []
    for demonstration in demonstrations:
        world = task.make_world(demonstration.seed)
        check_against(world, demonstration)
        seen.append(sight.look(world, np.stack([world.pack(cast(int, state)) for state in demonstration.states[:-1]])))
    batch = join(seen)
    controls = [control for demonstration in demonstrations for control in demonstration.controls]
    lengths = np.array([min(len(demonstration), task.horizon) for demonstration in demonstrations])
    share = absorbing_share(len(controls), lengths, task.horizon)
    return Transitions(batch.grids, batch.columns.long(), torch.tensor(controls), share)


def _generator_scenes(
    task: Task, demonstrations: list[Demonstration], config: GailConfig, n_jobs: int
) -> tuple[ScenePool, NDArray[np.bool_]]:
    shown = sorted({demonstration.seed for demonstration in demonstrations}) if config.scenes != FRESH else []
    room = FIRST_VALIDATION_SEED - FIRST_GENERATOR_SEED
    first = config.seed * SCENES_PER_SEED
    fresh = [FIRST_GENERATOR_SEED + (first + i) % room for i in range(config.fresh_scenes)]
    pool = compile_scenes(task, [*shown, *(fresh if config.scenes != DEMONSTRATED else [])], n_jobs)
    if config.scenes != BOTH:
        return pool, np.ones(len(pool), bool)
    # Those of the demonstrations are repeated, so that they are drawn about as often as the fresh ones.
    repeated = np.tile(np.arange(len(shown)), max(1, round(len(fresh) / len(shown))))
    pool = pool.take(np.concatenate([repeated, np.arange(len(shown), len(pool))]))
    return pool, np.arange(len(pool)) < len(repeated)
