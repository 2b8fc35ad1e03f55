"""Small charts in the colours of the page: means with their errors, and curves.

They are SVG in percent of whatever width there is, with the text beside them in HTML, so that neither the lines nor
the letters shrink on a phone.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from wfairl.errors import BadInputError
from wfairl.report.text import Text, html_of, with_error

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
        error: its standard error.
        leading: whether it stands out from the others.
    """

    name: str
    mean: float
    error: float
    leading: bool = False


@dataclass(frozen=True)
class IntervalChart:
    """A bar for each mean, with a whisker of one standard error to both sides.

    Attributes:
        intervals: from top to bottom.
        largest: the number at the right end, such as the largest return there can be.
        caption: it stands below.
    """

    intervals: tuple[Interval, ...]
    largest: float = 1.0
    caption: Text = ""

    def html(self) -> str:
        """The chart as an element; the numbers stand beside the bars."""
        rows = "".join(map(self._row, self.intervals))
        caption = f"<figcaption>{html_of(self.caption)}</figcaption>" if self.caption else ""
        return f'<figure class="chart"><ul class="intervals">{rows}</ul>{caption}</figure>'

    def _row(self, interval: Interval) -> str:
        mean, low, high = (
            100 * min(max(x / self.largest, 0.0), 1.0)
            for x in (interval.mean, interval.mean - interval.error, interval.mean + interval.error)
        )
        marked = ' class="leading"' if interval.leading else ""
        return (
            f'<li{marked}><span class="name">{escape(interval.name)}</span>'
            '<svg class="bar" height="22" aria-hidden="true">'
            '<rect class="track" width="100%" y="5" height="12" rx="3"/>'
            f'<rect class="value" width="{mean:.3f}%" y="5" height="12" rx="3"/>'
            f'<line x1="{low:.3f}%" x2="{high:.3f}%" y1="11" y2="11"/>'
            f'<line x1="{low:.3f}%" x2="{low:.3f}%" y1="6.5" y2="15.5"/>'
            f'<line x1="{high:.3f}%" x2="{high:.3f}%" y1="6.5" y2="15.5"/></svg>'
            f'<span class="number">{html_of(with_error(interval.mean, interval.error))}</span></li>'
        )


@dataclass(frozen=True)
class Series:
    """A curve: where it is known, in the order of x."""

    name: str
    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if not self.points or not np.isfinite(self.points).all():
            raise BadInputError(f"the curve {self.name!r} has no points, or some that are not finite")


@dataclass(frozen=True)
class LineChart:
    """Curves over a common axis.

    Attributes:
        series: at most four, the first the most prominent.
        x_name, y_name: what the axes show.
        mark: (x, y, text) of a point that stands out, None if none does.
        caption: it stands below.
    """

    series: tuple[Series, ...]
    x_name: str
    y_name: str
    mark: tuple[float, float, str] | None = None
    caption: Text = ""

    def html(self) -> str:
        """The chart as an element."""
        points = np.array([point for one in self.series for point in one.points])
        whole = bool((points[:, 0] == np.round(points[:, 0])).all())  # nothing happens between two epochs
        x_ticks = ticks(float(points[:, 0].min()), float(points[:, 0].max()), whole=whole)
        y_ticks = ticks(float(points[:, 1].min()), float(points[:, 1].max()))
        x_range, y_range = (x_ticks[0], x_ticks[-1]), (y_ticks[0], y_ticks[-1])
        key = "".join(
            f'<li><svg width="22" height="10" aria-hidden="true"><line class="curve series-{i}" x2="22" y1="5" y2="5"/>'
            f"</svg>{escape(one.name)}</li>"
            for i, one in enumerate(self.series)
        )
        y_labels = "".join(
            f'<text x="100%" y="{_percent(y, y_range, falling=True)}" dy="0.35em" text-anchor="end">{y:.10g}</text>'
            for y in y_ticks
        )
        x_labels = "".join(
            f'<text x="{_percent(x, x_range)}" y="1em" text-anchor="{_anchor(i, len(x_ticks))}">{x:.10g}</text>'
            for i, x in enumerate(x_ticks)
        )
        caption = f"<figcaption>{html_of(self.caption)}</figcaption>" if self.caption else ""
        return (
            f'<figure class="chart"><ul class="key">{key}</ul><div class="lines" role="img" '
            f'aria-label="{escape(self._spoken())}"><svg class="y-axis" height="{HEIGHT}">{y_labels}</svg>'
            f'<svg class="plot" height="{HEIGHT}">{self._plot(x_range, y_range, y_ticks)}</svg>'
            f'<svg class="x-axis" height="20">{x_labels}</svg></div>'
            f'<p class="axes"><span>{escape(self.y_name)}</span> against <span>{escape(self.x_name)}</span></p>'
            f"{caption}</figure>"
        )

    def _plot(self, x_range: tuple[float, float], y_range: tuple[float, float], y_ticks: Sequence[float]) -> str:
        grid = "".join(
            f'<line class="grid" x2="100%" y1="{y}" y2="{y}"/>'
            for y in (_percent(tick, y_range, falling=True) for tick in y_ticks)
        )
        curves = "".join(
            f'<polyline class="curve series-{i}" vector-effect="non-scaling-stroke" points="'
            + " ".join(f"{100 * _share(x, x_range):.2f},{100 - 100 * _share(y, y_range):.3f}" for x, y in one.points)
            + '"/>'
            for i, one in enumerate(self.series)
        )
        inner = f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%">{curves}</svg>'
        if self.mark is None:
            return grid + inner
        x, y, text = self.mark
        left, top = _percent(x, x_range), _percent(y, y_range, falling=True)
        on_the_right = _share(x, x_range) > 0.6
        return (
            f'{grid}{inner}<line class="mark" x1="{left}" x2="{left}" y1="0" y2="100%"/>'
            f'<circle class="mark" cx="{left}" cy="{top}" r="4.5"/>'
            f'<text class="mark" x="{left}" dx="{-8 if on_the_right else 8}" y="1.1em" '
            f'text-anchor="{"end" if on_the_right else "start"}">{escape(text)}</text>'
        )

    def _spoken(self) -> str:
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


def _share(x: float, ends: tuple[float, float]) -> float:
    return (x - ends[0]) / (ends[1] - ends[0])


def _percent(x: float, ends: tuple[float, float], falling: bool = False) -> str:
    share = _share(x, ends)
    return f"{100 * (1 - share if falling else share):.2f}%"


def _anchor(i: int, count: int) -> str:
    return "start" if i == 0 else "end" if i == count - 1 else "middle"
