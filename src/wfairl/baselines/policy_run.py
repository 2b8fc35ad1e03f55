"""A run whose result is networks that act: `config.json`, `metrics.jsonl`, `checkpoint/`, `policy.safetensors`.

    begin_run(config, directory, resume)                             before anything is trained
    finish_run(config, directory, networks, encoder, selection)      writes the policy
    load_policy_run(directory)                                       reads what `NetworkPolicy` needs

`config.json` holds what training finds, too: the temperature at which the policy acts unless another is given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from wfairl.baselines.encoder import Encoder
from wfairl.baselines.encoders import encoder_from_document, encoder_to_document
from wfairl.baselines.network import StateNetwork
from wfairl.demonstrations.demonstration import Dataset
from wfairl.errors import BadInputError
from wfairl.learning.run_directory import (
    RunConfig,
    broken_configuration,
    check_free,
    read_config,
    seen_tests,
    unfinished,
    write_config,
)
from wfairl.learning.storage import read_tensors, write_tensors

FORMAT = "wfairl-policy"
POLICY = "policy.safetensors"


class BrokenPolicyError(BadInputError):
    """A file is not a policy, or one that was cut or changed."""


@dataclass(frozen=True)
class ModelSelection:
    """What was chosen on held-out demonstrations and on validation scenes.

    Attributes:
        temperature: at which to act.
        details: how that and the rest was chosen, as plain JSON; for the reader.
        validation_return: mean return on validation scenes, None if there were none.
    """

    temperature: float
    details: dict[str, Any] = field(default_factory=dict)
    validation_return: float | None = None


@dataclass(frozen=True, eq=False)
class PolicyRun:
    """What a policy needs of a run."""

    config: RunConfig
    selection: ModelSelection
    networks: tuple[StateNetwork, ...]
    encoder: Encoder


def run_config(method: str, dataset: Dataset, settings: Any, origin: Mapping[str, Any] | None) -> RunConfig:
    """The configuration of a run before it has found anything.

    Args:
        method: the name of the method.
        dataset: the demonstrations.
        settings: the method's own, a dataclass.
        origin: where the demonstrations came from, for the reader.
    """
    seen = seen_tests(dataset)
    return RunConfig(method, dataset.task, dataset.temperature, asdict(settings), seen, dict(origin or {}))


def begin_run(config: RunConfig, directory: Path, resume: bool = False) -> None:
    """Write down what is about to be trained; errors as in `check_free`."""
    check_free(directory, config, resume)
    if not (directory / POLICY).exists():
        write_config(directory, config)


def finish_run(
    config: RunConfig, directory: Path, networks: Sequence[StateNetwork], encoder: Encoder, selection: ModelSelection
) -> PolicyRun:
    """Write the policy, and the temperature at which it acts."""
    found = {
        "temperature": selection.temperature,
        "selection": selection.details,
        "validation_return": selection.validation_return,
    }
    write_config(directory, replace(config, found=found))
    save_policy(networks, encoder, directory / POLICY)
    return PolicyRun(config, selection, tuple(networks), encoder)


def load_policy_run(directory: Path) -> PolicyRun:
    """Read a finished run.

    Raises:
        BrokenRunError, BrokenPolicyError: says what is missing or broken.
    """
    config = read_config(directory)
    if not (directory / POLICY).exists():
        raise unfinished(directory)
    try:
        found = config.found
        selection = ModelSelection(float(found["temperature"]), found["selection"], found["validation_return"])
    except (KeyError, TypeError, ValueError) as error:
        raise broken_configuration(directory, str(error)) from None
    return PolicyRun(replace(config, found={}), selection, *load_policy_file(directory / POLICY))


def save_policy(networks: Sequence[StateNetwork], encoder: Encoder, path: Path) -> None:
    """Write a policy's networks, atomically."""
    parts = [network.state_dict() for network in networks]
    tensors = {f"{i}.{name}": tensor for i, part in enumerate(parts) for name, tensor in part.items()}
    write_tensors(path, FORMAT, tensors, {"networks": len(networks), "encoder": encoder_to_document(encoder)})


def load_policy_file(path: Path) -> tuple[tuple[StateNetwork, ...], Encoder]:
    """Read a policy's networks and what they see.

    Raises:
        BrokenPolicyError: names the file and what is wrong with it.
    """
    tensors, header = read_tensors(path, FORMAT, BrokenPolicyError)
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise BrokenPolicyError(f"{path}: {name} holds numbers that are not finite; train it again")
    try:
        document = header["sight"] if "sight" in header else header["encoder"]  # older files have the first
        encoder, count = encoder_from_document(document), int(header["networks"])
        parts: list[dict[str, Tensor]] = [{} for _ in range(min(count, len(tensors)))]
        for name, tensor in tensors.items():
            number, _, rest = name.partition(".")
            parts[int(number)][rest] = tensor
        networks = tuple(_network(encoder, part) for part in parts)
    except (KeyError, TypeError, ValueError, RuntimeError, IndexError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise BrokenPolicyError(f"{path}: a broken policy ({reason}); train it again") from None
    if not networks:
        raise BrokenPolicyError(f"{path}: a broken policy (no network); train it again")
    return networks, encoder


def _network(encoder: Encoder, tensors: dict[str, Tensor]) -> StateNetwork:
    encoder.check_parameters(tensors)  # before a network of that size is made
    with torch.random.fork_rng(devices=[]):  # the initial parameters are drawn in vain
        network = encoder.make_network(len(encoder.controls))
    network.load_state_dict(tensors, strict=True)
    return network
