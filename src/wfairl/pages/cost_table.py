"""A learned cost that a person can read: the weights or prices by the names of features."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.costs.cost_model import CostModel
from wfairl.core.costs.cost_words import term_costs
from wfairl.core.costs.feature_costs import PricesCost, SampledCost
from wfairl.core.worlds.world import World, feature_names


@dataclass(frozen=True, eq=False)
class NamedTable:
    """Numbers with names.

    Attributes:
        name: what they are, such as "weights".
        meaning: how the cost of a transition follows from them, as sentences.
        rows: the names of features and controls.
        columns: what the numbers are.
        values: NaN where there is none; shape [rows, columns].
    """

    name: str
    meaning: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.rows), len(self.columns)):
            raise ValueError(f"{self.values.shape} values for {len(self.rows)} rows and {len(self.columns)} columns")

    def to_document(self) -> dict[str, Any]:
        """The numbers by row, and by column if there are several, as plain JSON."""
        named = {
            row: {name: value for name, value in zip(self.columns, values, strict=True) if not np.isnan(value)}
            for row, values in zip(self.rows, self.values.tolist(), strict=True)
        }
        return named if len(self.columns) > 1 else {row: next(iter(one.values())) for row, one in named.items()}


def cost_table(model: CostModel, world: World[Any]) -> NamedTable | None:
    """What a cost over features learned, by the names of a world's features and controls.

    None for other costs, and if no feature matters.
    """
    if isinstance(model, SampledCost):
        found = term_costs(model, world)
        meaning = (
            "What a transition costs in plain steps, the most common ones, that has this feature alone; 90 % lie from"
            " low to high. Where one of them is missing, the demonstrations give no such bound."
        )
        values = np.array([(one.cost, one.low, one.high) for one in found], np.float64).reshape(-1, 3)
        names = tuple(one.name for one in found)
        return NamedTable("plain steps", meaning, names, ("cost", "low", "high"), values) if found else None
    if isinstance(model, PricesCost):
        meaning = "A transition costs the sum of its features times their prices. Before training all prices are 1."
        names = feature_names(world, len(model.prices))
        return NamedTable("prices", meaning, names, ("price of a unit",), model.prices[:, None])
    return None
