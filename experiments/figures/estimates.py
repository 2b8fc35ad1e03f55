"""Figures of fitted models: over splits, over sizes of the data, and the costs of a network."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray

from wfairl.pages import style
from wfairl.pages.captioned_figure import CaptionedFigure

BOTTOM, LEFT, RIGHT, ENTRY = 0.45, 0.65, 0.15, 0.15
"""Inches: around axes, and of a legend entry."""

QUANTILES = (0.005, 0.995)
"""Of the costs that the colour scale spans, and of the positions that the map shows."""


def draw_paired(name: str, series: Mapping[str, Sequence[float]], x: str, y: str, caption: str) -> CaptionedFigure:
    """One point per split and model; a line joins the points of a split."""
    top, height = ENTRY * (len(series) + 1), 2.0
    figure = style.new_figure(style.COLUMN, top + height + BOTTOM)
    axes = style.place(figure, LEFT, top, style.COLUMN - LEFT - RIGHT, height)
    values = np.array(list(series.values()))
    splits = np.arange(values.shape[1])
    for split in splits:
        axes.plot([split, split], [values[:, split].min(), values[:, split].max()], color=style.GREY, linewidth=0.8)
    for colour, title, line in zip(style.PALETTE, series, values, strict=False):
        axes.plot(splits, line, "o", color=colour, markersize=5, label=title)
    style.plain_axes(axes, x, y)
    axes.set_xticks(splits)
    axes.set_xlim(-0.5, len(splits) - 0.5)
    _legend(axes)
    alt = "; ".join(f"{title}: {', '.join(f'{one:.3f}' for one in line)}" for title, line in series.items())
    return CaptionedFigure(name, figure, caption, alt)


def draw_learning_curves(
    name: str,
    curves: Mapping[str, Mapping[int, Sequence[float]]],
    lines: Mapping[str, float],
    x: str,
    y: str,
    caption: str,
) -> CaptionedFigure:
    """Mean and standard deviation over the number of examples, one curve per model; published figures as lines."""
    top, width, height = ENTRY * (len(curves) + 1), 1.3 * style.COLUMN, 2.3
    figure = style.new_figure(width, top + height + BOTTOM)
    axes = style.place(figure, LEFT, top, width - LEFT - RIGHT, height)
    for colour, (title, curve) in zip(style.PALETTE, curves.items(), strict=False):
        sizes = sorted(curve)
        means = [float(np.mean(curve[size])) for size in sizes]
        spread = [float(np.std(curve[size], ddof=1)) if len(curve[size]) > 1 else 0.0 for size in sizes]
        axes.errorbar(
            sizes, means, spread, color=colour, marker="o", markersize=4, linewidth=1.2, capsize=2, label=title
        )
    for title, level in lines.items():
        axes.axhline(level, color=style.GREY, linewidth=0.8, linestyle=(0, (4, 3)))
        text = style.write(axes, 1.0, level, title, style.NOTE, style.GREY, ha="right", va="bottom")
        text.set_transform(axes.get_yaxis_transform())
    axes.set_xscale("log")
    style.plain_axes(axes, x, y)
    _legend(axes)
    alt = "; ".join(
        f"{title}: {', '.join(f'{size}: {np.mean(values):.3f}' for size, values in sorted(curve.items()))}"
        for title, curve in curves.items()
    )
    return CaptionedFigure(name, figure, caption, alt)


def draw_network_costs(
    name: str,
    panels: Mapping[str, NDArray[np.float64]],
    positions: NDArray[np.float64],
    edges: NDArray[np.int64],
    caption: str,
    texts: Mapping[int, str] | None = None,
) -> CaptionedFigure:
    """A network with edges coloured by cost, one panel per cost, on a common scale.

    Args:
        panels: the costs of edges by title, NaN if unknown; shape [edges].
        positions: of the states, y upwards; shape [states, 2].
        edges: source and target, shape [edges, 2].
        texts: labels of states.
    """
    side, bar = min(style.PAGE / len(panels), 3.4), 0.55
    figure = style.new_figure(side * len(panels), side + bar)
    finite = np.concatenate([costs[np.isfinite(costs)] for costs in panels.values()])
    scale = LogNorm(*np.quantile(finite, QUANTILES))
    # Edges in opposite directions are side by side, as lanes of a road.
    start, end = positions[edges[:, 0]], positions[edges[:, 1]]
    direction = end - start
    length = np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-12)
    offset = np.stack([direction[:, 1], -direction[:, 0]], 1) / length * 0.004 * np.ptp(positions, axis=0).max()
    segments = np.stack([start + offset, end + offset], axis=1)
    lines = None
    for i, (title, costs) in enumerate(panels.items()):
        axes = style.place(figure, side * i + 0.05, 0.25, side - 0.1, side - 0.3)
        order = np.argsort(np.where(np.isfinite(costs), costs, -1.0))
        lines = LineCollection(
            list(segments[order]), cmap=style.COST_COLOURS, norm=scale, linewidths=1.2, capstyle="round"
        )
        lines.set_array(np.where(np.isfinite(costs), costs, np.nan)[order])
        axes.add_collection(lines)
        style.without_frame(axes)
        axes.set_aspect("equal")
        low, high = np.quantile(positions, QUANTILES, axis=0)  # outliers would make the rest small
        room = 0.05 * (high - low)
        axes.set_xlim(low[0] - room[0], high[0] + room[0])
        axes.set_ylim(low[1] - room[1], high[1] + room[1])
        axes.set_title(
            title, size=style.NOTE + 1, family=style.FONT, color=style.INK, loc="left", pad=4, parse_math=False
        )
        for state, text in (texts or {}).items():
            left, bottom = positions[state]
            style.write(axes, left, bottom, text, ha="center", va="center", path_effects=style.halo())
    strip = style.place(figure, 0.3, side + 0.1, min(2.4, side * len(panels) - 0.6), 0.1)
    _scale(figure, strip, lines)
    return CaptionedFigure(name, figure, caption, f"A map of {len(edges)} edges coloured by cost. {caption}")


def _scale(figure: Any, strip: Any, lines: Any) -> None:
    bar = figure.colorbar(lines, cax=strip, orientation="horizontal")
    bar.outline.set_linewidth(0.5)
    strip.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    strip.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    strip.xaxis.set_minor_formatter(NullFormatter())
    strip.tick_params(labelsize=style.NOTE, labelfontfamily=style.FONT, width=0.6, length=2.5, pad=2, which="both")
    strip.set_xlabel("cost, in units of the temperature", size=style.NOTE, family=style.FONT, labelpad=2)


def _legend(axes: Any) -> None:
    """A legend above the axes, one entry per line."""
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.01),
        frameon=False,
        handletextpad=0.3,
        borderpad=0.0,
        labelspacing=0.3,
        prop={"family": style.FONT, "size": style.NOTE},
    )
