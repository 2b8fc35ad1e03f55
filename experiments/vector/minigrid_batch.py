"""Many MiniGrid scenes stepped at once, compiled: one episode per row, each in a scene of its own.

Layouts of different scenes are rows of one table, padded at the end, and so are the fields of their states.
"""

import numpy as np
from numpy.typing import NDArray

from experiments.vector.scene_pool import ENDED, RUNNING, SUCCEEDED
from wfairl.core.automata.automaton import ACCEPTED, DEAD
from wfairl.core.support.compiling import njit
from wfairl.minigrid import physics
from wfairl.minigrid.atoms import label_mask
from wfairl.minigrid.labeller import find_number
from wfairl.minigrid.physics import NOTHING, LayoutTable, apply_control, carried_object, cell_entry, object_entry

GRID, PLACE, CARRIED, COLUMNS = range(4)
"""Columns of an observation: number of its grid, cell * 4 + direction, index into `HANDS`."""

TYPE_OF_KIND = tuple(map(physics.CELL_TYPES.index, physics.OBJECTS))


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
    """The number of each mask, or `NO_NUMBER`: [masks] -> [masks]; see `MaskNumbers`."""
    numbers = np.empty(masks.size, np.int64)
    for i in range(masks.size):
        numbers[i] = find_number(slots, masks[i])
    return numbers
