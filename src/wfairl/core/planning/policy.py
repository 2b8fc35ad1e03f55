"""The Boltzmann policy over the cost-to-go of controls, from greedy to random.

Equation (3) of the paper, at temperature eta:

    pi(u | s) = exp(-Q(s, u) / eta) / sum_u' exp(-Q(s, u') / eta)

and its two limits: at eta = 0 the controls of least Q are equally likely and the others impossible;
at eta = inf all available controls are equally likely, also those with Q = inf: the random explorer does not know the
task. At every finite temperature a control with Q = inf has probability 0.
"""

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.errors import BadInputError, FailedRunError
from wfairl.core.worlds.world import draw_index

TIE_TOLERANCE = 1e-9
"""At temperature 0, Q within this fraction of the least one counts as equal to it: sums of the same
costs in another order differ by rounding, and that must not break a tie."""


class NoLiveControlError(FailedRunError):
    """No control leads to acceptance, so a policy of finite temperature has nothing to choose from."""


def probabilities(
    control_cost_to_go: NDArray[np.float64], temperature: float, available: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """pi(u | s) for every control, shape [..., controls].

    Args:
        control_cost_to_go: Q(s, u), inf for a control that leads nowhere; shape [..., controls].
        temperature: eta, from 0 (greedy) to inf (random).
        available: which controls can be chosen, shape [..., controls]; all of them if None. It matters only at
            temperature inf: unavailable controls have Q = inf.

    Raises:
        NoLiveControlError: Q is inf for all controls of a state, at finite temperature.
    """
    return np.exp(log_probabilities(control_cost_to_go, temperature, available))


def log_probabilities(
    control_cost_to_go: NDArray[np.float64], temperature: float, available: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """log pi(u | s) for every control, -inf where the probability is 0; as `probabilities`."""
    if not temperature >= 0:
        raise BadInputError(f"temperature must lie between 0 (greedy) and inf (random), not {temperature}")
    Q = np.asarray(control_cost_to_go, dtype=np.float64)
    if temperature == np.inf:
        choices = np.ones(Q.shape, bool) if available is None else np.broadcast_to(available, Q.shape)
        return np.where(choices, -np.log(choices.sum(axis=-1, keepdims=True)), -np.inf)
    least = Q.min(axis=-1, keepdims=True)
    if not (least < np.inf).all():
        raise NoLiveControlError("no control leads to acceptance: Q is inf for all of them")
    excess = Q - least
    if temperature == 0:
        excess = np.where(excess <= TIE_TOLERANCE * np.abs(least), 0.0, np.inf)
    else:
        with np.errstate(over="ignore"):  # a tiny temperature makes inf of a finite excess, which is right
            excess = excess / temperature
    # excess is 0 at the best control, so the sum lies between 1 and the number of controls.
    return -excess - np.log(np.exp(-excess).sum(axis=-1, keepdims=True))


def sample_control(
    control_cost_to_go: NDArray[np.float64],
    temperature: float,
    rng: np.random.Generator,
    available: NDArray[np.bool_] | None = None,
) -> int:
    """Draw a control from the policy of one state, Q of shape [controls]."""
    return draw_index(probabilities(control_cost_to_go, temperature, available), rng)
