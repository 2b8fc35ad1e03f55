"""Comparison of two automata: the shortest words that tell them apart, and a drawing of both side by side."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from itertools import islice, pairwise
from pathlib import Path

from wfairl.automata.automaton import DEAD, Automaton, Label
from wfairl.automata.formats.images import FONT, INK, MARK, PAPER, to_png, to_svg
from wfairl.automata.layout import FONT_SIZE, LINE_HEIGHT, AutomatonLayout, lay_out
from wfairl.automata.symbolic import differing_words, until_fulfilled
from wfairl.automata.words import Word, format_word
from wfairl.files import write_atomically

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
    layouts = [lay_out(automaton) for automaton in comparison.automata]
    lines = _lines(comparison)
    width, height, offsets = _arrange(layouts, lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}, Verdana, sans-serif" font-size="{FONT_SIZE:g}" '
        'role="img" aria-label="two task automata">',
        f'<rect width="100%" height="100%" fill="{PAPER}"/>',
    ]
    for (x, y), layout, name, marked in zip(offsets, layouts, comparison.names, _marked(comparison), strict=True):
        parts.append(f'<text x="{x + GAP:.1f}" y="{GAP + FONT_SIZE:.1f}" fill="{INK}">{escape(_cut(name))}</text>')
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{to_svg(layout, marked)}</g>')
    y = height - GAP - len(lines) * LINE_HEIGHT
    for i, line in enumerate(lines):
        colour = MARK if i == 1 else INK
        y_line = y + (i + 1) * LINE_HEIGHT
        parts.append(f'<text x="{GAP:.1f}" y="{y_line:.1f}" fill="{colour}">{escape(line)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def comparison_png(comparison: AutomataComparison, scale: float = 2.0) -> bytes:
    """The same as pixels."""
    from matplotlib.font_manager import findfont
    from PIL import Image, ImageDraw, ImageFont

    layouts = [lay_out(automaton) for automaton in comparison.automata]
    lines = _lines(comparison)
    width, height, offsets = _arrange(layouts, lines)
    image = Image.new("RGB", (round(width * scale), round(height * scale)), PAPER)
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype(findfont(FONT), round(FONT_SIZE * scale))
    for (x, y), layout, name, marked in zip(offsets, layouts, comparison.names, _marked(comparison), strict=True):
        draw.text((scale * (x + GAP), scale * GAP), _cut(name), INK, font)
        with Image.open(BytesIO(to_png(layout, scale, marked))) as drawn:
            image.paste(drawn, (round(scale * x), round(scale * y)))
    y = height - GAP - len(lines) * LINE_HEIGHT
    for i, line in enumerate(lines):
        draw.text((scale * GAP, scale * (y + i * LINE_HEIGHT)), line, MARK if i == 1 else INK, font)
    stream = BytesIO()
    image.save(stream, format="png")
    return stream.getvalue()


def _lines(comparison: AutomataComparison) -> list[str]:
    if not comparison.words:
        return ["They accept the same words."]
    one, other = comparison.names
    lines = [f"Words that tell them apart ({one}; {other}):"]
    lines += [f"{format_word(word)}: {'; '.join(comparison.verdicts(word))}" for word in comparison.words]
    return list(map(_cut, lines))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 3] + "..."


def _arrange(
    layouts: Sequence[AutomatonLayout], lines: Sequence[str]
) -> tuple[float, float, list[tuple[float, float]]]:
    """Width and height of the whole, and where each layout begins."""
    top = GAP + 2 * FONT_SIZE
    text_width = max(map(len, lines)) * FONT_SIZE * 0.62 + 2 * GAP
    width = max(sum(layout.width for layout in layouts) + GAP, text_width)
    tallest = max(layout.height for layout in layouts)
    height = top + tallest + (len(lines) + 1) * LINE_HEIGHT + GAP
    starts = [0.0, layouts[0].width + GAP]
    return width, height, [(x, top + (tallest - one.height) / 2) for x, one in zip(starts, layouts, strict=True)]


def _marked(comparison: AutomataComparison) -> list[set[tuple[int, int]]]:
    """The edges that the first word takes in each automaton; where it is lost, to the place for that."""
    word = comparison.words[0] if comparison.words else ()
    return [
        set(pairwise(automaton.states if q == DEAD else q for q in automaton.run(word)))
        for automaton in comparison.automata
    ]
