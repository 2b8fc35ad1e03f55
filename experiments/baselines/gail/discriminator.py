"""The discriminator of GAIL: is a transition the expert's (D = 1) or the generator's (D = 0)?

    D(x, u) = sigmoid(l(x)[u]),   l a network with one logit per control, in MiniGrid the paper's
    loss    = - mean_expert log D - mean_generator log(1 - D)

The generator's reward is one of

    log D          never positive: favours ending an episode
    -log(1 - D)    never negative: favours continuing it

To remove this bias, an episode that *terminates* after T steps continues in a virtual absorbing state (Kostrikov et
al. 2019, Discriminator-Actor-Critic), which no control leaves and in which D is one number for all controls. So the end
of an episode has a learned reward r_a:

    return from the last step on  =  r(x, u) + gamma r_a + gamma^2 r_a + ...  =  r(x, u) + gamma / (1 - gamma) r_a

and the discriminator is trained on the absorbing state as often as expert and generator visit it, within the horizon H:
H - T times in an episode that terminated after T steps. An episode that is truncated at the horizon never enters it:
its return continues with the value of its last state.
"""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import softplus

from experiments.baselines.cloning import Steps
from experiments.baselines.network import GridEncoder

REWARDS: dict[str, Callable[[Tensor], Tensor]] = {
    "log-d": lambda logits: -softplus(-logits),
    "minus-log-1-d": softplus,
}
"""The reward of a logit, by its name: log D = -softplus(-l), and -log(1 - D) = softplus(l)."""


class Discriminator(nn.Module):
    """D as logits; starts at D = 1/2 everywhere."""

    def __init__(self, encoder: GridEncoder):
        super().__init__()
        self.network = encoder.make_network(len(encoder.controls))
        self.absorbing = nn.Parameter(torch.zeros(()))

    def forward(self, steps: Steps) -> Tensor:
        """The logit of each step, shape [steps]."""
        return self.network(steps.observations).gather(1, steps.controls[:, None]).squeeze(1)


Side = tuple[Steps, float]
"""Steps of the expert or the generator, and the fraction of all steps, beside these, spent in the absorbing state."""


def discrimination_loss(discriminator: Discriminator, expert: Side, generator: Side, smoothing: float) -> Tensor:
    """The loss of the discriminator, with equal weight for both sides.

    With label smoothing, the expert's label is 1 - smoothing and the generator's smoothing, so that the optimal logits
    do not exceed log((1 - smoothing) / smoothing).
    """
    losses = []
    for (steps, fraction), sign in ((expert, 1.0), (generator, -1.0)):
        of_steps = _cross_entropy(sign * discriminator(steps), smoothing).mean()
        of_absorbing = _cross_entropy(sign * discriminator.absorbing, smoothing)
        # The absorbing state is one row with the weight of its fraction of all steps.
        losses.append((1 - fraction) * of_steps + fraction * of_absorbing)
    return losses[0] + losses[1]


def _cross_entropy(logits: Tensor, smoothing: float) -> Tensor:
    """- (1 - s) log sigmoid(l) - s log sigmoid(-l)."""
    return softplus(-logits) + smoothing * logits


def absorbing_return(reward: float, discount: float) -> float:
    """The return of the absorbing state as of the last step of an episode that terminates: gamma / (1 - gamma) r_a."""
    return discount / (1 - discount) * reward


def absorbing_fraction(steps: int, lengths: NDArray[np.int64], horizon: int) -> float:
    """The fraction of all steps, real and virtual, spent in the absorbing state; `lengths` are T, `horizon` is H."""
    virtual = int(np.sum(horizon - lengths))
    return virtual / max(steps + virtual, 1)
