"""Scenes of a task as one vectorised Gymnasium environment, stepped by our compiled model.

    environment = CompiledVectorEnv(compile_scenes(task, seeds), num_envs=64)
    columns, info = environment.reset(seed=0)
    columns, rewards, terminated, truncated, info = environment.step(controls)

Every episode takes place in a scene drawn from the pool. It terminates when the task's rule is fulfilled or the
environment ends it (goal, lava), and is truncated at the task's horizon; the reward is MiniGrid's own,

    1 - 0.9 * steps / horizon   on the step that fulfils the rule, else 0.

What a row shows is three integers (number of its grid, cell * 4 + direction, what is carried), as the paper's
network takes them. The grids are in a bank of distinct ones, so that a network convolves each only once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD
from wfairl.errors import BadInputError
from wfairl.parallel import map_in_threads
from wfairl.worlds.minigrid import batch
from wfairl.worlds.minigrid.packing import unpack
from wfairl.worlds.minigrid.rules import CONTROLS
from wfairl.worlds.minigrid.search import MaskNumbers
from wfairl.worlds.minigrid.tasks import MiniGridTask
from wfairl.worlds.minigrid.view import DIRECTIONS, HANDS
from wfairl.worlds.minigrid.world import MiniGridWorld

Columns = NDArray[np.int64]
"""Number of the grid, cell * 4 + direction, what is carried; shape [rows, 3]."""

LARGEST_GRID_NUMBER = 2**31 - 1

PER_SCENE = ("seeds", "layouts", "atoms", "fields", "largest", "automaton_states", "field_counts")
"""Arrays of a `ScenePool` with one row a scene."""


@dataclass(frozen=True, eq=False)
class ScenePool:
    """Scenes of one task, compiled: what an environment draws from.

    Attributes:
        task: the task.
        seeds: the scenes, shape [scenes] of int64.
        height, width: of their maps.
        layouts: the table of each scene's layout, padded; shape [scenes, longest] of int32.
        atoms: the atoms of each scene's labels, shape [scenes, propositions, 5] of int32.
        fields: the state in which each scene begins, padded; shape [scenes, most fields] of int32.
        largest: the largest value of each field, padded; shape [scenes, most fields] of int32.
        automaton_states: where the task's rule stands there, shape [scenes] of int32.
        field_counts: how many fields the states of each scene have, shape [scenes].
        rule: the task's rule, by the label masks met so far.
    """

    task: MiniGridTask
    seeds: NDArray[np.int64]
    height: int
    width: int
    layouts: NDArray[np.int32]
    atoms: NDArray[np.int32]
    fields: NDArray[np.int32]
    largest: NDArray[np.int32]
    automaton_states: NDArray[np.int32]
    field_counts: NDArray[np.int64]
    rule: MaskNumbers

    def __len__(self) -> int:
        """The number of scenes."""
        return len(self.seeds)

    def take(self, scenes: Sequence[int] | NDArray[np.int64]) -> "ScenePool":
        """The pool of some of the scenes, given as indices; one that occurs twice is drawn twice as often."""
        rows = np.asarray(scenes, np.int64)
        arrays: dict[str, Any] = {name: getattr(self, name)[rows] for name in PER_SCENE}
        return replace(self, **arrays)

    def walk(self, scene: int, controls: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The states that controls lead through from where a scene begins, which is the first of them.

        Args:
            scene: an index.
            controls: one fewer than the states.

        Returns:
            Fields of shape [states, most fields] and automaton states of shape [states], as in the pool.
        """
        at = np.array([scene])
        rows = _Rows(self, at, self.fields[at], self.automaton_states[at])
        walked = [(rows.fields.copy(), rows.automaton_states.copy())]
        for control in controls:
            rows.step(np.array([control], np.int64))
            walked.append((rows.fields.copy(), rows.automaton_states.copy()))
        return np.concatenate([one for one, _ in walked]), np.concatenate([one for _, one in walked])


class _Rows:
    """Episodes in scenes of a pool, stepped in place; see `batch.step_all` and `batch.read_all` for the arrays."""

    def __init__(
        self,
        pool: ScenePool,
        scenes: NDArray[np.int64],
        fields: NDArray[np.int32],
        automaton_states: NDArray[np.int32],
    ):
        self.pool, self.scenes, self.fields, self.automaton_states = pool, scenes, fields, automaton_states
        self.masks = np.zeros(len(scenes), np.uint64)
        self.outcomes = np.zeros(len(scenes), np.int8)
        self.changed = np.zeros(len(scenes), bool)

    def step(self, controls: NDArray[np.int64]) -> None:
        pool, rule = self.pool, self.pool.rule
        batch.step_all(pool.layouts, pool.atoms, self.scenes, controls, self.fields, self.masks, self.changed)
        row = 0
        while row < len(controls):
            row = batch.read_all(
                pool.layouts, rule.slots, rule.rows, row,
                self.scenes, self.fields, self.masks, self.automaton_states, self.outcomes,
            )  # fmt: skip
            if row < len(controls):
                rule.add(int(self.masks[row]))


