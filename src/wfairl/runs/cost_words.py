"""A sampled cost in words and numbers, the same for the command line, the page and the studio.

    to red floor: about 9 plain steps (5 to 14)
    to yellow floor: at least 3 plain steps

A plain step is a transition of the most common kind, without any term, and costs 1. What a term costs is the cost of a
transition that is plain but for this term, which is as far from plain as it ever is in the demonstrated scenes. The
interval holds 90 % of the samples. Optimal demonstrations often give a bound only, and then the bound is all that is
said: as far as the samples or the likelihood alone reach.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wfairl.core.costs.feature_costs import ABOUT_PLAIN, SampledCost
from wfairl.core.worlds.world import World, feature_names

CLAIMED = 0.05
"""The probability of unit cost below which a preference counts as shown."""

SHOWN = 0.8
"""The probability that a term matters from which on it is named. A term that nothing is known of has up to a half."""

INTERVAL = (0.05, 0.95)


@dataclass(frozen=True)
class TermCost:
    """What a transition costs in plain steps that has a feature, or is of a control, and is plain otherwise.

    Attributes:
        name: of the feature or control; with its amount if that is not simply 1.
        cost: the median of the posterior.
        low, high: the interval that holds 90 % of it; None where the demonstrations give no such bound.
        probability: that it matters.
    """

    name: str
    cost: float
    low: float | None
    high: float | None
    probability: float

    def holds(self, cost: float) -> bool:
        """Whether a cost lies in the interval, or beyond the bound that there is."""
        return (self.low is None or self.low <= cost) and (self.high is None or cost <= self.high)

    def __str__(self) -> str:
        low, cost, high = _rounded(self.low), _rounded(self.cost), _rounded(self.high)
        if self.high is None and self.low is not None and self.low < ABOUT_PLAIN:
            return f"{self.name}: dearer than a plain step with {self.probability:.0%}; how much is open"
        if self.low is None and self.high is not None and self.high > 1 / ABOUT_PLAIN:
            return f"{self.name}: cheaper than a plain step with {self.probability:.0%}; how much is open"
        if self.high is None:
            return f"{self.name}: at least {low}"
        if self.low is None:
            return f"{self.name}: at most {high}"
        interval = low.split()[0] if low == high else f"{low.split()[0]} to {high.split()[0]}"
        return f"{self.name}: about {cost} ({interval})"


def term_costs(model: SampledCost, world: World[Any]) -> tuple[TermCost, ...]:
    """The terms that matter with a probability of at least `SHOWN`, the dearest first; none if costs are all 1."""
    weights, plain, extreme = model.weights, model.plain, model.extreme
    names = (*feature_names(world, model.features), *world.controls)
    probabilities = (weights != 0).mean(axis=0)
    found = []
    for column in np.flatnonzero(probabilities >= SHOWN):
        costs = 1.0 + weights[:, column] * (extreme[column] - plain[column])
        low, middle, high = np.quantile(costs, (INTERVAL[0], 0.5, INTERVAL[1])).tolist()
        bound, is_indicator = float(model.bound[column]), (plain[column], extreme[column]) == (0.0, 1.0)
        name = names[column] if is_indicator else f"{names[column]} of {_amount(extreme[column])}"
        least = None if bound < 0 else min(low, bound or low)
        most = None if bound > 0 else max(high, -bound)
        found.append(TermCost(name, middle, least, most, float(probabilities[column])))
    return tuple(sorted(found, key=lambda one: -one.cost))


def verdict(model: SampledCost) -> str:
    """Whether the demonstrations show a preference, as a sentence."""
    unit = float(model.unit[0])
    if not model.weights.any():
        return f"1 everywhere: the demonstrations show no preference ({unit:.0%} likely that there is none)"
    if unit < CLAIMED:
        return "the demonstrations show a preference"
    return (
        f"a preference is possible but not shown ({unit:.0%} likely that there is none); more demonstrations would tell"
    )


def cost_sentences(model: SampledCost, world: World[Any]) -> Sequence[str]:
    """The verdict, and each term that matters; where a preference is shown but not for what, what it is most likely."""
    said, terms = verdict(model), term_costs(model, world)
    if not terms and float(model.unit[0]) < CLAIMED:
        probabilities = (model.weights != 0).mean(axis=0)
        likely = (*feature_names(world, model.features), *world.controls)[int(probabilities.argmax())]
        said += f"; what it is about is open, most likely {likely} ({probabilities.max():.0%})"
    return (said, *map(str, terms))


def _amount(number: float) -> str:
    return f"{number:.3g}" if abs(number) < 1000 else f"{number:.0f}"


def _rounded(cost: float | None) -> str:
    text = "" if cost is None else f"{cost:.2g}" if cost < 10 else f"{cost:.0f}"
    return f"{text} plain step" if text == "1" else f"{text} plain steps"
