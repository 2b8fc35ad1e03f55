"""What a section of a page is made of, besides tables, charts and the episode player.

Blocks are plain records; `assets/blocks.html.jinja` says what each looks like.
"""

import base64
from dataclasses import dataclass, field
from typing import ClassVar

from wfairl.automata.automaton import Automaton, EdgeCounts
from wfairl.automata.formats.images import to_svg
from wfairl.automata.layout import lay_out
from wfairl.report.figures.automaton import with_label_differences
from wfairl.report.figures.captioned import CaptionedFigure
from wfairl.report.text import Text

MAX_DRAWN_STATES = 60
"""An automaton with more states is too large to read."""

LEAST_SCALE = 0.66
"""A drawing shrinks this far to fit a screen; on a narrower one it scrolls."""


@dataclass(frozen=True)
class Prose:
    """Paragraphs."""

    template: ClassVar[str] = "prose"
    paragraphs: tuple[Text, ...]


def prose(*paragraphs: Text) -> Prose:
    """Paragraphs, one per argument."""
    return Prose(paragraphs)


@dataclass(frozen=True)
class Facts:
    """Names with what there is to say of each.

    Attributes:
        entries: (name, text).
        caption: what they are about; it stands above them.
    """

    template: ClassVar[str] = "facts"
    entries: tuple[tuple[str, Text], ...]
    caption: Text = ""


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

    template: ClassVar[str] = "key_figures"
    figures: tuple[KeyFigure, ...]


@dataclass(frozen=True)
class Command:
    """Lines to type or to run."""

    template: ClassVar[str] = "command"
    text: str


@dataclass(frozen=True)
class Figure:
    """A picture that was made elsewhere.

    It stands in the page as an image, where an SVG can neither run scripts, nor load anything, nor clash with the names
    in another one; on a white card, since its colours are for white paper.

    Attributes:
        image: the text of an SVG, or the bytes of a PNG.
        caption: what it shows; it stands below.
        alt: what it shows, for readers who do not see it.
    """

    template: ClassVar[str] = "figure"
    image: str | bytes = field(repr=False)
    caption: Text
    alt: str

    @property
    def source(self) -> str:
        """The picture as the address of an image."""
        kind, data = ("svg+xml", self.image.encode()) if isinstance(self.image, str) else ("png", self.image)
        return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def figure_of(captioned: CaptionedFigure) -> Figure:
    """A figure of `report.figures` for a page, with its own caption."""
    return Figure(captioned.to_svg().decode(), captioned.caption, captioned.alt)


@dataclass(frozen=True, eq=False)
class AutomatonDrawing:
    """An automaton as a drawing in the colours of the page.

    Attributes:
        automaton: what to draw; of one with more than `MAX_DRAWN_STATES` states the page only says how many.
        edge_counts: how many words took each edge.
        caption: it stands below.
    """

    template: ClassVar[str] = "automaton"
    automaton: Automaton
    edge_counts: EdgeCounts | None = None
    caption: Text = ""

    @property
    def svg(self) -> str:
        """The drawing, which may shrink a little; nothing if the automaton is too large."""
        if self.automaton.states > MAX_DRAWN_STATES:
            return ""
        layout = lay_out(with_label_differences(self.automaton), self.edge_counts)
        size = f"min-width:{LEAST_SCALE * layout.width:.0f}px;max-width:{layout.width:.0f}px"
        return to_svg(layout).replace("<svg ", f'<svg style="{size}" ', 1)
