"""How well a policy network does in held-out scenes, all of them stepped at once."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from wfairl.baselines.gail_network import FrozenNetwork
from wfairl.baselines.gail_sight import open_eyes
from wfairl.baselines.network import StateNetwork
from wfairl.baselines.sight import AgentSight, MapSight
from wfairl.worlds.minigrid_rules import CONTROLS
from wfairl.worlds.vector_environment import CompiledVectorEnv, ScenePool


@dataclass(frozen=True)
class Validation:
    """Mean returns in held-out scenes, with the likeliest control and with sampled ones."""

    greedy: float
    sampled: float

    @property
    def best(self) -> float:
        """The return of the better way to act."""
        return max(self.greedy, self.sampled)


def validate(network: StateNetwork, sight: MapSight | AgentSight, pool: ScenePool, seed: int) -> Validation:
    """Run a policy once in every scene of a pool, each way to act.

    Args:
        network: its first outputs are the logits of controls.
        sight: what it is shown.
        pool: the scenes.
        seed: of the sampled controls.
    """
    rng = np.random.default_rng(seed)
    return Validation(*(float(_returns(network, sight, pool, sample).mean()) for sample in (None, rng)))


def _returns(
    network: StateNetwork, sight: MapSight | AgentSight, pool: ScenePool, rng: np.random.Generator | None
) -> NDArray[np.float64]:
    """The return of one episode in each scene, greedy without a generator; shape [scenes]."""
    environment = CompiledVectorEnv(pool, len(pool))
    columns, _ = environment.reset(seed=0, options={"scenes": np.arange(len(pool))})
    eyes = open_eyes(sight, environment.bank, (pool.height, pool.width))
    frozen = FrozenNetwork(network, eyes.bank)
    returns, running = np.zeros(len(pool)), np.ones(len(pool), bool)
    for _ in range(pool.task.horizon):
        logits = frozen(torch.from_numpy(eyes.see(columns)))[:, : len(CONTROLS)].numpy()
        if rng is not None:  # the largest of logits with Gumbel noise is a sample
            logits = logits + rng.gumbel(size=logits.shape)
        columns, rewards, terminated, truncated, _ = environment.step(logits.argmax(axis=1))
        returns += running * rewards
        running &= ~(terminated | truncated)
        if not running.any():
            break
    return returns
