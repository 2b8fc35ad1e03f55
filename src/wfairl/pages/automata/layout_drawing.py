"""An automaton in its layout, drawn with matplotlib: alone, beside another one, and in figures."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.path import Path as Curve

from wfairl.pages import style
from wfairl.pages.automata.images import ACCENT, ACCEPTING_FILL, ARROW_LENGTH, RING_GAP, STATE_FILL
from wfairl.pages.automata.layout import FONT_SIZE, LINE_HEIGHT, RADIUS, AutomatonLayout, DrawnEdge

MARK = "#b3261e"
"""The colour of marked edges."""

THIN_LINE, THICK_LINE = 1.3, 4.3
"""Widths in points, at scale 1, of an edge that no word took, and of one that all words took."""

LEAST_LINE_SCALE = 0.55
"""Scale below which lines get no thinner: they must be seen in print."""


@dataclass(frozen=True)
class AutomatonStyle:
    """How an automaton is drawn.

    Attributes:
        scale: points per pixel of the layout.
        text: points of the text.
        stretch: of the height; circles become ellipses.
        marked: edges to show in another colour, by their ends.
        words: the more of them took an edge, the wider it is; edges that none took are dashed. With 0 all are alike.
    """

    scale: float = 1.0
    text: float = FONT_SIZE
    stretch: float = 1.0
    marked: Collection[tuple[int, int]] = ()
    words: int = 0

    def size(self, layout: AutomatonLayout) -> tuple[float, float]:
        """Width and height in inches."""
        return layout.width * self.scale / style.POINTS, layout.height * self.scale * self.stretch / style.POINTS


def draw_layout(figure: Figure, layout: AutomatonLayout, look: AutomatonStyle, left: float, top: float) -> None:
    """Draw an automaton in a figure, at a position in inches from its left and top."""
    axes = style.place(figure, left, top, *look.size(layout))
    style.without_frame(axes)
    axes.set_xlim(0, layout.width)
    axes.set_ylim(layout.height, 0)
    weight = max(look.scale, LEAST_LINE_SCALE)
    x, y = layout.centres[0]
    _draw_arrow(
        axes, Curve([(x - RADIUS - ARROW_LENGTH, y), (x - RADIUS, y)]), weight, color=style.INK, lw=THIN_LINE * weight
    )
    for edge in layout.edges:
        _draw_edge(axes, edge, look, weight)
    for state, (x, y) in enumerate(layout.centres):
        is_accepting = bool(layout.accepting[state])
        if state < layout.states:
            fill = ACCEPTING_FILL if is_accepting else STATE_FILL
            axes.add_patch(Circle((x, y), RADIUS, fc=fill, ec=style.INK, lw=1.5 * weight, zorder=4))
        if is_accepting:
            axes.add_patch(Circle((x, y), RADIUS - RING_GAP, fc="none", ec=style.INK, lw=1.2 * weight, zorder=5))
        style.write(axes, x, y, layout.name(state), look.text, ha="center", va="center_baseline", zorder=6)
    if layout.badge:
        style.write(axes, *layout.badge_place, layout.badge, look.text, MARK, ha="left", va="baseline", zorder=6)


def _draw_edge(axes: Any, edge: DrawnEdge, look: AutomatonStyle, weight: float) -> None:
    is_taken, is_marked = edge.count > 0 or not look.words, (edge.source, edge.target) in look.marked
    _draw_arrow(
        axes,
        Curve(edge.curve, [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4]),
        weight,
        color=MARK if is_marked else style.INK if is_taken else style.GREY,
        lw=(THIN_LINE + (THICK_LINE - THIN_LINE) * min(1.0, edge.count / look.words if look.words else 0.0)) * weight,
        ls="-" if is_taken else (0, (3, 2)),
        label=f"edge-{edge.source}-{edge.target}",
    )
    # Lines are as far apart as in the layout, or further if the text is larger.
    for line, y in edge.placed_lines(LINE_HEIGHT / FONT_SIZE * look.text / (look.scale * look.stretch)):
        place, colour = (edge.label_centre[0], y), ACCENT if is_taken else style.GREY
        text = style.write(axes, *place, line.replace("  ", " "), look.text, colour, ha="center", va="center")
        text.set(path_effects=style.halo(4 * weight), zorder=3)


def _draw_arrow(axes: Any, curve: Any, weight: float, **settings: Any) -> None:
    head = f"-|>,head_length={6.4 * weight:g},head_width={3.1 * weight:g}"
    axes.add_patch(FancyArrowPatch(path=curve, arrowstyle=head, capstyle="butt", **settings))
