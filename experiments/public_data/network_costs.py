"""The costs of a network, drawn on its edges."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import NDArray

from wfairl.pages import style
from wfairl.pages.captioned_figure import CaptionedFigure

QUANTILES = (0.005, 0.995)
"""Of the costs that the colour scale spans, and of the positions that the map shows."""


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
