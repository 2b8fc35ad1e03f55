"""A pool of MiniGrid scenes: layouts, atoms and states as rows of arrays, stepped by one kernel.

The observation of a row is three integers (number of its grid, cell * 4 + direction, what is carried), as the paper's
network takes them. The grids are in a bank of distinct ones, so that a network convolves each only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from experiments.vector.batches import ENDED, RUNNING, SUCCEEDED, Bank, Columns, Rows
from wfairl.core.automata.automaton import ACCEPTED, DEAD
from wfairl.core.support.compiling import njit
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task, rule_of
from wfairl.minigrid import physics
from wfairl.minigrid.atoms import label_mask
from wfairl.minigrid.labeller import NEW_MASK, MaskNumbers, find_number
from wfairl.minigrid.physics import (
    CONTROLS,
    NOTHING,
    LayoutTable,
    apply_control,
    carried_object,
    cell_entry,
    object_entry,
    unpack,
)
from wfairl.minigrid.world import MiniGridWorld

GRID, PLACE, CARRIED = range(3)
"""Columns of an observation: number of its grid, cell * 4 + direction, index into `HANDS`."""

TYPE_OF_KIND = tuple(map(physics.CELL_TYPES.index, physics.OBJECTS))


@dataclass(frozen=True, eq=False)
class MiniGridPool:
    """Scenes of one task in MiniGrid; a state is its fields, padded to the most that a scene has.

    Attributes:
        task: the task.
        controls: the names of the controls.
        seeds: the scenes, shape [scenes] of int64.
        states: the initial state of each scene, shape [scenes, state width] of int32.
        height, width: of their maps.
        layouts: the table of each scene's layout, padded; shape [scenes, longest] of int32.
        atoms: the atoms of each scene's labels, shape [scenes, propositions, 5] of int32.
        rule: the task's rule, by the label masks met so far.
    """

    task: Task
    controls: tuple[str, ...]
    seeds: NDArray[np.int64]
    states: NDArray[np.int32]
    height: int
    width: int
    layouts: NDArray[np.int32]
    atoms: NDArray[np.int32]
    rule: MaskNumbers

    COLUMNS: ClassVar[int] = 3
    """Integers in the observation of a row."""

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
            rule=MaskNumbers(rule_of(task), worlds[0].propositions),
        )

    def __len__(self) -> int:
        """The number of scenes."""
        return len(self.seeds)

    def take(self, scenes: NDArray[np.int64]) -> MiniGridPool:
        """The pool of some of the scenes, given as indices; one that occurs twice is drawn twice as often."""
        return replace(
            self,
            seeds=self.seeds[scenes],
            states=self.states[scenes],
            layouts=self.layouts[scenes],
            atoms=self.atoms[scenes],
        )

    def step(self, rows: Rows, controls: NDArray[np.int64]) -> None:
        """Apply a control to every row, in place."""
        ended = np.empty(len(controls), bool)
        masks = step_all(self.layouts, self.atoms, rows.scenes, controls, rows.states, rows.changed, ended)
        labels = _number_all(self.rule, masks)
        read_all(self.rule.rows, labels, ended, rows.automaton_states, rows.outcomes)

    def make_bank(self) -> Bank:
        """An empty bank for the distinct grids of a batch."""
        return Bank((self.height, self.width), np.uint8)

    def observe(self, rows: Rows, changed: NDArray[np.int64], bank: Bank, columns: Columns) -> None:
        """Update the columns of a batch, given the rows whose grid may have changed."""
        place_all(self.layouts, rows.scenes, rows.states, columns)
        if len(changed):
            cells = self.height * self.width
            drawn = draw_all(self.layouts, rows.scenes[changed], rows.states[changed], cells)
            columns[changed, GRID] = bank.number(drawn)


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
    numbers = find_numbers(rule.slots, masks)
    if (numbers == NEW_MASK).any():
        for mask in masks[numbers == NEW_MASK].tolist():
            rule.number(mask)
        numbers = find_numbers(rule.slots, masks)
    return numbers


@njit(cache=True, nogil=True)
def step_all(
    layouts: NDArray[np.int32],
    atoms: NDArray[np.int32],
    scenes: NDArray[np.int64],
    controls: NDArray[np.int64],
    fields: NDArray[np.int32],
    changed: NDArray[np.bool_],
    ended: NDArray[np.bool_],
) -> NDArray[np.uint64]:
    """Apply one control to every row, in place; the label mask of each transition, shape [rows].

    Args:
        layouts: the table of each scene's layout, shape [scenes, longest].
        atoms: the atoms of each scene's labels, shape [scenes, propositions, 5].
        scenes: the scene of each row, shape [rows].
        controls: shape [rows].
        fields: the states, shape [rows, most fields]; becomes the next states.
        changed: becomes whether the grid may have changed; shape [rows].
        ended: becomes whether the agent stands on a goal or on lava; shape [rows].
    """
    masks = np.empty(scenes.size, np.uint64)
    for i in range(scenes.size):
        layout = layouts[scenes[i]]
        moved = apply_control(layout, fields[i], controls[i])
        changed[i] = moved and controls[i] >= physics.PICKUP  # turning and moving leave the grid as it is
        ended[i] = physics.is_final(layout, fields[i])
        masks[i] = label_mask(layout, atoms[scenes[i]], fields[i], controls[i] if moved else NOTHING)
    return masks


@njit(cache=True, nogil=True)
def read_all(
    rows: NDArray[np.int32],
    labels: NDArray[np.int64],
    ended: NDArray[np.bool_],
    automaton_states: NDArray[np.int32],
    outcomes: NDArray[np.int8],
) -> None:
    """Let the automaton of every row read its label, in place.

    Args:
        rows: automaton state after each label; see `LabelTable`.
        labels, ended: of each row, shape [rows].
        automaton_states: `DEAD` where the rule is broken, shape [rows]; becomes the next ones.
        outcomes: becomes `RUNNING`, `SUCCEEDED` or `ENDED`; shape [rows].
    """
    for i in range(labels.size):
        if automaton_states[i] != DEAD:
            automaton_states[i] = rows[labels[i], automaton_states[i]]
        outcomes[i] = ENDED if ended[i] else RUNNING
        if automaton_states[i] == ACCEPTED:
            outcomes[i] = SUCCEEDED


@njit(cache=True, nogil=True)
def place_all(
    layouts: NDArray[np.int32], scenes: NDArray[np.int64], fields: NDArray[np.int32], columns: NDArray[np.int64]
) -> None:
    """Write where the agent of every row is and what it carries into `columns`, shape [rows, 3]."""
    for i in range(scenes.size):
        layout = layouts[scenes[i]]
        columns[i, PLACE] = fields[i, physics.AGENT] * physics.HEADINGS + fields[i, physics.DIRECTION]
        obj = carried_object(layout, fields[i])
        columns[i, CARRIED] = 0 if obj == NOTHING else 1 + object_entry(layout, obj, physics.OBJECT_KIND)


@njit(cache=True, nogil=True)
def draw_all(
    layouts: NDArray[np.int32], scenes: NDArray[np.int64], fields: NDArray[np.int32], cells: int
) -> NDArray[np.uint8]:
    """The grids of rows, an index into `CELL_TYPES` per cell; shape [rows, cells]."""
    grids = np.empty((scenes.size, cells), np.uint8)
    for i in range(scenes.size):
        _draw(layouts[scenes[i]], fields[i], grids[i])
    return grids


@njit(cache=True, nogil=True)
def _draw(layout: LayoutTable, fields: NDArray[np.int32], grid: NDArray[np.uint8]) -> None:
    for cell in range(layout[physics.CELLS]):
        terrain = cell_entry(layout, cell, physics.TERRAIN)
        grid[cell] = terrain
        if terrain == physics.DOOR:
            state = physics.door_state(layout, fields, cell_entry(layout, cell, physics.DOOR_AT))
            shut = physics.LOCKED_DOOR if state & physics.IS_LOCKED else physics.CLOSED_DOOR
            grid[cell] = physics.OPEN_DOOR if state & physics.IS_OPEN else shut
    for obj in range(layout[physics.OBJECTS_COUNT]):
        place = fields[physics.FIRST_OBJECT + obj]
        if place < layout[physics.CELLS]:
            grid[place] = TYPE_OF_KIND[object_entry(layout, obj, physics.OBJECT_KIND)]


@njit(cache=True, nogil=True)
def find_numbers(slots: NDArray[np.uint64], masks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The number of each mask, or `NEW_MASK`: [masks] -> [masks]; see `MaskNumbers`."""
    numbers = np.empty(masks.size, np.int64)
    for i in range(masks.size):
        numbers[i] = find_number(slots, masks[i])
    return numbers
