"""Many MiniGrid scenes stepped at once, compiled: one episode a row, each in a scene of its own.

The rules are those of `rules`; here they are only applied to the rows of a batch. Layouts of different
scenes are rows of one table, padded at the end, and so are the fields of their states.
"""

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, DEAD
from wfairl.compiling import njit
from wfairl.worlds.minigrid.atoms import label_mask
from wfairl.worlds.minigrid.mask_numbers import EMPTY_SLOT, mask_slot
from wfairl.worlds.minigrid.rules import (
    AGENT,
    BALL,
    BOX,
    CELLS,
    DIRECTION,
    DOOR,
    DOOR_AT,
    FIRST_OBJECT,
    IS_LOCKED,
    IS_OPEN,
    KEY,
    KIND,
    NOTHING,
    OBJECTS_COUNT,
    PICKUP,
    TERRAIN,
    Table,
    apply_control,
    carried_object,
    cell_entry,
    door_state,
    is_final,
    object_entry,
)
from wfairl.worlds.minigrid.view import CLOSED_DOOR, DIRECTIONS, HANDS, LOCKED_DOOR, OPEN_DOOR, SIGHTS
from wfairl.worlds.scene_pool import ENDED, RUNNING, SUCCEEDED

GRID, PLACE, CARRIED, COLUMNS = range(4)
"""Columns of what a row shows: number of its grid, cell * 4 + direction, index into `HANDS`."""

SIGHT_OF_KIND = tuple(SIGHTS.index(HANDS[1 + kind]) for kind in (KEY, BALL, BOX))


@njit(cache=True, nogil=True)
def step_all(
    layouts: NDArray[np.int32],
    atoms: NDArray[np.int32],
    scenes: NDArray[np.int64],
    controls: NDArray[np.int64],
    fields: NDArray[np.int32],
    masks: NDArray[np.uint64],
    changed: NDArray[np.bool_],
) -> None:
    """Apply one control to every row, in place.

    Args:
        layouts: the table of each scene's layout, shape [scenes, longest].
        atoms: the atoms of each scene's labels, shape [scenes, propositions, 5].
        scenes: the scene of each row, shape [rows].
        controls: shape [rows].
        fields: the states, shape [rows, most fields]; becomes the next states.
        masks: becomes the label mask of each transition, shape [rows].
        changed: becomes whether the grid may have changed; shape [rows].
    """
    for i in range(scenes.size):
        layout = layouts[scenes[i]]
        moved = apply_control(layout, fields[i], controls[i])
        changed[i] = moved and controls[i] >= PICKUP  # to turn and to walk leave the grid as it is
        masks[i] = label_mask(layout, atoms[scenes[i]], fields[i], controls[i] if moved else NOTHING)


@njit(cache=True, nogil=True)
def read_all(
    layouts: NDArray[np.int32],
    mask_slots: NDArray[np.uint64],
    rows: NDArray[np.int32],
    first: int,
    scenes: NDArray[np.int64],
    fields: NDArray[np.int32],
    masks: NDArray[np.uint64],
    automaton_states: NDArray[np.int32],
    outcomes: NDArray[np.int8],
) -> int:
    """Let the automaton of every row, from the first on, read its label, in place.

    Args:
        layouts, scenes, fields, masks: see `step_all`.
        mask_slots, rows: the automaton of the task's rule; see `search.MaskNumbers`.
        first: the row to begin with.
        automaton_states: `DEAD` where the rule is broken, shape [rows]; becomes the next ones.
        outcomes: becomes `RUNNING`, `SUCCEEDED` or `ENDED`; shape [rows].

    Returns:
        The row whose label is not known yet, or the number of rows.
    """
    for i in range(first, scenes.size):
        known = mask_slots[mask_slot(mask_slots, masks[i]), 1]
        if known == EMPTY_SLOT:
            return i
        outcomes[i] = RUNNING
        if automaton_states[i] != DEAD:
            automaton_states[i] = rows[np.int64(known) - 1, automaton_states[i]]
        if automaton_states[i] == ACCEPTED:
            outcomes[i] = SUCCEEDED
        elif is_final(layouts[scenes[i]], fields[i]):
            outcomes[i] = ENDED
    return scenes.size


@njit(cache=True, nogil=True)
def place_all(
    layouts: NDArray[np.int32], scenes: NDArray[np.int64], fields: NDArray[np.int32], columns: NDArray[np.int64]
) -> None:
    """Write where the agent of every row is and what it carries into `columns`, shape [rows, 3]."""
    for i in range(scenes.size):
        layout = layouts[scenes[i]]
        columns[i, PLACE] = fields[i, AGENT] * DIRECTIONS + fields[i, DIRECTION]
        thing = carried_object(layout, fields[i])
        columns[i, CARRIED] = 0 if thing == NOTHING else 1 + object_entry(layout, thing, KIND)


@njit(cache=True, nogil=True)
def draw_all(
    layouts: NDArray[np.int32], scenes: NDArray[np.int64], fields: NDArray[np.int32], cells: int
) -> NDArray[np.uint8]:
    """The grids that rows show, an index into `SIGHTS` a cell; shape [rows, cells]."""
    grids = np.empty((scenes.size, cells), np.uint8)
    for i in range(scenes.size):
        _draw(layouts[scenes[i]], fields[i], grids[i])
    return grids


@njit(cache=True, nogil=True)
def _draw(layout: Table, fields: NDArray[np.int32], grid: NDArray[np.uint8]) -> None:
    for cell in range(layout[CELLS]):
        terrain = cell_entry(layout, cell, TERRAIN)
        grid[cell] = terrain
        if terrain == DOOR:
            state = door_state(layout, fields, cell_entry(layout, cell, DOOR_AT))
            shut = LOCKED_DOOR if state & IS_LOCKED else CLOSED_DOOR
            grid[cell] = OPEN_DOOR if state & IS_OPEN else shut
    for thing in range(layout[OBJECTS_COUNT]):
        place = fields[FIRST_OBJECT + thing]
        if place < layout[CELLS]:
            grid[place] = SIGHT_OF_KIND[object_entry(layout, thing, KIND)]
