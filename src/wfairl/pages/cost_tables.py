"""A learned cost that a person can read: what transitions cost, and the weights or prices by the names of features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.costs.cost_model import CostModel
from wfairl.core.costs.cost_words import term_costs
from wfairl.core.costs.feature_costs import PricesCost, SampledCost
from wfairl.core.planning.product import states_alone
from wfairl.core.worlds.world import World, available_controls, feature_names

MOST_KINDS, MOST_STATES = 12, 2_000
"""Distinct features up to which the costs of transitions are listed, and states among whose transitions they are."""


@dataclass(frozen=True, eq=False)
class NamedTable:
    """Numbers with names.

    Attributes:
        name: what they are, such as "weights".
        meaning: how the cost of a transition follows from them, as sentences.
        of: what the rows are, such as "feature".
        rows, columns: the names.
        values: NaN where there is none; shape [rows, columns].
    """

    name: str
    meaning: str
    of: str
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


def cost_tables(model: CostModel, world: World[Any]) -> tuple[NamedTable, ...]:
    """What a cost over features learned, with the names of a world's features and controls; none for other costs.

    The first is printed after training; the page of a run has all of them.
    """
    if not isinstance(model, PricesCost | SampledCost):
        return ()
    return (*transition_costs(model, world), *weights_of(model, world))


def weights_of(model: CostModel, world: World[Any]) -> tuple[NamedTable, ...]:
    """The learned weights or prices; none if the model has none."""
    if isinstance(model, SampledCost):
        found = term_costs(model, world)
        meaning = (
            "What a transition costs in plain steps, the most common ones, that has this feature alone; 90 % lie from"
            " low to high. Where one of them is missing, the demonstrations give no such bound."
        )
        values = np.array([(one.cost, one.low, one.high) for one in found], np.float64).reshape(-1, 3)
        names = tuple(one.name for one in found)
        return (NamedTable("plain steps", meaning, "feature", names, ("cost", "low", "high"), values),) if found else ()
    if isinstance(model, PricesCost):
        meaning = "A transition costs the sum of its features times their prices. Before training all prices are 1."
        names = feature_names(world, len(model.prices))
        return (NamedTable("prices", meaning, "feature", names, ("price of a unit",), model.prices[:, None]),)
    return ()


def transition_costs(model: CostModel, world: World[Any]) -> tuple[NamedTable, ...]:
    """What the transitions near the start of a world cost, the cheapest first, if they have few distinct features.

    By control, if transitions of the same features cost different amounts.
    """
    product = states_alone(world, first_states(world))
    transitions = np.flatnonzero(product.available)
    numbers, features = product.transition_features(transitions)
    kinds, kind = np.unique(numbers, return_inverse=True)
    if len(kinds) > MOST_KINDS:
        return ()
    columns = tuple(world.controls)
    values = np.full((len(kinds), len(columns)), np.nan)
    values[kind, product.control_of_transition[transitions]] = model(product).reshape(-1)[transitions]
    least, largest = np.nanmin(values, axis=1), np.nanmax(values, axis=1)
    if np.allclose(least, largest, rtol=1e-6):
        columns, values = ("cost",), least[:, None]
    order = np.lexsort((largest, least))
    names = feature_names(world, features.shape[1])
    rows = tuple(_describe(names, features[kinds[i]]) for i in order)
    meaning = "The cost of transitions with these features; a feature without a number is 1, and those left out are 0."
    return (NamedTable("transition costs", meaning, "transition", rows, columns, values[order]),)


def first_states(world: World[Any]) -> list[Any]:
    """The states that are reached first from the initial one, breadth first."""
    reached = {world.initial_state: None}
    for state in (queue := [world.initial_state]):
        for control in np.flatnonzero(available_controls(world, state)).tolist():
            next_state = world.step(state, control)
            if len(reached) == MOST_STATES:
                return queue
            if next_state not in reached:
                reached[next_state] = None
                queue.append(next_state)
    return queue


def _describe(names: Sequence[str], features: NDArray[np.float64]) -> str:
    present = [
        name if amount == 1 else f"{name} {amount:.4g}" for name, amount in zip(names, features, strict=True) if amount
    ]
    return ", ".join(present) or "no feature"
