"""The epochs of a training: the one loop of every network that is trained with our Adam.

    for checkpoint in run_epochs(module, adam, run_epoch, epochs=50):
        write_checkpoint(checkpoint, path, fingerprint)
    module.load_state_dict(checkpoint.best)

If all random numbers of `run_epoch` follow from a seed and the epoch, a run resumed from any checkpoint ends as if it
had never stopped, bit for bit.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import nn

from wfairl.core.costs.adam import Adam
from wfairl.core.costs.checkpoint import Checkpoint, EpochMetrics
from wfairl.core.support.errors import FailedRunError


class DivergedError(FailedRunError):
    """A loss, a cost, a gradient or a weight is no longer a finite number."""


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
