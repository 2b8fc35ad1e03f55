"""Laws of the epoch loop, with losses that are given."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.costs.training import EpochMetrics
from wfairl.networks.adam import Adam
from wfairl.networks.epochs import half_cosine, run_epochs

LOSSES = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=12)


def run(losses, patience=math.inf, resumed=None):
    """Train one number to the losses that its epochs are given to have; each epoch adds Adam's step."""
    module = torch.nn.Linear(1, 1, bias=False).double()
    with torch.no_grad():
        module.weight.fill_(1.0)
    adam = Adam(module, 0.0)

    def run_epoch(epoch):
        if epoch:
            adam.step(adam.gradients(module.weight.square().sum()), 0.01 * epoch)
        return EpochMetrics(epoch, 0.0, 0.0, losses[epoch])

    return list(run_epochs(module, adam, run_epoch, len(losses) - 1, patience, resumed))


@given(LOSSES, st.integers(1, 4))
def test_training_stops_at_the_last_epoch_or_when_patience_is_over(losses, patience):
    last = run(losses, patience)[-1]
    best = min(range(last.epoch + 1), key=lambda epoch: losses[epoch])  # the first of equals
    assert last.best_epoch == best
    assert last.epoch == min(len(losses) - 1, best + patience)


@given(LOSSES, st.data())
def test_training_resumes_from_any_checkpoint_to_the_same_bits(losses, data):
    whole = run(losses)
    resumed = run(losses, resumed=data.draw(st.sampled_from(whole)))
    assert [one.epoch for one in resumed] == list(range(resumed[0].epoch, len(losses)))
    for one, other in zip(reversed(resumed), reversed(whole), strict=False):
        assert one.history == other.history
        assert one.best_epoch == other.best_epoch
        for name in ("model", "best", "first", "second"):
            assert torch.equal(getattr(one, name)["weight"], getattr(other, name)["weight"])


def test_the_learning_rate_falls_along_half_a_cosine():
    rates = [half_cosine(0.2, epoch, 4) for epoch in range(6)]
    assert rates[0] == 0
    assert rates[1:] == pytest.approx([0.1 * (1 + math.cos(math.pi * k / 4)) for k in range(5)])
