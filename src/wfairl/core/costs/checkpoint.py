"""The checkpoint of a training: one file, written whole after every epoch, and the metrics beside it.

Its header holds the history of losses, and the fingerprint of model, data and settings.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
import torch
from annotated_types import MinLen
from torch import Tensor, nn

from wfairl.core.costs.adam import Adam
from wfairl.core.support.bounds import Count, Whole
from wfairl.core.support.documents import parse, read_lines, write_lines
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.safetensors_files import read_tensors, write_tensors

FORMAT = "wfairl-checkpoint"
METRICS = "metrics.jsonl"
CHECKPOINT = Path("checkpoint", "last.safetensors")
GROUPS = ("model", "best", "first", "second")
"""The tensors of a `Checkpoint`, by the names of its fields."""

Tensors = dict[str, Tensor]

Parsed = TypeVar("Parsed")

_LINE = dict[str, bool | Whole | float | str | tuple[float, ...] | None]
"""The metrics of an epoch or an iteration of any method."""


class BrokenMetricsError(BadInputError):
    """A file does not hold the metrics of a training."""


class BrokenCheckpointError(BadInputError):
    """A file is not a checkpoint, or a truncated or changed one."""


class OtherConfigurationError(BadInputError):
    """The checkpoint is of other settings, another model or other data."""


@dataclass(frozen=True)
class EpochMetrics:
    """How an epoch went.

    Attributes:
        epoch: from 0, before any training.
        learning_rate: of Adam.
        train_loss: mean negative log-likelihood per step, each batch before its Adam step.
        held_out_loss: the same on held-out demonstrations at the end of the epoch; None if there are none.
    """

    epoch: Count
    learning_rate: float
    train_loss: float
    held_out_loss: float | None

    @property
    def criterion(self) -> tuple[float, ...] | None:
        """What the best epoch minimises, the first of equals; None if nothing is held out."""
        return None if self.held_out_loss is None else (self.held_out_loss,)


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The whole state of a training, copied.

    Attributes:
        model: the parameters after the last epoch.
        best: those of the best epoch so far.
        best_epoch: the epoch with the least `criterion`, the last one if nothing is held out.
        first, second, steps: see `Adam`.
        history: one entry per epoch, from 0.
    """

    model: Tensors
    best: Tensors
    best_epoch: int
    first: Tensors
    second: Tensors
    steps: int
    history: tuple[EpochMetrics, ...]

    @property
    def epoch(self) -> int:
        """The last epoch."""
        return len(self.history) - 1

    @classmethod
    def capture(cls, model: nn.Module, adam: Adam, metrics: EpochMetrics, before: "Checkpoint | None") -> "Checkpoint":
        """The current state, with the best of it and the checkpoint of the epoch before."""
        current = copied(model.state_dict())
        moments = copied(adam.first), copied(adam.second), adam.steps
        history = (metrics,) if before is None else (*before.history, metrics)
        if before is not None and metrics.criterion is not None:
            least = before.history[before.best_epoch].criterion
            if least is not None and least <= metrics.criterion:
                return cls(current, before.best, before.best_epoch, *moments, history)
        return cls(current, current, metrics.epoch, *moments, history)

    def restore(self, model: nn.Module, adam: Adam) -> None:
        """Restore model and optimizer."""
        state, parameters = kinds(model.state_dict()), kinds(dict(model.named_parameters()))
        groups = (self.model, self.best, self.first, self.second)
        if list(map(kinds, groups)) != [state, state, parameters, parameters]:
            raise BrokenCheckpointError("the checkpoint holds other tensors than the model has; start the run again")
        model.load_state_dict(self.model)
        adam.first, adam.second, adam.steps = copied(self.first), copied(self.second), self.steps


def kinds(tensors: Mapping[str, Tensor]) -> dict[str, tuple[torch.Size, torch.dtype]]:
    """The shape and type of each tensor."""
    return {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()}


def copied(tensors: Mapping[str, Tensor]) -> Tensors:
    """Copies of tensors."""
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}


