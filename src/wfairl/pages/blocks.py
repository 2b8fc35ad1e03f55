"""The blocks of a section, besides tables, figures and the episode player.

Blocks are plain records; `assets/blocks.html.jinja` renders them.
"""

from dataclasses import dataclass
from typing import ClassVar

from wfairl.core.automata.automaton import Automaton, EdgeCounts
from wfairl.pages.automata.images import layout_svg
from wfairl.pages.automata.label_differences import with_label_differences
from wfairl.pages.automata.layout import lay_out
from wfairl.pages.text import Text

MAX_DRAWN_STATES = 60
"""A drawing of more states is too large to read."""

LEAST_SCALE = 0.66
"""A drawing shrinks to this scale to fit a screen; on a narrower one it scrolls."""


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
    """Names with their values.

    Attributes:
        entries: (name, value).
        caption: above them.
    """

    template: ClassVar[str] = "facts"
    entries: tuple[tuple[str, Text], ...]
    caption: Text = ""


@dataclass(frozen=True)
class KeyFigure:
    """One large number with its name and a note."""

    name: str
    text: Text
    note: Text = ""
    leading: bool = False


@dataclass(frozen=True)
class KeyFigures:
    """The most important numbers of a page."""

    template: ClassVar[str] = "key_figures"
    figures: tuple[KeyFigure, ...]


@dataclass(frozen=True)
class Command:
    """A command line."""

    template: ClassVar[str] = "command"
    text: str


@dataclass(frozen=True, eq=False)
class AutomatonDrawing:
    """A drawing of an automaton in the colours of the page.

    Attributes:
        automaton: of one with more than `MAX_DRAWN_STATES` states, the page shows only their number.
        edge_counts: how many words took each edge.
        caption: below it.
    """

    template: ClassVar[str] = "automaton"
    automaton: Automaton
    edge_counts: EdgeCounts | None = None
    caption: Text = ""

    @property
    def svg(self) -> str:
        """The drawing; empty if the automaton is too large."""
        if self.automaton.states > MAX_DRAWN_STATES:
            return ""
        layout = lay_out(with_label_differences(self.automaton), self.edge_counts)
        size = f"min-width:{LEAST_SCALE * layout.width:.0f}px;max-width:{layout.width:.0f}px"
        return layout_svg(layout).replace("<svg ", f'<svg style="{size}" ', 1)
