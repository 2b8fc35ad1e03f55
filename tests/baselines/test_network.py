"""The paper's network over states: against its picture in the paper, and against one scene at a time."""

import numpy as np
import pytest
import torch
from strategies_learning import TwoPaths, doorkey_world
from wfairl.baselines.scenes import FIRST_VALIDATION_SEED, validation_seeds

from wfairl.baselines.network import StateNetwork, map_size, observe
from wfairl.demonstrations import FIRST_TRAINING_SEED, Dataset, Demonstration
from wfairl.demonstrations.collection import SCENES_PER_COLLECTION
from wfairl.errors import BadInputError
from wfairl.learning.grid_network import OtherMapError
from wfairl.worlds.minigrid.view import view_states


def random_network(size: int, seed: int, outputs: int = 6) -> StateNetwork:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = StateNetwork(size, size, outputs).double()
        torch.nn.init.normal_(network.head.last.weight)
        torch.nn.init.normal_(network.head.last.bias)
    return network


def all_states(size: int, seed: int):
    world = doorkey_world(size, seed)
    return world, world.explore().states


def test_sums_of_tables_give_what_the_concatenated_network_gives():
    network = random_network(6, seed=0)
    world, states = all_states(6, 0)
    view = view_states(world, states)
    batch = observe([(world, states)])
    parts = (view.cells, view.directions, view.carried)
    slow = network.concatenated(
        torch.from_numpy(view.grids[view.grid_numbers]), *(torch.from_numpy(part) for part in parts)
    )
    fast = network(batch.grids, batch.columns)
    assert fast.shape == (len(states), 6)
    assert fast.std(dim=0).min() > 1e-3
    torch.testing.assert_close(fast, slow, atol=1e-10, rtol=0)


def test_the_gradient_does_not_depend_on_how_the_network_is_computed():
    network = random_network(5, seed=1)
    world, states = all_states(5, 1)
    view, batch = view_states(world, states), observe([(world, states)])
    parts = (torch.from_numpy(part) for part in (view.cells, view.directions, view.carried))
    slow = network.concatenated(torch.from_numpy(view.grids[view.grid_numbers]), *parts)
    weights = torch.from_numpy(np.random.default_rng(0).normal(size=slow.shape))
    parameters = list(network.parameters())
    expected = torch.autograd.grad((slow * weights).sum(), parameters)
    found = torch.autograd.grad((network(batch.grids, batch.columns) * weights).sum(), parameters)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


def test_a_network_starts_at_zero():
    world, states = all_states(5, 0)
    batch = observe([(world, states)])
    assert (StateNetwork(5, 5, 3)(batch.grids, batch.columns) == 0).all()


def test_several_scenes_give_what_each_gives_alone_and_share_their_grids():
    network = random_network(5, seed=2)
    scenes = [all_states(5, seed) for seed in (0, 1, 0)]
    together = observe(scenes)
    alone = [observe([scene]) for scene in scenes]
    expected = torch.cat([network(batch.grids, batch.columns) for batch in alone])
    torch.testing.assert_close(network(together.grids, together.columns), expected)
    assert len(together.grids) == len(torch.unique(together.grids, dim=0)) < sum(len(batch.grids) for batch in alone)


def test_maps_that_a_network_cannot_take_are_named():
    with pytest.raises(OtherMapError, match=r"5 x 5 and 6 x 6"):
        observe([all_states(5, 0), all_states(6, 0)])
    with pytest.raises(OtherMapError, match="MiniGrid scenes"):
        map_size(TwoPaths().product().world)
    with pytest.raises(BadInputError, match="too small"):
        StateNetwork(3, 8, 6)
    assert map_size(doorkey_world(6, 0)) == (6, 6)


def test_scenes_for_validation_are_no_test_and_no_training_scenes():
    taken = FIRST_VALIDATION_SEED + 1
    walk = Demonstration((0,), (), (), 1.0, taken)
    seeds = validation_seeds(20, Dataset("doorkey", (walk,)))
    assert len(set(seeds)) == 20
    assert taken not in seeds
    assert min(seeds) >= FIRST_TRAINING_SEED + 3 * SCENES_PER_COLLECTION  # beyond the collections of the paper's rows
