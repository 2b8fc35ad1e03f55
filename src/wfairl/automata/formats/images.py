"""Images of an automaton in its layout, as SVG and as PNG."""

from collections.abc import Collection
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD
from wfairl.automata.layout import FONT_SIZE, RADIUS, AutomatonLayout, DrawnEdge

INK, PAPER, ACCENT, MARK = "#1b1f24", "#ffffff", "#1f6f54", "#b3261e"
ACCEPTING_FILL, STATE_FILL = "#dff2e9", "#f3f5f7"
RING_GAP = 4.0
ARROW_LENGTH = 34.0
TIP_LENGTH, TIP_SPREAD = 9.0, 4.0
FONT = "DejaVu Sans"


Marked = Collection[tuple[int, int]]
"""Edges to show in another colour, by their ends."""


def to_svg(layout: AutomatonLayout, marked: Marked = ()) -> str:
    """A self-contained drawing in SVG: no external fonts, styles or ids.

    Classes and data attributes (`state`, or `source` and `target`) let a page colour it and find its parts.
    """
    width, height = round(layout.width), round(layout.height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="{FONT}, Verdana, sans-serif" font-size="{FONT_SIZE:g}" role="img" aria-label="task automaton">',
        f'<rect class="paper" width="100%" height="100%" fill="{PAPER}"/>',
    ]
    x, y = layout.centres[0]
    entry = np.linspace((x - RADIUS - ARROW_LENGTH, y), (x - RADIUS, y), 4)
    parts.append(f'<g class="edge">{_arrow(entry)}</g>')
    for edge in layout.edges:
        parts.append(f'<g class="edge" {_ends(edge)}>{_arrow(edge.curve, _colour(edge, marked))}</g>')
    for edge in layout.edges:
        for line, line_y in edge.placed_lines():
            parts.append(
                f'<text class="label" {_ends(edge)} x="{edge.label_centre[0]:.1f}" y="{line_y:.1f}" '
                f'text-anchor="middle" dominant-baseline="central" fill="{ACCENT}" stroke="{PAPER}" stroke-width="4" '
                f'paint-order="stroke">{escape(line)}</text>'
            )
    for state, (x, y) in enumerate(layout.centres):
        accepting = bool(layout.accepting[state])
        fill = ACCEPTING_FILL if accepting else STATE_FILL
        circle = f'<circle cx="{x:.1f}" cy="{y:.1f}"'
        lost = state >= layout.states
        kind = "lost" if lost else "state accepting" if accepting else "state"
        parts.append(f'<g class="{kind}" data-state="{DEAD if lost else state}">')
        if not lost:
            parts.append(f'{circle} r="{RADIUS:g}" fill="{fill}" stroke="{INK}" stroke-width="1.5"/>')
        if accepting:
            parts.append(f'{circle} r="{RADIUS - RING_GAP:g}" fill="none" stroke="{INK}" stroke-width="1.2"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" dominant-baseline="central" '
            f'fill="{INK}">{layout.name(state)}</text></g>'
        )
    return "\n".join([*parts, "</svg>\n"])


def _ends(edge: DrawnEdge) -> str:
    return f'data-source="{edge.source}" data-target="{edge.target}"'


def _colour(edge: DrawnEdge, marked: Marked) -> str:
    return MARK if (edge.source, edge.target) in marked else INK


def _arrow(curve: NDArray[np.float64], colour: str = INK) -> str:
    """A cubic curve with a tip at its end, which stops short of the point that the tip ends in."""
    along = (curve[3] - curve[2]) / np.linalg.norm(curve[3] - curve[2])
    across = np.array([-along[1], along[0]])
    back = curve[3] - TIP_LENGTH * along
    start, first, second, end = (f"{x:.1f},{y:.1f}" for x, y in (*curve[:3], curve[3] - 0.5 * TIP_LENGTH * along))
    left, right, point = (
        f"{x:.1f},{y:.1f}" for x, y in (back + TIP_SPREAD * across, back - TIP_SPREAD * across, curve[3])
    )
    return (
        f'<path class="line" d="M{start} C{first} {second} {end}" fill="none" stroke="{colour}" stroke-width="1.3"/>'
        f'<path class="tip" d="M{left} L{point} L{right} z" fill="{colour}"/>'
    )


def to_png(layout: AutomatonLayout, scale: float = 2.0, marked: Marked = ()) -> bytes:
    """The same drawing as pixels, `scale` of them per pixel of the layout."""
    from matplotlib import patheffects
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle, FancyArrowPatch
    from matplotlib.path import Path as Curve

    inch = 72.0  # one layout pixel is one point, so that font sizes mean the same
    figure = Figure(figsize=(layout.width / inch, layout.height / inch), facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, layout.width), ylim=(layout.height, 0))
    axes.axis("off")
    x, y = layout.centres[0]
    cubic = [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4]
    curves = [(Curve([(x - RADIUS - ARROW_LENGTH, y), (x - RADIUS, y)]), INK)]
    curves += [(Curve(edge.curve, cubic), _colour(edge, marked)) for edge in layout.edges]
    for curve, colour in curves:
        axes.add_patch(
            FancyArrowPatch(path=curve, arrowstyle="-|>,head_length=7,head_width=3.2", color=colour, lw=1.3, fill=True)
        )
    text: dict[str, Any] = {"size": FONT_SIZE, "family": FONT, "ha": "center", "va": "center"}
    halo = [patheffects.withStroke(linewidth=4, foreground=PAPER)]
    for edge in layout.edges:
        for line, line_y in edge.placed_lines():
            axes.text(edge.label_centre[0], line_y, line, color=ACCENT, path_effects=halo, parse_math=False, **text)
    for state, (x, y) in enumerate(layout.centres):
        fill = ACCEPTING_FILL if layout.accepting[state] else STATE_FILL
        if state < layout.states:
            axes.add_patch(Circle((x, y), RADIUS, fc=fill, ec=INK, lw=1.5, zorder=3))
        if layout.accepting[state]:
            axes.add_patch(Circle((x, y), RADIUS - RING_GAP, fc="none", ec=INK, lw=1.2, zorder=4))
        axes.text(x, y, layout.name(state), color=INK, zorder=5, **text)
    stream = BytesIO()
    FigureCanvasAgg(figure).print_figure(stream, dpi=inch * scale, format="png")
    return stream.getvalue()
