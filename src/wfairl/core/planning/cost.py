"""Costs of transitions: any function from a product to one number above zero for every node and control.

Where the world slips, a cost is that of what happened: the columns are effects (`worlds.chances`), not controls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from wfairl.core.planning.path import Path
from wfairl.core.planning.product import Product, states_alone
from wfairl.core.planning.shortest_path import BadCostError
from wfairl.core.worlds.plain import find_effect
from wfairl.core.worlds.task import FeatureCost, Task
from wfairl.core.worlds.world import outcomes_of

Cost = Callable[[Product], NDArray[np.float64]]
"""From a product to c(s, u), finite and above zero, shape [nodes, controls]; any number where one is unavailable."""


class CostScope(Enum):
    """What a cost depends on besides the control: its attribute `scope`, or else the whole state."""

    CONSTANT = "constant"  # nothing
    LOCAL = "local"  # features of the transition, or what the agent sees
    GLOBAL = "global"  # the whole state


def unit_cost(product: Product) -> NDArray[np.float64]:
    """Every control costs 1 everywhere, also one that does nothing."""
    return np.ones(product.successors.shape)


def feature_cost(cost: FeatureCost, name: str = "a cost of features") -> Cost:
    """The cost of transitions as a function of their features; errors call it by its name."""
    return _OverFeatures(cost, name)


@dataclass(frozen=True)
class _OverFeatures:
    cost: FeatureCost
    name: str
    scope: CostScope = CostScope.LOCAL

    def __call__(self, product: Product) -> NDArray[np.float64]:
        number, features = product.features
        return np.where(product.available, self.of_features(features)[number].reshape(product.successors.shape), 1.0)

    def of_features(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """The costs of transitions by their features, shape [transitions, features]."""
        costs = np.asarray(self.cost(features), np.float64)
        bad = np.flatnonzero(~(np.isfinite(costs) & (costs > 0)))
        if len(bad):
            raise BadCostError(
                f"{self.name} must be finite and above zero; it is {costs[bad[0]]} for the features"
                f" {features[bad[0]].tolist()}"
            )
        return costs


def nominal_cost(task: Task) -> Cost:
    """The cost before anything is learned: the task's nominal cost, otherwise 1."""
    nominal: FeatureCost | None = getattr(task, "nominal_cost", None)
    return unit_cost if nominal is None else feature_cost(nominal, f"the nominal cost of task {task.name!r}")


def true_cost(task: Task) -> Cost:
    """The cost under which the expert of a task acts."""
    return unit_cost if task.true_cost is None else feature_cost(task.true_cost, f"the true cost of task {task.name!r}")


def path_cost(cost: Cost, path: Path) -> float:
    """The sum of the costs of what happened along a path.

    In the model, a control may be unable to lead where it led. A cost of features then takes the features that the
    world gives for this step. Any other cost takes the most probable outcome of the control.
    """
    if not path.controls:
        return 0.0
    table = cost(states_alone(path.world, path.states[:-1]))
    total, surprises = np.empty(len(path)), []
    for i, step in enumerate(zip(path.states, path.controls, path.states[1:], strict=False)):
        state, control, next_state = step
        outcomes = outcomes_of(path.world, state, control)
        if all(next_state != after for _, after in outcomes):
            surprises.append(i)
            next_state = max(outcomes, key=itemgetter(0))[1]
        total[i] = table[i, find_effect(path.world, state, control, next_state)]
    if surprises and isinstance(cost, _OverFeatures):
        features = [path.world.features(path.states[i], path.controls[i], path.states[i + 1]) for i in surprises]
        total[surprises] = cost.of_features(np.array(features))
    return float(total.sum())
