"""Two automata side by side, with the path of a word marked in each and lines of text below."""

from dataclasses import dataclass
from html import escape
from itertools import pairwise

from wfairl.core.automata.automaton import DEAD, Automaton
from wfairl.core.automata.words import Word
from wfairl.pages.automata.images import INK, MARK, svg_head, to_svg
from wfairl.pages.automata.layout import FONT_SIZE, LINE_HEIGHT, AutomatonLayout, lay_out

GAP = 24.0
LONGEST_LINE = 110
"""Characters of a line of text."""


@dataclass(frozen=True, eq=False)
class AutomataPair:
    """What the picture shows.

    Attributes:
        names: above the automata.
        automata: the two.
        word: whose path is marked in each.
        texts: the lines below, the second of them in the colour of the marks.
    """

    names: tuple[str, str]
    automata: tuple[Automaton, Automaton]
    word: Word
    texts: tuple[str, ...]


def pair_svg(pair: AutomataPair) -> str:
    """The picture in SVG."""
    picture = _compose(pair)
    parts = [svg_head(*picture.size, "two task automata")]
    for layout, marked, x, y in picture.automata:
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{to_svg(layout, marked)}</g>')
    for line, colour, x, y in picture.lines:
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}">{escape(line)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def pair_png(pair: AutomataPair, scale: float = 2.0) -> bytes:
    """The picture as pixels."""
    from wfairl.pages import style
    from wfairl.pages.automata.layout_drawing import AutomatonStyle, draw_layout

    picture = _compose(pair)
    figure = style.new_figure(*(length / style.POINTS for length in picture.size))
    for layout, marked, x, y in picture.automata:
        draw_layout(figure, layout, AutomatonStyle(marked=marked), x / style.POINTS, y / style.POINTS)
    for line, colour, x, y in picture.lines:
        style.write_at(figure, x / style.POINTS, y / style.POINTS, line, FONT_SIZE, colour=colour)
    return style.to_png(figure, scale * style.POINTS)


@dataclass(frozen=True, eq=False)
class _Picture:
    """The parts of the picture and their places, in pixels of the layout.

    Attributes:
        size: width and height.
        automata: the layouts, their marked edges, and the x and y where each begins.
        lines: of text, their colours, and the x and y where their baselines begin.
    """

    size: tuple[float, float]
    automata: list[tuple[AutomatonLayout, set[tuple[int, int]], float, float]]
    lines: list[tuple[str, str, float, float]]


def _compose(pair: AutomataPair) -> _Picture:
    """Place both automata, their names above them and the texts below."""
    layouts, texts = [lay_out(automaton) for automaton in pair.automata], list(map(_cut, pair.texts))
    top, tallest = GAP + 2 * FONT_SIZE, max(layout.height for layout in layouts)
    bottom = top + tallest + LINE_HEIGHT
    automata, lines, x = [], [], 0.0
    for name, automaton, layout in zip(pair.names, pair.automata, layouts, strict=True):
        automata.append((layout, _path(automaton, pair.word), x, top + (tallest - layout.height) / 2))
        lines.append((_cut(name), INK, x + GAP, GAP + FONT_SIZE))
        x += layout.width + GAP
    for row, text in enumerate(texts):
        lines.append((text, MARK if row == 1 else INK, GAP, bottom + (row + 1) * LINE_HEIGHT))
    width = max(x - GAP, max(map(len, texts)) * FONT_SIZE * 0.62 + 2 * GAP)
    return _Picture((width, bottom + len(texts) * LINE_HEIGHT + GAP), automata, lines)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 3] + "..."


def _path(automaton: Automaton, word: Word) -> set[tuple[int, int]]:
    """The edges that a word takes; a word that is lost ends in the place that the layout has for it."""
    return set(pairwise(automaton.states if state == DEAD else state for state in automaton.run(word)))
