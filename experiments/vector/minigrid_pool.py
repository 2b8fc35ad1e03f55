"""A pool of MiniGrid scenes: layouts, atoms and states as rows of arrays, stepped by one kernel.

The observation of a row is three integers (number of its grid, cell * 4 + direction, what is carried), as the paper's
network takes them. The grids are in a bank of distinct ones, so that a network convolves each only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from experiments.vector import minigrid_batch as batch
from experiments.vector.scene_pool import Bank, Columns, Rows, ScenePool
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task
from wfairl.minigrid.labeller import NO_NUMBER, MaskNumbers
from wfairl.minigrid.physics import CONTROLS, unpack
from wfairl.minigrid.world import MiniGridWorld


@dataclass(frozen=True, eq=False)
class MiniGridPool(ScenePool):
    """Scenes in MiniGrid; a state is its fields, padded to the most that a scene has.

    Attributes:
        height, width: of their maps.
        layouts: the table of each scene's layout, padded; shape [scenes, longest] of int32.
        atoms: the atoms of each scene's labels, shape [scenes, propositions, 5] of int32.
        rule: the task's rule, by the label masks met so far.
    """

    height: int
    width: int
    layouts: NDArray[np.int32]
    atoms: NDArray[np.int32]
    rule: MaskNumbers

    PER_SCENE: ClassVar[tuple[str, ...]] = (*ScenePool.PER_SCENE, "layouts", "atoms")
    COLUMNS: ClassVar[int] = batch.COLUMNS

    @classmethod
    def of(cls, task: Task, seeds: Sequence[int], worlds: Sequence[MiniGridWorld]) -> MiniGridPool:
        """The pool of the worlds of some seeds.

        Raises:
            BadInputError: the scenes have maps of different sizes.
        """
        sizes = sorted({world.size for world in worlds})
        if len(sizes) > 1:
            raise BadInputError(
                f"the scenes of the task {task.name!r} have maps of "
                f"{' and '.join(f'{height} x {width}' for height, width in sizes)} cells; a batch needs one size"
            )
        return cls(
            task=task,
            controls=tuple(CONTROLS),
            seeds=np.array(seeds, np.int64),
            states=_padded([_initial_fields(world) for world in worlds]),
            height=sizes[0][0],
            width=sizes[0][1],
            layouts=_padded([world.layout.table for world in worlds]),
            atoms=np.stack([world.labeller.atoms for world in worlds]),
            rule=MaskNumbers(task.rule, worlds[0].propositions),
        )

    def step(self, rows: Rows, controls: NDArray[np.int64]) -> None:
        ended = np.empty(len(controls), bool)
        masks = batch.step_all(self.layouts, self.atoms, rows.scenes, controls, rows.states, rows.changed, ended)
        labels = _number_all(self.rule, masks)
        batch.read_all(self.rule.rows, labels, ended, rows.automaton_states, rows.outcomes)

    def make_bank(self) -> Bank:
        """See `ScenePool`; the bank holds the distinct grids."""
        return Bank((self.height, self.width), np.uint8)

    def observe(self, rows: Rows, changed: NDArray[np.int64], bank: Bank, columns: Columns) -> None:
        batch.place_all(self.layouts, rows.scenes, rows.states, columns)
        if len(changed):
            cells = self.height * self.width
            drawn = batch.draw_all(self.layouts, rows.scenes[changed], rows.states[changed], cells)
            columns[changed, batch.GRID] = bank.number(drawn)


def _initial_fields(world: MiniGridWorld) -> NDArray[np.int32]:
    fields = np.empty(world.layout.largest_values.size, np.int32)
    unpack(world.layout.table, world.pack(world.initial_state), fields)
    return fields


def _padded(rows: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    table = np.zeros((len(rows), max(map(len, rows))), np.int32)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


def _number_all(rule: MaskNumbers, masks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The numbers of masks: [masks] -> [masks]. New masks get one in their order."""
    numbers = batch.find_numbers(rule.slots, masks)
    if (numbers == NO_NUMBER).any():
        for mask in masks[numbers == NO_NUMBER].tolist():
            rule.number(mask)
        numbers = batch.find_numbers(rule.slots, masks)
    return numbers
