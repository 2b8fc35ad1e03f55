"""What tests of the baselines share: a small world that is no grid to MiniGrid, and networks that do not start at 0."""

import numpy as np
import torch

from experiments.baselines.feature_encoder import FeatureEncoder
from experiments.baselines.grid_encoder import GridEncoder
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.worlds import ModelTask
from wfairl.minigrid import AgentOn, MiniGridWorld
from wfairl.minigrid.environment import make_environment, reset

STEPS = ((0, -1), (0, 1), (-1, 0), (1, 0))


class Room:
    """Fetch a parcel and bring it to the dock; no control leads beyond the border. States are (y, x, has parcel)."""

    controls = ("left", "right", "up", "down", "grab")
    propositions = ("parcel", "dock")

    def __init__(self, seed, size=5):
        cells = np.random.default_rng(seed).permutation(size * size)[:3].tolist()
        self.parcel, self.dock, start = (divmod(cell, size) for cell in cells)
        self.size, self.initial_state = size, (*start, False)

    def is_available(self, state, control):
        y, x, _ = state
        return (x > 0, x < self.size - 1, y > 0, y < self.size - 1, True)[control]

    def step(self, state, control):
        y, x, has = state
        if self.controls[control] == "grab":
            return y, x, has or (y, x) == self.parcel
        return y + STEPS[control][0], x + STEPS[control][1], has

    def label(self, state, control, next_state):
        y, x, has = next_state
        return frozenset({name for name, holds in (("parcel", has), ("dock", (y, x) == self.dock)) if holds})

    def features(self, state, control, next_state):
        return np.array([1.0, 100.0 * (control == 4)])


ROOM = ModelTask("room", "fetch the parcel", ("parcel", "dock"), visit_in_order("parcel", "dock"), 40, Room)


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


def room_encoder(seed=0, radius=4):
    return FeatureEncoder.of(ROOM.make_world(seed), radius)


def doorkey_world(size, seed):
    environment = make_environment(f"MiniGrid-DoorKey-{size}x{size}-v0")
    reset(environment, seed)
    return MiniGridWorld.from_environment(environment, {"goal": AgentOn("goal")})
