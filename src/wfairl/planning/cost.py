"""What a transition costs: anything that gives one number above zero for every node and control of a product."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wfairl.planning.product import Product
from wfairl.worlds.task import FeatureCost, Task

Cost = Callable[[Product], NDArray[np.float64]]
"""From a product to c(s, u), finite and above zero; shape [nodes, controls]. Where a control cannot be chosen, any."""


def unit_cost(product: Product) -> NDArray[np.float64]:
    """Every control costs 1 everywhere, also one that does nothing."""
    return np.ones(product.successors.shape)


def feature_cost(cost: FeatureCost) -> Cost:
    """The cost of a product whose transitions cost what a function of their features says."""

    def costs(product: Product) -> NDArray[np.float64]:
        table = np.ones(product.successors.shape)
        transitions = np.flatnonzero(product.available)
        number, features = product.transition_features(transitions)
        table.reshape(-1)[transitions] = np.asarray(cost(features), np.float64)[number]
        return table

    return costs


def nominal_cost(task: Task) -> Cost:
    """What transitions cost as far as anybody knows before a demonstration: what the task says, otherwise 1."""
    told: FeatureCost | None = getattr(task, "nominal_cost", None)
    return unit_cost if told is None else feature_cost(told)


def true_cost(task: Task) -> Cost:
    """What transitions cost the expert of a task."""
    return unit_cost if task.true_cost is None else feature_cost(task.true_cost)
