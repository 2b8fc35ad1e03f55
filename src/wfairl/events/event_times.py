"""Times of events as logs write them."""

import math
import re
from collections.abc import Callable, Iterable
from datetime import datetime

from wfairl.events.event_attributes import to_number
from wfairl.events.scored_words import MalformedWordsError

SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})(.*)")
POINTS = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(.*)")
YEAR_FIRST = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})(.*)")


def time_parser(times: Iterable[str]) -> Callable[[str, str], datetime | float]:
    """A function from a text and its place to a time; whether 3/4/2026 is in March or April, other dates must tell."""
    slashes = [match for text in times if (match := SLASHES.match(text))]
    firsts, seconds = ({int(match[i]) for match in slashes} for i in (1, 2))
    day_first, month_first = max(firsts, default=0) > 12, max(seconds, default=0) > 12

    def parse(given: str, where: str) -> datetime | float:
        text = given.strip()
        number = to_number(text)
        if math.isfinite(number):
            return number
        if match := SLASHES.match(text):
            if day_first == month_first:
                raise MalformedWordsError(
                    f"{where}: the time is {text!r}, in which day and month cannot be told apart; write it as"
                    " 2026-03-01T09:00:00 (ISO 8601)"
                )
            day, month = (match[1], match[2]) if day_first else (match[2], match[1])
            text = f"{match[3]}-{month:0>2}-{day:0>2}{match[4]}"
        elif match := POINTS.match(text):
            text = f"{match[3]}-{match[2]:0>2}-{match[1]:0>2}{match[4]}"
        elif match := YEAR_FIRST.match(text):
            text = f"{match[1]}-{match[2]:0>2}-{match[3]:0>2}{match[4]}"
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            raise MalformedWordsError(
                f"{where}: the time is {given!r}; write it as 2026-03-01T09:00:00 (ISO 8601) or as a number"
            ) from None

    return parse
