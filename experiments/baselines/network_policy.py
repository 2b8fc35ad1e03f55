"""A policy of networks that act on the state alone, without planning.

Several networks of one training form an ensemble, which acts with the mean of their probabilities:

    p(u | x) = mean over networks of softmax(logits(x))_u,     pi(u | x) proportional to p(u | x)^(1 / temperature)

At temperature 1 it acts as trained, at 0 it takes the most probable control (the first of equals). An unavailable
control has the logit -inf, and the probability 0 at any temperature.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from experiments.baselines.encoder import Encoder
from experiments.baselines.network import StateNetwork
from wfairl.core.automata.automaton import Label
from wfairl.core.planning.agent import Status
from wfairl.core.worlds.world import World


@dataclass(frozen=True)
class NetworkPolicy:
    """See `evaluation.policies.Policy`.

    Attributes:
        name: its name in tables.
        networks: one or more, each with one logit per control.
        encoder: of the networks' observations.
        temperature: see above.
    """

    name: str
    networks: tuple[StateNetwork, ...]
    encoder: Encoder
    temperature: float

    def actor(self, world: World[Any], rng: np.random.Generator) -> "NetworkActor":
        """See `Policy`.

        Raises:
            BadInputError: the networks do not fit the world.
        """
        return NetworkActor(self, world, rng)


class NetworkActor:
    """See `evaluation.policies.Actor`; it computes the probabilities of a state once per episode."""

    def __init__(self, policy: NetworkPolicy, world: World[Any], rng: np.random.Generator):
        self._policy, self._rng, self._state = policy, rng, world.initial_state
        self._encode = policy.encoder.for_world(world)
        self._log_probabilities: dict[Any, NDArray[np.float64]] = {}

    def choose(self) -> int:
        probabilities = self.probabilities()
        return int(self._rng.choice(len(probabilities), p=probabilities))

    def probabilities(self) -> NDArray[np.float64]:
        cache, state = self._log_probabilities, self._state
        if state not in cache:
            with torch.no_grad():
                observations = self._encode([state])
                outputs = [network(observations) for network in self._policy.networks]
            cache[state] = mean_log_probabilities(outputs)[0].numpy()
        return softmax(cache[state], self._policy.temperature)

    def observe(self, state: Any, label: Label) -> Status:  # noqa: ARG002 - it has no logic to keep track of
        self._state = state
        return Status.RUNNING


def mean_log_probabilities(logits: Sequence[Tensor]) -> Tensor:
    """log p(u | x) of an ensemble, shape [states, controls] of float64, from the logits of its members."""
    log_probabilities = [one.double().log_softmax(dim=1) for one in logits]
    return torch.stack(log_probabilities).logsumexp(dim=0) - math.log(len(logits))


def softmax(logits: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """The probability of each control, shape [..., controls]; at temperature 0 that of the first largest logit is 1."""
    if temperature == 0:
        return np.eye(logits.shape[-1])[logits.argmax(axis=-1)]
    weights = np.exp((logits - logits.max(axis=-1, keepdims=True)) / temperature)
    return weights / weights.sum(axis=-1, keepdims=True)
