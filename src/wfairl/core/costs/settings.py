"""How to learn a cost: by which model, and how it is trained."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from wfairl.core.costs.cost_model import COST_MODELS, CostModel
from wfairl.core.planning.product import Product
from wfairl.core.support.bounds import AtLeastOne, AtLeastZero, Fraction, NotNegative, Positive, Seed, check_bounds
from wfairl.core.support.errors import BadInputError

DEFAULT_TRAINING_TEMPERATURE = 0.5
"""For demonstrations of temperature 0 or unknown: at 0 nothing can be learned, since the policy is constant almost
everywhere; at the initial costs of all models, 0.5 makes a detour of one step seven times less likely."""


@dataclass(frozen=True)
class CostSettings:
    """How to learn a cost.

    Attributes:
        cost: kind of cost model: auto or prices; in MiniGrid also the networks local and paper. The task's own unless
            given, which is auto for most.
        epochs: passes over the demonstrations, of a network; 0 keeps any model as it is, 1 everywhere.
        batch_size: scenes per Adam step.
        learning_rate: initial learning rate of Adam, with cosine decay to zero.
        weight_decay: decoupled weight decay of Adam; it pulls all costs towards the same number.
        temperature: of the demonstrators, 0 if they are optimal; that of the demonstrations unless given. At 0, or if
            it is unknown, other models than auto are trained at 0.5.
        held_out: fraction of the demonstrations that only choose the epoch of a network; 0 keeps the last epoch.
        seed: random seed of the split and of the order of scenes.
    """

    cost: str | None = None
    epochs: AtLeastZero = 50
    batch_size: AtLeastOne = 8
    learning_rate: Positive = 1e-3
    weight_decay: NotNegative = 1e-2
    temperature: float | None = None
    held_out: Fraction = 0.25
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.temperature is not None and not 0 <= self.temperature < math.inf:
            raise BadInputError(f"the temperature of demonstrators is 0 or more and finite, not {self.temperature:g}")
        if self.cost is not None:
            COST_MODELS.find(self.cost)

    def complete(self, default_cost: str) -> Self:
        """The same settings with the task's own cost where none was named."""
        return self if self.cost is not None else replace(self, cost=default_cost)

    def for_demonstrations(self, temperature: float | None) -> Self:
        """The same settings with the temperature of the demonstrations, where none was given."""
        return self if self.temperature is not None else replace(self, temperature=temperature)

    def make_model(self, products: Sequence[Product]) -> CostModel:
        """An untrained cost model, the same for the same seed."""
        if self.cost is None:
            raise BadInputError("no cost model is named: give `cost`, or the task's own by `complete`")
        return COST_MODELS.find(self.cost).untrained(products, self)


def training_temperature(temperature: float | None) -> float:
    """The temperature to train at for demonstrations of some temperature: theirs if it is above zero and finite."""
    return temperature if temperature is not None and 0 < temperature < math.inf else DEFAULT_TRAINING_TEMPERATURE
