"""The arrays that cost networks read, against MiniGrid's own encoding of the same states."""

import numpy as np
import pytest
from minigrid.core.constants import IDX_TO_OBJECT

from wfairl.minigrid.grid_view import view_states
from wfairl.minigrid.physics import CELL_TYPES, HANDS
from wfairl.minigrid.tasks import PAPER_TASKS

DOOR_STATES = ("open door", "closed door", "locked door")
AHEAD = ((1, 0), (0, 1), (-1, 0), (0, -1))


def cell_type(code) -> str:
    kind = IDX_TO_OBJECT[int(code[0])]
    return DOOR_STATES[int(code[2])] if kind == "door" else kind


@pytest.mark.parametrize("task", PAPER_TASKS, ids=lambda task: task.name)
def test_a_view_agrees_with_minigrids_own_encoding(task):
    rng = np.random.default_rng(0)
    world = task.make_world(3)
    visited = {world.initial_state}
    for _ in range(40):  # paths that pick up, drop and open more often than a uniform random walk
        state = world.initial_state
        for _ in range(60):
            state = world.step(state, int(rng.choice(6, p=[0.15, 0.15, 0.4, 0.1, 0.05, 0.15])))
            visited.add(state)
    states = sorted(visited)
    view = view_states(world, np.array([world.pack(state) for state in states]))
    assert len(view.grids) == len(np.unique(view.grids, axis=0))
    for i, state in enumerate(states):
        scene = world.encode(state)
        x, y = scene.position
        grid = [[CELL_TYPES[code] for code in row] for row in view.grids[view.grid_numbers[i]]]
        assert grid == [[cell_type(code) for code in column] for column in scene.grid.transpose(1, 0, 2)]
        assert (view.cells[i], view.directions[i]) == (y * world.layout.width + x, scene.direction)
        assert HANDS[view.carried[i]] == ("nothing" if scene.carried is None else IDX_TO_OBJECT[scene.carried[0]])
        assert CELL_TYPES[view.under[i]] == cell_type(scene.grid[x, y])
        dx, dy = AHEAD[scene.direction]
        assert CELL_TYPES[view.ahead[i]] == cell_type(scene.grid[x + dx, y + dy])
    assert len(view.grids) > 1
