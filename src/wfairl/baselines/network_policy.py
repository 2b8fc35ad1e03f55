"""A policy that networks have by heart: they look at the state, and plan nothing.

Several networks of one training form a committee, which acts with the mean of their probabilities:

    p(u | x) = mean over networks of softmax(logits(x))_u,     pi(u | x) proportional to p(u | x)^(1 / temperature)

At temperature 1 it acts as it was trained, at 0 it takes the likeliest control (the first of equals).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wfairl.automata.automaton import Label
from wfairl.baselines.network import StateBatch, StateNetwork, minigrid
from wfairl.baselines.sight import Sight
from wfairl.planning.agent import Status
from wfairl.worlds.minigrid.world import MiniGridWorld
from wfairl.worlds.world import World


@dataclass(frozen=True)
class NetworkPolicy:
    """See `evaluation.policies.Policy`.

    Attributes:
        name: what people call it.
        networks: one or more, each with one logit a control.
        sight: what the networks are shown.
        temperature: see above.
    """

    name: str
    networks: tuple[StateNetwork, ...]
    sight: Sight
    temperature: float

    def actor(self, world: World[Any], rng: np.random.Generator) -> "NetworkActor":
        """See `Policy`.

        Raises:
            OtherMapError: the networks do not fit the world.
        """
        return NetworkActor(self, minigrid(world), rng, world.initial_state)


@dataclass
class NetworkActor:
    """See `evaluation.policies.Actor`; what it has looked at once it remembers for the episode."""

    policy: NetworkPolicy
    world: MiniGridWorld
    rng: np.random.Generator
    state: int
    seen: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _ = self.probabilities()  # a world that does not fit is refused at once

    def choose(self) -> int:
        """See `Actor`."""
        return int(self.rng.choice(len(self.world.controls), p=self.probabilities()))

    def probabilities(self) -> NDArray[np.float64]:
        """See `Actor`."""
        if self.state not in self.seen:
            self.seen[self.state] = self._look()
        return softmax(self.seen[self.state], self.policy.temperature)

    def observe(self, state: Any, label: Label) -> Status:  # noqa: ARG002 - it has no logic to keep track of
        """See `Actor`."""
        self.state = state
        return Status.RUNNING

    @torch.no_grad()
    def _look(self) -> NDArray[np.float64]:
        batch = self.policy.sight.look(self.world, self.world.pack(self.state)[None])
        return log_probabilities(self.policy.networks, batch)[0].numpy()


def log_probabilities(networks: Sequence[StateNetwork], batch: StateBatch) -> Tensor:
    """log p(u | x) of a committee, shape [states, controls] of float64."""
    logits = [network(batch.grids, batch.columns).double() for network in networks]
    return torch.stack([one.log_softmax(dim=1) for one in logits]).logsumexp(dim=0) - math.log(len(networks))


def softmax(logits: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """The chance of each control, shape [controls]; at temperature 0 the likeliest, the first of equals."""
    if temperature == 0:
        return np.eye(len(logits))[logits.argmax()]
    weights = np.exp((logits - logits.max()) / temperature)
    return weights / weights.sum()
