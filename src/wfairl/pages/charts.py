"""Curves of a page."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.ticker import MaxNLocator

from wfairl.pages import style
from wfairl.pages.captioned_figure import CaptionedFigure

WIDTH, PLOT = 9.6, 2.6
"""Inches: the width of a chart, and the height of its curves."""

TEXT = 11.5
"""Points; as large as the text around a chart on a screen."""

GAP = 0.18
"""Inches between names of curves."""

FIRST_COLOUR, SECOND_COLOUR, GRID_COLOUR = "#14735a", "#b4552d", "#eeece7"
"""The colours of the page: of the first and the second curve, and of the grid."""


Curve = Sequence[tuple[float, float]]
"""Points in the order of x."""


def draw_lines(
    curves: Mapping[str, Curve], x_name: str, y_name: str, caption: str, mark: tuple[float, float, str] | None = None
) -> CaptionedFigure:
    """Curves by name over a common axis; `mark` is a point (x, y) to mark, and a text beside it."""
    figure = style.new_figure(WIDTH, PLOT + 0.85)
    axes = style.place(figure, 0.8, 0.32, WIDTH - 0.85, PLOT)
    style.plain_axes(axes, x_name, y_name, size=TEXT - 1)
    axes.grid(axis="y", color=GRID_COLOUR, lw=0.8)
    axes.ticklabel_format(useOffset=False)
    axes.margins(x=0.01, y=0.12)
    left = 0.8
    for (name, curve), colour in zip(curves.items(), (FIRST_COLOUR, SECOND_COLOUR, *style.PALETTE), strict=False):
        axes.plot(*zip(*curve, strict=True), color=colour, lw=1.7, label=name, solid_capstyle="round")
        style.write_at(figure, left, 0.14, name, TEXT, colour=colour, va="center")
        left += style.text_width(name, TEXT) + 2 * GAP
    if all(float(x).is_integer() for curve in curves.values() for x, _ in curve):
        axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    if mark is not None:
        _mark_point(axes, *mark)
    ends = [f"{name} goes from {curve[0][1]:.4g} to {curve[-1][1]:.4g}" for name, curve in curves.items()]
    return CaptionedFigure("curves", figure, caption, f"{y_name} against {x_name}: {'; '.join(ends)}", adapts=True)


def _mark_point(axes: Any, x: float, y: float, text: str) -> None:
    low, high = axes.get_xlim()
    is_right = x > low + 0.6 * (high - low)
    axes.axvline(x, color=style.GREY, lw=0.8, ls=(0, (3, 4)), zorder=1)
    axes.plot([x], [y], "o", ms=6, mfc=style.PAPER, mec=style.INK, mew=1.4, label="mark")
    axes.annotate(
        text, (x, 1), (-6 if is_right else 6, -1), xycoords=axes.get_xaxis_transform(), textcoords="offset points",
        ha="right" if is_right else "left", va="top", size=TEXT - 1, family=style.FONT, color=style.INK,
    )  # fmt: skip
