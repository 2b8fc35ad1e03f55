"""GAIL: train with each reward, and choose between them by validation.

    run = train_gail(TrainingRequest(task, dataset, directory), GailConfig())

The generator is Stable-Baselines3's PPO, which acts in a batch of compiled scenes. Policy, value and discriminator have
the paper's network. Validation scenes, used for neither training nor testing, choose the reward, the iteration and the
temperature of the policy.

Half of the generator's episodes are in the scenes of the demonstrations, half in new ones. The discriminator is trained
in demonstrated scenes only, since it could otherwise tell generator and expert apart by the scene. In new scenes it
only gives rewards.

The generator starts as a clone of the demonstrations. An iteration is a rollout under the current discriminator's
reward, PPO on it, then some discriminator steps on the same rollout. All draws follow from the seed and the iteration:
a training that was killed begins again, and ends as if it had never stopped, bit for bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import torch
from annotated_types import Ge, Gt, Lt
from numpy.typing import NDArray

from experiments.baselines.cloning import Steps, clone_epoch, concatenate, encode_demonstrations, find_encoder
from experiments.baselines.gail.discriminator import (
    REWARDS,
    Discriminator,
    Side,
    absorbing_fraction,
    discrimination_loss,
)
from experiments.baselines.gail.generator import JudgedVecEnv, entrywise_batches, make_ppo
from experiments.baselines.network import Dropout, GridEncoder, GridNetwork, Observations, seeded_torch
from experiments.baselines.network_policy import ModelSelection, NetworkRun, finish_run, finished_run, run_config
from experiments.baselines.validation import (
    FIRST_VALIDATION_SEED,
    best_temperature,
    draw_by_gumbel,
    validate,
    validation_seeds,
)
from experiments.baselines.vector_environment import CompiledVectorEnv, ScenePool, compile_scenes
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.support.bounds import AtLeastOne, AtLeastZero, NotNegative, Positive, Seed, check_bounds
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.progress import progress_bar
from wfairl.core.worlds.task import Task
from wfairl.networks.adam import Adam
from wfairl.networks.epochs import DivergedError, Tensors, copied, one_torch_thread
from wfairl.runs.methods import TrainingRequest

METHOD = "gail"

FIRST_GENERATOR_SEED = 800_000_000
SCENES_PER_SEED = 10_000
"""The fresh scenes of a training with seed s begin at FIRST_GENERATOR_SEED + s * SCENES_PER_SEED, and wrap around below
the validation scenes, so that neither those nor the test scenes are ever among them."""

CLONING_BATCH, CLONING_RATE, CLONING_DECAY, CLONING_DROPOUT = 2, 2e-3, 1e-2, 0.3
"""Of the initial cloning: demonstrations per Adam step, Adam's learning rate (which falls linearly to zero) and weight
decay, and the dropout rate, as in `CloningConfig`."""

LAST_RATE = 0.1
"""The learning rate of PPO falls linearly to this fraction of its initial value."""

ABSORBING_RATE = 0.05
"""The learning rate of the absorbing state's logit, a single number that is no weight of a network."""

_START, _CLONING, _ROLLOUT, _SCENES, _GENERATOR, _DISCRIMINATOR, _VALIDATION = range(7)
"""The random streams of a training."""


