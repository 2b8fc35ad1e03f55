"""Small charts in the colours of the page: means with their errors, and curves.

They are SVG in percent of the available width, with text in HTML, so that neither lines nor letters shrink on a phone.
"""

import math
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from wfairl.core.support.errors import BadInputError
from wfairl.pages.text import Text, with_error

TICKS = 5
NARROW = 1e-7
"""A range smaller than this fraction of its numbers is drawn as one number."""


@dataclass(frozen=True)
class Interval:
    """A mean with its standard error.

    Attributes:
        name: of the row.
        mean: the mean, 0 or more.
        error: its standard error; None for a single sample.
        leading: whether it is highlighted.
    """

    name: str
    mean: float
    error: float | None
    leading: bool = False

    @property
    def text(self) -> Text:
        """The numbers beside the bar."""
        return with_error(self.mean, self.error)


@dataclass(frozen=True)
class IntervalChart:
    """A bar for each mean, with a whisker of ± one standard error.

    Attributes:
        intervals: from top to bottom.
        largest: the number at the right end, such as the largest possible return.
        caption: below it.
    """

    template: ClassVar[str] = "intervals"
    intervals: tuple[Interval, ...]
    largest: float = 1.0
    caption: Text = ""

    def extent(self, interval: Interval) -> tuple[str, ...]:
        """The start of the whisker, the end of the bar and the end of the whisker, in percent of the width."""
        error = interval.error or 0.0
        ends = (interval.mean - error, interval.mean, interval.mean + error)
        return tuple(f"{100 * min(max(end / self.largest, 0.0), 1.0):.3f}%" for end in ends)


@dataclass(frozen=True)
class Series:
    """A curve: its points, in the order of x."""

    name: str
    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if not self.points or not np.isfinite(self.points).all():
            raise BadInputError(f"the curve {self.name!r} has no points, or points that are not finite")


@dataclass(frozen=True)
class LineChart:
    """Curves over a common axis.

    Attributes:
        series: at most four, the first the most prominent.
        x_name, y_name: of the axes.
        mark: (x, y, text) of a marked point.
        caption: below it.
    """

    template: ClassVar[str] = "lines"
    series: tuple[Series, ...]
    x_name: str
    y_name: str
    mark: tuple[float, float, str] | None = None
    caption: Text = ""

    @cached_property
    def x_ticks(self) -> list[float]:
        """The numbers at the x axis; integers if all x are, such as epochs."""
        xs = [float(x) for one in self.series for x, _ in one.points]
        return ticks(min(xs), max(xs), whole=all(x.is_integer() for x in xs))

    @cached_property
    def y_ticks(self) -> list[float]:
        """The numbers at the y axis."""
        ys = [float(y) for one in self.series for _, y in one.points]
        return ticks(min(ys), max(ys))

    def left(self, x: float) -> float:
        """Percent of the width that x is at."""
        return 100 * (x - self.x_ticks[0]) / (self.x_ticks[-1] - self.x_ticks[0])

    def top(self, y: float) -> float:
        """Percent of the height that y is at, from the top."""
        return 100 - 100 * (y - self.y_ticks[0]) / (self.y_ticks[-1] - self.y_ticks[0])

    @property
    def alt(self) -> str:
        """A description, for readers who do not see it."""
        ends = [f"{one.name} goes from {one.points[0][1]:.4g} to {one.points[-1][1]:.4g}" for one in self.series]
        return f"{self.y_name} against {self.x_name}: {'; '.join(ends)}"


def ticks(low: float, high: float, wanted: int = TICKS, whole: bool = False) -> list[float]:
    """Round numbers at equal distances, the first at or below `low` and the last at or above `high`.

    Args:
        wanted: the approximate number of ticks.
        whole: whether to use integers only.
    """
    size = max(abs(low), abs(high))
    if high - low <= max(NARROW * size, sys.float_info.min):  # nothing but rounding lies between them
        low, high = low - (0.05 * size or 0.5), high + (0.05 * size or 0.5)
    raw = (high - low) / wanted
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= raw)
    step = max(step, 1.0) if whole else step
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{i * step:.10g}") for i in range(first, last + 1)]
