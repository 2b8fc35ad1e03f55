"""What tests of the baselines share: networks that do not start at 0."""

import torch

from experiments.baselines.network import GridEncoder
from wfairl.minigrid import AgentOn, MiniGridWorld
from wfairl.minigrid.environment import make_environment, reset


def random_network(encoder, outputs=None, seed=0):
    """A network that does not start at 0."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = encoder.make_network(len(encoder.controls) if outputs is None else outputs)
        for parameter in network.parameters():
            torch.nn.init.normal_(parameter, std=0.1)
    return network


def grid_network(radius, seed, outputs=6):
    """One of the paper's networks for the map around the agent, in double precision."""
    return random_network(GridEncoder(radius), outputs, seed).double()


def doorkey_world(size, seed):
    environment = make_environment(f"MiniGrid-DoorKey-{size}x{size}-v0")
    reset(environment, seed)
    return MiniGridWorld.from_environment(environment, {"goal": AgentOn("goal")})
