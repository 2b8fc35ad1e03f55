"""The generator of GAIL: Stable-Baselines3's PPO with a `GridNetwork`, rewarded by a discriminator.

It needs the extra `baselines`.
"""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.type_aliases import RolloutBufferSamples
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor

from experiments.baselines.gail.discriminator import REWARDS, Discriminator, absorbing_return
from experiments.baselines.network import FrozenNetwork, GridBatch, GridEncoder, Observations
from experiments.baselines.vector_environment import COLUMNS, CompiledVectorEnv


class StatePolicy(ActorCriticPolicy):
    """Policy and value as one `GridNetwork`: a logit per control, then the value.

    While PPO collects a rollout, the weights are fixed, and every entry of the bank is processed once.
    """

    def __init__(self, *arguments: Any, encoder: GridEncoder, batch: GridBatch, **settings: Any):
        self._encoder, self._bank = encoder, batch.bank
        super().__init__(*arguments, **settings)

    def _build(self, lr_schedule: Any) -> None:
        self.network = self._encoder.make_network(self.action_space.n + 1)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=lr_schedule(1), eps=1e-5)

    def set_training_mode(self, mode: bool) -> None:
        """PPO calls this before it collects a rollout, and before it changes the weights."""
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
    """Minibatches in which the rows of an entry are together, so that an epoch processes each entry about once.

    Advantages are normalised over the whole rollout, since the rows of a minibatch are not independent.
    """

    rng: np.random.Generator
    advantages: NDArray[np.float32]
    generator_ready: bool

    def compute_returns_and_advantage(self, last_values: Tensor, dones: NDArray[np.bool_]) -> None:
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
    """Divide all rows into batches of about equal size, with the rows of an entry in one batch or in adjacent ones."""
    rank = rng.permutation(int(entries.max()) + 1)
    order = np.argsort(rank[entries], kind="stable")
    return np.array_split(order, max(1, round(len(order) / batch_size)))


class JudgedVecEnv(VecEnv):
    """A compiled environment for Stable-Baselines3, whose reward is the discriminator's.

    Rewards are scaled by 1 - gamma, so that values have the size of a reward. The last step of an episode that
    terminates also gets the return of the absorbing state; for a truncated episode, PPO continues with the value of its
    last state. Since `start`, `terminated` has the length and the scene of each episode that terminated, and `scenes`
    those of each step, shape [num_envs].
    """

    def __init__(
        self,
        environment: CompiledVectorEnv,
        encoder: GridEncoder,
        discriminator: Discriminator,
        reward: str,
        discount: float,
    ):
        self.environment, self._discriminator = environment, discriminator
        self.encoder, self.batch = encoder, GridBatch(encoder, environment.bank)
        columns = Box(0, np.iinfo(np.int32).max, (COLUMNS,), np.int64)
        super().__init__(environment.num_envs, columns, Discrete(len(encoder.controls)))
        self._reward, self._discount = REWARDS[reward], discount
        self._rows = torch.arange(environment.num_envs)
        self.terminated: list[tuple[int, int]] = []
        self.scenes: list[NDArray[np.int64]] = []

    def start(self) -> NDArray[np.int64]:
        """Start a rollout with the current discriminator and episodes, and return the first observations."""
        self.terminated, self.scenes = [], []
        columns = self.environment.forget()
        self.batch.clear()
        self._columns = self.batch.encode(columns)
        self._frozen = FrozenNetwork(self._discriminator.network, self.batch.bank)
        self._end_reward = absorbing_return(float(self._reward(self._discriminator.absorbing.detach())), self._discount)
        return self._columns

    def reset(self) -> NDArray[np.int64]:
        columns, _ = self.environment.reset(seed=0)
        return self.batch.encode(columns)

    def step_async(self, actions: NDArray[np.int64]) -> None:
        self._controls = actions

    def step_wait(self) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        logits = self._frozen(torch.from_numpy(self._columns))[self._rows, torch.from_numpy(self._controls)]
        scenes, lengths = self.environment.scenes.copy(), self.environment.steps + 1
        columns, _, terminated, truncated, info = self.environment.step(self._controls)
        rewards = self._reward(logits).numpy() + self._end_reward * terminated
        has_ended = terminated | truncated
        infos: list[dict[str, Any]] = [{}] * self.num_envs
        last = self.batch.encode(info["final_obs"]) if has_ended.any() else columns
        for row in np.flatnonzero(has_ended):
            infos[row] = {"terminal_observation": last[row], "TimeLimit.truncated": not terminated[row]}
        self.terminated += zip(lengths[terminated].tolist(), scenes[terminated].tolist(), strict=True)
        self.scenes.append(scenes)
        self._columns = self.batch.encode(columns)
        return self._columns, ((1 - self._discount) * rewards).astype(np.float32), has_ended, infos

    def close(self) -> None:
        pass

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:  # noqa: ARG002 - rows share it
        return [getattr(self.environment, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError("the rows of a compiled environment are one environment")

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **settings: Any) -> list[Any]:
        raise NotImplementedError("the rows of a compiled environment are one environment")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:  # noqa: ARG002
        return [False] * self.num_envs


def make_ppo(environment: JudgedVecEnv, **settings: Any) -> PPO:
    """PPO with a network of the environment's encoder, on one core, silent; `settings` are PPO's own."""
    with warnings.catch_warnings():  # `EntrywiseBuffer` truncates no mini-batch
        warnings.filterwarnings("ignore", message="You have specified a mini-batch size")
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
