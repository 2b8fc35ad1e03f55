"""The blocks of a section, besides figures and the episode player: plain records.

`assets/blocks.html.jinja` renders them, with the macro that `template` names.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from wfairl.core.automata.automaton import Automaton, EdgeCounts
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.support.errors import BadInputError
from wfairl.pages.automata.images import layout_svg
from wfairl.pages.automata.label_differences import DIFFERENCES_EXPLAINED, with_label_differences
from wfairl.pages.automata.layout import LOST_TEXT, TIMES, lay_out
from wfairl.pages.text import Text

MAX_DRAWN_STATES = 60
"""A drawing of more states is too large to read."""


@dataclass(frozen=True)
class Prose:
    """Paragraphs."""

    template: ClassVar[str] = "prose"
    paragraphs: tuple[Text, ...]


def prose(*paragraphs: Text) -> Prose:
    """Paragraphs, one per argument."""
    return Prose(paragraphs)


@dataclass(frozen=True)
class Statements:
    """Sentences in large letters, each with a word about what it is."""

    template: ClassVar[str] = "statements"
    entries: tuple[tuple[str, Text], ...]


@dataclass(frozen=True)
class Facts:
    """Names with their values, below a caption."""

    template: ClassVar[str] = "facts"
    entries: tuple[tuple[str, Text], ...]
    caption: Text = ""


@dataclass(frozen=True)
class Command:
    """A command line."""

    template: ClassVar[str] = "command"
    text: str


@dataclass(frozen=True)
class Column:
    """The name of a column and the alignment of its cells."""

    name: Text
    alignment: Literal["left", "right", "center"] = "left"


@dataclass(frozen=True)
class TableCell:
    """A cell with a smaller note below its text."""

    text: Text
    note: Text = ""


@dataclass(frozen=True)
class PageTable:
    """Rows of cells, below a caption; the first cell of a row is its name. `highlighted_rows` are indices."""

    template: ClassVar[str] = "table"
    columns: tuple[Column, ...]
    rows: tuple[tuple[TableCell | Text, ...], ...]
    caption: Text = ""
    highlighted_rows: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise BadInputError(f"a row has {len(row)} cells where the table has {len(self.columns)} columns")

    @property
    def cells(self) -> list[list[TableCell]]:
        """The rows, with every content as a cell."""
        return [[one if isinstance(one, TableCell) else TableCell(one) for one in row] for row in self.rows]


@dataclass(frozen=True, eq=False)
class AutomatonDrawing:
    """A drawing of an automaton in the colours of the page, with the number of words that took each edge.

    Of an automaton with more than `MAX_DRAWN_STATES` states, the page shows only their number.
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
        # It shrinks to two thirds to fit a screen; on a narrower one it scrolls.
        size = f"min-width:{0.66 * layout.width:.0f}px;max-width:{layout.width:.0f}px"
        return layout_svg(layout).replace("<svg ", f'<svg style="{size}" ', 1)


def automaton_drawing(model: TaskModel) -> AutomatonDrawing:
    """The automaton of a model, with a caption that explains the drawing."""
    if model.finite.states > MAX_DRAWN_STATES:
        return AutomatonDrawing(model.finite, model.edge_counts)
    by_difference = with_label_differences(model.finite) is not model.finite
    change = f"when the label changes, and shows the change {DIFFERENCES_EXPLAINED}"
    caption = (
        f"The task begins in state 0 and ends in the double ring; “never” or {LOST_TEXT} fails it. An edge is"
        f" taken {change if by_difference else 'when what it names holds'}; “{TIMES}5”: five demonstrations took it."
    )
    return AutomatonDrawing(model.finite, model.edge_counts, caption)
