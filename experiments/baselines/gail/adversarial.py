"""GAIL with one reward: generator and discriminator are trained in turns.

The generator starts as a clone of the demonstrations. An iteration is a rollout under the current discriminator's
reward, PPO on it, then some discriminator steps on the same rollout. No random state is kept between iterations: all
draws follow from the seed and the iteration. So a checkpoint holds only weights, Adam's moments and the state of the
episodes, and a training that resumes from one ends as if it had never stopped, bit for bit.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from experiments.baselines.encoder import Encoder
from experiments.baselines.gail.checkpoint import GailCheckpoint, IterationMetrics, optimizer_tensors, restore_optimizer
from experiments.baselines.gail.discriminator import (
    Discriminator,
    DiscriminatorMetrics,
    Transitions,
    absorbing_fraction,
    discrimination_loss,
)
from experiments.baselines.gail.generator import JudgedVecEnv, entrywise_batches, make_ppo
from experiments.baselines.gail.scenes import GailData
from experiments.baselines.gail.settings import GailConfig
from experiments.baselines.imitation import ImitationBatch, clone_epoch, concatenate
from experiments.baselines.network import Observations, StateNetwork, seeded_torch
from experiments.baselines.validation import ValidationReturns, draw_by_gumbel, validate
from experiments.vector.scene_pool import ScenePool
from experiments.vector.vector_environment import CompiledVectorEnv
from wfairl.core.costs.adam import Adam
from wfairl.core.costs.checkpoint import copied
from wfairl.core.costs.epochs import DivergedError, one_torch_thread
from wfairl.minigrid.grid_network import Dropout

CLONING_BATCH, CLONING_RATE, CLONING_DECAY, CLONING_DROPOUT = 2, 2e-3, 1e-2, 0.3
"""Of the initial cloning: demonstrations per Adam step, Adam's learning rate (which falls linearly to zero) and weight
decay, and the dropout rate, as in `CloningConfig`."""

LAST_RATE = 0.1
"""The learning rate of PPO falls linearly to this fraction of its initial value."""

ABSORBING_RATE = 0.05
"""The learning rate of the absorbing state's logit, a single number that is no weight of a network."""

_START, _CLONING, _ROLLOUT, _SCENES, _GENERATOR, _DISCRIMINATOR, _VALIDATION = range(7)
"""The random streams of a training."""


def run_iterations(
    data: GailData, validation: ScenePool, reward: str, config: GailConfig, resumed: GailCheckpoint | None
) -> Iterator[GailCheckpoint]:
    """Train to the last iteration.

    Args:
        data: what to learn from.
        validation: scenes that choose the iteration.
        reward: name of the generator's reward.
        config: how to train.
        resumed: where to resume; None to begin.

    Yields:
        The checkpoint at the beginning, and one after each iteration.

    Raises:
        DivergedError: numbers are no longer finite.
    """
    with one_torch_thread():
        training = _Training(data, validation, reward, config)
        if resumed is None:
            training.begin()
        else:
            training.restore(resumed)
        yield training.capture()
        for iteration in range(len(training.history), config.iterations):
            training.iterate(iteration)
            yield training.capture()


def clone(
    network: StateNetwork,
    batches: Sequence[ImitationBatch],
    encoder: Encoder,
    epochs: int,
    rng: np.random.Generator,
) -> None:
    """Train a policy to take the demonstrated controls, with half of the demonstrations mirrored.

    As in `cloning`, the batches leave out steps that changed nothing, which a clone may repeat forever. The
    discriminator is trained on them, so that the generator learns by itself how often to take them.
    """
    adam = Adam(network, CLONING_DECAY)
    dropout = Dropout(CLONING_DROPOUT, torch.Generator().manual_seed(int(rng.integers(2**63 - 1))))
    for epoch in range(epochs):
        order = rng.permutation(len(batches))
        chosen = [batches[i].mirrored(encoder) if rng.integers(2) else batches[i] for i in order]
        joined = (concatenate(chosen[i : i + CLONING_BATCH]) for i in range(0, len(chosen), CLONING_BATCH))
        rate = CLONING_RATE * (1 - epoch / epochs)
        clone_epoch(network, adam, joined, len(encoder.controls), dropout, rate)


