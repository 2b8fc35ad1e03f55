"""The checkpoint of a training of GAIL: one file of tensors with a JSON header; nothing in it can run code."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from wfairl.learning.checkpoint import BrokenCheckpointError, read_checkpoint_file
from wfairl.learning.storage import write_tensors

FORMAT = "wfairl-gail-checkpoint"

CHECKPOINTS = "checkpoint"
"""The folder of a run in which checkpoints are, one a reward."""

GROUPS = ("policy", "best", "policy_adam", "discriminator", "discriminator_adam", "environment")

Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class IterationMetrics:
    """How an iteration went.

    Attributes:
        iteration: from 0.
        steps: of the environment so far.
        episodes: that ended in this iteration.
        mean_return: their true return, by the task's protocol; None if none ended.
        mean_length: their mean length.
        mean_return_judged: the true return of those in scenes in which the discriminator judges.
        entropy: of the policy, in nats.
        value_loss: of the generator's value.
        discriminator_loss: of its last step; 2 log 2 if it can tell nothing.
        expert_accuracy: part of the expert's steps that the discriminator takes for the expert's.
        generator_accuracy: part of the generator's steps that it takes for the generator's.
        absorbing: D of the absorbing state.
        held_out: returns in held-out scenes, one a temperature; None in iterations without a look at them.
    """

    iteration: int
    steps: int
    episodes: int
    mean_return: float | None
    mean_length: float | None
    mean_return_judged: float | None
    entropy: float
    value_loss: float
    discriminator_loss: float
    expert_accuracy: float
    generator_accuracy: float
    absorbing: float
    held_out: tuple[float, ...] | None


@dataclass(frozen=True, eq=False)
class GailCheckpoint:
    """Everything that decides how a training goes on.

    Attributes:
        tensors: by group: the policy, that of the best iteration, the discriminator, Adam's moments of both, and
            where the episodes stand.
        best_iteration: the last one with the best return in held-out scenes; -1 for the start.
        best_returns: its returns there, one a temperature.
        history: one entry an iteration.
    """

    tensors: dict[str, Tensors]
    best_iteration: int
    best_returns: tuple[float, ...]
    history: tuple[IterationMetrics, ...]


def write_gail_checkpoint(checkpoint: GailCheckpoint, path: Path, identity: str) -> None:
    """Replace the checkpoint of a training, atomically."""
    tensors = {f"{group}/{name}": tensor for group, part in checkpoint.tensors.items() for name, tensor in part.items()}
    header = {
        "fingerprint": identity,
        "best_iteration": checkpoint.best_iteration,
        "best_returns": list(checkpoint.best_returns),
        "history": [asdict(metrics) for metrics in checkpoint.history],
    }
    write_tensors(path, FORMAT, tensors, header)


def read_gail_checkpoint(path: Path, identity: str) -> GailCheckpoint | None:
    """The checkpoint of a training, None if it had not come to one.

    Raises:
        OtherConfigurationError: it is of other settings or data.
        BrokenCheckpointError: it cannot be read.
    """
    if not path.exists():
        return None
    tensors, header = read_checkpoint_file(path, FORMAT, identity)
    groups: dict[str, Tensors] = {group: {} for group in GROUPS}
    try:
        for name, tensor in tensors.items():
            group, _, rest = name.partition("/")
            groups[group][rest] = tensor
        history = tuple(_metrics(entry) for entry in header["history"])
        returns = tuple(map(float, header["best_returns"]))
        return GailCheckpoint(groups, int(header["best_iteration"]), returns, history)
    except (KeyError, TypeError, ValueError) as error:
        raise BrokenCheckpointError(f"{path}: a broken checkpoint ({error}); start the run again") from None


def _metrics(entry: dict[str, Any]) -> IterationMetrics:
    held_out = entry["held_out"]
    return IterationMetrics(**{**entry, "held_out": None if held_out is None else tuple(map(float, held_out))})


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> Tensors:
    """The moments and steps of Adam, by the number of the parameter."""
    state = optimizer.state_dict()["state"]
    return {
        f"{number}.{name}": torch.as_tensor(one).clone()
        for number, entry in state.items()
        for name, one in entry.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Tensors) -> None:
    """Put Adam where it was."""
    state: dict[int, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        number, _, entry = name.partition(".")
        state.setdefault(int(number), {})[entry] = tensor.clone()
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def copied(tensors: Mapping[str, Tensor]) -> Tensors:
    """Tensors that nobody else changes."""
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}
