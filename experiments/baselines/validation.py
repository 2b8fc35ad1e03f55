"""Validation rollouts: returns of networks in scenes used for neither training nor testing.

Test scenes have the seeds below 1,000,000, and demonstrations those from there on, a million per collection. The
validation scenes are those of the collection with seed 899 that no demonstration came from.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import count, islice

import numpy as np
import torch
from numpy.typing import NDArray

from experiments.baselines.network import FrozenNetwork, GridBatch, GridEncoder, GridNetwork
from experiments.baselines.network_policy import mean_log_probabilities, softmax
from experiments.baselines.vector_environment import CompiledVectorEnv, ScenePool
from wfairl.core.demonstrations.demonstration import Dataset

FIRST_VALIDATION_SEED = 900_000_000

TEMPERATURES = (0.0, 0.25, 0.5, 1.0)
"""Temperatures to choose from: 0 takes the most probable control, 1 acts as trained."""

Sampler = Callable[[NDArray[np.float64], float, NDArray[np.bool_], np.random.Generator], NDArray[np.int64]]
"""Samples a control per row from log-probabilities of shape [rows, controls], a temperature, which rows still run, and
a generator. Rows that have ended get any available control."""


def validation_seeds(number: int, dataset: Dataset) -> tuple[int, ...]:
    """The first validation scenes that no demonstration came from."""
    demonstrated = dataset.seeds
    return tuple(islice((seed for seed in count(FIRST_VALIDATION_SEED) if seed not in demonstrated), number))


def draw_by_inversion(
    log_probabilities: NDArray[np.float64], temperature: float, running: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Sample by inverting the cumulative distribution, with one uniform number per running row; see `Sampler`."""
    controls = log_probabilities.argmax(axis=1)
    cumulative = softmax(log_probabilities[running], temperature).cumsum(axis=1)
    cumulative /= cumulative[:, -1:]
    controls[running] = (cumulative <= rng.random(len(cumulative))[:, None]).sum(axis=1)
    return controls


def draw_by_gumbel(
    log_probabilities: NDArray[np.float64],
    temperature: float,
    running: NDArray[np.bool_],  # noqa: ARG001 - all rows draw
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Sample as the largest log-probability with Gumbel noise; see `Sampler`."""
    return (log_probabilities + temperature * rng.gumbel(size=log_probabilities.shape)).argmax(axis=1)


def validate(
    networks: Sequence[GridNetwork], encoder: GridEncoder, pool: ScenePool, seed: Sequence[int], draw: Sampler
) -> dict[str, float]:
    """The mean return of an ensemble that runs once in every scene of a pool, for each temperature."""
    return {
        f"{one:g}": float(_returns(networks, encoder, pool, one, np.random.default_rng([*seed, i]), draw).mean())
        for i, one in enumerate(TEMPERATURES)
    }


def best_temperature(returns: Mapping[str, float]) -> float:
    """The temperature of the best return in a validation, the lowest of equals."""
    return float(max(returns, key=lambda temperature: returns[temperature]))


def _returns(
    networks: Sequence[GridNetwork],
    encoder: GridEncoder,
    pool: ScenePool,
    temperature: float,
    rng: np.random.Generator,
    draw: Sampler,
) -> NDArray[np.float64]:
    """The return of one episode in each scene, shape [scenes]."""
    environment = CompiledVectorEnv(pool, len(pool))
    columns, _ = environment.reset(seed=0, scenes=range(len(pool)))
    batch = GridBatch(encoder, environment.bank)
    frozen = [FrozenNetwork(network, batch.bank) for network in networks]
    returns, running = np.zeros(len(pool)), np.ones(len(pool), bool)
    for _ in range(pool.task.horizon):
        encoded = torch.from_numpy(batch.encode(columns))
        outputs = [network(encoded)[:, : len(encoder.controls)] for network in frozen]
        controls = draw(mean_log_probabilities(outputs).numpy(), temperature, running, rng)
        columns, rewards, terminated, truncated, _ = environment.step(controls)
        returns += running * rewards
        running &= ~(terminated | truncated)
        if not running.any():
            break
    return returns
