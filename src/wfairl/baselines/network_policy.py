"""A policy that a network has by heart: it looks at the state, and plans nothing.

    pi(u | x) proportional to exp(logit_u(x) / temperature)

At temperature 1 it acts as it was trained, at 0 it takes the likeliest control (the first of equals).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wfairl.baselines.network import StateNetwork, minigrid
from wfairl.baselines.sight import Sight
from wfairl.planning.agent import Status
from wfairl.worlds.minigrid import MiniGridWorld
from wfairl.worlds.world import Label, World


@dataclass(frozen=True)
class NetworkPolicy:
    """See `evaluation.policies.Policy`.

    Attributes:
        name: what people call it.
        network: one logit a control.
        sight: what the network is shown.
        temperature: of the softmax.
    """

    name: str
    network: StateNetwork
    sight: Sight
    temperature: float

    def actor(self, world: World[Any], rng: np.random.Generator) -> "NetworkActor":
        """See `Policy`.

        Raises:
            OtherMapError: the network does not fit the world.
        """
        return NetworkActor(self, minigrid(world), rng, world.initial_state)


@dataclass
class NetworkActor:
    """See `evaluation.policies.Actor`; what it has looked at once it remembers for the episode."""

    policy: NetworkPolicy
    world: MiniGridWorld
    rng: np.random.Generator
    state: int
    logits: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _ = self.probabilities()  # a world that does not fit is refused at once

    def choose(self) -> int:
        """See `Actor`."""
        return int(self.rng.choice(len(self.world.controls), p=self.probabilities()))

    def probabilities(self) -> NDArray[np.float64]:
        """See `Actor`."""
        if self.state not in self.logits:
            self.logits[self.state] = self._look()
        return softmax(self.logits[self.state], self.policy.temperature)

    def observe(self, state: Any, label: Label) -> Status:  # noqa: ARG002 - it has no logic to keep track of
        """See `Actor`."""
        self.state = state
        return Status.RUNNING

    @torch.no_grad()
    def _look(self) -> NDArray[np.float64]:
        batch = self.policy.sight.look(self.world, self.world.pack(self.state)[None])
        return self.policy.network(batch.grids, batch.columns)[0].double().numpy()


def softmax(logits: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """The chance of each control, shape [controls]; at temperature 0 the likeliest, the first of equals."""
    if temperature == 0:
        return np.eye(len(logits))[logits.argmax()]
    weights = np.exp((logits - logits.max()) / temperature)
    return weights / weights.sum()
