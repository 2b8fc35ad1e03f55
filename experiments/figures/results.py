"""Figures of results: returns beside the published ones, and measures over the amount of data."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from wfairl.core.support.errors import BadInputError
from wfairl.pages import style
from wfairl.pages.captioned_figure import CaptionedFigure

ROW, GAP, LEFT, TOP, BOTTOM = 0.165, 0.12, 1.5, 0.4, 0.36
"""Inches: of a method, between panels, and around them."""

PUBLISHED_MARKER = {"marker": "D", "ls": "", "ms": 4.6, "mfc": style.PAPER, "mec": style.VERMILLION, "mew": 1.0}

MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def draw_returns(rows: pd.DataFrame, comparable: bool = True) -> CaptionedFigure:
    """A dot with a standard error per method, beside the paper's figure; one panel per task and data set.

    Args:
        rows: with the columns `task`, `data` (empty for a policy without training, which is in all panels of its task),
            `method`, `mean_return`, `standard_error`, and `published`, NaN where the paper has none. They keep their
            order.
        comparable: whether training and tests are those of the paper; if not, the caption states no difference.

    Raises:
        BadInputError: there are no rows.
    """
    if rows.empty:
        raise BadInputError("there are no returns to draw")
    tasks, methods = list(rows.task.unique()), list(rows.method.unique())
    data_sets = [data for data in rows.data.unique() if data] or [""]
    height = len(data_sets) * (ROW * len(methods) + GAP) + TOP + BOTTOM
    figure = style.new_figure(style.PAGE, height)
    grid = figure.subplots(len(data_sets), len(tasks), squeeze=False, sharex=True, sharey=True)
    figure.subplots_adjust(LEFT / style.PAGE, BOTTOM / height, 0.99, 1 - TOP / height, 0.08, 0.06)
    for data, panels in zip(data_sets, grid, strict=True):
        for task, axes in zip(tasks, panels, strict=True):
            shown = rows[(rows.task == task) & rows.data.isin([data, ""])]
            places = [methods.index(method) for method in shown.method]
            style.plain_axes(
                axes,
                "mean return" if data == data_sets[-1] else "",
                data if task == tasks[0] else "",
                task if data == data_sets[0] else "",
            )
            axes.grid(axis="y", color=style.SILVER, lw=0.5)
            axes.plot(shown.published, places, **PUBLISHED_MARKER, label="in the paper")
            axes.errorbar(
                shown.mean_return, places, xerr=shown.standard_error, fmt="o", ms=3.4, color=style.BLUE, elinewidth=1.1,
                label="here, with standard error",
            )  # fmt: skip
    grid[0, 0].set(xlim=(-0.03, 1), ylim=(len(methods) - 0.5, -0.5))
    grid[0, 0].set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    grid[0, 0].set_yticks(range(len(methods)), methods)
    _add_legend(figure, *grid[0, 0].get_legend_handles_labels(), loc="upper right", ncols=2)
    alt = "; ".join(
        f"{row.task} {row.data} {row.method}: {row.mean_return:.3f}".replace("  ", " ")
        + ("" if pd.isna(row.published) else f" (paper {row.published:.3f})")
        for row in rows.itertuples()
    )
    return CaptionedFigure("returns", figure, _caption(rows, comparable), f"Dots of mean returns. {alt}")


def _caption(rows: pd.DataFrame, comparable: bool) -> str:
    text = (
        "Mean return of every method on the test scenes, with its standard error; 1 - 0.9 x steps / horizon for an"
        " episode that succeeds, 0 for one that does not. Policies without training (optimal, expert, random) are in"
        " every panel of their task."
    )
    differences = (rows.mean_return - rows.published).abs()
    if differences.isna().all():
        return text
    if not comparable:
        return f"{text} Diamonds: the paper's figures, trained or tested differently."
    farthest = rows.loc[differences.idxmax()]
    where = " ".join(filter(None, (farthest.method, "on", farthest.task, farthest.data)))
    return (
        f"{text} Diamonds: the paper's figures, which come without errors. The largest difference shown is that of"
        f" {where}: {farthest.mean_return:.3f} here, {farthest.published:.3f} in the paper."
    )


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
    _add_legend(axes, *axes.get_legend_handles_labels(), loc="lower left", bbox_to_anchor=(0.0, 1.01))
    alt = "; ".join(
        f"{method}: " + ", ".join(f"{one.mean:.3f} at {one.number}" for one in curve[["number", "mean"]].itertuples())
        for method, curve in curves
    )
    return CaptionedFigure(name, figure, caption, f"Curves of {y}. {alt}")


def _add_legend(where: Any, *entries: Any, **settings: Any) -> None:
    prop = {"family": style.FONT, "size": style.NOTE}
    where.legend(*entries, frameon=False, handletextpad=0.3, borderpad=0.0, labelspacing=0.3, prop=prop, **settings)
