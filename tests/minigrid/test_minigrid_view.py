"""The arrays that cost networks read, against MiniGrid's own encoding of the same states."""

import numpy as np
import pytest
from minigrid.core.constants import IDX_TO_OBJECT

from wfairl.minigrid.grid_view import view_states
from wfairl.minigrid.physics import CELL_TYPES, HANDS
from wfairl.minigrid.situations import SITUATION_SIZES, find_situations
from wfairl.minigrid.tasks import PAPER_TASKS

DOOR_STATES = ("open door", "closed door", "locked door")
AHEAD = ((1, 0), (0, 1), (-1, 0), (0, -1))


def cell_type(code) -> str:
    kind = IDX_TO_OBJECT[int(code[0])]
    return DOOR_STATES[int(code[2])] if kind == "door" else kind


@pytest.mark.parametrize("task", PAPER_TASKS, ids=lambda task: task.name)
def test_views_and_situations_agree_with_minigrids_own_encoding(task):
    rng = np.random.default_rng(0)
    world = task.make_world(3)
    visited = {world.initial_state}
    for _ in range(40):  # paths that pick up, drop and open more often than a uniform random walk
        state = world.initial_state
        for _ in range(60):
            state = world.step(state, int(rng.choice(6, p=[0.15, 0.15, 0.4, 0.1, 0.05, 0.15])))
            visited.add(state)
    states = sorted(visited)
    packed = np.array([world.pack(state) for state in states])
    view, situations = view_states(world, packed), find_situations(world.layout.table, packed)
    assert len(view.grids) == len(np.unique(view.grids, axis=0))
    for i, state in enumerate(states):
        scene = world.encode(state)
        x, y = scene.position
        grid = [[CELL_TYPES[code] for code in row] for row in view.grids[view.grid_numbers[i]]]
        assert grid == [[cell_type(code) for code in column] for column in scene.grid.transpose(1, 0, 2)]
        assert (view.cells[i], view.directions[i]) == (y * world.layout.width + x, scene.direction)
        assert HANDS[view.carried[i]] == ("nothing" if scene.carried is None else IDX_TO_OBJECT[scene.carried[0]])
        dx, dy = AHEAD[scene.direction]
        under, _, _, ahead, hand = np.unravel_index(situations[i], SITUATION_SIZES)
        assert CELL_TYPES[under] == cell_type(scene.grid[x, y])
        assert CELL_TYPES[ahead] == cell_type(scene.grid[x + dx, y + dy])
        assert hand == view.carried[i]
    assert len(view.grids) > 1
