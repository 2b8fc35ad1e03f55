"""What a transition costs: anything that gives one number above zero for every node and control of a product."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wfairl.planning.product import Product

Cost = Callable[[Product], NDArray[np.float64]]
"""From a product to c(s, u), finite and above zero; shape [nodes, controls]."""


def unit_cost(product: Product) -> NDArray[np.float64]:
    """Every control costs 1 everywhere, also one that does nothing."""
    return np.ones(product.successors.shape)