class _Training:
    """The state of a training with one reward."""

    def __init__(self, data: GailData, validation: ScenePool, reward: str, config: GailConfig):
        self._data, self._validation_scenes, self._config = data, validation, config
        with seeded_torch(config.seed, _START, 0):
            self._discriminator = Discriminator(data.encoder)
            compiled = CompiledVectorEnv(data.pool, config.environments)
            self._environment = JudgedVecEnv(compiled, data.encoder, self._discriminator, reward, config.discount)
            self._ppo = make_ppo(
                self._environment,
                n_steps=config.rollout,
                batch_size=config.batch_size,
                n_epochs=config.epochs,
                learning_rate=lambda _: self._rate,
                gamma=config.discount,
                gae_lambda=config.trace,
                clip_range=config.clip,
                ent_coef=config.entropy,
            )
        network, absorbing = self._discriminator.network.parameters(), self._discriminator.absorbing
        self._optimizer = torch.optim.AdamW(
            [
                {"params": list(network), "lr": config.discriminator_rate, "weight_decay": config.weight_decay},
                {"params": [absorbing], "lr": ABSORBING_RATE, "weight_decay": 0.0},
            ]
        )
        self.history: tuple[IterationMetrics, ...] = ()
        self._best: dict[str, Tensor] = {}
        self._best_iteration = -1
        self._best_returns: tuple[float, ...] = ()

    _rate = 0.0
    """The learning rate of PPO in this iteration."""

    @property
    def _network(self) -> StateNetwork:
        return self._ppo.policy.network

    def begin(self) -> None:
        """Start with behavioural cloning."""
        config = self._config
        self._environment.environment.reset(seed=config.seed)
        self._ppo._last_episode_starts = np.ones(config.environments, bool)
        rng = np.random.default_rng([config.seed, _CLONING])
        clone(self._network, self._data.cloned, self._data.encoder, config.pretraining, rng)
        self._keep_best(-1, self._validate())

    def iterate(self, iteration: int) -> None:
        """Collect one rollout, and update generator and discriminator."""
        config, ppo, environment = self._config, self._ppo, self._environment
        rise = min(1.0, (iteration + 1) / (config.warmup + 1))
        self._rate = config.learning_rate * rise * (1 - (1 - LAST_RATE) * iteration / config.iterations)
        environment.environment.np_random = np.random.default_rng([config.seed, _SCENES, iteration])
        ppo.rollout_buffer.rng = np.random.default_rng([config.seed, _GENERATOR, iteration])
        ppo._last_obs = environment.start()
        with seeded_torch(config.seed, _ROLLOUT, iteration):  # Stable-Baselines3 draws from the global generator
            ppo.learn(config.environments * config.rollout, reset_num_timesteps=False, log_interval=None)
        metrics = self._train_discriminator(np.random.default_rng([config.seed, _DISCRIMINATOR, iteration]))
        weights = (*self._network.state_dict().values(), *self._discriminator.state_dict().values())
        if not all(tensor.isfinite().all() for tensor in weights):
            raise DivergedError(
                "training diverged: weights are no longer finite. The last checkpoint is kept; lower the learning rates"
            )
        self._record(iteration, metrics)

    def _train_discriminator(self, rng: np.random.Generator) -> DiscriminatorMetrics:
        """Take discriminator steps on the last rollout, and return the metrics of the last one."""
        config, generator = self._config, self._judged_transitions()
        metrics = DiscriminatorMetrics(float("nan"), float("nan"), float("nan"))
        if len(generator) == 0:  # the generator acted in none of the judged scenes
            return metrics
        batch_size = -(-len(generator) // config.discriminator_steps)
        for rows in entrywise_batches(generator.observations.columns[:, 0].numpy(), batch_size, rng):
            part = generator.rows(torch.from_numpy(rows))
            loss, metrics = discrimination_loss(self._discriminator, self._data.expert, part, config.smoothing)
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()
        return metrics

    def _judged_transitions(self) -> Transitions:
        """The generator's transitions of the last rollout, in scenes that train the discriminator."""
        buffer, environment, judged = self._ppo.rollout_buffer, self._environment, self._data.judged
        scenes = np.stack(environment.scenes, axis=1).reshape(-1)  # the buffer is flat, one environment after the other
        rows = np.flatnonzero(judged[scenes])
        lengths = [one.length for one in environment.ended if one.terminated and judged[one.scene]]
        horizon = self._data.pool.task.horizon
        return Transitions(
            Observations(torch.from_numpy(environment.batch.bank.entries), torch.from_numpy(buffer.observations[rows])),
            torch.from_numpy(buffer.actions[rows, 0].astype(np.int64)),
            absorbing_fraction(len(rows), np.array(lengths, np.int64), horizon),
        )

    def _record(self, iteration: int, discriminator: DiscriminatorMetrics) -> None:
        """Add the metrics of an iteration to the history, and keep its policy if it is the best."""
        config = self._config
        ended = self._environment.ended
        due = (iteration + 1) % config.validate_every == 0 or iteration + 1 == config.iterations
        validation = self._validate() if due else None
        metrics = IterationMetrics(
            iteration=iteration,
            steps=(iteration + 1) * config.environments * config.rollout,
            episodes=len(ended),
            mean_return=_mean([one.true_return for one in ended]),
            mean_length=_mean([float(one.length) for one in ended]),
            mean_return_judged=_mean([one.true_return for one in ended if self._data.judged[one.scene]]),
            entropy=-float(self._ppo.logger.name_to_value["train/entropy_loss"]),
            value_loss=float(self._ppo.logger.name_to_value["train/value_loss"]),
            discriminator_loss=discriminator.loss,
            expert_accuracy=discriminator.expert_accuracy,
            generator_accuracy=discriminator.generator_accuracy,
            absorbing=float(torch.sigmoid(self._discriminator.absorbing.detach())),
            held_out=validation.returns if validation else None,
        )
        self.history = (*self.history, metrics)
        if validation is not None:
            self._keep_best(iteration, validation)

    def _validate(self) -> ValidationReturns:
        """The generator's returns in validation scenes, with the same random numbers each time."""
        seed = (self._config.seed, _VALIDATION)
        return validate([self._network], self._data.encoder, self._validation_scenes, seed, draw_by_gumbel)

    def _keep_best(self, iteration: int, validation: ValidationReturns) -> None:
        """Remember the policy if it is the best so far; of equals, the last."""
        if not self._best or validation.best >= max(self._best_returns):
            self._best = copied(self._network.state_dict())
            self._best_iteration, self._best_returns = iteration, validation.returns

    def capture(self) -> GailCheckpoint:
        """A copy of the whole state."""
        snapshot = self._environment.environment.snapshot()
        return GailCheckpoint(
            tensors={
                "policy": copied(self._network.state_dict()),
                "best": self._best,
                "policy_adam": optimizer_tensors(self._ppo.policy.optimizer),
                "discriminator": copied(self._discriminator.state_dict()),
                "discriminator_adam": optimizer_tensors(self._optimizer),
                "environment": {
                    **{name: torch.from_numpy(array) for name, array in snapshot.items()},
                    "starts": torch.from_numpy(np.array(self._ppo._last_episode_starts, bool)),
                },
            },
            best_iteration=self._best_iteration,
            best_returns=self._best_returns,
            history=self.history,
        )

    def restore(self, checkpoint: GailCheckpoint) -> None:
        """Continue from a checkpoint."""
        tensors = checkpoint.tensors
        self._network.load_state_dict(tensors["policy"])
        self._discriminator.load_state_dict(tensors["discriminator"])
        restore_optimizer(self._ppo.policy.optimizer, tensors["policy_adam"])
        restore_optimizer(self._optimizer, tensors["discriminator_adam"])
        environment: dict[str, NDArray[Any]] = {name: one.numpy() for name, one in tensors["environment"].items()}
        self._ppo._last_episode_starts = environment.pop("starts")
        self._environment.environment.restore(environment)
        self._best, self._best_iteration = tensors["best"], checkpoint.best_iteration
        self._best_returns = checkpoint.best_returns
        self.history = checkpoint.history
        self._ppo.num_timesteps = self.history[-1].steps


def _mean(numbers: list[float]) -> float | None:
    return float(np.mean(numbers)) if numbers else None
