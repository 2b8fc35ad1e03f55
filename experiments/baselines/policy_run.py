"""A run that trains policy networks: `config.json`, `metrics.jsonl`, `checkpoint/`, `policy.safetensors`.

    begin_run(config, directory, resume)                             before training
    finish_run(config, directory, networks, encoder, selection)      writes the policy
    load_policy_run(directory)                                       reads it for `NetworkPolicy`

At the end, `config.json` also holds the default temperature of the policy, chosen by validation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from experiments.baselines.encoder import Encoder, blank_network
from experiments.baselines.encoders import encoder_from_document, encoder_to_document
from experiments.baselines.network import StateNetwork
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.runs.run_directory import (
    BrokenRunError,
    RunConfig,
    check_free,
    read_config,
    seen_tests,
    unfinished,
    write_config,
)
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.safetensors_files import read_tensors, write_tensors

FORMAT = "wfairl-policy"
POLICY = "policy.safetensors"


class BrokenPolicyError(BadInputError):
    """A file is not a policy, or it is truncated or changed."""


@dataclass(frozen=True)
class ModelSelection:
    """The choices made on held-out demonstrations and validation scenes.

    Attributes:
        temperature: of the policy.
        details: how it was chosen, as plain JSON; for the reader.
        validation_return: mean return in validation scenes, None without any.
    """

    temperature: float
    details: dict[str, Any] = field(default_factory=dict)
    validation_return: float | None = None


@dataclass(frozen=True, eq=False)
class PolicyRun:
    """The parts of a run that its policy needs."""

    config: RunConfig
    selection: ModelSelection
    networks: tuple[StateNetwork, ...]
    encoder: Encoder


def run_config(method: str, dataset: Dataset, settings: Any, origin: Mapping[str, Any] | None) -> RunConfig:
    """The configuration of a run before training.

    Args:
        method: the name of the method.
        dataset: the demonstrations.
        settings: a dataclass of the method's settings.
        origin: where the demonstrations came from, for the reader.
    """
    settings = asdict(settings)
    return RunConfig(method, dataset.task, dataset.temperature, settings, seen_tests(dataset), dict(origin or {}))


def begin_run(config: RunConfig, directory: Path, resume: bool = False) -> None:
    """Write the configuration before training; errors as in `check_free`."""
    check_free(directory, config, resume)
    if not (directory / POLICY).exists():
        write_config(directory, config)


def finish_run(
    config: RunConfig, directory: Path, networks: Sequence[StateNetwork], encoder: Encoder, selection: ModelSelection
) -> PolicyRun:
    """Write the policy and its temperature."""
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
        BrokenRunError, BrokenPolicyError: names what is missing or broken.
    """
    config = read_config(directory)
    if not (directory / POLICY).exists():
        raise unfinished(directory)
    try:
        found = config.found
        selection = ModelSelection(float(found["temperature"]), found["selection"], found["validation_return"])
    except (KeyError, TypeError, ValueError) as error:
        raise BrokenRunError(f"{directory}: its configuration lacks what training found ({error})") from None
    return PolicyRun(replace(config, found={}), selection, *load_policy_file(directory / POLICY))


def save_policy(networks: Sequence[StateNetwork], encoder: Encoder, path: Path) -> None:
    """Write a policy's networks, atomically."""
    parts = [network.state_dict() for network in networks]
    tensors = {f"{i}.{name}": tensor for i, part in enumerate(parts) for name, tensor in part.items()}
    write_tensors(path, FORMAT, tensors, {"networks": len(networks), "encoder": encoder_to_document(encoder)})


def load_policy_file(path: Path) -> tuple[tuple[StateNetwork, ...], Encoder]:
    """Read a policy's networks and their encoder.

    Raises:
        BrokenPolicyError: names the file and what is wrong with it.
    """
    tensors, header = read_tensors(path, FORMAT, BrokenPolicyError)
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            raise BrokenPolicyError(f"{path}: {name} holds numbers that are not finite; train it again")
    try:
        document = header["sight"] if "sight" in header else header["encoder"]  # "sight" in older files
        encoder, count = encoder_from_document(document), int(header["networks"])
        parts: list[dict[str, Tensor]] = [{} for _ in range(min(count, len(tensors)))]
        for name, tensor in tensors.items():
            number, _, rest = name.partition(".")
            parts[int(number)][rest] = tensor
        for part in parts:
            encoder.check_parameters(part)  # before networks of that size are created
        networks = tuple(blank_network(encoder) for _ in parts)
        for network, part in zip(networks, parts, strict=True):
            network.load_state_dict(part, strict=True)
    except (KeyError, TypeError, ValueError, RuntimeError, IndexError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise BrokenPolicyError(f"{path}: a broken policy ({reason}); train it again") from None
    if not networks:
        raise BrokenPolicyError(f"{path}: a broken policy (no network); train it again")
    return networks, encoder