@dataclass(frozen=True)
class GailConfig:
    """How to train; the defaults were chosen on validation scenes (experiments/RESULTS.md).

    Attributes:
        rewards: rewards of the generator to try; the better one is kept.
        fresh_scenes: number of scenes, beside the demonstrated ones, in which the generator acts.
        radius: how far the agent sees, in cells.
        iterations: rollouts, each followed by an update of generator and discriminator.
        environments: number of parallel episodes.
        rollout: steps per episode and iteration.
        epochs: PPO's passes over a rollout.
        batch_size: steps per minibatch of PPO.
        learning_rate: initial learning rate of PPO; it falls linearly to a tenth.
        discount: gamma of PPO.
        entropy: weight of the policy's entropy.
        pretraining: epochs of behavioural cloning before the adversarial training.
        warmup: iterations over which the learning rate rises, while the discriminator and the value settle.
        discriminator_steps: Adam steps per iteration, each on all of the expert's transitions and a part of the
            rollout.
        discriminator_rate: learning rate of the discriminator.
        smoothing: label smoothing of the discriminator.
        validation_scenes: number of scenes to choose the reward, the iteration and the temperature on.
        validate_every: iterations between two validations.
        seed: random seed.
    """

    rewards: tuple[str, ...] = tuple(REWARDS)
    fresh_scenes: AtLeastOne = 1024
    radius: Annotated[int, Ge(2)] = 5
    iterations: AtLeastOne = 100
    environments: AtLeastOne = 128
    rollout: AtLeastOne = 32
    epochs: AtLeastOne = 2
    batch_size: AtLeastOne = 1024
    learning_rate: Positive = 5e-4
    discount: Annotated[float, Gt(0), Lt(1)] = 0.97
    entropy: NotNegative = 0.01
    pretraining: AtLeastZero = 100
    warmup: AtLeastZero = 10
    discriminator_steps: AtLeastOne = 3
    discriminator_rate: Positive = 1e-3
    smoothing: Annotated[float, Ge(0), Lt(0.5)] = 0.1
    validation_scenes: AtLeastOne = 64
    validate_every: AtLeastOne = 5
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_bounds(self)
        unknown = sorted(set(self.rewards) - set(REWARDS))
        if unknown or not self.rewards:
            raise BadInputError(f"rewards must be {' or '.join(REWARDS)}, not {', '.join(unknown) or 'none'}")


@dataclass(frozen=True, eq=False)
class GailData:
    """What GAIL learns from: in the `judged` scenes of the generator's pool its transitions train the discriminator."""

    expert: Side
    pool: ScenePool
    judged: NDArray[np.bool_]
    encoder: GridEncoder
    demonstrations: Sequence[Steps]
    validation: ScenePool


@one_torch_thread()
def train_gail(request: TrainingRequest, config: GailConfig) -> NetworkRun:
    """Learn a policy from the successful demonstrations, in a directory."""
    run_settings = run_config(METHOD, request, config)
    if (finished := finished_run(request.directory)) is not None:
        return finished
    data, trainings = prepare_data(request.task, request.dataset, config, request.n_jobs), {}
    with progress_bar() as bar:
        meter = bar.add_task("GAIL", total=len(config.rewards) * config.iterations)
        for reward in config.rewards:
            training = trainings[reward] = AdversarialTraining(data, reward, config)
            bar.update(meter, description=f"GAIL, {reward}")
            training.begin()
            for iteration in range(config.iterations):
                training.iterate(iteration)
                bar.advance(meter)
    metrics = [line for training in trainings.values() for line in training.history]
    validations = {reward: training.best_returns for reward, training in trainings.items()}
    reward = max(validations, key=lambda one: max(validations[one].values()))  # the first of equals
    best, returns = trainings[reward], validations[reward]
    selection = {"reward": reward, "iteration": best.best_iteration, "validation_returns": validations}
    found = ModelSelection(best_temperature(returns), max(returns.values()), selection)
    run = NetworkRun((_logits_alone(best.best, data.encoder),), data.encoder, found)
    return finish_run(run_settings, request.directory, run, metrics)


def prepare_data(task: Task, dataset: Dataset, config: GailConfig, n_jobs: int) -> GailData:
    """Encode the successful demonstrations, and compile the scenes of the generator and of the validation."""
    encoder, horizon = find_encoder(task.make_world(dataset.demonstrations[0].seed), config.radius), task.horizon
    shown = encode_demonstrations(task, dataset, encoder, least=1, idle=True)
    steps, lengths = concatenate(shown), np.array([min(len(one), horizon) for one in shown])
    expert = steps, absorbing_fraction(len(steps), lengths, horizon)
    demonstrated = [one.seed for one in dataset if one.is_success and one.controls]
    pool, judged = _generator_scenes(task, demonstrated, config, n_jobs)
    validation = compile_scenes(task, validation_seeds(config.validation_scenes, dataset), n_jobs)
    return GailData(expert, pool, judged, encoder, encode_demonstrations(task, dataset, encoder, 1), validation)


