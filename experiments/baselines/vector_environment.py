"""Episodes in many scenes of a MiniGrid task at once, stepped in arrays.

    environment = CompiledVectorEnv(compile_scenes(task, seeds), num_envs=64)
    columns, info = environment.reset(seed=0)
    columns, rewards, terminated, truncated, info = environment.step(controls)

Every episode takes place in a scene drawn from a pool. It terminates when the task's rule is fulfilled or the world
ends it (goal and lava), and is truncated at the task's horizon. The reward is MiniGrid's own,

    1 - 0.9 * steps / horizon   on the step that fulfils the rule, else 0.

The observation of a row is three integers: the number of its grid, cell * 4 + direction, and the carried object. The
grids are in a bank of distinct ones, so that a network convolves each of them once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD
from wfairl.core.support.compiling import njit
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.parallel import map_in_threads
from wfairl.core.worlds.task import Task, rule_of
from wfairl.minigrid import physics
from wfairl.minigrid.atoms import NEW_MASK, MaskNumbers, find_number, label_mask
from wfairl.minigrid.grid_view import draw_grids
from wfairl.minigrid.physics import CONTROLS, NOTHING
from wfairl.minigrid.situations import hand_shown
from wfairl.minigrid.world import MiniGridWorld

GRID, PLACE, CARRIED = range(3)
"""Columns of an observation: number of its grid, cell * 4 + direction, index into `HANDS`."""

COLUMNS = 3

Columns = NDArray[np.int64]
"""Observations of the rows of a batch, shape [rows, COLUMNS]."""


class Bank:
    """Distinct arrays of one shape, numbered in the order in which they are added."""

    def __init__(self, shape: Sequence[int], dtype: Any):
        self._numbers: dict[bytes, int] = {}
        self._entries = np.empty((64, *shape), dtype)

    def __len__(self) -> int:
        """The number of arrays."""
        return len(self._numbers)

    @property
    def entries(self) -> NDArray[Any]:
        """The arrays in the order of their numbers, shape [entries, ...]; valid until one is added."""
        return self._entries[: len(self._numbers)]

    def number(self, arrays: NDArray[Any]) -> NDArray[np.int64]:
        """The indices of arrays, shape [rows, ...], which are added if they are new."""
        numbers = np.empty(len(arrays), np.int64)
        for row, array in enumerate(arrays):
            known = len(self._numbers)
            numbers[row] = number = self._numbers.setdefault(array.tobytes(), known)
            if number == known:
                if number == len(self._entries):
                    self._entries = np.concatenate([self._entries, np.empty_like(self._entries)])
                self._entries[number] = array.reshape(self._entries.shape[1:])
        return numbers

    def clear(self) -> None:
        """Remove all arrays."""
        self._numbers.clear()


@dataclass(frozen=True, eq=False)
class ScenePool:
    """Scenes of one task; a state is its fields, padded to the most that a scene has."""

    task: Task  # the task
    seeds: NDArray[np.int64]  # the scenes, shape [scenes] of int64
    states: NDArray[np.int32]  # the initial state of each scene, shape [scenes, state width] of int32
    size: tuple[int, int]  # height and width of their maps
    layouts: NDArray[np.int32]  # the table of each scene's layout, padded; shape [scenes, longest] of int32
    atoms: NDArray[np.int32]  # the atoms of each scene's labels, shape [scenes, propositions, 5] of int32
    rule: MaskNumbers  # the task's rule, by the label masks met so far

    def __len__(self) -> int:
        """The number of scenes."""
        return len(self.seeds)

    def take(self, scenes: NDArray[np.int64]) -> ScenePool:
        """The pool of some of the scenes, given as indices; one that occurs twice is drawn twice as often."""
        arrays = {name: getattr(self, name)[scenes] for name in ("seeds", "states", "layouts", "atoms")}
        return replace(self, **arrays)


def compile_scenes(task: Task, seeds: Sequence[int], n_jobs: int = 1) -> ScenePool:
    """Read the scenes of some seeds once."""
    if not len(seeds):
        raise BadInputError("a vectorised environment needs at least one scene")
    worlds = list(map_in_threads(task.make_world, [int(seed) for seed in seeds], n_jobs))
    grids = [world for world in worlds if isinstance(world, MiniGridWorld)]
    if len(grids) < len(worlds):
        raise BadInputError(f"only scenes of MiniGrid are stepped together, and {task.name} has others")
    sizes = sorted({world.size for world in grids})
    if len(sizes) > 1:
        raise BadInputError(
            f"the scenes of the task {task.name!r} have maps of "
            f"{' and '.join(f'{height} x {width}' for height, width in sizes)} cells; a batch needs one size"
        )
    return ScenePool(
        task=task,
        seeds=np.array(seeds, np.int64),
        states=_padded([world.layout.unpack(world.pack(world.initial_state)) for world in grids]),
        size=sizes[0],
        layouts=_padded([world.layout.table for world in grids]),
        atoms=np.stack([world.atoms for world in grids]),
        rule=MaskNumbers(rule_of(task), grids[0].propositions),
    )


def _padded(rows: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    table = np.zeros((len(rows), max(map(len, rows))), np.int32)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


class CompiledVectorEnv:
    """A batch of episodes in scenes of a pool, with the verbs of a Gymnasium `VectorEnv`.

    Autoreset is in the same step, so that every step of every row belongs to an episode: where an episode has ended,
    the columns are those of the next one, and `info["final_obs"]` holds the last observation. `info["seed"]` is the
    scene of each row's columns.

    Attributes:
        bank: the distinct grids of the columns, since the last `forget`.
        scenes, steps: of each row an index into the pool, and the number of controls so far; shape [num_envs].
        states: the state of each row, shape [num_envs, state width].
    """

    def __init__(self, pool: ScenePool, num_envs: int):
        if num_envs < 1:
            raise BadInputError(f"the number of environments must be 1 or more, not {num_envs}")
        self.pool, self.num_envs = pool, num_envs
        self.scenes = np.zeros(num_envs, np.int64)
        self.states = pool.states[self.scenes]
        self.steps = np.zeros(num_envs, np.int64)
        self.bank = Bank(pool.size, np.uint8)
        self._automaton_states = np.zeros(num_envs, np.int32)
        self._columns = np.zeros((num_envs, COLUMNS), np.int64)

    def reset(self, seed: int, scenes: Sequence[int] | None = None) -> tuple[Columns, dict[str, Any]]:
        """Begin an episode in every row.

        Args:
            seed: of the draws of scenes from now on.
            scenes: the scene of each row, an index into the pool; drawn if None.
        """
        self.np_random = np.random.default_rng(seed)
        self._begin(np.arange(self.num_envs), scenes)
        return self._columns.copy(), {"seed": self.pool.seeds[self.scenes]}

    def step(
        self, controls: NDArray[np.int64]
    ) -> tuple[Columns, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Apply a control in every row, and begin a new episode in those that ended."""
        if controls.shape != (self.num_envs,) or controls.min() < 0 or controls.max() >= len(CONTROLS):
            raise BadInputError(f"a step takes {self.num_envs} controls between 0 and {len(CONTROLS) - 1}")
        pool, horizon = self.pool, self.pool.task.horizon
        masks, changed, ended = _step_all(pool.layouts, pool.atoms, self.scenes, controls, self.states)
        self._read(masks)
        self.steps += 1
        self._observe(np.flatnonzero(changed))
        succeeded = self._automaton_states == ACCEPTED
        rewards = np.where(succeeded, 1 - 0.9 * self.steps / horizon, 0.0)
        terminated, truncated = succeeded | ended, self.steps >= horizon
        over, info = np.flatnonzero(terminated | truncated), dict[str, Any]()
        if len(over):
            info["final_obs"] = self._columns.copy()
            self._begin(over)
        info["seed"] = pool.seeds[self.scenes]
        return self._columns.copy(), rewards, terminated, truncated, info

    def forget(self) -> Columns:
        """Empty the bank of all but the present observations; the columns with their new indices."""
        self.bank.clear()
        self._observe(np.arange(self.num_envs))
        return self._columns.copy()

    def _begin(self, rows: NDArray[np.int64], scenes: Sequence[int] | None = None) -> None:
        """Begin episodes in some rows, in scenes that are drawn unless given."""
        self.scenes[rows] = self.np_random.integers(len(self.pool), size=len(rows)) if scenes is None else scenes
        self.states[rows] = self.pool.states[self.scenes[rows]]
        self._automaton_states[rows] = 0
        self.steps[rows] = 0
        self._observe(rows)

    def _read(self, masks: NDArray[np.uint64]) -> None:
        """Let the rule read the label of every row, except where it is broken."""
        rule = self.pool.rule
        labels = _find_numbers(rule.masks, masks)
        if (labels == NEW_MASK).any():
            labels = np.array([rule.number(mask) for mask in masks.tolist()])
        live = self._automaton_states != DEAD
        self._automaton_states[live] = rule.table.rows[labels[live], self._automaton_states[live]]

    def _observe(self, changed: NDArray[np.int64]) -> None:
        """Update the columns, given the rows whose grid may have changed."""
        layouts = self.pool.layouts
        self._columns[:, PLACE] = self.states[:, physics.AGENT] * physics.HEADINGS + self.states[:, physics.DIRECTION]
        self._columns[:, CARRIED] = _hands(layouts, self.scenes, self.states)
        if len(changed):
            cells = self.pool.size[0] * self.pool.size[1]
            drawn = draw_grids(layouts, self.scenes[changed], self.states[changed], cells)
            self._columns[changed, GRID] = self.bank.number(drawn)


