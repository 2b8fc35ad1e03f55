"""The generator of GAIL: Stable-Baselines3's PPO with a network over states, rewarded by a discriminator.

Needs the extra `baselines`; only `gail.training` imports this module, when GAIL is asked for.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.type_aliases import RolloutBufferSamples
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor

from wfairl.baselines.encoder import BatchEncoder, Encoder, Observations
from wfairl.baselines.gail.absorbing import absorbing_return
from wfairl.baselines.gail.discriminator import REWARDS, Discriminator
from wfairl.baselines.network import FrozenNetwork
from wfairl.errors import BadInputError
from wfairl.worlds.vector_environment import CompiledVectorEnv

LARGEST_NUMBER = 2**31 - 1
"""Of an entry of a bank."""


class StatePolicy(ActorCriticPolicy):
    """Policy and value as one `StateNetwork`: a logit per control, then the value.

    While PPO collects, the weights stay as they are, and every entry of the bank is worked through once.
    """

    def __init__(self, *arguments: Any, encoder: Encoder, batch: BatchEncoder, **settings: Any):
        self._encoder, self._bank = encoder, batch.bank
        super().__init__(*arguments, **settings)

    def _build(self, lr_schedule: Any) -> None:
        self.network = self._encoder.make_network(self.action_space.n + 1)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=lr_schedule(1), eps=1e-5)

    def set_training_mode(self, mode: bool) -> None:
        """PPO says here whether it is about to collect or to change the weights."""
        super().set_training_mode(mode)
        if not mode:
            self._frozen = FrozenNetwork(self.network, self._bank)

    def forward(self, obs: Tensor, deterministic: bool = False) -> tuple[Tensor, Tensor, Tensor]:
        """Controls, values and log-probabilities."""
        outputs = self._frozen(obs)
        distribution = self.action_dist.proba_distribution(action_logits=outputs[:, :-1])
        controls = distribution.get_actions(deterministic=deterministic)
        return controls, outputs[:, -1], distribution.log_prob(controls)

    def predict_values(self, obs: Tensor) -> Tensor:
        """Values, shape [rows]."""
        return self._frozen(obs)[:, -1]

    def evaluate_actions(self, obs: Tensor, actions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Values, log-probabilities and entropies, differentiably."""
        outputs = self.network(Observations(torch.from_numpy(self._bank.entries), obs))
        distribution = self.action_dist.proba_distribution(action_logits=outputs[:, :-1])
        return outputs[:, -1], distribution.log_prob(actions), distribution.entropy()


class EntrywiseBuffer(RolloutBuffer):
    """Minibatches in which the rows of an entry stand together, so that an epoch works through each about once.

    Advantages are normalised over the whole rollout, not over minibatches, which are not drawn row by row.
    """

    rng: np.random.Generator
    advantages: NDArray[np.float32]
    generator_ready: bool

    def compute_returns_and_advantage(self, last_values: Tensor, dones: NDArray[np.bool_]) -> None:
        """See `RolloutBuffer`."""
        super().compute_returns_and_advantage(last_values, dones)
        self.advantages = (self.advantages - self.advantages.mean()) / (self.advantages.std() + 1e-8)

    def get(self, batch_size: int | None = None) -> Iterator[RolloutBufferSamples]:
        """All rows once, entries in random order."""
        if not self.generator_ready:
            for name in ("observations", "actions", "values", "log_probs", "advantages", "returns"):
                setattr(self, name, self.swap_and_flatten(getattr(self, name)))
            self.generator_ready = True
        for rows in entrywise_batches(self.observations[:, 0], batch_size or len(self.observations), self.rng):
            yield self._get_samples(rows)


def entrywise_batches(
    entries: NDArray[np.int64], batch_size: int, rng: np.random.Generator
) -> Sequence[NDArray[np.int64]]:
    """All rows in batches of about one size, with the rows of an entry in one batch or in neighbouring ones."""
    rank = rng.permutation(int(entries.max()) + 1)
    order = np.argsort(rank[entries], kind="stable")
    return np.array_split(order, max(1, round(len(order) / batch_size)))


