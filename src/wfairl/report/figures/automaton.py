"""What was learned of the task, and how often was each way through it shown?"""

from dataclasses import fields
from typing import Any

from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.path import Path as Curve

from wfairl.automata.automaton import Arrow, Automaton
from wfairl.automata.finite import FiniteAutomaton
from wfairl.automata.layout import FONT_SIZE, RADIUS, AutomatonLayout, lay_out
from wfairl.automata.task_model import TaskModel
from wfairl.report.figures.captioned import CaptionedFigure
from wfairl.report.figures.label_differences import EXPLANATION, format_difference
from wfairl.report.figures.style import (
    BLUE,
    INK,
    NORMAL,
    PAGE,
    PAPER,
    QUIET,
    halo,
    new_figure,
    place,
    without_frame,
    write,
    write_at,
)
from wfairl.report.text import counted

POINTS = 72.0
SMALLEST = 6.5
"""Points of the smallest text; the layout leaves room enough for it in automata of a dozen columns."""

MOST_STRETCH = 1.3

THIN, THICK = 0.7, 2.4
"""Width of an edge that one word took, and of one that all of them took."""

TITLE, BETWEEN = 0.19, 0.3
"""Inches: of a title, and between two automata."""

START = 34.0
RING_GAP = 4.0
"""Pixels of the layout: the arrow into the initial state, and between the rings of an accepting one."""


def draw_automaton(model: TaskModel, name: str = "automaton") -> CaptionedFigure:
    """The learned automaton: the more words took an edge, the thicker it is; those that none took are dashed.

    Args:
        model: the task, with the counts of the demonstrations' words.
        name: of the figure.
    """
    drawing = _Drawing(lay_out(with_label_differences(model.finite), model.edge_counts), PAGE)
    figure = new_figure(drawing.width, drawing.height)
    drawing.draw(figure, 0, 0, max(1, model.summary.successes))
    return CaptionedFigure(name, figure, _caption(model), _alt(model))


def draw_automata(model: TaskModel, rule: Automaton, name: str = "automata") -> CaptionedFigure:
    """The learned automaton beside the true one, or above it where they are too wide.

    Args:
        model: the task as it was learned.
        rule: the task as it is, without what none of its worlds shows.
        name: of the figure.
    """
    layouts = [lay_out(with_label_differences(one)) for one in (model.finite, rule)]
    halves = [_Drawing(layout, (PAGE - BETWEEN) / 2) for layout in layouts]
    beside = all(one.is_legible for one in halves)
    drawings = halves if beside else [_Drawing(layout, PAGE) for layout in layouts]
    width = sum(one.width for one in drawings) + BETWEEN if beside else max(one.width for one in drawings)
    heights = [TITLE + one.height for one in drawings]
    figure = new_figure(width, max(heights) if beside else sum(heights))
    left = top = 0.0
    for title, drawing in zip(("learned", "true"), drawings, strict=True):
        write_at(figure, left, top + 0.02, title, NORMAL, va="top", weight="bold")
        drawing.draw(figure, left, top + TITLE, 0)
        left, top = (left + drawing.width + BETWEEN, top) if beside else (left, top + TITLE + drawing.height)
    caption = (
        f"The automaton that was learned ({counted(model.finite.states, 'state')}) and the true one"
        f" ({counted(rule.states, 'state')}). State 0 is the initial one, and two rings mark acceptance; a label that"
        " no edge waits for changes nothing in an automaton with guards."
    )
    learned, true = (_edges_in_words(one) for one in (model.finite, rule))
    return CaptionedFigure(name, figure, caption, f"The learned automaton: {learned}. The true one: {true}.")


class _Drawing:
    """A layout at the scale at which it fits a width; sizes in inches."""

    def __init__(self, layout: AutomatonLayout, widest: float):
        self.layout = layout
        scale = min(NORMAL / FONT_SIZE, widest * POINTS / layout.width)  # points for a pixel of the layout
        self.is_legible = scale * FONT_SIZE >= SMALLEST
        self.size = max(SMALLEST, scale * FONT_SIZE)
        # Where text is larger than the layout thinks, lines move apart to make room, and circles become a little tall.
        stretch = min(MOST_STRETCH, self.size / (scale * FONT_SIZE))
        self.line_height = 1.2 * self.size / (scale * stretch)
        self.width, self.height = layout.width * scale / POINTS, layout.height * scale * stretch / POINTS

    def draw(self, figure: Any, left: float, top: float, words: int) -> None:
        """Draw it; edges are as wide as the part of the words that took them, and all alike without words."""
        axes = place(figure, left, top, self.width, self.height)
        without_frame(axes)
        axes.set_xlim(0, self.layout.width)
        axes.set_ylim(self.layout.height, 0)
        _draw_edges(axes, self.layout, self.size, self.line_height, words)
        _draw_states(axes, self.layout, self.size)


