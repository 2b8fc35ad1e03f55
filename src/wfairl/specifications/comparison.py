"""Comparison of two automata: the shortest words that tell them apart, and a drawing of both side by side."""

from collections.abc import Collection
from dataclasses import dataclass
from html import escape
from itertools import islice, pairwise
from pathlib import Path

from wfairl.core.automata.automaton import DEAD, Automaton, Label
from wfairl.core.automata.words import Word, format_word
from wfairl.core.support.files import write_atomically
from wfairl.pages.automata.images import INK, MARK, svg_head, to_svg
from wfairl.pages.automata.layout import FONT_SIZE, LINE_HEIGHT, AutomatonLayout, lay_out
from wfairl.specifications.symbolic import differing_words, until_fulfilled

MOST_WORDS = 5

GAP = 24.0
LONGEST_LINE = 110
"""Characters of a line of text in an image."""


@dataclass(frozen=True, eq=False)
class AutomataComparison:
    """Two automata and what tells them apart.

    Attributes:
        names, automata: the two.
        words: words that one accepts and the other does not, shortest first; none if they are the same.
        known_labels: whether the words consist of labels that the automata were learned from.
        same_plans: whether they are the same for a planner, which stops when the task is fulfilled.
    """

    names: tuple[str, str]
    automata: tuple[Automaton, Automaton]
    words: tuple[Word, ...]
    known_labels: bool
    same_plans: bool

    def verdicts(self, word: Word) -> tuple[str, str]:
        """The verdict of each on a word."""
        one, other = (_verdict(automaton, word) for automaton in self.automata)
        return one, other


def compare(
    names: tuple[str, str],
    automata: tuple[Automaton, Automaton],
    known: Collection[Label] = (),
    most: int = MOST_WORDS,
) -> AutomataComparison:
    """Find the shortest words, at most `most`, that tell two automata apart, each by another pair of states.

    Words consist of `known` labels if such words tell them apart, otherwise of any labels.
    """
    labels = known if known and next(differing_words(*automata, known), None) is not None else None
    words = tuple(islice(differing_words(*automata, labels), most))
    first = next(differing_words(until_fulfilled(automata[0]), until_fulfilled(automata[1]), labels), None)
    return AutomataComparison(names, automata, words, labels is not None, first is None)


def _verdict(automaton: Automaton, word: Word) -> str:
    path = automaton.run(word)
    if DEAD in path:
        return f"lost at label {path.index(DEAD)}"
    return f"accepted in state {path[-1]}" if automaton.accepting[path[-1]] else f"not done in state {path[-1]}"


def write_comparison(path: Path, comparison: AutomataComparison) -> None:
    """Draw a comparison to a .png file, or to an .svg file."""
    draw = comparison_png if path.suffix.lower() == ".png" else comparison_svg
    write_atomically(path, draw(comparison))


def comparison_svg(comparison: AutomataComparison) -> str:
    """Both automata side by side, the path of the first word marked in each, and the words below."""
    picture = _compose(comparison)
    parts = [svg_head(*picture.size, "two task automata")]
    for layout, marked, x, y in picture.automata:
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{to_svg(layout, marked)}</g>')
    for line, colour, x, y in picture.lines:
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}">{escape(line)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def comparison_png(comparison: AutomataComparison, scale: float = 2.0) -> bytes:
    """The same as pixels."""
    from wfairl.pages import style
    from wfairl.pages.automata.layout_drawing import AutomatonStyle, draw_layout

    picture = _compose(comparison)
    figure = style.new_figure(*(length / style.POINTS for length in picture.size))
    for layout, marked, x, y in picture.automata:
        draw_layout(figure, layout, AutomatonStyle(marked=marked), x / style.POINTS, y / style.POINTS)
    for line, colour, x, y in picture.lines:
        style.write_at(figure, x / style.POINTS, y / style.POINTS, line, FONT_SIZE, colour=colour)
    return style.to_png(figure, scale * style.POINTS)


@dataclass(frozen=True, eq=False)
class _Picture:
    """What a comparison shows, in pixels of the layout.

    Attributes:
        size: width and height.
        automata: the layouts, their marked edges, and the x and y where each begins.
        lines: of text, their colours, and the x and y where their baselines begin.
    """

    size: tuple[float, float]
    automata: list[tuple[AutomatonLayout, set[tuple[int, int]], float, float]]
    lines: list[tuple[str, str, float, float]]


def _compose(comparison: AutomataComparison) -> _Picture:
    """Place both automata, their names above them and the words below."""
    layouts, texts = [lay_out(automaton) for automaton in comparison.automata], _texts(comparison)
    top, tallest = GAP + 2 * FONT_SIZE, max(layout.height for layout in layouts)
    bottom = top + tallest + LINE_HEIGHT
    automata, lines, x = [], [], 0.0
    for name, layout, marked in zip(comparison.names, layouts, _marked(comparison), strict=True):
        automata.append((layout, marked, x, top + (tallest - layout.height) / 2))
        lines.append((_cut(name), INK, x + GAP, GAP + FONT_SIZE))
        x += layout.width + GAP
    for row, text in enumerate(texts):
        lines.append((text, MARK if row == 1 else INK, GAP, bottom + (row + 1) * LINE_HEIGHT))
    width = max(x - GAP, max(map(len, texts)) * FONT_SIZE * 0.62 + 2 * GAP)
    return _Picture((width, bottom + len(texts) * LINE_HEIGHT + GAP), automata, lines)


def _texts(comparison: AutomataComparison) -> list[str]:
    if not comparison.words:
        return ["They accept the same words."]
    one, other = comparison.names
    lines = [f"Words that tell them apart ({one}; {other}):"]
    lines += [f"{format_word(word)}: {'; '.join(comparison.verdicts(word))}" for word in comparison.words]
    return list(map(_cut, lines))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 3] + "..."


def _marked(comparison: AutomataComparison) -> list[set[tuple[int, int]]]:
    """The edges that the first word takes in each automaton; where it is lost, to the place for that."""
    word = comparison.words[0] if comparison.words else ()
    return [
        set(pairwise(automaton.states if q == DEAD else q for q in automaton.run(word)))
        for automaton in comparison.automata
    ]
