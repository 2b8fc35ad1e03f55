"""Automata drawn with matplotlib: one as PNG, and two side by side with the path of a word marked in each."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from textwrap import wrap
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.path import Path as Curve

from wfairl.core.automata.automaton import DEAD, Automaton, EdgeCounts
from wfairl.core.automata.words import Word
from wfairl.pages import style
from wfairl.pages.automata.images import ACCENT, ACCEPTING_FILL, ARROW_LENGTH, LOST, RING_GAP, STATE_FILL
from wfairl.pages.automata.layout import FONT_SIZE, LINE_HEIGHT, RADIUS, AutomatonLayout, DrawnEdge, lay_out

GAP = 24.0
"""Points around names and texts."""

LONGEST_LINE = 110
"""Characters of a line of text."""


def automaton_png(automaton: Automaton, edge_counts: EdgeCounts | None = None) -> bytes:
    """The drawing of `automaton_svg` as pixels."""
    layout = lay_out(automaton, edge_counts)
    figure = style.new_figure(layout.width / style.POINTS, layout.height / style.POINTS)
    draw_layout(figure, layout, 0, 0)
    return _print(figure, "png")


def _print(figure: Figure, kind: str) -> bytes:
    """A figure with two pixels per point, or fewer if it does not fit on a screen else, but at least one."""
    width, height = figure.get_size_inches() * style.POINTS
    zoom = min(2.0, 1920 / width, 1080 / height)
    return style.print_figure(figure, kind, max(zoom, 1.0) * style.POINTS)


def sentences_picture(sentences: Sequence[str], kind: str) -> bytes:
    """Sentences as a "png" or "svg", for a rule whose automaton is too large to be read."""
    lines = [line for one in sentences for line in wrap(one, LONGEST_LINE, subsequent_indent="    ")]
    columns = -(-len(lines) // 50)
    rows, gap = -(-len(lines) // columns), GAP / style.POINTS
    width = max(style.text_width(line, FONT_SIZE) for line in lines) + gap
    figure = style.new_figure(columns * width + gap, 2 * gap + rows * LINE_HEIGHT / style.POINTS)
    for i, line in enumerate(lines):
        column, row = divmod(i, rows)
        style.write_at(figure, gap + column * width, gap + (row + 0.7) * LINE_HEIGHT / style.POINTS, line, FONT_SIZE)
    return _print(figure, kind)


def draw_side_by_side(
    names: tuple[str, str], automata: tuple[Automaton, Automaton], word: Word = (), texts: Sequence[str] = ()
) -> Figure:
    """Both automata under their names; the edges that the word takes, and the second text, have another colour."""
    layouts, texts = [lay_out(automaton) for automaton in automata], list(map(_cut, texts))
    top, tallest = GAP + 2 * FONT_SIZE, max(layout.height for layout in layouts)
    bottom = top + tallest + LINE_HEIGHT
    widest = max((style.text_width(text, FONT_SIZE) for text in texts), default=0.0) * style.POINTS + 2 * GAP
    width = max(sum(layout.width for layout in layouts) + GAP, widest)
    figure = style.new_figure(width / style.POINTS, (bottom + len(texts) * LINE_HEIGHT) / style.POINTS)
    left = 0.0
    for name, automaton, layout in zip(names, automata, layouts, strict=True):
        draw_layout(figure, layout, left, top + (tallest - layout.height) / 2, _edges_taken(automaton, word))
        style.write_at(figure, (left + GAP) / style.POINTS, (GAP + FONT_SIZE) / style.POINTS, _cut(name), FONT_SIZE)
        left += layout.width + GAP
    for row, text in enumerate(texts):
        y, colour = (bottom + row * LINE_HEIGHT) / style.POINTS, LOST if row == 1 else style.INK
        style.write_at(figure, GAP / style.POINTS, y, text, FONT_SIZE, colour=colour)
    return figure


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 3] + "..."


def _edges_taken(automaton: Automaton, word: Word) -> set[tuple[int, int]]:
    """The edges that a word takes; a word that is lost ends in the place that the layout has for it."""
    return set(pairwise(automaton.states if state == DEAD else state for state in automaton.run(word)))


def draw_layout(
    figure: Figure, layout: AutomatonLayout, left: float, top: float, marked: Collection[tuple[int, int]] = ()
) -> None:
    """Draw an automaton in a figure, at a position in points from its left and top; `marked` are ends of edges."""
    axes = style.place_in_units(figure, left, top, layout.width, layout.height, style.POINTS)
    x, y = layout.centres[0]
    _draw_arrow(axes, Curve([(x - RADIUS - ARROW_LENGTH, y), (x - RADIUS, y)]), color=style.INK)
    for edge in layout.edges:
        _draw_edge(axes, edge, (edge.source, edge.target) in marked)
    for state, (x, y) in enumerate(layout.centres):
        is_accepting = bool(layout.accepting[state])
        if state < layout.states:
            fill = ACCEPTING_FILL if is_accepting else STATE_FILL
            axes.add_patch(Circle((x, y), RADIUS, fc=fill, ec=style.INK, lw=1.5, zorder=4))
        if is_accepting:
            axes.add_patch(Circle((x, y), RADIUS - RING_GAP, fc="none", ec=style.INK, lw=1.2, zorder=5))
        style.write(axes, x, y, layout.name(state), FONT_SIZE, ha="center", va="center_baseline", zorder=6)
    if layout.badge:
        style.write(axes, *layout.badge_place, layout.badge, FONT_SIZE, LOST, ha="left", va="baseline", zorder=6)


def _draw_edge(axes: Any, edge: DrawnEdge, is_marked: bool) -> None:
    curve = Curve(edge.curve, [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4])
    _draw_arrow(axes, curve, color=LOST if is_marked else style.INK, label=f"edge-{edge.source}-{edge.target}")
    for line, y in edge.placed_lines():
        text = line.replace("  ", " ")
        written = style.write(axes, edge.label_centre[0], y, text, FONT_SIZE, ACCENT, ha="center", va="center")
        written.set(path_effects=style.halo(4), zorder=3)


def _draw_arrow(axes: Any, curve: Any, **settings: Any) -> None:
    head = "-|>,head_length=6.4,head_width=3.1"
    axes.add_patch(FancyArrowPatch(path=curve, arrowstyle=head, capstyle="butt", lw=1.3, **settings))
