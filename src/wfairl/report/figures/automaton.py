"""Figures of learned automata, and how often the demonstrations took each edge."""

from dataclasses import fields
from typing import Any

from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.path import Path as Curve

from wfairl import figure_style as style
from wfairl.automata.automaton import Arrow, Automaton, EdgeCounts
from wfairl.automata.finite import FiniteAutomaton
from wfairl.automata.layout import FONT_SIZE, RADIUS, AutomatonLayout, lay_out
from wfairl.automata.task_model import TaskModel
from wfairl.automata.words import DIFFERENCES_EXPLAINED, format_difference
from wfairl.report.figures.captioned import CaptionedFigure
from wfairl.report.text import counted

POINTS = 72.0
SMALLEST = 6.5
"""Points of the smallest text; the layout has room for it in automata of a dozen columns."""

MOST_STRETCH = 1.3

THIN, THICK = 0.7, 2.4
"""Line widths of an edge that one word took, and of one that all words took."""

TITLE, BETWEEN = 0.19, 0.3
"""Inches: of a title, and between two automata."""

START = 34.0
RING_GAP = 4.0
"""Pixels of the layout: the arrow into the initial state, and between the rings of an accepting one."""


def draw_automaton(model: TaskModel, name: str = "automaton") -> CaptionedFigure:
    """The learned automaton: the more words took an edge, the thicker it is; edges that no word took are dashed.

    Args:
        model: the task, with the counts of the demonstrations' words.
    """
    drawing = _Drawing(lay_out(with_label_differences(model.finite), model.edge_counts), style.PAGE)
    figure = style.new_figure(drawing.width, drawing.height)
    drawing.draw(figure, 0, 0, max(1, model.summary.successes))
    edges = _edges_text(model.finite, model.edge_counts)
    alt = f"A graph of {model.finite.states} states with the edges {edges}."
    return CaptionedFigure(name, figure, _caption(model), alt)


def draw_automata(model: TaskModel, rule: Automaton, name: str = "automata") -> CaptionedFigure:
    """The learned automaton beside the true one, or above it where they are too wide.

    Args:
        rule: the true task, restricted to labels that its worlds produce.
    """
    layouts = [lay_out(with_label_differences(one)) for one in (model.finite, rule)]
    halves = [_Drawing(layout, (style.PAGE - BETWEEN) / 2) for layout in layouts]
    side_by_side = all(one.is_legible for one in halves)
    drawings = halves if side_by_side else [_Drawing(layout, style.PAGE) for layout in layouts]
    width = sum(one.width for one in drawings) + BETWEEN if side_by_side else max(one.width for one in drawings)
    heights = [TITLE + one.height for one in drawings]
    figure = style.new_figure(width, max(heights) if side_by_side else sum(heights))
    left = top = 0.0
    for title, drawing in zip(("learned", "true"), drawings, strict=True):
        style.write_at(figure, left, top + 0.02, title, style.NORMAL, va="top", weight="bold")
        drawing.draw(figure, left, top + TITLE, 0)
        left, top = (left + drawing.width + BETWEEN, top) if side_by_side else (left, top + TITLE + drawing.height)
    caption = (
        f"The automaton that was learned ({counted(model.finite.states, 'state')}) and the true one"
        f" ({counted(rule.states, 'state')}). State 0 is the initial one, and double rings mark acceptance; in an"
        " automaton with guards, a label that fulfils no guard changes nothing."
    )
    learned, true = (_edges_text(one) for one in (model.finite, rule))
    return CaptionedFigure(name, figure, caption, f"The learned automaton: {learned}. The true one: {true}.")


class _Drawing:
    """A layout scaled to fit a width; sizes in inches."""

    def __init__(self, layout: AutomatonLayout, widest: float):
        self.layout = layout
        scale = min(style.NORMAL / FONT_SIZE, widest * POINTS / layout.width)  # points for a pixel of the layout
        self.is_legible = scale * FONT_SIZE >= SMALLEST
        self.size = max(SMALLEST, scale * FONT_SIZE)
        # Where text is larger than in the layout, lines move apart to make room, and circles become a little taller.
        stretch = min(MOST_STRETCH, self.size / (scale * FONT_SIZE))
        self.line_height = 1.2 * self.size / (scale * stretch)
        self.width, self.height = layout.width * scale / POINTS, layout.height * scale * stretch / POINTS

    def draw(self, figure: Any, left: float, top: float, words: int) -> None:
        """Draw it; the more of the words took an edge, the wider it is; without words all are alike."""
        axes = style.place(figure, left, top, self.width, self.height)
        style.without_frame(axes)
        axes.set_xlim(0, self.layout.width)
        axes.set_ylim(self.layout.height, 0)
        _draw_edges(axes, self.layout, self.size, self.line_height, words)
        _draw_states(axes, self.layout, self.size)


