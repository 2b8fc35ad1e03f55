"""The epochs of a training: the one loop of every network that is trained with our Adam.

    for progress in run_epochs(module, run_epoch, epochs=50): ...
    module.load_state_dict(progress.best)

If all random numbers of `run_epoch` follow from a seed and the epoch, the same training ends with the same bits. So a
training that was killed begins again.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from wfairl.core.costs.training import EpochMetrics
from wfairl.core.support.errors import FailedRunError

Tensors = dict[str, Tensor]


class DivergedError(FailedRunError):
    """A loss, a cost, a gradient or a weight is no longer a finite number."""


@dataclass(frozen=True, eq=False)
class Progress:
    """How far a training has come.

    Attributes:
        best: the parameters of the best epoch so far, copied.
        best_epoch: the epoch with the least `criterion`, the last one if nothing is held out.
        history: one entry per epoch, from 0.
    """

    best: Tensors
    best_epoch: int
    history: tuple[EpochMetrics, ...]

    @property
    def epoch(self) -> int:
        """The last epoch."""
        return len(self.history) - 1

    def after(self, module: nn.Module, metrics: EpochMetrics) -> "Progress":
        """The progress after one more epoch."""
        history, least = (*self.history, metrics), self.history[self.best_epoch].criterion
        if metrics.criterion is not None and least is not None and least <= metrics.criterion:
            return Progress(self.best, self.best_epoch, history)
        return Progress(copied(module.state_dict()), metrics.epoch, history)


def run_epochs(
    module: nn.Module, run_epoch: Callable[[int], EpochMetrics], epochs: int, patience: float = math.inf
) -> Iterator[Progress]:
    """Train a module to the last epoch, or until patience is over; the progress at the beginning and after each epoch.

    Args:
        module: what to train; at the end it is that of the last epoch, not of the best.
        run_epoch: trains for the epoch of that number, from 1, and measures; at 0 it only measures.
        epochs: number of the last epoch.
        patience: epochs without a better criterion (`EpochMetrics`) after which training stops.
    """
    progress = Progress(copied(module.state_dict()), 0, (run_epoch(0),))
    yield progress
    while progress.epoch < epochs and progress.epoch - progress.best_epoch < patience:
        progress = progress.after(module, run_epoch(progress.epoch + 1))
        yield progress


def copied(tensors: Mapping[str, Tensor]) -> Tensors:
    """Copies of tensors."""
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}


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
