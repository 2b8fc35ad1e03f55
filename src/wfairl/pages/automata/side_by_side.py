"""Two automata side by side, with the path of a word marked in each and lines of text below."""

from collections.abc import Sequence
from itertools import pairwise

from wfairl.core.automata.automaton import DEAD, Automaton
from wfairl.core.automata.words import Word
from wfairl.pages import style
from wfairl.pages.automata.layout import FONT_SIZE, LINE_HEIGHT, lay_out
from wfairl.pages.automata.layout_drawing import MARK, AutomatonStyle, draw_layout
from wfairl.pages.captioned_figure import CaptionedFigure

GAP = 24.0
"""Points around names and texts."""

LONGEST_LINE = 110
"""Characters of a line of text."""


def draw_side_by_side(
    names: tuple[str, str], automata: tuple[Automaton, Automaton], word: Word = (), texts: Sequence[str] = ()
) -> CaptionedFigure:
    """Both automata under their names; the edges that the word takes, and the second text, have another colour."""
    layouts, texts = [lay_out(automaton) for automaton in automata], list(map(_cut, texts))
    top, tallest = GAP + 2 * FONT_SIZE, max(layout.height for layout in layouts)
    bottom = top + tallest + LINE_HEIGHT
    widest = max((style.text_width(text, FONT_SIZE) for text in texts), default=0.0) * style.POINTS + 2 * GAP
    width = max(sum(layout.width for layout in layouts) + GAP, widest)
    figure = style.new_figure(width / style.POINTS, (bottom + len(texts) * LINE_HEIGHT) / style.POINTS)
    left = 0.0
    for name, automaton, layout in zip(names, automata, layouts, strict=True):
        look, y = AutomatonStyle(marked=_edges_taken(automaton, word)), top + (tallest - layout.height) / 2
        draw_layout(figure, layout, look, left / style.POINTS, y / style.POINTS)
        style.write_at(figure, (left + GAP) / style.POINTS, (GAP + FONT_SIZE) / style.POINTS, _cut(name), FONT_SIZE)
        left += layout.width + GAP
    for row, text in enumerate(texts):
        y, colour = (bottom + row * LINE_HEIGHT) / style.POINTS, MARK if row == 1 else style.INK
        style.write_at(figure, GAP / style.POINTS, y, text, FONT_SIZE, colour=colour)
    alt = f"The automata of {names[0]} and {names[1]}. {' '.join(texts)}"
    return CaptionedFigure("automata", figure, "".join(texts[:1]), alt)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 3] + "..."


def _edges_taken(automaton: Automaton, word: Word) -> set[tuple[int, int]]:
    """The edges that a word takes; a word that is lost ends in the place that the layout has for it."""
    return set(pairwise(automaton.states if state == DEAD else state for state in automaton.run(word)))
