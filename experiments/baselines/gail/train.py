"""GAIL: train with each reward, and choose between them by validation.

    run = train_gail(TrainingRequest(task, dataset, directory), GailConfig())

The generator is Stable-Baselines3's PPO, which acts in a batch of compiled scenes. Policy, value and discriminator have
the network of the world's encoder, in MiniGrid the paper's. Validation scenes, used for neither training nor testing,
choose the reward, the iteration and the temperature of the policy.

Half of the generator's episodes are in the scenes of the demonstrations, half in new ones. The discriminator is trained
in demonstrated scenes only, since it could otherwise tell generator and expert apart by the scene. In new scenes it
only gives rewards.
"""

import hashlib
from dataclasses import asdict

import numpy as np
import torch
from numpy.typing import NDArray

from experiments.baselines.gail.adversarial import AdversarialTraining, GailConfig, GailData
from experiments.baselines.gail.discriminator import absorbing_fraction
from experiments.baselines.grid_encoder import GridEncoder
from experiments.baselines.imitation import concatenate, encode_demonstrations, find_encoder
from experiments.baselines.network import GridNetwork
from experiments.baselines.network_policy import ModelSelection, NetworkRun, begin_run, finish_run, run_config
from experiments.baselines.validation import FIRST_VALIDATION_SEED, best_temperature, validation_seeds
from experiments.baselines.vector_environment import ScenePool, compile_scenes
from wfairl.core.costs.checkpoint import METRICS, Tensors, feed
from wfairl.core.costs.epochs import one_torch_thread
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.runs.methods import TrainingRequest
from wfairl.core.support.documents import write_lines
from wfairl.core.support.progress import progress_bar
from wfairl.core.worlds.task import Task

METHOD = "gail"

FIRST_GENERATOR_SEED = 800_000_000
SCENES_PER_SEED = 10_000
"""The fresh scenes of a training with seed s begin at FIRST_GENERATOR_SEED + s * SCENES_PER_SEED, and wrap around below
the validation scenes, so that neither those nor the test scenes are ever among them."""


@one_torch_thread()
def train_gail(request: TrainingRequest, config: GailConfig) -> NetworkRun:
    """Learn a policy from the successful demonstrations, in a directory.

    Raises:
        RunExistsError: there is a run, and the request is not to resume it.
        OtherConfigurationError: the existing run has other settings or data.
        NoSuccessfulDemonstrationError: no demonstration is a success.
        DivergedError: weights are no longer finite.
    """
    run_settings, directory = run_config(METHOD, request, config), request.directory
    data = prepare_data(request.task, request.dataset, config, request.n_jobs)
    begin_run(run_settings, directory)
    fingerprint, trainings = _fingerprint(data, config), {}
    with progress_bar() as bar:
        meter = bar.add_task("GAIL", total=len(config.rewards) * config.iterations)
        for reward in config.rewards:
            path = directory / "checkpoint" / f"{reward}.safetensors"
            training = trainings[reward] = AdversarialTraining(data, reward, config)
            bar.update(meter, description=f"GAIL, {reward}")
            if training.resume(path, fingerprint):
                bar.advance(meter, config.iterations)
                continue
            training.begin()
            for iteration in range(config.iterations):
                training.iterate(iteration)
                bar.advance(meter)
            training.save(path, fingerprint)
    write_lines(directory / METRICS, [line for training in trainings.values() for line in training.history])
    validations = {reward: training.best_returns for reward, training in trainings.items()}
    reward = max(validations, key=lambda one: max(validations[one].values()))  # the first of equals
    best, returns = trainings[reward], validations[reward]
    selection = {"reward": reward, "iteration": best.best_iteration, "validation_returns": validations}
    found = ModelSelection(best_temperature(returns), max(returns.values()), selection)
    return finish_run(run_settings, directory, [_logits_alone(best.best, data.encoder)], data.encoder, found)


def prepare_data(task: Task, dataset: Dataset, config: GailConfig, n_jobs: int) -> GailData:
    """Encode the successful demonstrations, and compile the scenes of the generator and of the validation.

    Raises:
        NoSuccessfulDemonstrationError: no demonstration is a success.
    """
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


def _fingerprint(data: GailData, config: GailConfig) -> str:
    """A digest of the data and the settings."""
    digest = hashlib.sha256()
    (expert, _), pool = data.expert, data.pool
    observations = expert.observations.bank, expert.observations.columns
    feed(digest, [asdict(config), pool.task.name], *observations, expert.controls, pool.seeds)
    return digest.hexdigest()


def _logits_alone(policy: Tensors, encoder: GridEncoder) -> GridNetwork:
    """The network of a policy without its value, which is its last output."""
    controls = len(encoder.controls)
    with torch.random.fork_rng(devices=[]):
        network = encoder.make_network(controls)
    cut = {name: one[:controls] if name.startswith("head.last.") else one for name, one in policy.items()}
    network.load_state_dict(cut)
    return network