class JudgedVecEnv(VecEnv):
    """A compiled environment for Stable-Baselines3, whose reward is the discriminator's.

    Rewards are scaled by 1 - gamma, so that values are of the size of a reward. The step with which an episode
    terminates gains what the absorbing state is worth; one that is cut off is marked, and PPO goes on from there
    with its value.

    Attributes:
        ended: of each episode that ended since `start`: its true return, its length, whether it terminated, and
            the scene as an index into the pool.
        scenes: of each step since `start`, the scenes of its rows, shape [num_envs].
    """

    def __init__(
        self,
        environment: CompiledVectorEnv,
        encoder: Encoder,
        discriminator: Discriminator,
        reward: str,
        discount: float,
    ):
        self.environment, self._discriminator = environment, discriminator
        self.encoder, self.batch = encoder, encoder.for_batch(environment)
        columns = gymnasium.spaces.Box(0, LARGEST_NUMBER, (encoder.columns,), np.int64)
        super().__init__(environment.num_envs, columns, environment.single_action_space)
        self._reward, self._discount = REWARDS[reward], discount
        self._rows = torch.arange(environment.num_envs)
        self.ended: list[tuple[float, int, bool, int]] = []
        self.scenes: list[NDArray[np.int64]] = []

    def start(self) -> NDArray[np.int64]:
        """Begin a rollout with the present discriminator, where the environment stands; its observations."""
        self.ended, self.scenes = [], []
        columns = self.environment.forget()
        self.batch.clear()
        self._columns = self.batch.encode(columns)
        self._frozen = FrozenNetwork(self._discriminator.network, self.batch.bank)
        self._end_reward = absorbing_return(float(self._reward(self._discriminator.absorbing.detach())), self._discount)
        return self._columns

    def reset(self) -> NDArray[np.int64]:
        """See `VecEnv`."""
        columns, _ = self.environment.reset()
        return self.batch.encode(columns)

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """See `VecEnv`."""
        self._controls = actions

    def step_wait(self) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """See `VecEnv`."""
        logits = self._frozen(torch.from_numpy(self._columns))[self._rows, torch.from_numpy(self._controls)]
        scenes, lengths = self.environment.scenes.copy(), self.environment.steps + 1
        columns, returns, terminated, truncated, info = self.environment.step(self._controls)
        rewards = self._reward(logits).numpy() + self._end_reward * terminated
        over = terminated | truncated
        infos: list[dict[str, Any]] = [{}] * self.num_envs
        last = self.batch.encode(info["final_obs"]) if over.any() else columns
        for row in np.flatnonzero(over):
            infos[row] = {
                "terminal_observation": last[row],
                "TimeLimit.truncated": not terminated[row],
            }
            self.ended.append((float(returns[row]), int(lengths[row]), bool(terminated[row]), int(scenes[row])))
        self.scenes.append(scenes)
        self._columns = self.batch.encode(columns)
        return self._columns, ((1 - self._discount) * rewards).astype(np.float32), over, infos

    def close(self) -> None:
        """See `VecEnv`."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:  # noqa: ARG002 - rows share it
        """See `VecEnv`."""
        return [getattr(self.environment, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:  # noqa: ARG002
        """See `VecEnv`; rows share one environment, so there is nothing to set in some of them."""
        raise BadInputError(f"{attr_name} cannot be set: the rows of a compiled environment are one environment")

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **settings: Any) -> list[Any]:  # noqa: ARG002
        """See `VecEnv`; rows share one environment, so there is no method to call in some of them."""
        raise BadInputError(f"{method_name} cannot be called: the rows of a compiled environment are one environment")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:  # noqa: ARG002
        """See `VecEnv`."""
        return [False] * self.num_envs


def make_ppo(environment: JudgedVecEnv, **settings: Any) -> PPO:
    """PPO with a network of the environment's encoder, on one core, silent; `settings` are PPO's own."""
    ppo = PPO(
        StatePolicy,
        environment,
        device="cpu",
        normalize_advantage=False,
        rollout_buffer_class=EntrywiseBuffer,
        policy_kwargs={"encoder": environment.encoder, "batch": environment.batch},
        **settings,
    )
    ppo.set_logger(Logger(folder=None, output_formats=[]))
    return ppo
