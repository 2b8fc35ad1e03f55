"""The discriminator of GAIL: who took this control in this state, the expert (D = 1) or the generator (D = 0)?

    D(x, u) = sigmoid(l(x)[u]),   l a network with one logit per control, in MiniGrid the paper's
    loss    = - mean_expert log D - mean_generator log(1 - D)

In the absorbing state (see `absorbing`) D is one number for all controls. The generator's reward is one of

    log D          never positive: suits tasks in which to end is good
    -log(1 - D)    never negative: suits tasks in which to go on is good
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from wfairl.baselines.encoder import Encoder, Observations

REWARDS: dict[str, Callable[[Tensor], Tensor]] = {
    "log-d": lambda logits: -softplus(-logits),
    "minus-log-1-d": softplus,
}
"""The reward of a logit, by its name: log D = -softplus(-l), and -log(1 - D) = softplus(l)."""


class Discriminator(nn.Module):
    """D as logits; starts at D = 1/2 everywhere."""

    def __init__(self, encoder: Encoder):
        super().__init__()
        self.network = encoder.make_network(len(encoder.controls))
        self.absorbing = nn.Parameter(torch.zeros(()))

    def forward(self, transitions: "Transitions") -> Tensor:
        """The logit of each transition, shape [rows]."""
        logits = self.network(transitions.observations)
        return logits.gather(1, transitions.controls[:, None]).squeeze(1)


@dataclass(frozen=True, eq=False)
class Transitions:
    """What the expert or the generator did.

    Attributes:
        observations: the states.
        controls: shape [rows] of int64; all of them were available.
        absorbing: the share of all steps that was spent in the absorbing state, beside these.
    """

    observations: Observations
    controls: Tensor
    absorbing: float

    def __len__(self) -> int:
        """The number of real transitions."""
        return len(self.controls)

    def rows(self, chosen: Tensor) -> "Transitions":
        """Some of the transitions, with the same share of the absorbing state."""
        return Transitions(self.observations.rows(chosen), self.controls[chosen], self.absorbing)


@dataclass(frozen=True)
class Judgement:
    """How a discriminator step went: its loss, and the share of both sides' steps that it attributed rightly."""

    loss: float
    expert_accuracy: float
    generator_accuracy: float


def discrimination_loss(
    discriminator: Discriminator, expert: Transitions, generator: Transitions, smoothing: float
) -> tuple[Tensor, Judgement]:
    """The loss of the discriminator, both sides counting the same.

    Args:
        discriminator: D.
        expert: what the expert did.
        generator: what the generator did.
        smoothing: the expert's label is 1 - smoothing and the generator's smoothing, so that no logit is worth
            more than log((1 - smoothing) / smoothing).
    """
    losses, right = [], []
    for side, sign in ((expert, 1.0), (generator, -1.0)):
        logits = sign * discriminator(side)
        absorbing = sign * discriminator.absorbing
        # A share of the absorbing state is one row that weighs as much as that share of all rows.
        losses.append(
            (1 - side.absorbing) * _cross_entropy(logits, smoothing).mean()
            + side.absorbing * _cross_entropy(absorbing, smoothing)
        )
        right.append(
            (1 - side.absorbing) * (logits > 0).float().mean().item() + side.absorbing * float(absorbing.item() > 0)
        )
    loss = losses[0] + losses[1]
    return loss, Judgement(loss.item(), *right)


def _cross_entropy(logits: Tensor, smoothing: float) -> Tensor:
    """- (1 - s) log sigmoid(l) - s log sigmoid(-l)."""
    return softplus(-logits) + smoothing * logits