def join_pools(*pools: ScenePool) -> ScenePool:
    """Pools that were taken from one, one behind the other."""
    arrays: dict[str, Any] = {name: np.concatenate([getattr(one, name) for one in pools]) for name in PER_SCENE}
    return replace(pools[0], **arrays)


def compile_scenes(task: MiniGridTask, seeds: Sequence[int], n_jobs: int = 1) -> ScenePool:
    """Read the scenes of some seeds once.

    Raises:
        BadInputError: there are no seeds, or the scenes have maps of different sizes.
    """
    if not len(seeds):
        raise BadInputError("a vectorised environment needs at least one scene")
    worlds = list(map_in_threads(task.make_world, [int(seed) for seed in seeds], n_jobs))
    sizes = sorted({(len(world.layout.cells) // world.layout.width, world.layout.width) for world in worlds})
    if len(sizes) > 1:
        raise BadInputError(
            f"the scenes of the task {task.name!r} have maps of "
            f"{' and '.join(f'{height} x {width}' for height, width in sizes)} cells; a batch needs one size"
        )
    states = [_initial_fields(world) for world in worlds]
    return ScenePool(
        task=task,
        seeds=np.array(seeds, np.int64),
        height=sizes[0][0],
        width=sizes[0][1],
        layouts=_padded([world.layout.table for world in worlds]),
        atoms=np.stack([world.atoms for world in worlds]),
        fields=_padded(states),
        largest=_padded([world.layout.largest_values for world in worlds]),
        automaton_states=np.zeros(len(worlds), np.int32),
        field_counts=np.array([len(fields) for fields in states], np.int64),
        rule=MaskNumbers(task.rule, worlds[0].propositions),
    )


def _initial_fields(world: MiniGridWorld) -> NDArray[np.int32]:
    fields = np.empty(world.layout.largest_values.size, np.int32)
    unpack(world.layout.table, world.pack(world.initial_state), fields)
    return fields


def _padded(rows: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    table = np.zeros((len(rows), max(map(len, rows))), np.int32)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


class GridBank:
    """Distinct grids, each with a number; it only grows, until it is emptied."""

    def __init__(self, height: int, width: int):
        self._numbers: dict[bytes, int] = {}
        self._grids = np.empty((64, height, width), np.uint8)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._numbers)

    @property
    def grids(self) -> NDArray[np.uint8]:
        """The grids in the order of their numbers, shape [grids, height, width]; valid until one is added."""
        return self._grids[: len(self._numbers)]

    def number(self, grids: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The numbers of some grids of shape [rows, cells]; those that are new get the next ones."""
        numbers = np.empty(len(grids), np.int64)
        for row, grid in enumerate(grids):
            key = grid.tobytes()
            found = self._numbers.get(key)
            if found is None:
                found = self._numbers[key] = len(self._numbers)
                if found == len(self._grids):
                    self._grids = np.concatenate([self._grids, np.empty_like(self._grids)])
                self._grids[found] = grid.reshape(self._grids.shape[1:])
            numbers[row] = found
        return numbers

    def clear(self) -> None:
        """Forget all grids."""
        self._numbers.clear()


class CompiledVectorEnv(VectorEnv[Columns, NDArray[np.int64], NDArray[Any]]):
    """A batch of episodes in scenes of a pool.

    Autoreset is in the same step, so that every step of every row is one of an episode: where an episode has
    ended, the columns are those of the next one, and `info["final_obs"]` holds what the last state shows, in the
    rows of `info["_final_obs"]`. `info["seed"]` is the scene of each row's columns.

    Attributes:
        pool: the scenes.
        bank: the distinct grids that were seen since the last `forget`.
        scenes: the scene of each row, an index into the pool; shape [num_envs].
        fields: the state of each row, shape [num_envs, most fields].
        steps: controls taken in each row's episode, shape [num_envs].
    """

    def __init__(self, pool: ScenePool, num_envs: int):
        if num_envs < 1:
            raise BadInputError(f"the number of environments must be 1 or more, not {num_envs}")
        self.pool, self.num_envs = pool, num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}
        places = pool.height * pool.width * DIRECTIONS
        self.single_observation_space = gymnasium.spaces.Box(
            low=np.zeros(batch.COLUMNS, np.int64),
            high=np.array([LARGEST_GRID_NUMBER, places - 1, len(HANDS) - 1], np.int64),
            dtype=np.int64,
        )
        self.single_action_space = gymnasium.spaces.Discrete(len(CONTROLS))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.bank = GridBank(pool.height, pool.width)
        self.scenes = np.zeros(num_envs, np.int64)
        self.fields = pool.fields[self.scenes]
        self.automaton_states = np.zeros(num_envs, np.int32)
        self.steps = np.zeros(num_envs, np.int64)
        self._columns = np.zeros((num_envs, batch.COLUMNS), np.int64)
        self._rows = _Rows(pool, self.scenes, self.fields, self.automaton_states)

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
        self._begin(everywhere, None if given is None else np.asarray(given, np.int64))
        self._look(everywhere)
        return self._columns.copy(), {"seed": self.pool.seeds[self.scenes]}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Columns, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Apply a control in every row, and begin a new episode in those that ended."""
        controls = np.asarray(actions, np.int64)
        if controls.shape != (self.num_envs,) or controls.min() < 0 or controls.max() >= len(CONTROLS):
            raise BadInputError(f"a step takes {self.num_envs} controls between 0 and {len(CONTROLS) - 1}")
        pool, horizon = self.pool, self.pool.task.horizon
        self._rows.step(controls)
        self.steps += 1
        self._look(np.flatnonzero(self._rows.changed))
        rewards = np.where(self._rows.outcomes == batch.SUCCEEDED, 1 - 0.9 * self.steps / horizon, 0.0)
        terminated, truncated = self._rows.outcomes != batch.RUNNING, self.steps >= horizon
        over = terminated | truncated
        info: dict[str, Any] = {}
        if over.any():
            info = {"final_obs": self._columns.copy(), "_final_obs": over}
            rows = np.flatnonzero(over)
            self._begin(rows)
            self._look(rows)
        info["seed"] = pool.seeds[self.scenes]
        return self._columns.copy(), rewards, terminated, truncated, info

    def forget(self) -> Columns:
        """Empty the bank of all grids but those shown now; the columns with their new numbers."""
        self.bank.clear()
        self._look(np.arange(self.num_envs))
        return self._columns.copy()

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Where every episode stands, copied; the bank and the draws of scenes to come are not part of it."""
        return {name: getattr(self, name).copy() for name in ("scenes", "fields", "automaton_states", "steps")}

    def restore(self, snapshot: dict[str, NDArray[Any]]) -> Columns:
        """Put every episode where a snapshot of the same pool has it, and empty the bank; see `forget`.

        Raises:
            BadInputError: the snapshot is not of such an environment.
        """
        for name, present in self.snapshot().items():
            if name not in snapshot or snapshot[name].shape != present.shape or snapshot[name].dtype != present.dtype:
                raise BadInputError(f"the snapshot of the environment has no {name} that would fit")
        if (snapshot["scenes"] < 0).any() or (snapshot["scenes"] >= len(self.pool)).any():
            raise BadInputError("the snapshot of the environment is of another pool of scenes")
        # What lies outside of these would lead compiled code outside of its arrays.
        for name, least, largest in (
            ("fields", 0, self.pool.largest[snapshot["scenes"]]),
            ("automaton_states", DEAD, self.pool.task.rule.states - 1),
            ("steps", 0, self.pool.task.horizon - 1),
        ):
            if (snapshot[name] < least).any() or (snapshot[name] > largest).any():
                raise BadInputError(f"the snapshot of the environment has {name} that no episode can have")
        for name in self.snapshot():
            getattr(self, name)[...] = snapshot[name]
        return self.forget()

    def _begin(self, rows: NDArray[np.int64], scenes: NDArray[np.int64] | None = None) -> None:
        """Put some rows at the beginning of scenes, drawn if none are given."""
        self.scenes[rows] = self.np_random.integers(len(self.pool), size=len(rows)) if scenes is None else scenes
        self.fields[rows] = self.pool.fields[self.scenes[rows]]
        self.automaton_states[rows] = self.pool.automaton_states[self.scenes[rows]]
        self.steps[rows] = 0

    def _look(self, changed: NDArray[np.int64]) -> None:
        """Bring the columns up to date, given the rows whose grid may be another one."""
        pool = self.pool
        batch.place_all(pool.layouts, self.scenes, self.fields, self._columns)
        if len(changed):
            drawn = batch.draw_all(pool.layouts, self.scenes[changed], self.fields[changed], pool.height * pool.width)
            self._columns[changed, batch.GRID] = self.bank.number(drawn)