def feed(digest: "hashlib._Hash", *parts: Any) -> None:
    """Add arrays and JSON documents, each after its shape and type, so that no two sequences have the same bytes."""
    for part in parts:
        if isinstance(part, np.ndarray | Tensor):
            array = np.ascontiguousarray(part)
            digest.update(f"{array.dtype.str}{array.shape}:".encode())
            digest.update(array.data)
        else:
            text = json.dumps(part, sort_keys=True).encode()
            digest.update(f"json({len(text)}):".encode() + text)


def write_checkpoint(checkpoint: Checkpoint, path: Path, fingerprint: str) -> None:
    """Replace a checkpoint, atomically."""
    groups = {name: getattr(checkpoint, name) for name in GROUPS}
    history = [asdict(metrics) for metrics in checkpoint.history]
    header = {"best_epoch": checkpoint.best_epoch, "steps": checkpoint.steps, "history": history}
    write_groups(path, fingerprint, groups, header)


def read_checkpoint(path: Path, fingerprint: str, epochs: type[EpochMetrics] = EpochMetrics) -> Checkpoint | None:
    """A checkpoint whose history consists of `epochs`, None if there is none yet; errors as in `read_groups`."""

    def make(groups: dict[str, Tensors], header: dict[str, Any]) -> Checkpoint:
        history = parse(Annotated[tuple[epochs, ...], MinLen(1)], header["history"], finite=False)  # type: ignore[valid-type]
        steps, best_epoch = parse(tuple[Count, Count], [header["steps"], header["best_epoch"]])
        if best_epoch >= len(history) or [one.epoch for one in history] != list(range(len(history))):
            raise ValueError(f"{len(history)} epochs, of which {best_epoch} is the best")
        return Checkpoint(**groups, best_epoch=best_epoch, steps=steps, history=history)

    return read_groups(path, fingerprint, GROUPS, make)


def write_groups(path: Path, fingerprint: str, groups: Mapping[str, Tensors], header: dict[str, Any]) -> None:
    """Replace a checkpoint of any training, atomically: groups of tensors, whose names have no dot, and plain JSON."""
    # A tensor of two groups is stored twice: safetensors refuses shared memory.
    tensors = {f"{group}.{name}": tensor.clone() for group, part in groups.items() for name, tensor in part.items()}
    write_tensors(path, FORMAT, tensors, {"fingerprint": fingerprint, **header})


def read_groups(
    path: Path, fingerprint: str, names: Sequence[str], parse: Callable[[dict[str, Tensors], dict[str, Any]], Parsed]
) -> Parsed | None:
    """What `write_groups` wrote, None if nothing was written yet.

    From groups and header `parse` makes the checkpoint; its KeyError or ValueError means a broken one.

    Raises:
        OtherConfigurationError: it is of other settings, another model or other data.
        BrokenCheckpointError: it cannot be read.
    """
    if not path.exists():
        return None
    tensors, header = read_tensors(path, FORMAT, BrokenCheckpointError)
    if header.get("fingerprint") != fingerprint:
        raise OtherConfigurationError(
            f"{path}: the checkpoint is of another configuration (other settings, another network, another automaton"
            " or other demonstrations). Resume with the same, or start a new run in another directory"
        )
    groups: dict[str, Tensors] = {name: {} for name in names}
    try:
        for name, tensor in tensors.items():
            group, _, rest = name.partition(".")
            groups[group][rest] = tensor
            if not tensor.isfinite().all():
                raise ValueError(f"{name} holds numbers that are not finite")
        return parse(groups, header)
    except (KeyError, ValueError) as error:
        raise BrokenCheckpointError(f"{path}: a broken checkpoint ({error}); start the run again") from None


def write_metrics(history: Sequence[EpochMetrics], directory: Path) -> None:
    """Write the history as JSONL, one epoch per line."""
    write_lines(directory / METRICS, [asdict(metrics) for metrics in history])


def read_metrics(directory: Path) -> tuple[dict[str, Any], ...]:
    """The lines of the metrics of a run of any method.

    Raises:
        BrokenMetricsError: names the file and what is wrong with it.
    """
    lines: tuple[dict[str, Any], ...] = read_lines(directory / METRICS, _LINE, BrokenMetricsError)
    if not lines:
        raise BrokenMetricsError(f"{directory / METRICS}: this file is empty")
    return lines