@njit(cache=True, nogil=True)
def _step_all(
    layouts: NDArray[np.int32],
    atoms: NDArray[np.int32],
    scenes: NDArray[np.int64],
    controls: NDArray[np.int64],
    fields: NDArray[np.int32],
) -> tuple[NDArray[np.uint64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Apply one control to every row; `fields`, shape [rows, most fields], become those of the next states.

    Returns:
        Of each row the label mask of the transition, whether the grid may have changed, and whether the agent stands on
        a goal or on lava; shape [rows] each.
    """
    masks = np.empty(scenes.size, np.uint64)
    changed, ended = np.empty(scenes.size, np.bool_), np.empty(scenes.size, np.bool_)
    for i in range(scenes.size):
        layout = layouts[scenes[i]]
        moved = physics.apply_control(layout, fields[i], controls[i])
        changed[i] = moved and controls[i] >= physics.PICKUP  # turning and moving leave the grid as it is
        ended[i] = physics.is_final(layout, fields[i])
        masks[i] = label_mask(layout, atoms[scenes[i]], fields[i], controls[i] if moved else NOTHING)
    return masks, changed, ended


@njit(cache=True, nogil=True)
def _find_numbers(known: NDArray[np.uint64], masks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The number of each mask, or `NEW_MASK`: [masks] -> [masks]; see `MaskNumbers`."""
    numbers = np.empty(masks.size, np.int64)
    for i in range(masks.size):
        numbers[i] = find_number(known, masks[i])
    return numbers


@njit(cache=True, nogil=True)
def _hands(layouts: NDArray[np.int32], scenes: NDArray[np.int64], fields: NDArray[np.int32]) -> NDArray[np.int64]:
    """What the agent of every row carries, an index into `HANDS`; shape [rows]."""
    hands = np.empty(scenes.size, np.int64)
    for i in range(scenes.size):
        hands[i] = hand_shown(layouts[scenes[i]], fields[i])
    return hands
