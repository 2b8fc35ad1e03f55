"""The most likely weights of a cost: L-BFGS on the exact gradient, a subgradient where optimal paths tie."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Objective = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]
"""From weights to minus the log-likelihood per step, less the log of a prior, and its gradient; or inf."""

BARRIER = 1.0
"""Above the best so far, where the objective is inf: infinity would break the interpolation of the line search."""


def most_likely(
    objective: Objective,
    start: NDArray[np.float64],
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
    tolerance: float = 1e-7,
    most_iterations: int = 100,
) -> NDArray[np.float64]:
    """The best weights that L-BFGS evaluates, which need not be the last.

    Args:
        objective: to minimise.
        start: weights at which the objective is finite.
        bounds: of each weight; None for no bound.
        tolerance: stop when an iteration gains less.
        most_iterations: of L-BFGS.
    """
    from scipy.optimize import minimize  # here, because it is slow to import

    least, best = math.inf, start

    def evaluate(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        nonlocal least, best
        value, gradient = objective(point)
        if math.isinf(value):
            return least + BARRIER, np.zeros(len(point))  # the line search steps back
        if value < least:
            least, best = value, point.copy()
        return value, gradient

    options = {"maxiter": most_iterations, "maxcor": 20, "ftol": tolerance, "gtol": 1e-7}
    minimize(evaluate, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return best
