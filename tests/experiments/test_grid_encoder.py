"""What a network is shown, against real MiniGrid scenes that were turned and mirrored by hand."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from minigrid.core.grid import Grid

from experiments.baselines.cloning import find_encoder
from experiments.baselines.network import GridEncoder
from wfairl.core.planning.path import follow
from wfairl.minigrid.environment import make_environment, reset
from wfairl.minigrid.physics import WALL
from wfairl.minigrid.world import MiniGridWorld

SIZE = 6
WALKS = 30
STEPS = 25
EXCHANGED = np.array([1, 0, 2, 3, 4, 5])  # left and right


def turned_world(seed: int, place: Callable[[int, int], tuple[int, int]], direction: Callable[[int], int]):
    """A DoorKey scene whose cells and agent were put elsewhere, and the scene as it was."""
    environment = make_environment(f"MiniGrid-DoorKey-{SIZE}x{SIZE}-v0")
    reset(environment, seed)
    before = MiniGridWorld.from_environment(environment)
    scene = environment.unwrapped
    turned = Grid(SIZE, SIZE)
    for x in range(SIZE):
        for y in range(SIZE):
            turned.set(*place(x, y), scene.grid.get(x, y))
    scene.grid = turned
    scene.agent_pos = place(*map(int, scene.agent_pos))
    scene.agent_dir = direction(int(scene.agent_dir))
    return before, MiniGridWorld.from_environment(environment)


def walks(seed: int):
    rng = np.random.default_rng(seed)
    return [rng.choice(6, STEPS, p=[0.15, 0.15, 0.4, 0.1, 0.05, 0.15]) for _ in range(WALKS)]


def states_along(world: MiniGridWorld, controls) -> list:
    return list(follow(world, controls.tolist()).states)


def shown(batch) -> list:
    """What is shown of each state, with grids in place of their numbers."""
    return [(batch.bank[number].tolist(), place, hands) for number, place, hands in batch.columns.tolist()]


@pytest.mark.parametrize("seed", range(3))
def test_a_scene_and_its_mirror_image_look_the_same_in_a_mirror(seed):
    world, image = turned_world(seed, lambda x, y: (SIZE - 1 - x, y), lambda direction: (2, 1, 0, 3)[direction])
    encoder = GridEncoder(3)
    for controls in walks(seed):
        seen = encoder.for_world(world)(states_along(world, controls)[:-1])
        mirrored, exchanged = encoder.mirrored(seen, torch.from_numpy(controls))
        assert exchanged.tolist() == EXCHANGED[controls].tolist()
        assert shown(mirrored) == shown(encoder.for_world(image)(states_along(image, EXCHANGED[controls])[:-1]))


@pytest.mark.parametrize("seed", range(3))
def test_the_agent_cannot_tell_which_way_its_scene_was_turned(seed):
    world, quarter = turned_world(seed, lambda x, y: (SIZE - 1 - y, x), lambda direction: (direction + 1) % 4)
    encoder = GridEncoder(4)
    for controls in walks(seed):
        one, other = (encoder.for_world(scene)(states_along(scene, controls)) for scene in (world, quarter))
        assert shown(one) == shown(other)


def test_the_agent_stands_in_the_middle_and_walks_towards_the_top():
    world, _ = turned_world(0, lambda x, y: (x, y), lambda direction: direction)
    encoder = GridEncoder(SIZE)
    for controls in walks(1):
        states = states_along(world, controls)
        batch = encoder.for_world(world)(states)
        number, place, _ = batch.columns.T
        grids = batch.bank[number].numpy()
        assert set(place.tolist()) == {(SIZE * (2 * SIZE + 1) + SIZE) * 4 + 3}
        for t, control in enumerate(controls):
            moved = control == 2 and states[t] != states[t + 1]
            if moved:  # what lay ahead comes nearer by one cell, and walls fill up what was beyond the map
                assert (grids[t + 1, 1:] == grids[t, :-1]).all()
            if grids[t, SIZE - 1, SIZE] == WALL:
                assert not moved


def test_the_agent_sees_no_further_than_its_map():
    world, _ = turned_world(0, lambda x, y: (x, y), lambda direction: direction)
    assert find_encoder(world, 9) == GridEncoder(SIZE - 1)  # from where it sees everything
    assert find_encoder(world, 2) == GridEncoder(2)