class _WithLabelDifferences(FiniteAutomaton):
    """Its edges show the difference from the last label, which takes less room than the label."""

    def arrows(self) -> list[Arrow]:
        return [
            Arrow(source, target, format_difference(self.last_labels[source], label), label.__eq__)
            for source, label, target in self.edges()
        ]


def with_label_differences(automaton: Automaton) -> Automaton:
    """The automaton for drawing: with label differences on its edges, if every state has a last label."""
    if not isinstance(automaton, FiniteAutomaton) or None in automaton.last_labels[1:]:
        return automaton
    return _WithLabelDifferences(*(getattr(automaton, one.name) for one in fields(automaton) if one.init))


def _draw_edges(axes: Any, layout: AutomatonLayout, size: float, line_height: float, words: int) -> None:
    cubic = [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4]
    x, y = layout.centres[0]
    head = "-|>,head_length=3.4,head_width=1.7"
    start = Curve([(x - RADIUS - START, y), (x - RADIUS, y)])
    axes.add_patch(FancyArrowPatch(path=start, arrowstyle=head, color=style.INK, lw=0.9))
    for edge in layout.edges:
        is_taken = edge.count > 0 or not words
        axes.add_patch(
            FancyArrowPatch(
                path=Curve(edge.curve, cubic),
                arrowstyle=head,
                color=style.INK if is_taken else style.QUIET,
                lw=THIN + (THICK - THIN) * min(1.0, edge.count / max(1, words)),
                ls="-" if is_taken else (0, (3, 2)),
                capstyle="butt",
                label=f"edge-{edge.source}-{edge.target}",
            )
        )
    for edge in layout.edges:
        for row, line in enumerate(edge.lines):
            offset = (row - (len(edge.lines) - 1) / 2) * line_height
            x, y = edge.label_centre
            colour = style.BLUE if edge.count or not words else style.QUIET
            text = style.write(axes, x, y + offset, line.replace("  ", " "), size, colour, ha="center", va="center")
            text.set(path_effects=style.halo(2.0), zorder=3)


def _draw_states(axes: Any, layout: AutomatonLayout, size: float) -> None:
    for state, (x, y) in enumerate(layout.centres):
        is_lost = state >= layout.states
        axes.add_patch(Circle((x, y), RADIUS, fc=style.PAPER, ec="none" if is_lost else style.INK, lw=0.9, zorder=4))
        if layout.accepting[state]:
            axes.add_patch(Circle((x, y), RADIUS - RING_GAP, fc="none", ec=style.INK, lw=0.7, zorder=5))
        style.write(axes, x, y, layout.name(state), size, ha="center", va="center_baseline", zorder=6)


def _caption(model: TaskModel) -> str:
    summary, drawn = model.summary, with_label_differences(model.finite)
    unused = sum(not arrow.count(model.edge_counts) for arrow in drawn.arrows())
    rank = "" if summary.rank is None else f"rank {summary.rank}, "
    text = f"what changes when it is taken {DIFFERENCES_EXPLAINED}" if drawn is not model.finite else "its guard"
    return (
        f"The automaton learned from {counted(summary.words, 'word')}, {summary.successes} of which succeeded: {rank}"
        f"{counted(summary.states, 'state')}. An edge shows {text} and how many of the successful words took it; the"
        " more, the thicker it is. "
        + (f"{counted(unused, 'edge')} that no word took, dashed and without a number. " if unused else "")
        + "State 0 is the initial one, and double rings mark acceptance."
    )


def _edges_text(automaton: Automaton, counts: EdgeCounts | None = None) -> str:
    return "; ".join(
        f"{arrow.source} to {'lost' if arrow.target < 0 else arrow.target} on {arrow.text}"
        + ("" if counts is None else f" ({counted(arrow.count(counts), 'word')})")
        for arrow in with_label_differences(automaton).arrows()
    )
