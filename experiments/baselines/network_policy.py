"""A policy of networks that act on the state alone, without planning, and the run that holds it.

Several networks of one training form an ensemble, which acts with the mean of their probabilities:

    p(u | x) = mean over networks of softmax(logits(x))_u,     pi(u | x) proportional to p(u | x)^(1 / temperature)

At temperature 1 it acts as trained, at 0 it takes the most probable control (the first of equals).

The directory of a run holds `config.json`, with the temperature that was chosen on validation scenes, `metrics.jsonl`
and `policy.safetensors`, all of them written at the end.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from experiments.baselines.network import GridEncoder, GridNetwork
from wfairl.core.automata.automaton import Label
from wfairl.core.costs.training import METRICS
from wfairl.core.planning.agent import Status
from wfairl.core.support.documents import parse, write_lines
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.safetensors_files import read_arrays, write_arrays
from wfairl.core.worlds.world import World
from wfairl.runs.methods import TrainingRequest
from wfairl.runs.run_directory import (
    BrokenRunError,
    RunConfig,
    check_free,
    read_config,
    seen_tests,
    unfinished,
    write_config,
)

FORMAT, VERSION = "wfairl-policy", 1
POLICY = "policy.safetensors"


class BrokenPolicyError(BadInputError):
    """A file is not a policy, or it is truncated or changed."""


@dataclass(frozen=True)
class NetworkPolicy:
    """See `Policy`: one or more networks, each with one logit per control."""

    name: str
    networks: tuple[GridNetwork, ...]
    encoder: GridEncoder
    temperature: float

    def actor(self, world: World[Any], rng: np.random.Generator) -> "NetworkActor":
        return NetworkActor(self, world, rng)


class NetworkActor:
    """See `Actor`; it computes the probabilities of a state once per episode."""

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


@dataclass(frozen=True)
class ModelSelection:
    """The temperature of the policy, its mean return in validation scenes, and how it was chosen, for the reader."""

    temperature: float
    validation_return: float
    selection: dict[str, Any]


@dataclass(frozen=True, eq=False)
class NetworkRun:
    """A finished run: the networks, the encoder of their observations, and how they were selected."""

    networks: tuple[GridNetwork, ...]
    encoder: GridEncoder
    found: ModelSelection


def run_config(method: str, request: TrainingRequest, settings: Any) -> RunConfig:
    """The configuration of a run of a method with a dataclass of settings, before training."""
    dataset, seen = request.dataset, seen_tests(request.dataset)
    shown = json.dumps([(one.seed, one.score, one.controls) for one in dataset])
    origin = {**request.origin, "digest": hashlib.sha256(shown.encode()).hexdigest()}
    config = RunConfig(method, dataset.task, dataset.temperature, asdict(settings), seen, origin)
    check_free(request.directory, config, request.resume)
    return config


def finished_run(directory: Path) -> NetworkRun | None:
    """The run of a directory, None if it has not finished; errors as in `load_network_run`."""
    return load_network_run(directory) if (directory / POLICY).exists() else None


def finish_run(config: RunConfig, directory: Path, run: NetworkRun, metrics: Sequence[Mapping[str, Any]]) -> NetworkRun:
    """Write what training found, its metrics, and the policy, which is last."""
    write_config(directory, replace(config, found=asdict(run.found)))
    write_lines(directory / METRICS, metrics)
    save_policy(run.networks, run.encoder, directory / POLICY)
    return run


def load_network_run(directory: Path) -> NetworkRun:
    """Read a finished run."""
    config = read_config(directory)
    if not (directory / POLICY).exists():
        raise unfinished(directory)
    try:
        found = parse(ModelSelection, config.found)
    except BadInputError as error:
        raise BrokenRunError(f"{directory}: its configuration lacks what training found ({error})") from None
    return NetworkRun(*load_policy_file(directory / POLICY), found)


def save_policy(networks: Sequence[GridNetwork], encoder: GridEncoder, path: Path) -> None:
    """Write a policy's networks, atomically."""
    parts = [network.state_dict() for network in networks]
    arrays = {f"{i}.{name}": tensor.numpy() for i, part in enumerate(parts) for name, tensor in part.items()}
    write_arrays(path, FORMAT, VERSION, {"encoder": asdict(encoder)}, arrays)


def load_policy_file(path: Path) -> tuple[tuple[GridNetwork, ...], GridEncoder]:
    """Read a policy's networks and their encoder."""
    header, arrays = read_arrays(path, FORMAT, VERSION, BrokenPolicyError)
    try:
        encoder = parse(GridEncoder, header["encoder"])
        parts: dict[int, dict[str, Tensor]] = {}
        for name, array in arrays.items():
            which, _, rest = name.partition(".")
            parts.setdefault(int(which), {})[rest] = torch.from_numpy(array)
            if not np.isfinite(array).all():
                raise ValueError(f"{name} holds numbers that are not finite")
        with torch.random.fork_rng(devices=[]):  # the initial weights, which are replaced, draw from it
            networks = tuple(encoder.make_network(len(encoder.controls)) for _ in parts)
        for number, network in enumerate(networks):
            network.load_state_dict(parts[number], strict=True)
    except (KeyError, ValueError, RuntimeError, BadInputError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise BrokenPolicyError(f"{path}: a broken policy ({reason}); train it again") from None
    return networks, encoder
