"""A sampled cost in words and numbers, the same for the command line, the page and the studio.

    to red floor: about 9 plain steps (5 to 14)

A plain step is the most common kind of transition without a term that makes it dearer. For every sample of the
posterior, the costs of the transitions that have a feature, or are of a control, are averaged and divided by that of a
plain step; the interval holds 90 % of the samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wfairl.core.costs.feature_costs import SampledCost
from wfairl.core.costs.posterior import terms_cost
from wfairl.core.planning.product import Product
from wfairl.core.worlds.world import feature_names

CLAIMED = 0.05
"""The probability of unit cost below which a preference counts as shown."""

INTERVAL = (0.05, 0.95)


@dataclass(frozen=True)
class TermCost:
    """What transitions with a feature, or of a control, cost in plain steps.

    Attributes:
        name: of the feature or control.
        cost: the median of the posterior.
        low, high: the interval that holds 90 % of it.
        probability: that it matters beyond the other terms.
    """

    name: str
    cost: float
    low: float
    high: float
    probability: float

    def __str__(self) -> str:
        low, high = _rounded(self.low), _rounded(self.high)
        interval = f"{low}" if low == high else f"{low} to {high}"
        return f"{self.name}: about {_rounded(self.cost)} plain steps ({interval})"


def term_costs(model: SampledCost, product: Product) -> tuple[TermCost, ...]:
    """The terms that matter with a probability of at least a half, the dearest first; none if costs are all 1."""
    weights = model.weights.numpy()
    transitions = np.flatnonzero(product.available)
    numbers, features = product.transition_features(transitions)
    controls = np.eye(product.successors.shape[1])[transitions % product.successors.shape[1]]
    rows, counts = np.unique(np.concatenate([features[numbers], controls], axis=1), axis=0, return_counts=True)
    matter = np.flatnonzero((weights != 0).mean(axis=0) >= 0.5)
    dearer = matter[weights[:, matter].mean(axis=0) > 0]
    plain = counts * (rows[:, dearer] == 0).all(axis=1)
    costs = terms_cost(rows, weights.T)  # [rows, samples]
    costs /= costs[(plain if plain.any() else counts).argmax()]
    names = (*feature_names(product.world, features.shape[1]), *product.world.controls)
    found = []
    for column in matter:
        share = counts * (rows[:, column] != 0)
        if share.any():
            low, middle, high = np.quantile(share @ costs / share.sum(), (INTERVAL[0], 0.5, INTERVAL[1]))
            probability = float((weights[:, column] != 0).mean())
            found.append(TermCost(names[column], float(middle), float(low), float(high), probability))
    return tuple(sorted(found, key=lambda one: -one.cost))


def verdict(model: SampledCost) -> str:
    """Whether the demonstrations show a preference, as a sentence."""
    unit = float(model.unit)
    if not model.weights.any():
        return f"1 everywhere: the demonstrations show no preference (none is {unit:.0%} likely)"
    if unit < CLAIMED:
        return "the demonstrations show a preference"
    return f"a preference is possible but not shown (none is {unit:.0%} likely); more demonstrations would tell"


def cost_sentences(model: SampledCost, product: Product) -> Sequence[str]:
    """The verdict, and each term that matters."""
    return (verdict(model), *(str(one) for one in term_costs(model, product)))


def _rounded(cost: float) -> str:
    return f"{cost:.2g}" if cost < 10 else f"{cost:.0f}"
