"""What was learned of the task, and how often was each way through it shown?"""

from typing import Any

import numpy as np
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.path import Path as Curve

from wfairl.automata.automaton import DEAD
from wfairl.automata.finite import FiniteAutomaton
from wfairl.automata.layout import FONT_SIZE, RADIUS, Layout, lay_out
from wfairl.automata.task_model import EdgeCounts, TaskModel
from wfairl.automata.words import sort_labels
from wfairl.report.figures.changes import EXPLANATION, format_change
from wfairl.report.figures.drawn import DrawnFigure
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
)
from wfairl.report.text import counted

POINTS = 72.0
SMALLEST = 6.5
"""Points of the smallest text; the layout leaves room enough for it in automata of a dozen columns."""

MOST_STRETCH = 1.3

THIN, THICK = 0.7, 2.4
"""Width of an edge that one word took, and of one that all of them took."""

START = 34.0
RING_GAP = 4.0
"""Pixels of the layout: the arrow into the initial state, and between the rings of an accepting one."""


def draw_automaton(model: TaskModel, name: str = "automaton") -> DrawnFigure:
    """The learned automaton, its edges as thick as they were often taken, those that nobody took dashed.

    Args:
        model: the task, with the counts of the demonstrations' words.
        name: of the figure.
    """
    layout = lay_out(*by_changes(model.finite, model.edge_counts))
    scale = min(NORMAL / FONT_SIZE, PAGE * POINTS / layout.width)  # points for a pixel of the layout
    size = max(SMALLEST, scale * FONT_SIZE)
    # Where text is larger than the layout thinks, lines move apart to make room, and circles become a little tall.
    stretch = min(MOST_STRETCH, size / (scale * FONT_SIZE))
    figure = new_figure(layout.width * scale / POINTS, layout.height * scale * stretch / POINTS)
    axes = place(figure, 0, 0, *figure.get_size_inches())
    without_frame(axes)
    axes.set_xlim(0, layout.width)
    axes.set_ylim(layout.height, 0)
    _draw_edges(axes, layout, size, 1.2 * size / (scale * stretch), max(1, model.summary.successes))
    _draw_states(axes, layout, size)
    return DrawnFigure(name, figure, _caption(model), _alt(model))


def by_changes(automaton: FiniteAutomaton, counts: EdgeCounts) -> tuple[FiniteAutomaton, EdgeCounts]:
    """The same graph, whose edges read the change of the label where the automaton reads the label; for drawing."""
    edges = {
        (source, label): frozenset({format_change(automaton.last_labels[source], label)})
        for source, label, _ in automaton.edges()
    }
    alphabet = sort_labels(edges.values())
    transitions = np.full((automaton.states, len(alphabet)), DEAD, np.int32)
    for (source, label), change in edges.items():
        transitions[source, alphabet.index(change)] = automaton.read(source, label)
    drawn = FiniteAutomaton(
        alphabet, transitions, automaton.accepting, automaton.values, (None,) * automaton.states, keep_repeats=True
    )
    return drawn, {(source, edges[source, label]): count for (source, label), count in counts.items()}


def _draw_edges(axes: Any, layout: Layout, size: float, line_height: float, words: int) -> None:
    cubic = [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4]
    x, y = layout.centres[0]
    head = "-|>,head_length=3.4,head_width=1.7"
    start = Curve([(x - RADIUS - START, y), (x - RADIUS, y)])
    axes.add_patch(FancyArrowPatch(path=start, arrowstyle=head, color=INK, lw=0.9))
    for edge in layout.edges:
        taken = edge.count > 0
        axes.add_patch(
            FancyArrowPatch(
                path=Curve(edge.curve, cubic),
                arrowstyle=head,
                color=INK if taken else QUIET,
                lw=THIN + (THICK - THIN) * min(1.0, edge.count / words),
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
                BLUE if edge.count else QUIET,
                ha="center",
                va="center",
                path_effects=halo(2.0),
                zorder=3,
            )


def _draw_states(axes: Any, layout: Layout, size: float) -> None:
    for state, (x, y) in enumerate(layout.centres):
        axes.add_patch(Circle((x, y), RADIUS, fc=PAPER, ec=INK, lw=0.9, zorder=4))
        if layout.accepting[state]:
            axes.add_patch(Circle((x, y), RADIUS - RING_GAP, fc="none", ec=INK, lw=0.7, zorder=5))
        write(axes, x, y, str(state), size, ha="center", va="center_baseline", zorder=6)


def _caption(model: TaskModel) -> str:
    summary = model.summary
    never = sum(1 for source, label, _ in model.finite.edges() if not model.edge_counts.get((source, label)))
    return (
        f"The automaton learned from {counted(summary.words, 'word')}, {summary.successes} of which succeeded: rank"
        f" {summary.rank}, {counted(summary.states, 'state')}. An edge says what changes when it is taken {EXPLANATION}"
        " and how many of the successful words took it, and is as thick as they are many; "
        + (f"{never} of them, dashed and without a number, none took. " if never else "each was taken. ")
        + "State 0 is the initial one, and two rings mark acceptance."
    )


def _alt(model: TaskModel) -> str:
    automaton = model.finite
    edges = "; ".join(
        f"{source} to {target} on {format_change(automaton.last_labels[source], label)}"
        f" ({counted(model.edge_counts.get((source, label), 0), 'word')})"
        for source, label, target in automaton.edges()
    )
    return f"A graph of {automaton.states} states with the edges {edges}."
