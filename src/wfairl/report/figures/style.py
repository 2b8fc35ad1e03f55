"""One look for all figures: sizes of print, few colours that everybody can tell apart, and nothing that says nothing.

Everything is set on the artists themselves, never on matplotlib's global settings: a figure looks the same in
whatever program it is made.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray

COLUMN, PAGE = 3.4, 7.0
"""Widths in inches: one column of a two-column page, and the whole of it."""

SMALL, NORMAL, LARGE = 7.0, 8.0, 9.0
"""Sizes of text in points."""

FONT = "DejaVu Sans"
"""Comes with matplotlib, so that every machine has it."""

INK, QUIET, PALE, PAPER = "#1b1f24", "#626a73", "#d3d7dc", "#ffffff"

BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BROWN = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#7a5c3e",
)
PALETTE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BROWN)
"""Okabe and Ito's colours, told apart by colour-blind people too; what they tell is written beside them as well."""

LIGHT = 0.55
"""Luminance from which on a colour takes dark text."""

COST_COLOURS = "cividis_r"
"""Lightness falls steadily with the value: dark is dear, in print without colour too."""


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches, on white."""
    return Figure(figsize=(width, height), facecolor=PAPER)


def place(figure: Figure, left: float, top: float, width: float, height: float) -> Any:
    """Axes at a place in inches, from the left and from the top."""
    page_width, page_height = figure.get_size_inches()
    return figure.add_axes(
        (left / page_width, 1 - (top + height) / page_height, width / page_width, height / page_height)
    )


def write(where: Any, x: float, y: float, text: str, size: float = SMALL, colour: str = INK, **settings: Any) -> Any:
    """Text in axes or on a figure, as it stands: no sign in it means mathematics."""
    return where.text(x, y, text, size=size, color=colour, family=FONT, parse_math=False, **settings)


def write_at(figure: Figure, left: float, top: float, text: str, size: float = SMALL, **settings: Any) -> Any:
    """Text at a place in inches, from the left and from the top."""
    width, height = figure.get_size_inches()
    return write(figure, left / width, 1 - top / height, text, size, **settings)


def ink_on(fill: str) -> str:
    """Dark or light text, whichever is read more easily on a colour."""
    red, green, blue = to_rgb(fill)
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > LIGHT else PAPER


def halo(width: float = 2.0) -> list[Any]:
    """What keeps text and lines readable on a picture: a rim of paper around them."""
    return [patheffects.withStroke(linewidth=width, foreground=PAPER)]


def without_frame(axes: Any) -> None:
    """Only what is drawn, no axes."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)


def show_image(axes: Any, image: NDArray[np.uint8], fading: float = 0.0) -> None:
    """Put an image into axes whose unit is a pixel, y downwards.

    Args:
        axes: where.
        image: shape [height, width, 3].
        fading: from 0, as it is, to 1, white; so that what is drawn on it stands out.
    """
    without_frame(axes)
    height, width = image.shape[:2]
    faded = np.round(image * (1 - fading) + 255 * fading).astype(np.uint8)
    axes.imshow(faded, extent=(0, width, height, 0), interpolation="antialiased")
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)


def plain_axes(axes: Any, x: str = "", y: str = "", title: str = "") -> None:
    """Axes with two lines, small ticks, and names; the title stands at the left."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(QUIET)
        axes.spines[side].set_linewidth(0.6)
    axes.tick_params(labelsize=SMALL, labelfontfamily=FONT, width=0.6, length=2.5, color=QUIET, labelcolor=INK, pad=2)
    axes.set_xlabel(x, size=NORMAL, family=FONT, color=INK, labelpad=2)
    axes.set_ylabel(y, size=NORMAL, family=FONT, color=INK, labelpad=3)
    axes.set_title(title, size=NORMAL, family=FONT, color=INK, loc="left", pad=4, parse_math=False)


def spread(positions: Sequence[float], gap: float) -> list[float]:
    """The positions moved apart as little as needed, so that neighbours are at least `gap` apart; for labels."""
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    groups: list[list[int]] = []
    centres: list[float] = []
    for i in order:
        groups.append([i])
        centres.append(positions[i])
        # A group is as wide as its labels; two that touch become one, centred on the mean of what it labels.
        while len(groups) > 1 and centres[-1] - centres[-2] < gap * (len(groups[-1]) + len(groups[-2])) / 2:
            last = groups.pop()
            centres.pop()
            groups[-1] += last
            centres[-1] = sum(positions[j] for j in groups[-1]) / len(groups[-1])
    placed = [0.0] * len(positions)
    for group, centre in zip(groups, centres, strict=True):
        for rank, i in enumerate(group):
            placed[i] = centre + (rank - (len(group) - 1) / 2) * gap
    return placed
