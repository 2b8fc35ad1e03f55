"""Small charts in the colours of the page: means with their errors, and curves.

They are SVG in percent of whatever width there is, with the text beside them in HTML, so that neither the lines nor
the letters shrink on a phone.
"""

import math
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wfairl.errors import BadInputError
from wfairl.report.text import Text, with_error

HEIGHT = 240
TICKS = 5
NARROW = 1e-7
"""A range that is this part of its numbers, or less, is drawn as if it were one number."""


@dataclass(frozen=True)
class Interval:
    """A mean with its standard error.

    Attributes:
        name: of what.
        mean: the mean, 0 or more.
        error: its standard error; None if it is of a single thing.
        leading: whether it stands out from the others.
    """

    name: str
    mean: float
    error: float | None
    leading: bool = False

    @property
    def text(self) -> Text:
        """The numbers, which stand beside the bar."""
        return with_error(self.mean, self.error)


@dataclass(frozen=True)
class IntervalChart:
    """A bar for each mean, with a whisker of one standard error to both sides.

    Attributes:
        intervals: from top to bottom.
        largest: the number at the right end, such as the largest return there can be.
        caption: it stands below.
    """

    template: ClassVar[str] = "intervals"
    intervals: tuple[Interval, ...]
    largest: float = 1.0
    caption: Text = ""

    def extent(self, interval: Interval) -> tuple[str, ...]:
        """Where the whisker begins, the bar ends and the whisker ends, in percent of the width."""
        error = interval.error or 0.0
        ends = (interval.mean - error, interval.mean, interval.mean + error)
        return tuple(f"{100 * min(max(end / self.largest, 0.0), 1.0):.3f}%" for end in ends)


@dataclass(frozen=True)
class Series:
    """A curve: where it is known, in the order of x."""

    name: str
    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if not self.points or not np.isfinite(self.points).all():
            raise BadInputError(f"the curve {self.name!r} has no points, or some that are not finite")


@dataclass(frozen=True)
class Tick:
    """A number at an axis: where, in percent, and what is written."""

    at: str
    text: str


@dataclass(frozen=True)
class Mark:
    """A point that stands out: where, in percent, and where its text goes."""

    left: str
    top: str
    aside: int
    anchor: str
    text: str


@dataclass(frozen=True)
class Plot:
    """A line chart with all of its places computed, for the template.

    Attributes:
        names: of the curves.
        curves: the points of each as SVG takes them, in a square of 100 by 100.
        x_ticks, y_ticks: the numbers at the axes.
        mark: the point that stands out, if there is one.
        height: in pixels.
    """

    names: tuple[str, ...]
    curves: tuple[str, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    mark: Mark | None
    height: int = HEIGHT


@dataclass(frozen=True)
class LineChart:
    """Curves over a common axis.

    Attributes:
        series: at most four, the first the most prominent.
        x_name, y_name: what the axes show.
        mark: (x, y, text) of a point that stands out, None if none does.
        caption: it stands below.
    """

    template: ClassVar[str] = "lines"
    series: tuple[Series, ...]
    x_name: str
    y_name: str
    mark: tuple[float, float, str] | None = None
    caption: Text = ""

    @property
    def plot(self) -> Plot:
        """Where everything goes."""
        points = np.array([point for one in self.series for point in one.points])
        whole = bool((points[:, 0] == np.round(points[:, 0])).all())  # nothing happens between two epochs
        x_ticks = ticks(float(points[:, 0].min()), float(points[:, 0].max()), whole=whole)
        y_ticks = ticks(float(points[:, 1].min()), float(points[:, 1].max()))

        def across(x: float) -> float:
            return 100 * (x - x_ticks[0]) / (x_ticks[-1] - x_ticks[0])

        def down(y: float) -> float:
            return 100 - 100 * (y - y_ticks[0]) / (y_ticks[-1] - y_ticks[0])

        mark = None
        if self.mark is not None:
            x, y, text = self.mark
            aside, anchor = (-8, "end") if across(x) > 60 else (8, "start")
            mark = Mark(f"{across(x):.2f}%", f"{down(y):.2f}%", aside, anchor, text)
        return Plot(
            names=tuple(one.name for one in self.series),
            curves=tuple(" ".join(f"{across(x):.2f},{down(y):.3f}" for x, y in one.points) for one in self.series),
            x_ticks=tuple(Tick(f"{across(x):.2f}%", f"{x:.10g}") for x in x_ticks),
            y_ticks=tuple(Tick(f"{down(y):.2f}%", f"{y:.10g}") for y in y_ticks),
            mark=mark,
        )

    @property
    def spoken(self) -> str:
        """What the chart shows, for readers who do not see it."""
        ends = [f"{one.name} goes from {one.points[0][1]:.4g} to {one.points[-1][1]:.4g}" for one in self.series]
        return f"{self.y_name} against {self.x_name}: {'; '.join(ends)}"


def ticks(low: float, high: float, wanted: int = TICKS, whole: bool = False) -> list[float]:
    """Round numbers at equal distances, the first at or below `low` and the last at or above `high`.

    Args:
        low, high: what is to be shown.
        wanted: about how many.
        whole: only whole numbers.
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
