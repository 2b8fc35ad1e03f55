"""Attributes of events as propositions, such as `amount > 1000` and `channel = web`."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from wfairl.core.support.errors import BadInputError

DAYS = "days"
"""As an attribute: the days since the first event of the case."""

MOST_VALUES = 20
"""Of an attribute that become propositions; of numbers, thresholds are taken instead."""

THRESHOLD = re.compile(r"(?P<name>.+?) (?P<sign>>|=) (?P<value>.+)")
"""A proposition about an attribute: `amount > 1000`, `channel = web`."""


def propositions_of(names: Iterable[str]) -> tuple[str, ...]:
    """Those of some propositions that are about attributes, for `LogColumns.attributes` of another log."""
    return tuple(sorted(name for name in names if THRESHOLD.fullmatch(name)))


class Attributes:
    """Propositions about attributes of events, such as `amount > 1000` and `channel = web`."""

    def __init__(self, asked: Sequence[str]) -> None:
        parts = {one: THRESHOLD.fullmatch(one) for one in asked}
        self.names = tuple(dict.fromkeys(one if match is None else match["name"] for one, match in parts.items()))
        self.open = [one for one, match in parts.items() if match is None]
        self.chosen = [(match["name"], match["sign"], match["value"]) for match in parts.values() if match is not None]

    def choose(self, values_of: Callable[[str], Iterable[str]]) -> None:
        """Take quartiles of the attributes that are numbers, and the values of the others."""
        for name in self.open:
            given = [one for one in values_of(name) if one]
            numbers = [to_number(one) for one in given]
            distinct = sorted(set(given))
            if given and all(math.isfinite(one) for one in numbers) and len(distinct) > 2:
                quartiles = np.unique([float(f"{one:.3g}") for one in np.quantile(numbers, [0.25, 0.5, 0.75])])
                self.chosen += [(name, ">", f"{one:g}") for one in quartiles]
            elif given and len(distinct) <= MOST_VALUES:
                self.chosen += [(name, "=", one) for one in distinct]
            else:
                raise BadInputError(
                    f"the attribute {name!r} has {len(distinct)} values that are not numbers, and at most"
                    f" {MOST_VALUES} become propositions; name those that matter, as in '{name} = value'"
                )

    def hold(self, values: Mapping[str, str]) -> list[str]:
        """The propositions that hold of an event with these attributes."""
        return [
            f"{name} {sign} {value}"
            for name, sign, value in self.chosen
            if (values[name] == value if sign == "=" else to_number(values[name]) > to_number(value))
        ]


def to_number(text: str) -> float:
    """The number in a text, not a number where there is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
