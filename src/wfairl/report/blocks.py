"""What a section of a page is made of, besides tables, charts and the episode player."""

import base64
from dataclasses import dataclass, field
from html import escape

from wfairl.automata.export import to_svg
from wfairl.automata.finite import FiniteAutomaton
from wfairl.automata.layout import Layout, lay_out
from wfairl.automata.task_model import EdgeCounts
from wfairl.report.figures.automaton import by_changes
from wfairl.report.figures.drawn import DrawnFigure
from wfairl.report.text import Text, html_of

MAX_DRAWN_STATES = 60
"""An automaton of more states is a tangle that nobody reads."""

LEAST_SCALE = 0.66
"""A drawing shrinks so far to fit a screen; on a narrower one it scrolls."""


@dataclass(frozen=True)
class Prose:
    """Paragraphs."""

    paragraphs: tuple[Text, ...]

    def html(self) -> str:
        """The paragraphs as elements."""
        return f'<div class="prose">{"".join(f"<p>{html_of(text)}</p>" for text in self.paragraphs)}</div>'


def prose(*paragraphs: Text) -> Prose:
    """Paragraphs, one an argument."""
    return Prose(paragraphs)


@dataclass(frozen=True)
class Facts:
    """Names with what there is to say of each.

    Attributes:
        entries: (name, text).
        caption: what they are about; it stands above them.
    """

    entries: tuple[tuple[str, Text], ...]
    caption: Text = ""

    def html(self) -> str:
        """The facts as a list of terms."""
        caption = f'<p class="caption">{html_of(self.caption)}</p>' if self.caption else ""
        rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{html_of(text)}</dd></div>" for name, text in self.entries)
        return f'{caption}<dl class="facts">{rows}</dl>'


@dataclass(frozen=True)
class KeyFigure:
    """One large number: what it is, the number, and what puts it in its place."""

    name: str
    text: Text
    note: Text = ""
    leading: bool = False


@dataclass(frozen=True)
class KeyFigures:
    """The few numbers that a reader should take away."""

    figures: tuple[KeyFigure, ...]

    def html(self) -> str:
        """The figures as tiles."""
        return f'<dl class="key-figures">{"".join(map(self._tile, self.figures))}</dl>'

    @staticmethod
    def _tile(figure: KeyFigure) -> str:
        note = f'<dd class="note">{html_of(figure.note)}</dd>' if figure.note else ""
        marked = ' class="leading"' if figure.leading else ""
        return f"<div{marked}><dt>{escape(figure.name)}</dt><dd>{html_of(figure.text)}</dd>{note}</div>"


@dataclass(frozen=True)
class Command:
    """Lines to type or to run."""

    text: str

    def html(self) -> str:
        """The lines as they are."""
        return f'<pre tabindex="0"><code>{escape(self.text)}</code></pre>'


@dataclass(frozen=True)
class Figure:
    """A picture that was made elsewhere.

    It stands in the page as an image, where an SVG can neither run scripts, nor load anything, nor meet the names of
    another one; on a white card, since its colours are for white paper.

    Attributes:
        image: the text of an SVG, or the bytes of a PNG.
        caption: what it shows; it stands below.
        alt: what it shows, for those who do not see it.
    """

    image: str | bytes = field(repr=False)
    caption: Text
    alt: str

    def html(self) -> str:
        """The picture as an element."""
        kind, data = ("svg+xml", self.image.encode()) if isinstance(self.image, str) else ("png", self.image)
        source = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
        caption = f"<figcaption>{html_of(self.caption)}</figcaption>" if self.caption else ""
        image = f'<img src="{source}" alt="{escape(self.alt)}">'
        box = f'<div class="scroll" tabindex="0" role="region" aria-label="figure">{image}</div>'
        return f'<figure class="picture">{box}{caption}</figure>'


def figure_of(drawn: DrawnFigure) -> Figure:
    """A figure of `report.figures` as a picture of a page, with its own words."""
    return Figure(drawn.to_svg().decode(), drawn.caption, drawn.alt)


@dataclass(frozen=True, eq=False)
class AutomatonDrawing:
    """An automaton as a drawing in the colours of the page.

    Attributes:
        automaton: what to draw; one of more than `MAX_DRAWN_STATES` states is only counted.
        edge_counts: how many words took each edge.
        caption: it stands below.
    """

    automaton: FiniteAutomaton
    edge_counts: EdgeCounts | None = None
    caption: Text = ""

    def html(self) -> str:
        """The drawing as an element."""
        caption = f"<figcaption>{html_of(self.caption)}</figcaption>" if self.caption else ""
        return f"<figure>{drawing_html(self.automaton, self.edge_counts)}{caption}</figure>"


def drawing_html(automaton: FiniteAutomaton, edge_counts: EdgeCounts | None = None) -> str:
    """The drawing of an automaton, in a box that scrolls where the screen is too narrow for it."""
    if automaton.states > MAX_DRAWN_STATES:
        return f'<p class="automaton too-large">An automaton of {automaton.states} states, too many to draw.</p>'
    # Changes of the label take less room than labels; an automaton that forgets the last one cannot tell them.
    knows_changes = None not in automaton.last_labels[1:]
    drawn = by_changes(automaton, edge_counts or {}) if knows_changes else (automaton, edge_counts)
    layout = lay_out(*drawn)
    return f'<div class="automaton scroll" tabindex="0" role="region" aria-label="automaton">{_fitted(layout)}</div>'


def _fitted(layout: Layout) -> str:
    size = f"min-width:{LEAST_SCALE * layout.width:.0f}px;max-width:{layout.width:.0f}px"
    return to_svg(layout).replace("<svg ", f'<svg style="{size}" ', 1)