def _generator_scenes(
    task: Task, demonstrated: list[int], config: GailConfig, n_jobs: int
) -> tuple[ScenePool, NDArray[np.bool_]]:
    """The demonstrated and the fresh scenes, each half of the pool, and which of them are judged."""
    available, first = FIRST_VALIDATION_SEED - FIRST_GENERATOR_SEED, config.seed * SCENES_PER_SEED
    fresh = [FIRST_GENERATOR_SEED + (first + i) % available for i in range(config.fresh_scenes)]
    pool = compile_scenes(task, [*demonstrated, *fresh], n_jobs)
    half = np.arange(max(len(demonstrated), len(fresh)))
    scenes = np.concatenate([half % len(demonstrated), len(demonstrated) + half % len(fresh)])
    return pool.take(scenes), np.arange(len(scenes)) < len(half)


class AdversarialTraining:
    """A training with one reward.

    Attributes:
        history: the metrics of each iteration, as plain JSON; see `iterate`.
        best: the weights of the policy that did best in validation scenes, the last of equals.
        best_iteration: its iteration; -1 for the start, before the first.
        best_returns: its returns in validation scenes, by temperature.
    """

    def __init__(self, data: GailData, reward: str, config: GailConfig):
        self._data, self._reward, self._config = data, reward, config
        self._rate = 0.0  # of PPO, in this iteration
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
                ent_coef=config.entropy,
            )
        network, absorbing = self._discriminator.network.parameters(), self._discriminator.absorbing
        groups = [
            {"params": list(network), "lr": config.discriminator_rate},
            {"params": [absorbing], "lr": ABSORBING_RATE, "weight_decay": 0.0},
        ]
        self._optimizer = torch.optim.AdamW(groups, weight_decay=1e-2)
        self.history: list[dict[str, Any]] = []
        self.best: Tensors = {}
        self.best_iteration = -1
        self.best_returns: dict[str, float] = {}
        self._network: GridNetwork = self._ppo.policy.network

    def begin(self) -> None:
        """Start with behavioural cloning."""
        config = self._config
        self._environment.environment.reset(seed=config.seed)
        self._ppo._last_episode_starts = np.ones(config.environments, bool)
        rng = np.random.default_rng([config.seed, _CLONING])
        clone(self._network, self._data.demonstrations, self._data.encoder, config.pretraining, rng)
        self._keep_best(-1, self._validate())

    def iterate(self, iteration: int) -> None:
        """Collect one rollout, update generator and discriminator, and add to the history:

        - `steps` of the environment so far, and the `entropy` of the policy in nats;
        - the last `discriminator_loss`, 2 log 2 if it cannot tell the two apart;
        - in iterations with a validation, `held_out` returns per temperature.
        """
        config, ppo, environment = self._config, self._ppo, self._environment
        rise = min(1.0, (iteration + 1) / (config.warmup + 1))
        self._rate = config.learning_rate * rise * (1 - (1 - LAST_RATE) * iteration / config.iterations)
        environment.environment.np_random = np.random.default_rng([config.seed, _SCENES, iteration])
        ppo.rollout_buffer.rng = np.random.default_rng([config.seed, _GENERATOR, iteration])
        ppo._last_obs = environment.start()
        with seeded_torch(config.seed, _ROLLOUT, iteration):  # Stable-Baselines3 draws from the global generator
            ppo.learn(config.environments * config.rollout, reset_num_timesteps=False, log_interval=None)
        loss = self._train_discriminator(np.random.default_rng([config.seed, _DISCRIMINATOR, iteration]))
        weights = (*self._network.state_dict().values(), *self._discriminator.state_dict().values())
        if not all(tensor.isfinite().all() for tensor in weights):
            raise DivergedError("training diverged: weights are no longer finite; lower the learning rates")
        is_due = (iteration + 1) % config.validate_every == 0 or iteration + 1 == config.iterations
        returns = self._validate() if is_due else None
        metrics = {
            "reward": self._reward,
            "iteration": iteration,
            "steps": (iteration + 1) * config.environments * config.rollout,
            "entropy": -float(ppo.logger.name_to_value["train/entropy_loss"]),
            "discriminator_loss": loss,
            "held_out": None if returns is None else list(returns.values()),
        }
        self.history.append(metrics)
        if returns is not None:
            self._keep_best(iteration, returns)

    def _train_discriminator(self, rng: np.random.Generator) -> float | None:
        """Take discriminator steps on the last rollout, and return the loss of the last one."""
        config, (steps, absorbing) = self._config, self._judged_steps()
        if len(steps) == 0:  # the generator acted in none of the judged scenes
            return None
        batch_size = -(-len(steps) // config.discriminator_steps)
        for rows in entrywise_batches(steps.observations.columns[:, 0].numpy(), batch_size, rng):
            part = steps.rows(torch.from_numpy(rows)), absorbing
            loss = discrimination_loss(self._discriminator, self._data.expert, part, config.smoothing)
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()
        return loss.item()

    def _judged_steps(self) -> Side:
        """The generator's steps of the last rollout, in scenes that train the discriminator."""
        buffer, environment, judged = self._ppo.rollout_buffer, self._environment, self._data.judged
        scenes = np.stack(environment.scenes, axis=1).reshape(-1)  # the buffer is flat, one environment after the other
        rows = np.flatnonzero(judged[scenes])
        lengths = [length for length, scene in environment.terminated if judged[scene]]
        bank, columns = environment.batch.bank.entries, buffer.observations[rows]
        observations = Observations(torch.from_numpy(bank), torch.from_numpy(columns))
        steps = Steps(observations, torch.from_numpy(buffer.actions[rows, 0].astype(np.int64)))
        return steps, absorbing_fraction(len(rows), np.array(lengths, np.int64), self._data.pool.task.horizon)

    def _validate(self) -> dict[str, float]:
        """The generator's returns in validation scenes, with the same random numbers each time."""
        seed = (self._config.seed, _VALIDATION)
        return validate([self._network], self._data.encoder, self._data.validation, seed, draw_by_gumbel)

    def _keep_best(self, iteration: int, returns: dict[str, float]) -> None:
        if not self.best or max(returns.values()) >= max(self.best_returns.values()):
            self.best, self.best_iteration = copied(self._network.state_dict()), iteration
            self.best_returns = returns


def clone(
    network: GridNetwork, demonstrations: Sequence[Steps], encoder: GridEncoder, epochs: int, rng: np.random.Generator
) -> None:
    """Train a policy to take the demonstrated controls, with half of the demonstrations mirrored.

    As in `cloning`, they leave out steps that changed nothing, which a clone may repeat forever. The discriminator is
    trained on them, so that the generator learns by itself how often to take them.
    """
    adam = Adam(network, CLONING_DECAY)
    dropout = Dropout(CLONING_DROPOUT, torch.Generator().manual_seed(int(rng.integers(2**63 - 1))))
    for epoch in range(epochs):
        order = rng.permutation(len(demonstrations))
        chosen = [demonstrations[i].mirrored(encoder) if rng.integers(2) else demonstrations[i] for i in order]
        rate = CLONING_RATE * (1 - epoch / epochs)
        clone_epoch(network, adam, chosen, CLONING_BATCH, len(encoder.controls), dropout, rate)


def _logits_alone(policy: Tensors, encoder: GridEncoder) -> GridNetwork:
    """The network of a policy without its value, which is its last output."""
    controls = len(encoder.controls)
    with torch.random.fork_rng(devices=[]):
        network = encoder.make_network(controls)
    cut = {name: one[:controls] if name.startswith("head.last.") else one for name, one in policy.items()}
    network.load_state_dict(cut)
    return network
