"""The style of all figures: sizes for print, and colours that everybody can tell apart.

Everything is set on the artists, never in matplotlib's global settings: a figure is the same in every program.
"""

import io
from typing import Any

import matplotlib
import numpy as np
from matplotlib import patheffects
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from numpy.typing import NDArray

PAGE = 7.0
"""The width of a printed page in inches."""

POINTS = 72.0
"""In an inch."""

NOTE, TEXT = 7.0, 8.0
"""Sizes of text in points."""

FONT = "DejaVu Sans"
"""Comes with matplotlib."""

INK, GREY, PAPER = "#1b1f24", "#626a73", "#ffffff"

BLUE, VERMILLION = "#0072b2", "#d55e00"
PALETTE = (BLUE, VERMILLION, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5c3e")
"""Okabe and Ito's colours, for colour-blind readers too; text always repeats what a colour means."""

COST_COLOURS = "cividis_r"
"""Lightness decreases with the value: dark is expensive, also in print without colour."""


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches, on white."""
    return Figure(figsize=(width, height), facecolor=PAPER)


def print_figure(figure: Figure, kind: str, dots_per_inch: float, margin: float = 0.0, svg_text: str = "path") -> bytes:
    """A figure as "png" or "svg", with inches of white around it: the same bytes for the same figure.

    Text in an SVG is paths, the same on a machine without the font; or text, for `svg_text` "none".
    """
    stream = io.BytesIO()
    canvas, metadata = {
        "png": (FigureCanvasAgg, {"Software": None}),
        "svg": (FigureCanvasSVG, {"Date": None, "Creator": None}),
    }[kind]
    paper = figure.bbox_inches.padded(margin)
    # Identifiers follow from the content, not from chance. The writer has no other settings.
    with matplotlib.rc_context({"svg.hashsalt": "wfairl", "svg.fonttype": svg_text}):
        canvas(figure).print_figure(stream, format=kind, dpi=dots_per_inch, bbox_inches=paper, metadata=metadata)
    return stream.getvalue()


def place(figure: Figure, left: float, top: float, width: float, height: float) -> Any:
    """Add axes at a position in inches from the left and the top."""
    page_width, page_height = figure.get_size_inches()
    return figure.add_axes(
        (left / page_width, 1 - (top + height) / page_height, width / page_width, height / page_height)
    )


def place_in_units(figure: Figure, left: float, top: float, width: float, height: float, unit: float = 1.0) -> Any:
    """Add axes without a frame at a position in a unit of so many to the inch, which is their own too, y downwards."""
    axes = place(figure, left / unit, top / unit, width / unit, height / unit)
    without_frame(axes)
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    return axes


def write(where: Any, x: float, y: float, text: str, size: float = NOTE, colour: str = INK, **settings: Any) -> Any:
    """Write text in axes or on a figure, without parsing mathematics."""
    return where.text(x, y, text, size=size, color=colour, family=FONT, parse_math=False, **settings)


def write_at(figure: Figure, left: float, top: float, text: str, size: float = NOTE, **settings: Any) -> Any:
    """Write text at a position in inches from the left and the top."""
    width, height = figure.get_size_inches()
    return write(figure, left / width, 1 - top / height, text, size, **settings)


def ink_on(fill: str) -> str:
    """The colour of text on a fill: dark or light."""
    red, green, blue = to_rgb(fill)
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.55 else PAPER


def halo(width: float = 2.0) -> list[Any]:
    """A white outline that keeps text and lines readable on an image."""
    return [patheffects.withStroke(linewidth=width, foreground=PAPER)]


def without_frame(axes: Any) -> None:
    """Hide ticks and spines."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)


def show_image(axes: Any, image: NDArray[np.uint8], fading: float = 0.0) -> None:
    """Show an image in axes whose unit is a pixel, y downwards.

    Args:
        image: shape [height, width, 3].
        fading: from 0, unchanged, to 1, white.
    """
    without_frame(axes)
    height, width = image.shape[:2]
    faded = np.round(image * (1 - fading) + 255 * fading).astype(np.uint8)
    axes.imshow(faded, extent=(0, width, height, 0), interpolation="antialiased")
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)


def plain_axes(axes: Any, x: str, y: str, size: float = TEXT) -> None:
    """Two spines, small ticks, and axis names."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)
        axes.spines[side].set_linewidth(0.6)
    axes.tick_params(labelsize=size - 1, labelfontfamily=FONT, width=0.6, length=2.5, color=GREY, labelcolor=INK, pad=2)
    axes.set_xlabel(x, size=size, family=FONT, color=INK, labelpad=2)
    axes.set_ylabel(y, size=size, family=FONT, color=INK, labelpad=3)


def text_width(text: str, size: float = NOTE) -> float:
    """The width of a text in inches."""
    font = FontProperties(family=FONT, size=size)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
    return float(width) / POINTS
