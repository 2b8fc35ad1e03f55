"""The virtual absorbing state behind the end of an episode (Kostrikov et al. 2019, Discriminator-Actor-Critic).

An episode that *terminates* after T steps goes on, in thought, in one state from which nothing leads away and in
which every control does the same. Without it a reward that is always positive teaches to put the end off, and one
that is always negative to hurry it, whatever the expert did. With it the end has a reward r_a that is learned:

    return from the last step on  =  r(x, u) + gamma r_a + gamma^2 r_a + ...  =  r(x, u) + gamma / (1 - gamma) r_a

and the discriminator sees the state as often as expert and generator are in it, within the task's horizon H:

    an episode of T steps that terminated shows it H - T times; one that was cut off at the horizon, never.

An episode that is cut off has not ended: its return goes on with the value of the state it was in.
"""

import numpy as np
from numpy.typing import NDArray


def absorbing_return(reward: float, discount: float) -> float:
    """What the last step of an episode that terminates gains beside its own reward: gamma / (1 - gamma) r_a."""
    return discount / (1 - discount) * reward


def absorbing_share(steps: int, lengths: NDArray[np.int64], horizon: int) -> float:
    """The part of all steps, real and virtual, that is spent in the absorbing state.

    Args:
        steps: real steps.
        lengths: T of each episode that terminated among them.
        horizon: H.
    """
    virtual = int(np.sum(horizon - lengths))
    return virtual / max(steps + virtual, 1)
