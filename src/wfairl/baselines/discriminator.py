"""The discriminator of GAIL: who took this control in this state, the expert (D = 1) or the generator (D = 0)?

    D(x, u) = sigmoid(l(x)[u]),   l the paper's network with one logit a control
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

from wfairl.baselines.network import StateNetwork

REWARDS: dict[str, Callable[[Tensor], Tensor]] = {
    "log-d": lambda logits: -softplus(-logits),
    "minus-log-1-d": softplus,
}
"""The reward of a logit, by its name: log D = -softplus(-l), and -log(1 - D) = softplus(l)."""


class Discriminator(nn.Module):
    """D as logits; starts at D = 1/2 everywhere."""

    def __init__(self, height: int, width: int, controls: int):
        super().__init__()
        self.network = StateNetwork(height, width, controls)
        self.absorbing = nn.Parameter(torch.zeros(()))

    def forward(self, transitions: "Transitions") -> Tensor:
        """The logit of each transition, shape [rows]."""
        logits = self.network(transitions.grids, transitions.columns)
        return logits.gather(1, transitions.controls[:, None]).squeeze(1)


@dataclass(frozen=True, eq=False)
class Transitions:
    """What somebody did.

    Attributes:
        grids: the distinct grids, shape [grids, height, width] of uint8.
        columns: number of the grid, cell * 4 + direction, and what is carried; shape [rows, 3] of int64.
        controls: shape [rows] of int64.
        absorbing: the part of all steps that was spent in the absorbing state, beside these.
    """

    grids: Tensor
    columns: Tensor
    controls: Tensor
    absorbing: float

    def __len__(self) -> int:
        """The number of real transitions."""
        return len(self.controls)

    def rows(self, chosen: Tensor) -> "Transitions":
        """Some of the transitions, with the same share of the absorbing state."""
        return Transitions(self.grids, self.columns[chosen], self.controls[chosen], self.absorbing)


@dataclass(frozen=True)
class Judgement:
    """How a step of the discriminator went: its loss, and the part of both sides' steps that it told right."""

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
