"""The paper's network over states: against its picture in the paper, and against one scene at a time."""

import numpy as np
import pytest
import torch
from strategies_baselines import ROOM, doorkey_world, map_network, random_network, room_encoder

from experiments.baselines.grid_encoder import GridNetwork, MapEncoder, grid_encoder
from experiments.baselines.network import FrozenNetwork, Observations, join
from experiments.baselines.validation import FIRST_VALIDATION_SEED, validation_seeds
from experiments.vector.vector_environment import CompiledVectorEnv, compile_scenes
from wfairl.core.demonstrations import FIRST_TRAINING_SEED, Dataset, Demonstration
from wfairl.core.demonstrations.collection import SCENES_PER_COLLECTION
from wfairl.core.support.errors import BadInputError
from wfairl.minigrid.grid_network import OtherMapError
from wfairl.minigrid.grid_view import view_states


def all_states(size: int, seed: int):
    world = doorkey_world(size, seed)
    return world, world.explore().states


def observe(world, states):
    """The states of a scene on its whole map."""
    return MapEncoder(*world.size).for_world(world)([world.unpack(words) for words in states])


def concatenated(network, grids, cells, directions, carried):
    """The network the way the paper draws it, one concatenated input per row."""
    parts = (network.convolution(grids), network.position(cells), network.direction(directions))
    return network.head.from_hidden(network.dense(torch.cat([*parts, network.carried(carried)], dim=1)))


def test_sums_of_tables_give_what_the_concatenated_network_gives():
    network = map_network(6, seed=0)
    world, states = all_states(6, 0)
    view = view_states(world, states)
    batch = observe(world, states)
    parts = (view.cells, view.directions, view.carried)
    slow = concatenated(
        network, torch.from_numpy(view.grids[view.grid_numbers]), *(torch.from_numpy(part) for part in parts)
    )
    fast = network(batch)
    assert fast.shape == (len(states), 6)
    assert fast.std(dim=0).min() > 1e-3
    torch.testing.assert_close(fast, slow, atol=1e-10, rtol=0)


def test_the_gradient_does_not_depend_on_how_the_network_is_computed():
    network = map_network(5, seed=1)
    world, states = all_states(5, 1)
    view, batch = view_states(world, states), observe(world, states)
    parts = (torch.from_numpy(part) for part in (view.cells, view.directions, view.carried))
    slow = concatenated(network, torch.from_numpy(view.grids[view.grid_numbers]), *parts)
    weights = torch.from_numpy(np.random.default_rng(0).normal(size=slow.shape))
    parameters = list(network.parameters())
    expected = torch.autograd.grad((slow * weights).sum(), parameters)
    found = torch.autograd.grad((network(batch) * weights).sum(), parameters)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("outputs", [5, 6])
def test_a_network_starts_at_zero(outputs):
    world, states = all_states(5, 0)
    assert (MapEncoder(5, 5).make_network(outputs)(observe(world, states)) == 0).all()
    room, encoder = ROOM.make_world(0), room_encoder()
    found = encoder.make_network(outputs)(encoder.for_world(room)(range(20)))
    assert found.shape == (20, outputs)
    assert set(found.unique().tolist()) == {0.0, -np.inf}


def test_several_scenes_give_what_each_gives_alone():
    network = map_network(5, seed=2)
    alone = [observe(*all_states(5, seed)) for seed in (0, 1, 0)]
    torch.testing.assert_close(network(join(alone)), torch.cat([network(batch) for batch in alone]))


def test_maps_that_a_network_cannot_take_are_named():
    world, _ = all_states(6, 0)
    with pytest.raises(OtherMapError, match=r"5 x 5 .* 6 x 6"):
        MapEncoder(5, 5).for_world(world)
    with pytest.raises(OtherMapError, match="MiniGrid scenes"):
        grid_encoder("map", ROOM.make_world(0), 3)
    with pytest.raises(BadInputError, match="too small"):
        GridNetwork(3, 8, 6)


@pytest.mark.parametrize("outputs", [5, 6])
def test_a_frozen_network_is_the_network_also_for_states_that_come_later(outputs):
    environment = CompiledVectorEnv(compile_scenes(ROOM, range(4)), 6)
    columns, _ = environment.reset(seed=0)
    encoder, rng = room_encoder(), np.random.default_rng(0)
    batch, network = encoder.for_batch(environment), random_network(encoder, outputs)
    frozen = FrozenNetwork(network, batch.bank)
    for _ in range(30):
        encoded = batch.encode(columns)
        outputs = frozen(torch.from_numpy(encoded))
        seen = Observations(torch.from_numpy(batch.bank.entries), torch.from_numpy(encoded))
        torch.testing.assert_close(outputs, network(seen))
        assert not outputs.requires_grad
        columns, *_ = environment.step((outputs[:, :5] + torch.from_numpy(rng.gumbel(size=(6, 5)))).argmax(1).numpy())


def test_validation_scenes_are_no_test_and_no_training_scenes():
    taken = FIRST_VALIDATION_SEED + 1
    walk = Demonstration((), (), 1.0, taken)
    seeds = validation_seeds(20, Dataset("doorkey", (walk,)))
    assert len(set(seeds)) == 20
    assert taken not in seeds
    assert min(seeds) >= FIRST_TRAINING_SEED + 3 * SCENES_PER_COLLECTION  # beyond the collections of the paper's rows
