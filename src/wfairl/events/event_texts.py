"""What the texts of a log mean: times, numbers, and attributes as propositions (`amount > 1000`, `channel = web`)."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np

from wfairl.core.support.errors import BadInputError

DAYS = "days"
"""As an attribute: the days since the first event of the case."""

MOST_VALUES = 20
"""Of an attribute that become propositions; of numbers, thresholds are taken instead."""

MISSING = ("", "?", "nan", "none", "na", "n/a", "unknown")
"""Texts, in small letters, where a number or an outcome is not known."""

ADVICE = "write it as 2026-03-01T09:00:00 (ISO 8601)"
YEAR_LAST = re.compile(r"(\d{1,2})([/.])(\d{1,2})\2(\d{4})(.*)")
YEAR_FIRST = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})(.*)")


def as_attribute(text: str) -> re.Match[str] | None:
    """The name, sign and value in a text such as `amount > 1000` or `channel = web`; a threshold is a number."""
    match = re.fullmatch(r"(?P<name>.+?) (?P<sign>>|=) (?P<value>.+)", text)
    return None if match and match["sign"] == ">" and not math.isfinite(to_number(match["value"])) else match


class Attributes:
    """Propositions about attributes of events, such as `amount > 1000` and `channel = web`."""

    def __init__(self, asked: Sequence[str]) -> None:
        parts = {one: as_attribute(one) for one in asked}
        self.names = tuple(dict.fromkeys(one if match is None else match["name"] for one, match in parts.items()))
        self.open = [one for one, match in parts.items() if match is None]
        self.chosen = [(match["name"], match["sign"], match["value"]) for match in parts.values() if match is not None]

    def of(self, given: Mapping[str, str]) -> dict[str, str]:
        return {name: given.get(name, "") for name in self.names}

    def choose(self, events: Sequence[Mapping[str, str]]) -> None:
        """Take quartiles of the attributes that are numbers, and the values of the others."""
        for name in self.open:
            given = [values[name] for values in events if values[name]]
            distinct = sorted(set(given))
            texts = [one for one in distinct if not math.isfinite(to_number(one))]
            if not given:
                raise BadInputError(f"the attribute {name!r} has no value")
            if not texts and len(distinct) > 2:
                quartiles = np.quantile([*map(to_number, given)], (0.25, 0.5, 0.75))
                self.chosen += [(name, ">", f"{one:g}") for one in np.unique([float(f"{q:.3g}") for q in quartiles])]
            elif len(distinct) <= MOST_VALUES:
                self.chosen += [(name, "=", one) for one in distinct]
            else:
                raise BadInputError(
                    f"the attribute {name!r} has {len(texts)} values that are not numbers, such as {texts[0]!r}, and"
                    f" at most {MOST_VALUES} become propositions; name those that matter, as in '{name} = value', or"
                    " write numbers as in 1234.5"
                )

    def hold(self, values: Mapping[str, str], where: str) -> list[str]:
        """The propositions that hold of an event with these attributes, which stands at a place."""
        return [
            f"{name} {sign} {value}"
            for name, sign, value in self.chosen
            if holds(values[name], sign, value, f"{where}: {name!r}")
        ]


def holds(given: str, sign: str, value: str, where: str) -> bool | None:
    """Whether an attribute is equal to a value, or above it; None if it is not known."""
    number = to_number(given)
    if not given or (sign == ">" and given.strip().lower() in MISSING):
        return None
    if sign == ">" and math.isnan(number):
        raise BadInputError(f"{where} is {given!r}, which is not a number; write it as in 1234.5")
    return given == value if sign == "=" else number > to_number(value)


def time_parser(times: Iterable[str]) -> Callable[[str, str], datetime | float]:
    """A function from a text and its place to a time; whether 3/4/2026 is in March or April, other dates must tell."""
    slashes = [match for text in times if (match := YEAR_LAST.match(text)) and match[2] == "/"]
    day_first, month_first = (any(int(match[i]) > 12 for match in slashes) for i in (1, 3))

    def parse(given: str, where: str) -> datetime | float:
        text = given.strip()
        number = to_number(text)
        if math.isfinite(number):
            return number
        if match := YEAR_LAST.match(text):
            if match[2] == "/" and day_first == month_first:
                raise BadInputError(
                    f"{where}: the time is {text!r}, in which day and month cannot be told apart; {ADVICE}"
                )
            day, month = (match[1], match[3]) if match[2] == "." or day_first else (match[3], match[1])
            text = f"{match[4]}-{month:0>2}-{day:0>2}{match[5]}"
        elif match := YEAR_FIRST.match(text):
            text = f"{match[1]}-{match[2]:0>2}-{match[3]:0>2}{match[4]}"
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            raise BadInputError(f"{where}: the time is {given!r}; {ADVICE} or as a number") from None

    return parse


def to_number(text: str) -> float:
    """The number in a text, not a number where there is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