class _WithLabelDifferences(FiniteAutomaton):
    """Drawn so that an edge reads the difference from the last label, which takes less room than the label."""

    def arrows(self) -> list[Arrow]:
        return [
            Arrow(source, target, format_difference(self.last_labels[source], label), label.__eq__)
            for source, label, target in self.edges()
        ]


def with_label_differences(automaton: Automaton) -> Automaton:
    """The automaton for drawing: with label differences at its edges, if every state knows its last label."""
    if not isinstance(automaton, FiniteAutomaton) or None in automaton.last_labels[1:]:
        return automaton
    return _WithLabelDifferences(*(getattr(automaton, one.name) for one in fields(automaton) if one.init))


def _draw_edges(axes: Any, layout: AutomatonLayout, size: float, line_height: float, words: int) -> None:
    cubic = [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4]
    x, y = layout.centres[0]
    head = "-|>,head_length=3.4,head_width=1.7"
    start = Curve([(x - RADIUS - START, y), (x - RADIUS, y)])
    axes.add_patch(FancyArrowPatch(path=start, arrowstyle=head, color=INK, lw=0.9))
    for edge in layout.edges:
        taken = edge.count > 0 or not words
        axes.add_patch(
            FancyArrowPatch(
                path=Curve(edge.curve, cubic),
                arrowstyle=head,
                color=INK if taken else QUIET,
                lw=THIN + (THICK - THIN) * min(1.0, edge.count / max(1, words)),
                ls="-" if taken else (0, (3, 2)),
                capstyle="butt",
                label=f"edge-{edge.source}-{edge.target}",
            )
        )
    for edge in layout.edges:
        for row, line in enumerate(edge.lines):
            offset = (row - (len(edge.lines) - 1) / 2) * line_height
            write(
                axes,
                edge.label_centre[0],
                edge.label_centre[1] + offset,
                line.replace("  ", " "),
                size,
                BLUE if edge.count or not words else QUIET,
                ha="center",
                va="center",
                path_effects=halo(2.0),
                zorder=3,
            )


def _draw_states(axes: Any, layout: AutomatonLayout, size: float) -> None:
    for state, (x, y) in enumerate(layout.centres):
        is_lost = state >= layout.states
        axes.add_patch(Circle((x, y), RADIUS, fc=PAPER, ec="none" if is_lost else INK, lw=0.9, zorder=4))
        if layout.accepting[state]:
            axes.add_patch(Circle((x, y), RADIUS - RING_GAP, fc="none", ec=INK, lw=0.7, zorder=5))
        write(axes, x, y, layout.name(state), size, ha="center", va="center_baseline", zorder=6)


def _caption(model: TaskModel) -> str:
    summary, drawn = model.summary, with_label_differences(model.finite)
    never = sum(not arrow.count(model.edge_counts) for arrow in drawn.arrows())
    rank = "" if summary.rank is None else f"rank {summary.rank}, "
    reads = f"what changes when it is taken {EXPLANATION}" if drawn is not model.finite else "what must hold for it"
    return (
        f"The automaton learned from {counted(summary.words, 'word')}, {summary.successes} of which succeeded: {rank}"
        f"{counted(summary.states, 'state')}. An edge says {reads} and how many of the successful words took it; the"
        " more, the thicker it is. "
        + (f"{never} of them, dashed and without a number, none took. " if never else "Each was taken. ")
        + "State 0 is the initial one, and two rings mark acceptance."
    )


def _alt(model: TaskModel) -> str:
    edges = "; ".join(
        f"{arrow.source} to {'lost' if arrow.target < 0 else arrow.target} on {arrow.text}"
        f" ({counted(arrow.count(model.edge_counts), 'word')})"
        for arrow in with_label_differences(model.finite).arrows()
    )
    return f"A graph of {model.finite.states} states with the edges {edges}."


def _edges_in_words(automaton: Automaton) -> str:
    return "; ".join(
        f"{arrow.source} to {'lost' if arrow.target < 0 else arrow.target} on {arrow.text}"
        for arrow in with_label_differences(automaton).arrows()
    )
