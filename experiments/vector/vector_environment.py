"""Scenes of a task as one vectorised Gymnasium environment, stepped in arrays.

    environment = CompiledVectorEnv(compile_scenes(task, seeds), num_envs=64)
    columns, info = environment.reset(seed=0)
    columns, rewards, terminated, truncated, info = environment.step(controls)

Every episode takes place in a scene drawn from the pool. It terminates when the task's rule is fulfilled or the
world ends it (MiniGrid's goal and lava), and is truncated at the task's horizon; the reward is MiniGrid's own,

    1 - 0.9 * steps / horizon   on the step that fulfils the rule, else 0.

An observation is the number of the grid, cell * 4 + direction, and the carried object.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from experiments.vector.batches import RUNNING, SUCCEEDED, Columns, Rows
from experiments.vector.minigrid_pool import MiniGridPool
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.worlds.task import Task
from wfairl.core.worlds.world import World
from wfairl.minigrid.world import MiniGridWorld

LARGEST_INDEX = 2**31 - 1
"""The largest number in an observation."""


def compile_scenes(task: Task, seeds: Sequence[int], n_jobs: int = 1) -> MiniGridPool:
    """Read the scenes of some seeds once.

    Raises:
        BadInputError: there are no seeds, or the scenes are none of MiniGrid's, or cannot be stepped together.
    """
    if not len(seeds):
        raise BadInputError("a vectorised environment needs at least one scene")
    worlds: list[World[Any]] = list(map_in_threads(task.make_world, [int(seed) for seed in seeds], n_jobs))
    grids = [world for world in worlds if isinstance(world, MiniGridWorld)]
    if len(grids) < len(worlds):
        raise BadInputError(f"only scenes of MiniGrid are stepped together, and {task.name} has others")
    return MiniGridPool.of(task, seeds, grids)


class CompiledVectorEnv(VectorEnv[Columns, NDArray[np.int64], NDArray[Any]]):
    """A batch of episodes in scenes of a pool.

    Autoreset is in the same step, so that every step of every row belongs to an episode: where an episode has ended,
    the columns are those of the next one, and `info["final_obs"]` holds the last observation, in the rows of
    `info["_final_obs"]`. `info["seed"]` is the scene of each row's columns.

    Attributes:
        pool: the scenes.
        bank: the distinct arrays to which the columns are indices, since the last `forget`.
        scenes: the scene of each row, an index into the pool; shape [num_envs].
        states: the state of each row, shape [num_envs, state width].
        steps: number of controls in each row's episode, shape [num_envs].
    """

    def __init__(self, pool: MiniGridPool, num_envs: int):
        if num_envs < 1:
            raise BadInputError(f"the number of environments must be 1 or more, not {num_envs}")
        self.pool, self.num_envs = pool, num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}
        self.single_observation_space = Box(0, LARGEST_INDEX, (pool.COLUMNS,), np.int64)
        self.single_action_space = Discrete(len(pool.controls))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.scenes = np.zeros(num_envs, np.int64)
        self.states = pool.states[self.scenes]
        self.automaton_states = np.zeros(num_envs, np.int32)
        self.steps = np.zeros(num_envs, np.int64)
        self.bank = pool.make_bank()
        self._rows = Rows(self.scenes, self.states, self.automaton_states)
        self._columns = np.zeros((num_envs, pool.COLUMNS), np.int64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Columns, dict[str, Any]]:
        """Begin an episode in every row.

        Args:
            seed: of the draws of scenes from now on.
            options: `scenes`, the scene of each row as an index into the pool; drawn if not given.
        """
        super().reset(seed=seed)
        everywhere = np.arange(self.num_envs)
        given = (options or {}).get("scenes")
        self._begin(everywhere, given)
        self._observe(everywhere)
        return self._columns.copy(), {"seed": self.pool.seeds[self.scenes]}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Columns, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Apply a control in every row, and begin a new episode in those that ended.

        Raises:
            BadInputError: a control is none of the world's, or not available where it is chosen.
        """
        controls, count = np.asarray(actions, np.int64), len(self.pool.controls)
        if controls.shape != (self.num_envs,) or controls.min() < 0 or controls.max() >= count:
            raise BadInputError(f"a step takes {self.num_envs} controls between 0 and {count - 1}")
        rows, horizon = self._rows, self.pool.task.horizon
        self.pool.step(rows, controls)
        self.steps += 1
        self._observe(np.flatnonzero(rows.changed))
        rewards = np.where(rows.outcomes == SUCCEEDED, 1 - 0.9 * self.steps / horizon, 0.0)
        terminated, truncated = rows.outcomes != RUNNING, self.steps >= horizon
        over = terminated | truncated
        info: dict[str, Any] = {}
        if over.any():
            info = {"final_obs": self._columns.copy(), "_final_obs": over}
            ended = np.flatnonzero(over)
            self._begin(ended)
            self._observe(ended)
        info["seed"] = self.pool.seeds[self.scenes]
        return self._columns.copy(), rewards, terminated, truncated, info

    def forget(self) -> Columns:
        """Empty the bank of all but the present observations; the columns with their new indices."""
        self.bank.clear()
        self._observe(np.arange(self.num_envs))
        return self._columns.copy()

    def _begin(self, rows: NDArray[np.int64], scenes: Sequence[int] | NDArray[np.int64] | None = None) -> None:
        """Begin episodes in some rows, in scenes that are drawn unless given."""
        self.scenes[rows] = self.np_random.integers(len(self.pool), size=len(rows)) if scenes is None else scenes
        self.states[rows] = self.pool.states[self.scenes[rows]]
        self.automaton_states[rows] = 0
        self.steps[rows] = 0

    def _observe(self, changed: NDArray[np.int64]) -> None:
        """Update the columns; see `MiniGridPool`."""
        self.pool.observe(self._rows, changed, self.bank, self._columns)
