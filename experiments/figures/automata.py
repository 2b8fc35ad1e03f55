"""Figures of learned automata, and how often the demonstrations took each edge."""

from dataclasses import replace

from wfairl.core.automata.automaton import Automaton, EdgeCounts
from wfairl.core.automata.task_model import TaskModel
from wfairl.pages import style
from wfairl.pages.automata.label_differences import DIFFERENCES_EXPLAINED, with_label_differences
from wfairl.pages.automata.layout import FONT_SIZE, lay_out
from wfairl.pages.automata.layout_drawing import AutomatonStyle, draw_layout
from wfairl.pages.automata.side_by_side import draw_side_by_side
from wfairl.pages.captioned_figure import CaptionedFigure
from wfairl.pages.text import counted

SMALLEST = 6.5
"""Points of the smallest text; the layout has room for it in automata of a dozen columns."""

MOST_STRETCH = 1.3


def draw_automaton(model: TaskModel, name: str = "automaton") -> CaptionedFigure:
    """The learned automaton: the more words took an edge, the thicker it is; edges that no word took are dashed.

    Args:
        model: the task, with the counts of the demonstrations' words.
    """
    layout = lay_out(with_label_differences(model.finite), model.edge_counts)
    scale = min(style.TEXT / FONT_SIZE, style.PAGE * style.POINTS / layout.width)
    text = max(SMALLEST, scale * FONT_SIZE)
    # Where text is larger than in the layout, lines move apart to make room, and circles become a little taller.
    stretch = min(MOST_STRETCH, text / (scale * FONT_SIZE))
    look = AutomatonStyle(scale, text, stretch, words=max(1, model.summary.successes))
    figure = style.new_figure(*look.size(layout))
    draw_layout(figure, layout, look, 0, 0)
    edges = _edges_text(model.finite, model.edge_counts)
    alt = f"A graph of {model.finite.states} states with the edges {edges}."
    return CaptionedFigure(name, figure, _caption(model), alt)


def draw_automata(model: TaskModel, rule: Automaton, name: str = "automata") -> CaptionedFigure:
    """The learned automaton beside the true one.

    Args:
        rule: the true task, restricted to labels that its worlds produce.
    """
    caption = (
        f"The automaton that was learned ({counted(model.finite.states, 'state')}) and the true one"
        f" ({counted(rule.states, 'state')}). State 0 is the initial one, and double rings mark acceptance; in an"
        " automaton with guards, a label that fulfils no guard changes nothing."
    )
    automata = with_label_differences(model.finite), with_label_differences(rule)
    learned, true = map(_edges_text, automata)
    alt = f"The learned automaton: {learned}. The true one: {true}."
    return replace(draw_side_by_side(("learned", "true"), automata), name=name, caption=caption, alt=alt)


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
