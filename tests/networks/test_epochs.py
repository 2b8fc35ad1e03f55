"""Laws of the epoch loop, with losses that are given."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.costs.training import EpochMetrics
from wfairl.networks.epochs import half_cosine, run_epochs

LOSSES = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=12)


def run(losses, patience=math.inf):
    """Train one number, which is that of the epoch, to the losses that the epochs are given to have."""
    module = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(module.weight)

    def run_epoch(epoch):
        if epoch:
            torch.nn.init.constant_(module.weight, epoch)
        return EpochMetrics(epoch, 0.0, 0.0, losses[epoch])

    return list(run_epochs(module, run_epoch, len(losses) - 1, patience))


@given(LOSSES, st.integers(1, 4))
def test_training_stops_at_the_last_epoch_or_when_patience_is_over(losses, patience):
    last = run(losses, patience)[-1]
    best = min(range(last.epoch + 1), key=lambda epoch: losses[epoch])  # the first of equals
    assert last.best_epoch == best == last.best["weight"].item()
    assert last.epoch == min(len(losses) - 1, best + patience)


def test_the_learning_rate_falls_along_half_a_cosine():
    rates = [half_cosine(0.2, epoch, 4) for epoch in range(6)]
    assert rates[0] == 0
    assert rates[1:] == pytest.approx([0.1 * (1 + math.cos(math.pi * k / 4)) for k in range(5)])
