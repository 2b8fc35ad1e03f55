"""Images of an automaton in its layout, as SVG."""

from html import escape

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Automaton, EdgeCounts
from wfairl.pages.automata.layout import FONT_SIZE, RADIUS, AutomatonLayout, DrawnEdge, lay_out

INK, PAPER, ACCENT = "#1b1f24", "#ffffff", "#1f6f54"
ACCEPTING_FILL, STATE_FILL, LOST = "#dff2e9", "#f3f5f7", "#b3261e"
RING_GAP = 4.0
ARROW_LENGTH = 34.0
TIP_LENGTH, TIP_SPREAD = 9.0, 4.0
FONT = "DejaVu Sans"


def automaton_svg(automaton: Automaton, edge_counts: EdgeCounts | None = None) -> str:
    """The drawing of an automaton in SVG, with how often its edges were taken."""
    return layout_svg(lay_out(automaton, edge_counts))


def layout_svg(layout: AutomatonLayout) -> str:
    """A self-contained drawing in SVG: no external fonts, styles or ids.

    Classes and data attributes (`state`, or `source` and `target`) let a page colour it and find its parts.
    """
    width, height = f"{layout.width:.0f}", f"{layout.height:.0f}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="{FONT}, Verdana, sans-serif" font-size="{FONT_SIZE:g}" role="img" aria-label="task automaton">\n'
        f'<rect class="paper" width="100%" height="100%" fill="{PAPER}"/>'
    ]
    x, y = layout.centres[0]
    entry = np.linspace((x - RADIUS - ARROW_LENGTH, y), (x - RADIUS, y), 4)
    parts.append(f'<g class="edge">{_arrow(entry)}</g>')
    parts += [f'<g class="edge" {_ends(edge)}>{_arrow(edge.curve)}</g>' for edge in layout.edges]
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
            f'fill="{LOST if lost else INK}">{layout.name(state)}</text></g>'
        )
    if layout.badge:
        x, y = layout.badge_place
        parts.append(
            f'<g class="lost" data-state="{DEAD}"><text x="{x:.1f}" y="{y:.1f}" fill="{LOST}">{escape(layout.badge)}'
            "</text></g>"
        )
    return "\n".join([*parts, "</svg>\n"])


def _ends(edge: DrawnEdge) -> str:
    return f'data-source="{edge.source}" data-target="{edge.target}"'


def _arrow(curve: NDArray[np.float64]) -> str:
    """A cubic curve with a tip at its end, which stops short of the point that the tip ends in."""
    along = (curve[3] - curve[2]) / np.linalg.norm(curve[3] - curve[2])
    across = np.array([-along[1], along[0]])
    back = curve[3] - TIP_LENGTH * along
    start, first, second, end = (f"{x:.1f},{y:.1f}" for x, y in (*curve[:3], curve[3] - 0.5 * TIP_LENGTH * along))
    left, right, point = (
        f"{x:.1f},{y:.1f}" for x, y in (back + TIP_SPREAD * across, back - TIP_SPREAD * across, curve[3])
    )
    return (
        f'<path class="line" d="M{start} C{first} {second} {end}" fill="none" stroke="{INK}" stroke-width="1.3"/>'
        f'<path class="tip" d="M{left} L{point} L{right} z" fill="{INK}"/>'
    )
