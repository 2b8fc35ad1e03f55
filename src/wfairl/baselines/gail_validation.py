"""How well a policy network does in held-out scenes, all of them stepped at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from wfairl.baselines.gail_network import FrozenNetwork
from wfairl.baselines.gail_sight import open_eyes
from wfairl.baselines.network import StateNetwork
from wfairl.baselines.sight import AgentSight, MapSight
from wfairl.worlds.minigrid.rules import CONTROLS
from wfairl.worlds.minigrid.vector_environment import CompiledVectorEnv, ScenePool

TEMPERATURES = (0.0, 0.25, 0.5, 1.0)
"""To choose from: 0 takes the likeliest control, 1 acts as trained."""


@dataclass(frozen=True)
class Validation:
    """Mean returns in held-out scenes, one a temperature of `TEMPERATURES`."""

    returns: tuple[float, ...]

    @property
    def best(self) -> float:
        """The return at the best temperature."""
        return max(self.returns)

    @property
    def temperature(self) -> float:
        """The best temperature; the lowest of equals."""
        return TEMPERATURES[self.returns.index(self.best)]


def validate(network: StateNetwork, sight: MapSight | AgentSight, pool: ScenePool, seed: Sequence[int]) -> Validation:
    """Run a policy once in every scene of a pool, at each temperature.

    Args:
        network: its first outputs are the logits of controls.
        sight: what it is shown.
        pool: the scenes.
        seed: of the sampled controls.
    """
    draws = [np.random.default_rng([*seed, i]) for i in range(len(TEMPERATURES))]
    return Validation(
        tuple(
            float(_returns(network, sight, pool, temperature, rng).mean())
            for temperature, rng in zip(TEMPERATURES, draws, strict=True)
        )
    )


def _returns(
    network: StateNetwork, sight: MapSight | AgentSight, pool: ScenePool, temperature: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The return of one episode in each scene, shape [scenes]."""
    environment = CompiledVectorEnv(pool, len(pool))
    columns, _ = environment.reset(seed=0, options={"scenes": np.arange(len(pool))})
    eyes = open_eyes(sight, environment.bank, (pool.height, pool.width))
    frozen = FrozenNetwork(network, eyes.bank)
    returns, running = np.zeros(len(pool)), np.ones(len(pool), bool)
    for _ in range(pool.task.horizon):
        logits = frozen(torch.from_numpy(eyes.see(columns)))[:, : len(CONTROLS)].numpy()
        # The largest of logits with Gumbel noise is a sample.
        logits = logits + temperature * rng.gumbel(size=logits.shape)
        columns, rewards, terminated, truncated, _ = environment.step(logits.argmax(axis=1))
        returns += running * rewards
        running &= ~(terminated | truncated)
        if not running.any():
            break
    return returns
