"""Measures over the amount of data."""

from collections.abc import Mapping

import pandas as pd

from wfairl.core.support.errors import BadInputError
from wfairl.pages import style
from wfairl.pages.captioned_figure import CaptionedFigure

MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def draw_curves(
    name: str, points: pd.DataFrame, levels: Mapping[str, float], x: str, y: str, caption: str
) -> CaptionedFigure:
    """A measure over the amount of data on a logarithmic scale, one line per method; dashed lines for levels.

    Args:
        points: with the columns `method`, `number`, `mean` and `error`.

    Raises:
        BadInputError: there are no points, or one has no data, which a logarithmic scale cannot show.
    """
    if points.empty:
        raise BadInputError("there are no points to draw")
    if points.number.min() < 1:
        raise BadInputError(f"the numbers of {x} must be 1 or more")
    curves = points.sort_values("number").groupby("method", sort=False)
    top, width, height = 0.15 * (len(curves) + 1), 1.3 * style.COLUMN, 2.3
    figure = style.new_figure(width, top + height + 0.45)
    axes = style.place(figure, 0.65, top, width - 0.8, height)
    style.plain_axes(axes, x, y)
    axes.set_xscale("log")
    numbers = sorted(points.number.unique())
    axes.set_xticks(numbers, [f"{number:,}" for number in numbers])
    axes.minorticks_off()
    for (method, curve), colour, marker in zip(curves, style.PALETTE, MARKERS, strict=False):
        axes.errorbar(
            curve.number, curve["mean"], curve.error, color=colour, marker=marker, ms=4, lw=1.2, capsize=2, label=method
        )
    for title, level in levels.items():
        axes.axhline(level, color=style.GREY, lw=0.8, ls=(0, (4, 3)), label=f"_{title}")
        where = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "bottom"}
        style.write(axes, 1.0, level, title, style.NOTE, style.GREY, **where)
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.01), frameon=False, handletextpad=0.3, borderpad=0.0,
        labelspacing=0.3, prop={"family": style.FONT, "size": style.NOTE},
    )  # fmt: skip
    alt = "; ".join(
        f"{method}: " + ", ".join(f"{one.mean:.3f} at {one.number}" for one in curve[["number", "mean"]].itertuples())
        for method, curve in curves
    )
    return CaptionedFigure(name, figure, caption, f"Curves of {y}. {alt}")
