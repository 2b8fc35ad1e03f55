"""The paper's network over states: against its picture in the paper, and against one scene at a time."""

import numpy as np
import pytest
import torch
from strategies_baselines import doorkey_world, grid_network

from experiments.baselines.cloning import Steps, concatenate
from experiments.baselines.network import GridEncoder, GridNetwork, OtherWorldError
from experiments.baselines.validation import FIRST_VALIDATION_SEED, validation_seeds
from wfairl.core.demonstrations import Dataset, Demonstration
from wfairl.core.support.errors import BadInputError
from wfairl.runs.collection import FIRST_TRAINING_SEED, SCENES_PER_COLLECTION
from wfairl.runs.task_registry import find_task

RADIUS = 3


def all_states(size: int, seed: int):
    world = doorkey_world(size, seed)
    return world, world.explore().states


def observe(world, states):
    return GridEncoder(RADIUS).for_world(world)([world.unpack(words) for words in states])


def concatenated(network, batch):
    """The network the way the paper draws it, one concatenated input per row."""
    numbers, places, carried = batch.columns.T
    parts = (
        network.convolution(batch.bank[numbers]),
        network.position(places // 4),
        network.direction(places % 4),
        network.carried(carried),
    )
    return network.head.from_hidden(network.dense(torch.cat(parts, dim=1)))


def test_sums_of_tables_give_what_the_concatenated_network_gives():
    network, batch = grid_network(RADIUS, seed=0), observe(*all_states(6, 0))
    fast = network(batch)
    assert fast.shape == (len(batch.columns), 6)
    assert fast.std(dim=0).min() > 1e-3
    torch.testing.assert_close(fast, concatenated(network, batch), atol=1e-10, rtol=0)


def test_the_gradient_does_not_depend_on_how_the_network_is_computed():
    network, batch = grid_network(RADIUS, seed=1), observe(*all_states(5, 1))
    slow = concatenated(network, batch)
    weights = torch.from_numpy(np.random.default_rng(0).normal(size=slow.shape))
    parameters = list(network.parameters())
    expected = torch.autograd.grad((slow * weights).sum(), parameters)
    found = torch.autograd.grad((network(batch) * weights).sum(), parameters)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("outputs", [5, 6])
def test_a_network_starts_at_zero(outputs):
    world, states = all_states(5, 0)
    assert (GridEncoder(RADIUS).make_network(outputs)(observe(world, states)) == 0).all()


def test_several_scenes_give_what_each_gives_alone():
    network = grid_network(RADIUS, seed=2)
    alone = [observe(*all_states(5, seed)) for seed in (0, 1, 0)]
    joined = concatenate([Steps(one, torch.zeros(len(one.columns))) for one in alone]).observations
    torch.testing.assert_close(network(joined), torch.cat([network(one) for one in alone]))


def test_worlds_and_grids_that_a_network_cannot_take_are_named():
    with pytest.raises(OtherWorldError, match="MiniGrid scene"):
        GridEncoder(RADIUS).for_world(find_task("office-coffee").make_world(0))
    with pytest.raises(BadInputError, match="too small"):
        GridNetwork(3, 6)


def test_validation_scenes_are_no_test_and_no_training_scenes():
    taken = FIRST_VALIDATION_SEED + 1
    walk = Demonstration((), (), 1.0, taken)
    seeds = validation_seeds(20, Dataset("doorkey", (walk,)))
    assert len(set(seeds)) == 20
    assert taken not in seeds
    assert min(seeds) >= FIRST_TRAINING_SEED + 3 * SCENES_PER_COLLECTION  # beyond the collections of the paper's rows
