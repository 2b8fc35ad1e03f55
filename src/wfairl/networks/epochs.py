"""The epochs of a training, and their checkpoints: the one loop of every network that is trained with our Adam.

    for checkpoint in run_epochs(module, adam, run_epoch, epochs=50):
        write_checkpoint(checkpoint, path, fingerprint)
    module.load_state_dict(checkpoint.best)

If all random numbers of `run_epoch` follow from a seed and the epoch, a run resumed from any checkpoint ends as if it
had never stopped, bit for bit.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import torch
from annotated_types import MinLen
from torch import Tensor, nn

from wfairl.core.costs import training
from wfairl.core.costs.training import BrokenCheckpointError, EpochMetrics
from wfairl.core.support.bounds import Count
from wfairl.core.support.documents import parse
from wfairl.core.support.errors import FailedRunError
from wfairl.networks.adam import Adam

GROUPS = ("model", "best", "first", "second")
"""The tensors of a `Checkpoint`, by the names of its fields."""

Tensors = dict[str, Tensor]


class DivergedError(FailedRunError):
    """A loss, a cost, a gradient or a weight is no longer a finite number."""


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


def run_epochs(
    module: nn.Module,
    adam: Adam,
    run_epoch: Callable[[int], EpochMetrics],
    epochs: int,
    patience: float = math.inf,
    resumed: Checkpoint | None = None,
) -> Iterator[Checkpoint]:
    """Train a module to the last epoch, or until patience is over.

    Args:
        module: what to train; at the end it is that of the last epoch, not of the best.
        adam: the optimizer of its parameters.
        run_epoch: trains for the epoch of that number, from 1, and measures; at 0 it only measures.
        epochs: number of the last epoch.
        patience: epochs without a better criterion (`EpochMetrics`) after which training stops.
        resumed: where to resume; None to begin.

    Yields:
        The checkpoint at the beginning, at epoch 0 or where the training resumes, and one after each epoch.
    """
    if resumed is not None:
        resumed.restore(module, adam)
    checkpoint = resumed or Checkpoint.capture(module, adam, run_epoch(0), None)
    yield checkpoint
    while checkpoint.epoch < epochs and checkpoint.epoch - checkpoint.best_epoch < patience:
        checkpoint = Checkpoint.capture(module, adam, run_epoch(checkpoint.epoch + 1), checkpoint)
        yield checkpoint


def kinds(tensors: Mapping[str, Tensor]) -> dict[str, tuple[torch.Size, torch.dtype]]:
    """The shape and type of each tensor."""
    return {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()}


def copied(tensors: Mapping[str, Tensor]) -> Tensors:
    """Copies of tensors."""
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}


def write_epoch(checkpoint: Checkpoint, path: Path, fingerprint: str) -> None:
    """Replace a checkpoint, atomically."""
    groups = {name: getattr(checkpoint, name) for name in GROUPS}
    # A tensor of two groups is stored twice: safetensors refuses shared memory.
    arrays = {f"{group}.{name}": one.numpy().copy() for group, part in groups.items() for name, one in part.items()}
    history = [asdict(metrics) for metrics in checkpoint.history]
    header = {"best_epoch": checkpoint.best_epoch, "steps": checkpoint.steps, "history": history}
    training.write_checkpoint(path, fingerprint, header, arrays)


def read_epoch(path: Path, fingerprint: str) -> Checkpoint | None:
    """What `write_epoch` wrote, None if nothing was written yet.

    Raises:
        OtherConfigurationError: it is of other settings, another model or other data.
        BrokenCheckpointError: it cannot be read.
    """
    stored = training.read_checkpoint(path, fingerprint)
    if stored is None:
        return None
    header, arrays = stored
    groups: dict[str, Tensors] = {name: {} for name in GROUPS}
    try:
        for name, array in arrays.items():
            group, _, rest = name.partition(".")
            groups[group][rest] = tensor = torch.from_numpy(array).clone()  # aligned memory: kernels round alike there
            if not tensor.isfinite().all():
                raise ValueError(f"{name} holds numbers that are not finite")
        history = parse(Annotated[tuple[EpochMetrics, ...], MinLen(1)], header["history"], finite=False)
        steps, best_epoch = parse(tuple[Count, Count], [header["steps"], header["best_epoch"]])
        if best_epoch >= len(history) or [one.epoch for one in history] != list(range(len(history))):
            raise ValueError(f"{len(history)} epochs, of which {best_epoch} is the best")
    except (KeyError, ValueError) as error:
        raise BrokenCheckpointError(f"{path}: a broken checkpoint ({error}); start the run again") from None
    return Checkpoint(**groups, best_epoch=best_epoch, steps=steps, history=history)


def half_cosine(learning_rate: float, epoch: int, epochs: int) -> float:
    """The learning rate of an epoch: along half a cosine, from the first to the one after the last; 0 at epoch 0."""
    return learning_rate * (1 + math.cos(math.pi * (epoch - 1) / epochs)) / 2 if epoch else 0.0


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let torch use one thread, in this thread and those started within, and then as many as before.

    Scenes run in parallel, each on one core. And a sum that is split between two threads is rounded differently: with
    one thread, a run gives the same bits on any number of cores.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
